"""What all tests share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


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
