"""The example agents, as a user runs them, each doing everything that hooks do."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest
from engine import BINARY, EXAMPLES, needs_engine

pytestmark = [
    pytest.mark.skipif(not EXAMPLES.is_dir(), reason="SKIPPED: this is no checkout"),
    needs_engine,
    pytest.mark.usefixtures("private"),
]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("plain", "hook_sdk"),
        ("openai_agents_agent", "agents"),
        ("langchain_agent", "langchain"),
        ("crewai_agent", "crewai"),
    ],
)
def test_an_agent_of_the_examples(name: str, module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"SKIPPED: {module} is not installed")
    program = subprocess.run(
        [sys.executable, str(EXAMPLES / "agents" / f"{name}.py")],
        capture_output=True,
        text=True,
        env={**os.environ, "HOOK_BINARY": BINARY},
    )
    assert program.returncode == 0, program.stderr
    assert "hunter2" not in program.stdout
    expected = [
        "model gets: Tidy up; my password is [redacted]",
        "model gets: not outside of the project",
        "you are asked: overwrite the draft?",
        "model gets: wrote draft.txt",
        "Keep to British spelling.",
        "model gets: wrote a.txt",
        "Keep to British spelling.",
        "model gets: Sum it up in one line.",
        "you see: Done.",
    ]
    # A library's own thread may print between the parts of a line.
    left = " ".join(program.stdout.split())
    for line in expected:
        _, found, left = left.partition(line)
        assert found, program.stdout
    streams = name != "openai_agents_agent"
    assert ("the key is [redacted], as you know" in program.stdout) == streams
