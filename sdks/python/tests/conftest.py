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
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
