"""Where a project's own server listens: as the engine itself decides it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

_FOLDERS = ("modules", "rules", "pre", "post")
"""The folders of `.hooks` in which hooks are found without settings."""


def nearest_project(
    folder: str | os.PathLike[str], environment: Mapping[str, str]
) -> str | os.PathLike[str]:
    """The project of a folder: itself, or the nearest one around it that has hooks in `.hooks`.

    The search goes up from where the folder really is, and ends with the home or before a folder of
    another owner. Without a project it is the folder itself.
    """
    if has_hooks(Path(folder)):
        return folder
    inner = Path(os.path.realpath(folder))
    home = environment.get("HOME", "")
    last = Path(os.path.realpath(home)) if os.path.isabs(home) else None
    owners = {os.geteuid(), _owner(inner)}
    while inner not in (last, inner.parent):
        inner = inner.parent
        # What another owner has is neither the user's nor the project's.
        if _owner(inner) not in owners:
            break
        if has_hooks(inner):
            return inner
    return folder


def has_hooks(project: Path) -> bool:
    """Whether there are settings or hook files. What cannot be read counts, as for the engine."""
    hooks = project / ".hooks"
    has_file = any(exists(hooks / it) for it in ("settings.json", "packs.lock"))
    return has_file or any(_has_entries(hooks / it) for it in _FOLDERS)


def _has_entries(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def exists(path: Path) -> bool:
    """Whether something is at a path. What cannot be looked at may be there."""
    try:
        path.lstat()
    except NotADirectoryError:
        return False
    except FileNotFoundError:
        # A link that leads nowhere: something was meant to be there.
        return path.parent.is_symlink() and not path.parent.exists()
    except OSError:
        return True
    return True


def _owner(folder: Path) -> int | None:
    try:
        return folder.stat().st_uid
    except OSError:
        return None


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
