"""The `hook` command's binary, which this package installs beside Python's other scripts."""

from __future__ import annotations

import os
import sys
import sysconfig

__all__ = ["find_hook", "main"]


def find_hook() -> str:
    """Returns the path of the binary."""
    name = "hook.exe" if os.name == "nt" else "hook"
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else f"{os.name}_user"
    # `pip install --target FOLDER` puts scripts into FOLDER/bin.
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user), beside]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"{name} is in none of {', '.join(folders)}; install hook-engine again")


def main() -> int:
    """Becomes the binary; on Windows, runs it and returns its exit code."""
    command = [find_hook(), *sys.argv[1:]]
    if os.name == "nt":
        import subprocess

        try:
            return subprocess.call(command)
        except KeyboardInterrupt:
            return 130
    os.execv(command[0], command)
