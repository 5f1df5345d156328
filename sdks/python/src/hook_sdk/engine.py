"""The engine that a client starts: the `hook` command."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable, Mapping
from importlib import metadata

from . import __version__
from .errors import HookConnectionError


def find_engine(environment: Mapping[str, str], report: Callable[[str], None]) -> str:
    """Returns the path of `hook`: HOOK_BINARY, the package hook-engine's, or that of PATH.

    A hook-engine of another version than this package is reported and left out. Raises
    HookConnectionError if there is none.
    """
    if named := environment.get("HOOK_BINARY"):
        if shutil.which(named) is None:
            raise HookConnectionError(f"HOOK_BINARY is {named!r}, which is no program")
        return named
    return _installed(report) or _in_path(environment)


def _installed(report: Callable[[str], None]) -> str | None:
    try:
        version = metadata.version("hook-engine")
        found: str = importlib.import_module("hook_engine").find_hook()
    except (metadata.PackageNotFoundError, ImportError):
        return None
    except OSError as error:
        report(f"the package hook-engine has no engine: {error}")
        return None
    if version != __version__:
        fix = f"pip install hook-engine=={__version__}"
        report(f"hook-engine is {version} and hook-sdk {__version__}, so it is left out; {fix}")
        return None
    return found


def _in_path(environment: Mapping[str, str]) -> str:
    # A relative folder of PATH is the project's to fill.
    folders = environment.get("PATH", "").split(os.pathsep)
    path = os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
    found = shutil.which("hook", path=path)
    if found is None:
        raise HookConnectionError(
            f"there is no `hook` to start: pip install hook-engine=={__version__}, or name one in"
            " HOOK_BINARY"
        )
    return found
