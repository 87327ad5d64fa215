"""A queue that handles replies one after the other, even if they arrive at the same time.

A hundred replies that come at once share the loop: each takes a small step in turn, all are done
at the same late moment, and so are the hundred calls that follow them. The server meanwhile has
nothing to do. In a queue, the first reply has led to its next call while the others wait, and calls
soon spread evenly. `python bench/speed.py latency` measures the effect.
"""

from __future__ import annotations

import asyncio
from collections import deque

STEPS = 60
"""Cycles of the event loop between two replies: about as many as pass from a reply to the next call
that follows from it. Fewer cycles gain less, more gain nothing."""


class ReplyQueue:
    """A queue of replies, for all models of one process."""

    def __init__(self, steps: int = STEPS) -> None:
        """Make an empty queue that waits `steps` cycles of the event loop after each reply."""
        self._steps = steps
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._calling: asyncio.Task[None] | None = None

    async def wait(self) -> None:
        """Wait for the turn of the current reply: in the order of arrival, `steps` apart."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        self._waiting.append(turn)
        if self._calling is None or self._calling.done():
            self._calling = loop.create_task(self._call_up())
        await turn

    async def _call_up(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if turn.done():
                continue  # its call was cancelled while it waited
            turn.set_result(None)
            for _ in range(self._steps):
                await asyncio.sleep(0)
