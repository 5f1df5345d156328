complete --keep-order --exclusive --command hook --arguments "(HOOK_COMPLETE=fish hook -- (commandline --current-process --tokenize --cut-at-cursor) (commandline --current-token))"
