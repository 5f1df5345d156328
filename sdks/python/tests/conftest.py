"""What all tests share."""

from __future__ import annotations

import faulthandler
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

LIMIT_SECONDS = 300.0
"""Longer than any test takes, or the program's end: what waits for ever says where, and fails."""
errors = 2


def pytest_configure() -> None:
    global errors
    errors = os.dup(sys.stderr.fileno())  # No test's output is kept from it.


def pytest_runtest_logstart() -> None:
    faulthandler.dump_traceback_later(LIMIT_SECONDS, exit=True, file=errors)


def pytest_enter_pdb() -> None:
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings, and no server, of who runs the tests."""
    for name in list(os.environ):
        if name.startswith("HOOK_"):
            monkeypatch.delenv(name)
    # Beside the project: a home inside of it would be the project's to fill.
    home = tmp_path.with_name(f"{tmp_path.name}-home")
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
