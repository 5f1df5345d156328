"""The gRPC transport, against a scripted server; and its generated code."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from scripted import run_async

from hook_sdk import (
    A3sClient,
    HookClosedError,
    HookConnectionError,
    HookResponse,
    RegistrationError,
    RequestFailed,
)

grpc = pytest.importorskip("grpc", reason="SKIPPED gRPC: install the extra `grpc`")

from hook_sdk.transports.generated import hook_bus_pb2, hooks_pb2  # noqa: E402

HERE = Path(__file__).parent


class Server:
    """HookService and HookBus, driven by the test."""

    def __init__(self) -> None:
        self.calls: asyncio.Queue[Any] = asyncio.Queue()
        self.answers: asyncio.Queue[Any] = asyncio.Queue()
        self.registered: asyncio.Queue[Any] = asyncio.Queue()
        self.unregistered: asyncio.Queue[str] = asyncio.Queue()
        self.streams: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self.requests: asyncio.Queue[Any] = asyncio.Queue()
        self.cancelled = asyncio.Event()
        self.hooks: dict[str, Any] = {}
        self.keeps = False

    async def stream(self, requests: Any, context: Any) -> AsyncIterator[Any]:
        metadata = dict(context.invocation_metadata())
        if metadata.get("authorization") != "Bearer secret":
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no token")
        await context.send_initial_metadata((("hook-client-token", "issued"),))
        await self.streams.put(metadata)

        async def read() -> None:
            async for answer in requests:
                await self.answers.put(answer)

        reading = asyncio.ensure_future(read())
        try:
            while (call := await self.calls.get()) is not None:
                yield call
        finally:
            reading.cancel()
            if not self.keeps:
                self.hooks.clear()

    async def register(self, request: Any, context: Any) -> Any:
        if len(self.hooks) >= 2:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "two are enough")
        self.hooks[request.hook_id] = request
        await self.registered.put(request)
        return hooks_pb2.RegisterHookResponse(hook_id=request.hook_id)

    async def unregister(self, request: Any, context: Any) -> Any:
        self.hooks.pop(request.hook_id, None)
        await self.unregistered.put(request.hook_id)
        return hooks_pb2.UnregisterHookResponse(removed=True)

    async def list(self, request: Any, context: Any) -> Any:
        hooks = [
            hooks_pb2.RegisteredHook(
                hook_id=it.hook_id,
                event_type=it.event_type,
                matcher=it.matcher,
                config=it.config,
                own=True,
            )
            for it in self.hooks.values()
        ]
        return hooks_pb2.ListHooksResponse(hooks=hooks)

    async def request(self, request: Any, context: Any) -> Any:
        asked = json.loads(request.json)
        try:
            answer = await self.answered(asked)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return hook_bus_pb2.HookExecutionResponse(json=json.dumps(answer).encode())

    async def answered(self, asked: dict[str, Any]) -> dict[str, Any]:
        await self.requests.put(asked)
        if asked["eventName"] == "Forever":
            await asyncio.Event().wait()
        processed = {"decision": "block", "reason": json.dumps(sorted(self.hooks))}
        return {
            "type": "hook-execution-response",
            "correlationId": asked["correlationId"],
            "success": True,
            "processed": processed,
        }

    async def follow(self, request: Any, context: Any) -> AsyncIterator[Any]:
        for message in ({"type": "hook-execution-request"}, {"type": "hook-started"}):
            yield hook_bus_pb2.BusMessage(json=json.dumps(message).encode())
        await asyncio.Event().wait()


def handlers(server: Server) -> list[Any]:
    def unary(behavior: Any, request: Any) -> Any:
        return grpc.unary_unary_rpc_method_handler(
            behavior, request.FromString, lambda it: it.SerializeToString()
        )

    service = {
        "RegisterHook": unary(server.register, hooks_pb2.RegisterHookRequest),
        "UnregisterHook": unary(server.unregister, hooks_pb2.UnregisterHookRequest),
        "ListHooks": unary(server.list, hooks_pb2.ListHooksRequest),
        "HookStream": grpc.stream_stream_rpc_method_handler(
            server.stream, hooks_pb2.HookResponse.FromString, lambda it: it.SerializeToString()
        ),
    }
    bus = {
        "Request": unary(server.request, hook_bus_pb2.HookExecutionRequest),
        "Follow": grpc.unary_stream_rpc_method_handler(
            server.follow, hook_bus_pb2.FollowRequest.FromString, lambda it: it.SerializeToString()
        ),
    }
    return [
        grpc.method_handlers_generic_handler("HookService", service),
        grpc.method_handlers_generic_handler("hook.v1.HookBus", bus),
    ]


@contextlib.asynccontextmanager
async def served(path: Path, **options: Any) -> AsyncIterator[tuple[A3sClient, Server, list[str]]]:
    server, problems = Server(), []  # type: ignore[var-annotated]
    running = grpc.aio.server()
    running.add_generic_rpc_handlers(handlers(server))
    target = f"unix:{path}/g"
    running.add_insecure_port(target)
    await running.start()
    given = {"token": "secret", "client_id": "me", "on_problem": problems.append, **options}
    try:
        async with A3sClient(transport="grpc", target=target, **given) as client:
            yield client, server, problems
    finally:
        await running.stop(None)


def event(call_id: str, hook_id: str = "h-1", **more: Any) -> Any:
    payload = json.dumps({"tool": "Bash", "args": {"command": "ls"}}).encode()
    more = {"event_type": "PreToolUse", "payload": payload, **more}
    return hooks_pb2.HookEvent(hook_id=hook_id, call_id=call_id, session_id="s-1", **more)


@run_async
async def test_registering_being_called_and_unregistering(tmp_path: Path) -> None:
    async with served(tmp_path) as (client, server, problems):

        @client.hook(
            "PreToolUse",
            {"tool": "Bash", "path_pattern": "*.py"},
            {"priority": 7, "timeout": 900, "async_": True, "fail_behavior": "block"},
        )
        async def guard(event: Any) -> HookResponse | dict[str, Any]:
            assert (event.session_id, event.tool, event.metadata.x) == ("s-1", "Bash", 1)
            if event.timestamp == 1:
                return HookResponse.continue_with({"args": {"command": "ls -l"}})
            return HookResponse.retry(250, "later")

        await client.ready("h-1")
        asked = await server.registered.get()
        assert (asked.hook_id, asked.event_type, asked.vocabulary) == ("h-1", "PreToolUse", "a3s")
        assert (asked.matcher.tool, asked.matcher.path_pattern) == ("Bash", "*.py")
        assert not asked.matcher.HasField("command_pattern")
        assert (asked.config.priority, asked.config.timeout_ms) == (7, 900)
        assert getattr(asked.config, "async") and asked.config.fail_behavior == "block"
        metadata = await server.streams.get()
        assert metadata["hook-client-id"] == "me" and "hook-client-token" not in metadata

        await server.calls.put(event("1", timestamp=1, metadata=b'{"x": 1}'))
        answer = await server.answers.get()
        assert (answer.hook_id, answer.call_id, answer.action) == ("h-1", "1", 0)
        assert json.loads(answer.modified) == {"args": {"command": "ls -l"}}
        await server.calls.put(event("2", timestamp=2, metadata=b'{"x": 1}'))
        answer = await server.answers.get()
        assert answer.action == hooks_pb2.RETRY
        assert (answer.retry_delay_ms, answer.reason) == (250, "later")
        await server.calls.put(event("3"))
        assert "AttributeError" in (await server.answers.get()).error
        await server.calls.put(event("4", payload=b"{"))
        assert "payload" in (await server.answers.get()).error
        assert len(problems) == 2 and "AttributeError" in problems[0], problems

        hook = (await client.list_hooks())[0]
        assert hook.own and hook.matcher == {"tool": "Bash", "pathPattern": "*.py"}
        assert hook.config["priority"] == 7 and hook.config["async"] is True
        assert await client.unregister_hook("h-1")
        assert await server.unregistered.get() == "h-1"


@run_async
async def test_native_answers_host_calls_and_cancels(tmp_path: Path) -> None:
    async with served(tmp_path) as (client, server, _):
        cancelled = asyncio.Event()

        @client.hook("BeforeTool", vocabulary="native")
        async def ask(event: Any) -> dict[str, Any]:
            try:
                return {"decision": await client.host_call("ui.select", {"title": "?"})}
            except asyncio.CancelledError:
                cancelled.set()
                raise

        await client.ready("h-1")
        await server.calls.put(event("1", event_type="BeforeTool"))
        answer = await server.answers.get()
        asked = json.loads(answer.host_call)
        assert answer.hook_id == "h-1" and asked["method"] == "ui.select"
        result = {"hostCallId": asked["hostCallId"], "result": "ask"}
        await server.calls.put(hooks_pb2.HookEvent(host_result=json.dumps(result).encode()))
        answer = await server.answers.get()
        assert json.loads(answer.output) == {"decision": "ask"} and answer.call_id == "1"
        await server.calls.put(event("2", event_type="BeforeTool"))
        await server.answers.get()
        await server.calls.put(hooks_pb2.HookEvent(hook_id="h-1", call_id="2", cancelled=True))
        await cancelled.wait()


@run_async
async def test_asking_after_registering_and_following(tmp_path: Path) -> None:
    async with served(tmp_path) as (client, server, _):
        told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        await client.connect()
        client.register_hook("PreToolUse", print)
        # What is asked behind a registration is asked with it.
        assert (await client.fire("BeforeTool", {"x": 1})).reason == '["h-1"]'
        await client.subscribe(told.put_nowait)
        assert await told.get() == {"type": "hook-started"}
        firing = asyncio.ensure_future(client.fire("Forever", {}, correlation_id="long"))
        while (await server.requests.get())["eventName"] != "Forever":
            pass
        await client.cancel("long")
        with pytest.raises(RequestFailed, match="cancelled"):
            await firing
        await server.cancelled.wait()


@run_async
async def test_closing_ends_what_is_asked(tmp_path: Path) -> None:
    async with served(tmp_path) as (client, server, _):
        firing = asyncio.ensure_future(client.fire("Forever", {}))
        await server.requests.get()
        await client.close()
        with pytest.raises(HookClosedError):
            await firing
        await server.cancelled.wait()


@run_async
async def test_refusals(tmp_path: Path) -> None:
    async with served(tmp_path) as (client, _, problems):
        ids = [client.register_hook("PreToolUse", print) for _ in range(3)]
        await client.ready(ids[1])
        with pytest.raises(RegistrationError, match=r"two are enough \(limit_exceeded\)"):
            await client.ready(ids[2])
        for given in (
            {"matcher": "Bash"},
            {"matcher": {"tool": ["a"]}},
            {"config": {"priority": 0}},
        ):
            with pytest.raises(RegistrationError, match="unsupported"):
                await client.ready(client.register_hook("PreToolUse", print, **given))
        assert len(problems) == 4


@run_async
async def test_a_wrong_token_and_no_server_are_errors(tmp_path: Path) -> None:
    async with served(tmp_path, token="guess") as (client, _, _problems):
        with pytest.raises(HookConnectionError, match="UNAUTHENTICATED no token"):
            await client.connect()
    nobody = f"unix:{tmp_path}/nobody"
    async with A3sClient(transport="grpc", target=nobody, on_problem=lambda _: None) as client:
        with pytest.raises(HookConnectionError, match="nobody"):
            await client.fire("BeforeTool", {})
    with pytest.raises(ValueError, match="needs a target"):
        A3sClient(transport="grpc")


@pytest.mark.parametrize("keeps", [True, False])
@run_async
async def test_a_lost_stream_comes_back_with_its_token(tmp_path: Path, keeps: bool) -> None:
    async with served(tmp_path) as (client, server, _):
        server.keeps = keeps
        client.register_hook("PreToolUse", lambda _: HookResponse.skip())
        await client.ready("h-1")
        await server.streams.get()
        await server.registered.get()
        await server.calls.put(None)
        assert (await server.streams.get())["hook-client-token"] == "issued"
        if not keeps:
            await server.registered.get()
        await client.ready("h-1")
        assert server.registered.empty()
        await server.calls.put(event("1"))
        assert (await server.answers.get()).action == hooks_pb2.SKIP


@pytest.mark.parametrize("module", [hooks_pb2, hook_bus_pb2])
def test_the_generated_code_is_that_of_the_repository(module: Any) -> None:
    source = HERE.parent.parent.parent / "proto" / module.DESCRIPTOR.name
    if not source.exists():
        pytest.skip(f"SKIPPED: there is no {source}, so this is no checkout of the repository")
    text = re.sub(r"//.*", "", source.read_text())
    field = re.compile(r"(optional |repeated |)(\w+) (\w+) = (\d+);")
    written = {
        name: [(label.strip(), kind, field, int(number)) for label, kind, field, number in found]
        for name, body in re.findall(r"message (\w+) \{(.*?)\}", text, re.DOTALL)
        for found in [field.findall(body)]
    }
    kinds = {5: "int32", 3: "int64", 8: "bool", 9: "string", 12: "bytes"}
    generated = {}
    for name, message in module.DESCRIPTOR.message_types_by_name.items():
        generated[name] = [
            (
                "repeated"
                if it.is_repeated
                else "optional"
                if it.has_presence and it.type != 11
                else "",
                kinds.get(it.type) or (it.message_type or it.enum_type).name,
                it.name,
                it.number,
            )
            for it in message.fields
        ]
    assert generated == written
    values = re.search(r"enum \w+ \{(.*?)\}", text, re.DOTALL)
    if values is not None:
        names = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+);", values[1])}
        assert dict(module.HookAction.items()) == names


def test_a_programs_own_code_for_the_seeds_file_is_not_in_the_way() -> None:
    program = """
from google.protobuf import descriptor_pb2, descriptor_pool
file = descriptor_pb2.FileDescriptorProto(name="hooks.proto", syntax="proto3")
file.message_type.add(name="HookEvent")
descriptor_pool.Default().Add(file)
from hook_sdk.transports.generated import hooks_pb2
print(hooks_pb2.HookEvent(call_id="1").call_id)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (run.stdout, run.returncode) == ("1\n", 0), run.stderr
