"""Slots: limits on how many pages are made at a time, so that no wait blocks other pages.

Pages that read and pages that save have slots of their own: while saves wait for another program
that holds the file, pages that read are still made. There are few slots, since Python threads that
all compute slow each other down. Static files have the other threads to themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from careeval.errors import ReviewError
from careeval.people import database

_READING, _SAVING = 2, 2


class PageSlots:
    """Slots for pages that are made at the same time: a few that read, and a few that save."""

    def __init__(self) -> None:
        self._reading = asyncio.Semaphore(_READING)
        self._saving = asyncio.Semaphore(_SAVING)

    @asynccontextmanager
    async def slot(self, method: str) -> AsyncIterator[None]:
        """Take a slot for a block; raise ReviewError if none gets free within BUSY_SECONDS."""
        slots = self._reading if method in ("GET", "HEAD") else self._saving
        try:
            await asyncio.wait_for(slots.acquire(), database.BUSY_SECONDS)
        except TimeoutError as error:
            raise ReviewError(
                "too many requests at once: this one was not served within "
                f"{database.BUSY_SECONDS} s"
            ) from error
        try:
            yield
        finally:
            slots.release()


class PageRoute(APIRoute):
    """A route whose page is made in a worker thread, in a slot, after its form has been read."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        in_slot = endpoint if asyncio.iscoroutinefunction(endpoint) else _in_slot(endpoint)
        super().__init__(path, in_slot, **options)


def _in_slot(make: Callable[..., Response]) -> Callable[..., Awaitable[Response]]:
    @wraps(make)
    async def made(request: Request, **given: Any) -> Response:
        slots: PageSlots = request.app.state.page_slots
        async with slots.slot(request.method):
            return await run_in_threadpool(make, request, **given)

    return made
