"""The gRPC services as a way to a server. Needs the extra `grpc` (grpcio, protobuf)."""

from __future__ import annotations

import asyncio
import collections
import os
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

# What the library writes to standard error is in its errors as well. It is read at its import.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
try:
    import grpc
    import grpc.aio

    from . import grpc_messages as messages
    from .generated import hook_bus_pb2 as bus_pb2
    from .generated import hooks_pb2
except ImportError as error:
    raise ImportError(
        f"transport='grpc' needs the extra: pip install 'hook-sdk[grpc]' ({error})"
    ) from error

from ..errors import HookConnectionError, HookProtocolError
from ..lines import MAX_READ
from ..waiting import within
from . import BadLine, Transport

OPEN_SECONDS = 30.0
"""How long a server may take to open the stream."""

STATUS_SECONDS = 1.0
"""How long the status of a stream that failed may come behind its metadata."""

_MAX_POSTED = 1024
"""How many messages may wait to be sent, before `drain` waits."""


class Grpc:
    """A gRPC server."""

    def __init__(
        self, target: str | None, token: str | None, credentials: Any, client_id: str | None
    ) -> None:
        """`token` is the server's bearer token, for TCP; `credentials` are for TLS."""
        if target is None:
            raise ValueError("transport='grpc' needs a target: 'unix:PATH' or 'HOST:PORT'")
        self._target, self._token, self._credentials = target, token, credentials
        self._client_id = client_id or f"hook-sdk-{uuid.uuid4()}"

    async def open(self, client_token: str | None) -> Transport:
        """Opens the stream of calls. Raises HookConnectionError."""
        metadata = [("hook-client-id", self._client_id)]
        if client_token:
            metadata.append(("hook-client-token", client_token))
        if self._token is not None:
            metadata.append(("authorization", f"Bearer {self._token}"))
        # Reconnecting is the client's affair, and wants the token.
        options: list[tuple[str, Any]] = [
            ("grpc.max_receive_message_length", MAX_READ),
            ("grpc.max_send_message_length", MAX_READ),
            ("grpc.use_local_subchannel_pool", 1),
        ]
        if self._target.startswith("unix:"):
            # Some versions name the socket's path, which servers refuse as a name of theirs.
            options.append(("grpc.default_authority", "localhost"))
        if self._credentials is None:
            channel = grpc.aio.insecure_channel(self._target, options)
        else:
            credentials = self._credentials
            if isinstance(credentials, bytes):
                credentials = grpc.ssl_channel_credentials(credentials)
            channel = grpc.aio.secure_channel(self._target, credentials, options)
        try:
            method = channel.stream_stream(
                "/HookService/HookStream",
                request_serializer=hooks_pb2.HookResponse.SerializeToString,
                response_deserializer=hooks_pb2.HookEvent.FromString,
            )
            stream = method(metadata=metadata)
            opened = await within(OPEN_SECONDS, stream.initial_metadata())
            issued = {key: value for key, value in opened or ()}.get("hook-client-token")
            if issued is None:
                await self._check(stream)
        except (grpc.aio.AioRpcError, asyncio.TimeoutError) as error:
            await channel.close()
            raise HookConnectionError(f"no hook server at {self._target}: {_why(error)}") from None
        except BaseException:
            await channel.close()
            raise
        return GrpcTransport(channel, stream, metadata, str(issued or ""))

    async def _check(self, stream: Any) -> None:
        """A stream without a token: either it failed, or the server is one that issues none."""
        try:
            code = await within(STATUS_SECONDS, stream.code())
        except asyncio.TimeoutError:
            return
        why = f"{code.name} {await stream.details()}"
        raise HookConnectionError(f"no hook server at {self._target}: {why}")


