"""Versions of libraries that an integration was not tested with."""

from __future__ import annotations

import warnings
from importlib import metadata

import pytest

from hook_sdk.integrations import _common


@pytest.mark.parametrize(
    ("version", "is_tested"),
    [("1.5", True), ("1.5.2", True), ("1.9.dev3", True), ("1.4.9", False), ("2.0", False)],
)
def test_a_version_out_of_the_tested_range_is_one_warning(
    version: str, is_tested: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_common, "_warned", set())
    monkeypatch.setattr(metadata, "version", lambda _: version)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            _common.check_version("library", "1.5", "2")
    assert len(caught) == (0 if is_tested else 1)
    assert is_tested or version in str(caught[0].message)
