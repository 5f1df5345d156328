"""What nobody can catch on standard error is not written there, but told to `on_problem`."""

from __future__ import annotations

import asyncio
import gc
import logging
import shutil
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from scripted import run_async, scripted

from hook_sdk import Fleet, HookClient, HookConnectionError, HookResponse

SERVER = """
import json, sys
sys.stderr.write("careful\\n" + "x" * 100_000 + "\\n")
print(json.dumps({"type": "hook-hello", "protocol": 1}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"type": "hook-execution-response", "processed": {"decision": "proceed"},
                      "correlationId": asked["correlationId"]}), flush=True)
sys.stderr.write("without an end")
"""


@run_async
async def test_standard_error_of_a_server_that_was_started_is_told(
    capfd: pytest.CaptureFixture[str],
) -> None:
    problems: list[str] = []
    command = [sys.executable, "-c", SERVER]
    async with HookClient(command=command, on_problem=problems.append) as client:
        assert (await client.fire("SessionEnd", {"reason": "exit"})).proceeds
    first, long, last = problems
    assert first == "the hook server says: careful"
    assert len(long) < 20_000
    assert last == "the hook server says: without an end"
    assert capfd.readouterr().err == ""


@run_async
async def test_a_hook_that_is_taken_back_leaves_no_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with scripted() as (client, server, problems):
        begun, cleaned = asyncio.Event(), asyncio.Event()

        async def handler(_: object) -> HookResponse:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cleaned.set()
                raise OSError("in its cleanup")

        hook_id = client.register_hook("BeforeTool", handler)
        peer = await server.peer()
        await peer.registers()
        peer.call(hook_id, "BeforeTool", {"tool_name": "t"}, "1")
        await begun.wait()
        taking = asyncio.ensure_future(client.unregister_hook(hook_id))
        await peer.hear("hook-unregister")
        # Calls that were on their way.
        peer.call(hook_id, "BeforeTool", {"tool_name": "t"}, "2")
        answer = await peer.hear("hook-answer")
        assert answer["callId"] == "2" and "no hook 'h-1' any more" in answer["error"]
        peer.say({"type": "hook-unregistered", "hookId": hook_id})
        assert await taking
        peer.say({"type": "hook-call-cancelled", "callId": "1"})
        await cleaned.wait()
        reloading = asyncio.ensure_future(client.reload())
        await peer.hear("hook-reload")
        peer.say({"type": "hook-reloaded", "success": True, "totalHooks": 0})
        await reloading
        gc.collect()
        assert len(problems) == 1 and "OSError: in its cleanup" in problems[0], problems
    assert capfd.readouterr().err == ""


@run_async
async def test_a_handler_that_raises_is_told_with_its_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    async with scripted() as (client, server, problems):

        def handler(_: object) -> None:
            raise LookupError("nothing there")

        client.register_hook("BeforeTool", handler)
        peer = await server.peer()
        await peer.registers()
        peer.call("h-1", "BeforeTool", {"tool_name": "t"})
        assert "LookupError" in (await peer.hear("hook-answer"))["error"]
        (problem,) = problems
        assert problem.startswith("hook h-1 failed on BeforeTool: Traceback")
        assert "test_quiet.py" in problem and problem.endswith("LookupError: nothing there")
    assert capfd.readouterr().err == ""


@run_async
async def test_a_callback_for_problems_that_raises_ends_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fails(_: str) -> None:
        raise RuntimeError("the callback's own")

    async with HookClient(socket="/no/such/socket", on_problem=fails) as client:
        for _ in range(2):
            with pytest.raises(HookConnectionError):
                await client.connect()
    said = capfd.readouterr().err
    assert "no hook server at /no/such/socket" in said and "the callback's own" in said


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for this machine, with its key and another one beside it."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("SKIPPED TLS: there is no openssl")
    folder = tmp_path_factory.mktemp("certificate")
    made = f"{openssl} req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -subj /CN=here"
    more = "-addext subjectAltName=IP:127.0.0.1"
    for name in ("here", "other"):
        command = f"{made} {more} -keyout {name}.key -out {name}.pem".split()
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder / "here.pem"


def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("here.key"))
    return context


BROKER = """
import asyncio, ssl, sys

async def greets_and_goes(reader, writer):
    writer.write(b'INFO {"server_id":"s","version":"2.10.0","proto":1,"max_payload":1048576,'
                 b'"headers":true,"tls_required":true}\\r\\n')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[1:])
    await writer.start_tls(context)
    while (line := await reader.readline()) and not line.startswith(b"SUB"):
        if line.startswith(b"PING"):
            writer.write(b"PONG\\r\\n")
    print("went", flush=True)
    writer.transport.abort()

async def main():
    server = await asyncio.start_server(greets_and_goes, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the broker needs Python 3.11")
@run_async
async def test_a_broker_over_tls_that_goes_is_not_logged(
    certificate: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("nats", reason="SKIPPED NATS: install the extra `nats`")
    caplog.set_level(logging.WARNING)
    broker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", BROKER, certificate, certificate.with_name("here.key")),
        stdout=asyncio.subprocess.PIPE,
    )
    assert broker.stdout is not None
    port = int(await broker.stdout.readline())
    fleet = Fleet(f"tls://127.0.0.1:{port}", certificate_authority=certificate)
    async with HookClient(transport="nats", fleet=fleet) as client:
        asking = asyncio.ensure_future(client.request("BeforeTool", {"tool_name": "edit"}))
        # When it comes the second time, it has noticed that the first is gone.
        for _ in range(2):
            assert await broker.stdout.readline() == b"went\n"
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    broker.kill()
    await broker.communicate()
    assert (capfd.readouterr().err, caplog.records) == ("", [])


HANDSHAKE = """
import asyncio, sys
from pathlib import Path
from hook_sdk import HookClient, HookConnectionError

async def main():
    problems = []
    credentials = Path(sys.argv[2]).read_bytes()
    client = HookClient(transport="grpc", target=sys.argv[1], credentials=credentials,
                        on_problem=problems.append)
    async with client:
        try:
            await client.connect()
        except HookConnectionError:
            pass
    assert len(problems) == 1 and "CERTIFICATE_VERIFY_FAILED" in problems[0], problems

asyncio.run(main())
"""


@run_async
async def test_a_server_over_grpc_that_is_not_believed_is_told(certificate: Path) -> None:
    pytest.importorskip("grpc", reason="SKIPPED gRPC: install the extra `grpc`")
    server = await asyncio.start_server(
        lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=tls(certificate)
    )
    target = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)  # It is hung up on.
    async with server:
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HANDSHAKE, target, certificate.with_name("other.pem")),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        said, _ = await program.communicate()
    assert (program.returncode, said) == (0, b"")
