"""The types: generated from the schema, right in the package and examples, wrong for mistakes."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
GENERATOR = PACKAGE / "tools/generate_types.py"
MISTAKES = Path(__file__).resolve().parent / "typing/mistakes.py"


def needs(module: str) -> pytest.MarkDecorator:
    is_missing = importlib.util.find_spec(module) is None
    return pytest.mark.skipif(is_missing, reason=f"SKIPPED: {module} is not installed")


@pytest.mark.skipif(not GENERATOR.is_file(), reason="SKIPPED: this is no checkout")
def test_the_types_of_events_are_those_of_the_schema() -> None:
    made = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


@needs("mypy")
@pytest.mark.parametrize(
    ("files", "library"),
    [
        ("docs/examples/sdk/python/*.py", "hook_sdk"),
        ("docs/examples/sdk/python/agents/*.py", "langchain"),
        ("sdks/python/src/hook_sdk/integrations/*.py", "google.adk"),
    ],
)
def test_the_examples_and_integrations_type_check(files: str, library: str, tmp_path: Path) -> None:
    for module in ("agents", library) if library != "hook_sdk" else ():
        try:
            found = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            found = None
        if found is None:
            pytest.skip(f"SKIPPED: {module} is not installed")
    found_files = sorted(PACKAGE.parents[1].glob(files))
    if importlib.util.find_spec("crewai") is None:  # It cannot be installed beside the others.
        found_files = [it for it in found_files if "crewai" not in it.name]
    if not found_files:
        pytest.skip("SKIPPED: this is no checkout")
    arguments = ["--strict", "--no-incremental", f"--cache-dir={tmp_path}"]
    made = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments, *map(str, found_files)],
        capture_output=True,
        text=True,
        cwd=PACKAGE.parents[1],
    )
    assert made.returncode == 0, made.stdout


def wrong_lines() -> set[int]:
    lines = MISTAKES.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}


@needs("mypy")
def test_each_mistake_fails_to_type_check_with_mypy(tmp_path: Path) -> None:
    arguments = ["--strict", "--strict-equality", "--enable-error-code=unused-awaitable"]
    arguments += ["--no-incremental", f"--cache-dir={tmp_path}", "--show-absolute-path"]
    made = subprocess.run(
        [sys.executable, "-m", "mypy", *arguments, str(MISTAKES)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    found = re.findall(r"mistakes\.py:(\d+): error", made.stdout)
    assert {int(number) for number in found} == wrong_lines(), made.stdout


@needs("pyright")
def test_each_mistake_fails_to_type_check_with_pyright(tmp_path: Path) -> None:
    config = tmp_path / "pyrightconfig.json"
    config.write_text('{"typeCheckingMode": "strict", "include": ["mistakes.py"]}')
    (tmp_path / "mistakes.py").write_text(MISTAKES.read_text())
    made = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", tmp_path],
        capture_output=True,
        text=True,
    )
    found = re.findall(r"mistakes\.py:(\d+):\d+ - error", made.stdout)
    assert {int(number) for number in found} == wrong_lines(), made.stdout
