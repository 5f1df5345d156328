"""The connection to a broker: its end, its servers, and that nobody reads along."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import shutil
import subprocess
import warnings
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from brokers import TOOL, asker, broker, deny, engine, free_port, nats, needs_broker
from scripted import run_async

pytestmark = needs_broker


@contextlib.asynccontextmanager
async def leaving_nothing() -> AsyncIterator[None]:
    """Fails where what is done inside leaves a task or a socket behind."""
    before = asyncio.all_tasks()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ResourceWarning)
        yield
        gc.collect()
    assert [str(warning.message) for warning in said] == []
    assert asyncio.all_tasks() <= before


@contextlib.asynccontextmanager
async def speaker(greeting: bytes) -> AsyncIterator[tuple[str, bytearray]]:
    """Something that greets as a broker, or not, and what is said to it."""
    heard = bytearray()

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        with contextlib.suppress(OSError):
            while chunk := await reader.read(1024):
                heard.extend(chunk)
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


async def ask(client: Any, **more: Any) -> tuple[str, str | None]:
    """The code of what went wrong, and what that means."""
    answer = await client.request("BeforeTool", TOOL, **more)
    return answer["error"]["code"], answer.get("processed", {}).get("decision")


@run_async
async def test_closed_while_it_connects_it_leaves_nothing() -> None:
    async with leaving_nothing():
        async with asker(f"nats://127.0.0.1:{free_port()}") as client:
            assert await ask(client, deadline_ms=300) == ("deadline_exceeded", "block")


@run_async
async def test_closed_before_the_broker_greets_it_leaves_nothing() -> None:
    async with speaker(b"") as (place, _):
        async with leaving_nothing():
            async with asker(f"nats://{place}") as client:
                assert await ask(client, deadline_ms=300) == ("deadline_exceeded", "block")


@run_async
async def test_closed_while_the_broker_is_away_it_leaves_nothing(tmp_path: Path) -> None:
    async with leaving_nothing():
        async with broker(tmp_path) as url:
            client = asker(url)
            await client.connect()
            assert await ask(client) == ("no_handler", "block")
        assert await ask(client, deadline_ms=300) == ("deadline_exceeded", "block")
        await client.close()


@run_async
async def test_it_outlives_its_broker(tmp_path: Path) -> None:
    port = free_port()
    async with asker(f"nats://127.0.0.1:{port}") as client:
        async with broker(tmp_path, port):
            assert await ask(client) == ("no_handler", "block")
        assert await ask(client, deadline_ms=300) == ("deadline_exceeded", "block")
        asked = asyncio.ensure_future(client.fire("BeforeTool", TOOL))
        async with broker(tmp_path, port) as url, engine(url, deny):
            # Engines come back one by one: that nobody is there yet is no answer.
            assert (await asked).reason == "as the fleet says"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an authority, and with the certificate that it gave to this machine."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("SKIPPED TLS: there is no openssl")
    folder = tmp_path_factory.mktemp("certificates")
    new = f"{openssl} req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256"
    for one in (
        f"{new} -subj /CN=authority -keyout authority.key -out authority.pem",
        f"{new} -subj /CN=broker -keyout broker.key -out broker.pem -CA authority.pem"
        " -CAkey authority.key -addext subjectAltName=IP:127.0.0.1"
        " -addext basicConstraints=critical,CA:FALSE",
    ):
        subprocess.run(one.split(), cwd=folder, check=True, capture_output=True)
    return folder


def tls(certificates: Path) -> str:
    """The settings of a broker that speaks TLS."""
    file = certificates / "broker"
    return f'tls {{ cert_file: "{file}.pem", key_file: "{file}.key" }}\n'


def encrypted(url: str) -> str:
    return url.replace("nats://", "tls://")


@run_async
async def test_over_tls_an_engine_answers(tmp_path: Path, certificates: Path) -> None:
    async with broker(tmp_path, more=tls(certificates)) as url:
        authority = certificates / "authority.pem"
        async with asker(encrypted(url), certificate_authority=authority) as client:
            assert await ask(client) == ("no_handler", "block")
        # Nobody that is believed says that it is the broker.
        async with leaving_nothing(), asker(encrypted(url)) as client:
            assert await ask(client) == ("unanswered", "block")


@run_async
async def test_nothing_is_said_to_a_server_without_tls(tmp_path: Path) -> None:
    seed = tmp_path / "agent.nk"
    seed.write_text("SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY")
    seed.chmod(0o600)
    info = b'INFO {"server_id":"x","version":"2.9.0","max_payload":1048576,"nonce":"n"}\r\n'
    async with speaker(info) as (place, heard):
        async with asker(f"tls://{place}", credentials=seed) as client:
            answer = await client.request("BeforeTool", TOOL)
            assert answer["error"]["code"] == "unanswered"
            assert "refuses the connection" in answer["error"]["message"]
            assert answer["processed"]["decision"] == "block"
        assert heard == b""


@run_async
async def test_a_broker_that_comes_back_without_tls_is_refused(
    tmp_path: Path, certificates: Path
) -> None:
    port, authority = free_port(), certificates / "authority.pem"
    async with asker(f"tls://127.0.0.1:{port}", certificate_authority=authority) as client:
        async with broker(tmp_path, port, tls(certificates)):
            assert await ask(client) == ("no_handler", "block")
        async with broker(tmp_path, port) as url, engine(url, deny) as seen:
            assert await ask(client) == ("unanswered", "block")
            assert not seen


@run_async
async def test_one_server_with_tls_is_held_to_it_beside_one_on_this_machine() -> None:
    info = b'INFO {"server_id":"x","version":"2.9.0","max_payload":1048576}\r\n'
    async with speaker(info) as (place, heard):
        async with asker(f"tls://{place},nats://127.0.0.1:{free_port()}") as client:
            assert await ask(client, deadline_ms=500) == ("deadline_exceeded", "block")
        assert heard == b""


@run_async
async def test_servers_that_a_cluster_advertises_are_not_used(tmp_path: Path) -> None:
    routes = [free_port(), free_port()]
    settings = [
        f"cluster {{ name: c, listen: 127.0.0.1:{own}, routes: [nats://127.0.0.1:{other}] }}\n"
        for own, other in [routes, routes[::-1]]
    ]
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    async with broker(folders[1], more=settings[1]) as other, engine(other, deny) as seen:
        async with broker(folders[0], more=settings[0]) as named:
            await advertised(named, other)
            client = asker(named)
            assert (await client.fire("BeforeTool", TOOL)).reason == "as the fleet says"
        assert await ask(client, deadline_ms=1500) == ("deadline_exceeded", "block")
        assert len(seen) == 2
        await client.close()


async def advertised(url: str, other: str) -> None:
    """Returns when a server tells its clients of another one, and passes on what is asked."""
    port = int(other.rsplit(":", 1)[1])
    while True:
        client = await nats.connect(url)
        places = [server.port for server in client.discovered_servers]
        with contextlib.suppress(nats.errors.NoRespondersError):
            if port in places:
                request = b'{"correlationId":"1","eventName":"Notification"}'
                await client.request("hooks.request.Notification", request, timeout=5)
                await client.close()
                return
        await client.close()
        await asyncio.sleep(0.05)
