"""Events: attributes in either case, what is optional, and what is not there."""

from __future__ import annotations

import json

import pytest

import hook_sdk
from hook_sdk import Fields, GenerateEndEvent, HookEvent, Outcome, PreToolUseEvent, native_events
from hook_sdk.events import _A3S, event_of


@pytest.mark.parametrize("usage", [{"totalTokens": 7}, {"total_tokens": 7}])
def test_attributes_are_found_in_either_case(usage: dict[str, int]) -> None:
    told = {"response": {"usage": usage, "toolCalls": [{"toolName": "Bash"}]}}
    event = event_of("a3s", "GenerateEnd", told)
    assert isinstance(event, GenerateEndEvent)
    assert event.response.usage.total_tokens == 7
    assert event.response.usage.totalTokens == 7
    assert event.response.tool_calls[0].tool_name == "Bash"


def test_an_event_is_a_dict_whose_changes_stay() -> None:
    event = PreToolUseEvent({"tool": "Bash", "args": {"command": "ls", "deep": {"x": 1}}})
    event.args["timeout"] = 30000
    event.args.deep["y"] = 2
    assert {**event.args, "more": 1}["timeout"] == 30000
    assert json.loads(json.dumps(event)) == {
        "tool": "Bash",
        "args": {"command": "ls", "deep": {"x": 1, "y": 2}, "timeout": 30000},
    }
    assert event.args.get("nothing") is None


def test_what_is_optional_is_none_and_what_is_not_there_is_an_error() -> None:
    event = event_of("a3s", "GenerateStart", {"sessionId": "s"})
    assert event.session_id == "s" and event.system_prompt is None
    with pytest.raises(AttributeError, match="'tool' here, but: sessionId"):
        _ = event.tool
    assert not hasattr(event, "tool")
    assert repr(event) == "GenerateStartEvent({'sessionId': 's'})"
    # As declared, also by a class that others are made of.
    assert event_of("native", "BeforeTool", {}).caller is None
    outcome = Outcome({"decision": "proceed"})
    assert outcome.system_message is None and outcome.modified is None
    with pytest.raises(AttributeError, match="'warnings' here, but: decision"):
        _ = outcome.warnings


def test_every_event_of_the_seed_has_a_class_of_its_name() -> None:
    for name, kind in _A3S.items():
        assert kind is getattr(hook_sdk, f"{name}Event")
        assert type(event_of("a3s", name, {})) is kind
    assert len(_A3S) == 13
    # In the engine's own words SessionStart has other fields.
    assert type(event_of("native", "SessionStart", {})) is native_events.SessionStartEvent
    assert type(event_of("native", "Deploy", {})) is HookEvent


def test_fields_are_no_trap_for_pythons_protocols() -> None:
    import copy
    import pickle

    fields = Fields({"items": 1, "a": {"b": 2}})
    assert callable(fields.items) and fields["items"] == 1
    assert copy.deepcopy(fields) == fields and pickle.loads(pickle.dumps(fields)) == fields
