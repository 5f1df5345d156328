"""Where a project's own server listens."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path


def socket_of(project: str | os.PathLike[str], environment: Mapping[str, str]) -> Path | None:
    """The socket of a project's own server; None where the user has no directory for it.

    It is in `$XDG_RUNTIME_DIR/hook`, else in `hook/run` of the user's state directory, under the
    first 16 hexadecimal digits of the SHA-256 of the project's real path. A variable that is no
    absolute path counts as none.
    """

    def absolute(name: str) -> Path | None:
        value = environment.get(name, "")
        return Path(value) if os.path.isabs(value) else None

    runtime, state, home = map(absolute, ("XDG_RUNTIME_DIR", "XDG_STATE_HOME", "HOME"))
    if runtime is not None:
        folder = runtime / "hook"
    elif state is not None:
        folder = state / "hook/run"
    elif home is not None:
        folder = home / ".local/state/hook/run"
    else:
        return None
    real = os.fsencode(os.path.realpath(project))
    return folder / f"{hashlib.sha256(real).hexdigest()[:16]}.sock"
