"""Which engine a client starts."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import hook_sdk
from hook_sdk.engine import find_engine
from hook_sdk.errors import HookConnectionError


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def package(folder: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The package hook-engine, with an engine of its own."""
    found = program(folder / "bin/hook")
    (folder / "hook_engine.py").write_text(f"def find_hook():\n    return {found!r}\n")
    info = folder / f"hook_engine-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: hook-engine\nVersion: {version}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "hook_engine", raising=False)
    return found


def test_the_named_one_wins_then_the_packages_then_that_of_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems: list[str] = []
    in_path = program(tmp_path / "path/hook")
    environment: dict[str, Any] = {"PATH": str(tmp_path / "path")}
    assert find_engine(environment, problems.append) == in_path
    installed = package(tmp_path / "site", hook_sdk.__version__, monkeypatch)
    assert find_engine(environment, problems.append) == installed
    named = program(tmp_path / "named")
    assert find_engine({**environment, "HOOK_BINARY": named}, problems.append) == named
    assert not problems


def test_a_package_of_another_version_is_reported_and_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    problems: list[str] = []
    package(tmp_path, "0.0.1", monkeypatch)
    in_path = program(tmp_path / "path/hook")
    assert find_engine({"PATH": str(tmp_path / "path")}, problems.append) == in_path
    assert len(problems) == 1 and "0.0.1" in problems[0]


@pytest.mark.parametrize(
    ("environment", "why"),
    [
        ({}, "pip install hook-engine"),
        ({"PATH": "bin:"}, "pip install hook-engine"),
        ({"HOOK_BINARY": "/nowhere/hook"}, "HOOK_BINARY"),
    ],
)
def test_without_one_the_error_says_what_to_do(
    environment: dict[str, str], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin/hook")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HookConnectionError, match=why):
        find_engine(environment, lambda _: None)
