"""Places of which there are so many; who finds none waits, in order."""

from __future__ import annotations

import asyncio
from collections import deque


class Places:
    """Places of which there are so many."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def take(self, seconds: float) -> bool:
        """Takes one. False where there is none for so long."""
        if self._free > 0:
            self._free -= 1
            return True
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await asyncio.wait({turn}, timeout=max(seconds, 0))
        except asyncio.CancelledError:
            self._leave(turn)
            raise
        if turn.done():
            return True
        self._leave(turn)
        return False

    def give(self) -> None:
        """Gives one back: to who waits longest, if anybody does."""
        if self._waiting:
            self._waiting.popleft().set_result(None)
        else:
            self._free += 1

    def _leave(self, turn: asyncio.Future[None]) -> None:
        if turn.done():
            self.give()
        else:
            self._waiting.remove(turn)
