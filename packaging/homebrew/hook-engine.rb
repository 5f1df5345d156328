class HookEngine < Formula
  desc "Run your own checks before an AI agent uses a tool, calls a model or ends its turn"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]
@SYSTEMS@
  def install
    bin.install "hook"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/hook.bash" => "hook"
    zsh_completion.install "completions/_hook"
    fish_completion.install "completions/hook.fish"
  end

  test do
    ENV["HOME"] = testpath
    assert_match version.to_s, shell_output("#{bin}/hook --version")
    system bin/"hook", "init", "--user"
    input = '{"tool_input": {"file_path": ".env"}}'
    shell_output("#{bin}/hook fire BeforeTool --tool write_file --input '#{input}'", 2)
  end
end
