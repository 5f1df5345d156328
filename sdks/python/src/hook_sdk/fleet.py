"""A fleet of engines behind a NATS broker, as a client names it."""

from __future__ import annotations

import ipaddress
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

_MAX_CREDENTIALS = 64 * 1024


@dataclass(frozen=True)
class Fleet:
    """Where a fleet is, and what it means that none of its engines answers.

    `url` is `tls://HOST:PORT`, or `nats://` on this machine; several with commas between.
    `credentials` is a file of mode 600 with NATS credentials, or with the seed of an NKey.
    """

    url: str
    credentials: str | os.PathLike[str] | None = None
    certificate_authority: str | os.PathLike[str] | None = None
    """A file in PEM with certificates that are believed beside those that the system believes."""
    subject: str = "hooks"
    fail_behavior: Literal["block", "continue"] = "block"
    """What it means for an event that no engine answered: an unreachable fleet never approves a request."""
    deadline_ms: int = 60_000
    """How long a request may take that does not say it itself."""
    connect_timeout_ms: int = 5_000
    """How long a request waits for a connection to the broker, at most until its deadline."""
    expect_settings: str | None = None
    """The `settingsHash` of the engines that may answer; no other does."""
    insecure: bool = False
    """Talk in plain text to a broker that is not on this machine. For tests."""

    def __post_init__(self) -> None:
        for server in self.servers:
            parts = urlsplit(server)
            if parts.scheme not in ("nats", "tls") or not parts.hostname:
                raise ValueError(f"a broker is tls://HOST:PORT or nats://HOST:PORT, not {server!r}")
            if parts.username is not None:
                raise ValueError("a broker's URL has no name or password; use `credentials`")
            if parts.scheme == "nats" and not self.insecure and not _is_loopback(parts.hostname):
                raise ValueError(
                    f"what is said to {server} can be read on the way; name tls://, or, for a "
                    "test, insecure=True"
                )
        words = self.subject.split(".")
        if not all(word and set(word) <= _TOKEN for word in words):
            raise ValueError(f"a subject is words with dots between, not {self.subject!r}")
        if self.fail_behavior not in ("block", "continue"):
            raise ValueError(f"fail_behavior is block or continue, not {self.fail_behavior!r}")

        if self.expect_settings is not None and not _is_hash(self.expect_settings):
            raise ValueError(
                "expect_settings is the 64 hexadecimal digits of a settingsHash, not "
                f"{self.expect_settings!r}"
            )

    @property
    def servers(self) -> list[str]:
        """The brokers, each with its scheme."""
        named = (server.strip() for server in self.url.split(","))
        return [server if "://" in server else f"nats://{server}" for server in named]

    def request_subject(self, event: str) -> str:
        """Where requests for an event are."""
        is_token = 0 < len(event) <= 64 and set(event) <= _TOKEN
        return f"{self.subject}.request.{event if is_token else '_'}"

    def read_credentials(self) -> str | None:
        """What the file of credentials holds. Raises ValueError for one that others can read."""
        if self.credentials is None:
            return None
        path = Path(self.credentials)
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_CREDENTIALS:
            raise ValueError(f"{path} is no file of credentials")
        if os.name == "posix" and status.st_mode & 0o077:
            raise ValueError(f"others can read {path}; say `chmod 600 {path}`")
        return path.read_text()


_TOKEN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


def _is_hash(text: str) -> bool:
    return len(text) == 64 and set(text) <= frozenset("0123456789abcdef")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