class GrpcTransport:
    """One stream of calls, and the unary calls beside it."""

    notice: str | None = None

    def __init__(
        self, channel: Any, stream: Any, metadata: list[tuple[str, str]], token: str
    ) -> None:
        self._channel, self._stream, self._metadata = channel, stream, metadata
        self._token = token
        self._received: asyncio.Queue[dict[str, Any] | Exception] = asyncio.Queue(1024)
        self._received.put_nowait(messages.hello(token))
        self._posted: collections.deque[Callable[[], Coroutine[Any, Any, None]]]
        self._posted = collections.deque()
        self._wake, self._drained = asyncio.Event(), asyncio.Event()
        self._drained.set()
        self._over = False
        self._hook_of_call: dict[str, str] = {}
        self._requests: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._spawn(self._read_stream())
        self._spawn(self._send_posted())

    def post(self, message: dict[str, Any]) -> None:
        if self._over:
            raise HookConnectionError("the connection to the hook server is over")
        kind = message["type"]
        # What cannot be said is an error here, and not later.
        if kind in ("hook-answer", "hook-host-call"):
            hook_id = self._hook_of_call.get(message["callId"], "")
            if kind == "hook-answer":
                self._hook_of_call.pop(message["callId"], None)
            response = messages.hook_response(message, hook_id)
            self._put(lambda: self._stream.write(response))
        elif kind == "hook-register":
            request = messages.registration(message)
            self._put(lambda: self._register(request, message))
        elif kind == "hook-unregister":
            self._put(lambda: self._unregister(message))
        elif kind == "hook-list":
            self._put(self._list)
        elif kind == "hook-execution-request":
            asked = messages.execution_request(message)
            self._put(lambda: self._begin_request(asked, message))
        elif kind == "hook-cancel":
            self._put(lambda: self._cancel_request(message))
        elif kind == "hook-subscribe":
            self._put(self._begin_follow)
        elif kind == "hook-hello":  # Its token was said as metadata.
            if "clientToken" in message:
                self._put(self._resume)
        else:
            raise HookProtocolError(f"gRPC has no {kind}; over a socket it is possible")

    async def drain(self) -> None:
        await self._drained.wait()

    async def receive(self) -> dict[str, Any]:
        message = await self._received.get()
        if isinstance(message, Exception):
            raise message
        return message

    async def close(self) -> None:
        self._over = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._stream.cancel()
        await self._channel.close()

    # Sending, in order.

    def _put(self, send: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._posted.append(send)
        self._wake.set()
        if len(self._posted) >= _MAX_POSTED:
            self._drained.clear()

    async def _send_posted(self) -> None:
        while True:
            while self._posted:
                send = self._posted.popleft()
                if len(self._posted) < _MAX_POSTED:
                    self._drained.set()
                try:
                    await send()
                except (grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
                    return  # The stream is over, and who reads it says why.
            self._wake.clear()
            await self._wake.wait()

    async def _register(self, request: Any, message: dict[str, Any]) -> None:
        reply = {"hookId": message["hookId"], "eventName": message["eventName"]}
        try:
            response_type = hooks_pb2.RegisterHookResponse
            await self._unary("HookService/RegisterHook", request, response_type)
        except grpc.aio.AioRpcError as error:
            await self._say({**_refusal(error, "hook-register"), **reply})
        else:
            await self._say({"type": "hook-registered", **reply})

    async def _unregister(self, message: dict[str, Any]) -> None:
        request = hooks_pb2.UnregisterHookRequest(hook_id=message["hookId"])
        try:
            response_type = hooks_pb2.UnregisterHookResponse
            await self._unary("HookService/UnregisterHook", request, response_type)
        except grpc.aio.AioRpcError as error:
            refusal = _refusal(error, "hook-unregister")
            await self._say({**refusal, "hookId": message["hookId"]})
        else:
            await self._say({"type": "hook-unregistered", "hookId": message["hookId"]})

    async def _list(self) -> None:
        request, response_type = hooks_pb2.ListHooksRequest(), hooks_pb2.ListHooksResponse
        try:
            response = await self._unary("HookService/ListHooks", request, response_type)
        except grpc.aio.AioRpcError as error:
            await self._say(_refusal(error, "hook-list"))
        else:
            await self._say(messages.listed(response))

    async def _resume(self) -> None:
        """Says which hooks the server still has, as it does itself over lines."""
        request, response_type = hooks_pb2.ListHooksRequest(), hooks_pb2.ListHooksResponse
        try:
            response = await self._unary("HookService/ListHooks", request, response_type)
        except grpc.aio.AioRpcError as error:
            await self._received.put(HookConnectionError(f"the server was lost: {_why(error)}"))
        else:
            own = [hook.hook_id for hook in response.hooks if hook.own]
            await self._say({"type": "hook-resumed", "clientToken": self._token, "hookIds": own})

    async def _begin_request(self, asked: Any, message: dict[str, Any]) -> None:
        number = message["correlationId"]
        task = self._spawn(self._request(asked, number))
        self._requests[number] = task
        task.add_done_callback(lambda _: self._requests.pop(number, None))

    async def _request(self, asked: Any, number: str) -> None:
        try:
            response_type = bus_pb2.HookExecutionResponse
            response = await self._unary("hook.v1.HookBus/Request", asked, response_type)
            answer = {**messages.bus_message(response), "correlationId": number}
        except asyncio.CancelledError:
            # The call's end ends the hooks; this is for who still waits.
            answer = _failed(number, "cancelled", "the request was cancelled")
            self._spawn(self._say(answer))
            raise
        except (grpc.aio.AioRpcError, HookProtocolError) as error:
            answer = _failed(number, _code(error), _why(error))
        await self._say(answer)

    async def _cancel_request(self, message: dict[str, Any]) -> None:
        task = self._requests.get(message["correlationId"])
        if task is not None:
            task.cancel()

    async def _begin_follow(self) -> None:
        self._spawn(self._follow())

    async def _unary(self, path: str, request: Any, response_type: Any) -> Any:
        method = self._channel.unary_unary(
            f"/{path}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=response_type.FromString,
        )
        return await method(request, metadata=self._metadata)

    # Receiving.

    async def _read_stream(self) -> None:
        why = "the hook server ended the stream"
        try:
            async for event in self._stream:
                try:
                    message = messages.received(event)
                except HookProtocolError as error:
                    await self._received.put(BadLine(str(error)))
                    if event.call_id:
                        answer = {"type": "hook-answer", "callId": event.call_id}
                        self.post({**answer, "error": str(error)})
                    continue
                if message["type"] == "hook-call":
                    self._hook_of_call[event.call_id] = event.hook_id
                elif message["type"] == "hook-call-cancelled":
                    self._hook_of_call.pop(event.call_id, None)
                await self._received.put(message)
        except grpc.aio.AioRpcError as error:
            why = f"the stream from the hook server was lost: {_why(error)}"
        self._over = True
        await self._received.put(HookConnectionError(why))

    async def _follow(self) -> None:
        method = self._channel.unary_stream(
            "/hook.v1.HookBus/Follow",
            request_serializer=bus_pb2.FollowRequest.SerializeToString,
            response_deserializer=bus_pb2.BusMessage.FromString,
        )
        try:
            async for each in method(bus_pb2.FollowRequest(), metadata=self._metadata):
                try:
                    message = messages.bus_message(each)
                except HookProtocolError as error:
                    await self._received.put(BadLine(str(error)))
                    continue
                # Requests and responses are told, too, but only progress was asked for.
                if message["type"] in ("hook-started", "hook-finished", "hook-lagged"):
                    await self._received.put(message)
        except grpc.aio.AioRpcError as error:
            await self._received.put(BadLine(f"no progress is told any more: {_why(error)}"))

    async def _say(self, message: dict[str, Any]) -> None:
        await self._received.put(message)

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


_CODES = {
    "RESOURCE_EXHAUSTED": "limit_exceeded",
    "ALREADY_EXISTS": "duplicate_id",
    "INVALID_ARGUMENT": "invalid_request",
    "UNAUTHENTICATED": "unauthenticated",
    "DEADLINE_EXCEEDED": "deadline_exceeded",
}


def _code(error: Exception) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        name = str(error.code().name)
        return _CODES.get(name, name.lower())
    return "invalid_response"


def _why(error: Exception) -> str:
    if isinstance(error, grpc.aio.AioRpcError):
        return f"{error.code().name} {error.details()}"
    return str(error) or type(error).__name__


def _refusal(error: Any, request: str) -> dict[str, Any]:
    said = {"code": _code(error), "message": error.details() or "the server refused"}
    return {"type": "hook-error", "request": request, "error": said}


def _failed(number: str, code: str, message: str) -> dict[str, Any]:
    error = {"code": code, "message": message}
    return {
        "type": "hook-execution-response",
        "correlationId": number,
        "success": False,
        "error": error,
    }
