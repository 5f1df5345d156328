"""The types: generated from the schema, right in the package and examples, wrong for mistakes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
GENERATOR = PACKAGE / "tools/generate_types.py"
MISTAKES = Path(__file__).resolve().parent / "typing/mistakes.py"


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # The package that it is in.
        return False


def needs(module: str) -> pytest.MarkDecorator:
    reason = f"SKIPPED: {module} is not installed"
    return pytest.mark.skipif(not is_installed(module), reason=reason)


@pytest.mark.skipif(not GENERATOR.is_file(), reason="SKIPPED: this is no checkout")
def test_the_types_of_events_are_those_of_the_schema() -> None:
    made = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


def checked() -> list[str]:
    """The files of the package and of the examples whose libraries are installed."""
    package, examples = PACKAGE / "src/hook_sdk", PACKAGE.parents[1] / "docs/examples/sdk/python"
    if not examples.is_dir():
        pytest.skip("SKIPPED: this is no checkout")
    files = [*package.rglob("*.py"), *examples.rglob("*.py")]
    if is_installed("crewai"):  # It cannot be installed beside the others.
        return [str(it) for it in files if "crewai" in it.name]
    has_libraries = is_installed("google.adk")
    return [
        str(it)
        for it in files
        if "crewai" not in it.name
        and (
            has_libraries
            or it.parent.name not in ("integrations", "agents")
            or it.stem in ("plain", "guard")
        )
    ]


Mypy = Callable[[list[str]], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def mypy(tmp_path_factory: pytest.TempPathFactory) -> Mypy:
    """Runs mypy. What one run has found out about libraries the next one knows."""
    arguments = ["--strict", "--enable-error-code=unused-awaitable", "--config-file="]
    arguments.append(f"--cache-dir={tmp_path_factory.mktemp('mypy')}")

    def run(files: list[str]) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mypy", *arguments, *files]
        return subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE)

    return run


@needs("mypy")
def test_the_package_and_the_examples_type_check_with_mypy(mypy: Mypy) -> None:
    made = mypy(checked())
    assert made.returncode == 0, made.stdout + made.stderr


def pyright(folder: Path, **config: Any) -> subprocess.CompletedProcess[str]:
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(folder)]
    return subprocess.run(command, capture_output=True, text=True)


@needs("pyright")
def test_the_package_and_the_examples_type_check_with_pyright(tmp_path: Path) -> None:
    include = [os.path.relpath(it, tmp_path) for it in checked()]
    made = pyright(tmp_path, extends=str(PACKAGE / "pyproject.toml"), include=include, exclude=[])
    assert made.returncode == 0, made.stdout + made.stderr


def wrong_lines() -> set[int]:
    lines = MISTAKES.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


@needs("mypy")
def test_each_mistake_fails_to_type_check_with_mypy(mypy: Mypy) -> None:
    made = mypy([str(MISTAKES)])
    found = re.findall(r"mistakes\.py:(\d+): error", made.stdout)
    assert {int(number) for number in found} == wrong_lines(), made.stdout + made.stderr


@needs("pyright")
def test_each_mistake_fails_to_type_check_with_pyright(tmp_path: Path) -> None:
    (tmp_path / "mistakes.py").write_text(MISTAKES.read_text())
    made = pyright(tmp_path, typeCheckingMode="strict", include=["mistakes.py"])
    found = re.findall(r"mistakes\.py:(\d+):\d+ - error", made.stdout)
    assert {int(number) for number in found} == wrong_lines(), made.stdout + made.stderr
