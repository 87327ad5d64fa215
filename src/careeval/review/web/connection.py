"""How the server takes connections: each for so long, so many at once, and each request one way.

The parser, h11, reads some requests that another reader would take for a different one: with two
lengths, with a length and chunks, with lines that end otherwise. A proxy that passes such a request
on may see one request where h11 sees two, so they are refused. uvicorn ends a connection that is
idle after a request, but none that is silent before one or in the midst of it.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD_BYTES = 16 * 1024

MOST, _FEWEST = 512, 16
"""Connections at once: where as many files may be open, and at least."""
_OTHER_FILES = 128
"""Open files kept for all but connections: the store, static files, and what was just accepted."""

BACKLOG = 16
"""Connections accepted in one go, before it is seen whether there are too many."""

_QUEUE = 512
"""Connections that may wait to be accepted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the server waits for whoever is connected.

    Attributes:
        head: Seconds for a request's first line and headers to come.
        exchange: Seconds from there for its body to come and the answer to be taken.
    """

    head: float = 10.0
    exchange: float = 30.0


class TwofoldError(h11.RemoteProtocolError):
    """A request that can be read as another one."""


class Reader(h11.Connection):
    """Reads requests, and refuses those that another reader may take for something else."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, _HEAD_BYTES)

    def next_event(self) -> Any:
        """As of h11."""
        before, _ = self.trailing_data
        event = super().next_event()
        if isinstance(event, h11.Request | h11.EndOfMessage):
            after, _ = self.trailing_data
            taken = before[: len(before) - len(after)]
            if why := next(_doubts(taken, isinstance(event, h11.Request)), ""):
                raise TwofoldError(why)
        return event


def _doubts(taken: bytes, is_head: bool) -> Iterator[str]:
    """Why the head of a request, or what frames the end of its body, can be read in two ways."""
    first, *lines = taken.split(b"\r\n")
    if any(end in line for line in (first, *lines) for end in (b"\r", b"\n")):
        yield "a line that does not end with CR LF"
    if any(line.startswith((b" ", b"\t")) for line in lines):
        yield "a field on two lines"
    if not is_head:
        return
    fields = [(name.lower(), value) for name, _, value in (line.partition(b":") for line in lines)]
    lengths = [value.strip(b" \t") for name, value in fields if name == b"content-length"]
    chunked = any(name == b"transfer-encoding" for name, _ in fields)
    if len(lengths) > 1 or not all(map(bytes.isdigit, lengths)):
        yield "more than one length"
    if chunked and (lengths or not first.endswith(b"HTTP/1.1")):
        yield "a length and chunks, or chunks in HTTP/1.0"


class Connection(H11Protocol):
    """A connection that is ended when whoever is there says nothing or takes nothing for too long.

    Beyond `most`, a new one takes the place of the one that has kept us waiting longest.
    """

    limits: ClassVar[Limits]
    most: ClassVar[int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = Reader()
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._between = False  # two requests

    @property
    def waits(self) -> bool:
        """Whether the next move is not ours."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; not for ever, and not beside too many."""
        super().connection_made(transport)
        self._wait(self.limits.head)
        if len(self.connections) > self.most:
            waiting = [each for each in cast("set[Connection]", self.connections) if each.waits]
            oldest = min(waiting, key=lambda each: each._since)
            self.connections.discard(oldest)  # it is lost only later, and would be chosen again
            oldest.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A next request begins the wait for its head; further bytes do not prolong it."""
        if self._between:
            self._between = False
            self._wait(self.limits.head)
        super().data_received(data)
        if self.conn.their_state is h11.DONE and len(self.conn.trailing_data[0]) > _HEAD_BYTES:
            self.drop()  # no browser asks on and on before it is answered

    def handle_events(self) -> None:
        """With a head that has come whole begins the wait for the rest."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._between = False
            self._wait(self.limits.exchange)

    def on_response_complete(self) -> None:
        """What is answered must be taken too: to end an idle connection, uvicorn waits for that."""
        self._between = True
        self._wait(self.limits.exchange)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read; without a word where an answer has begun already."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def drop(self) -> None:
        """End it at once: the system keeps nothing either of what was not taken."""
        taken = self.transport.get_extra_info("socket")
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._since = self.loop.time()
        self._timer = self.loop.call_later(seconds, self.drop)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Server(uvicorn.Server):
    """Lets more connections wait to be accepted than are accepted in one go."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Take connections."""
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUE)  # to listen again changes nothing else


def connections(limits: Limits) -> type[Connection]:
    """What uvicorn makes of each connection, with these limits and as many as can be open."""
    return type("Connection", (Connection,), {"limits": limits, "most": _most()})


def _most() -> int:
    """How many connections there may be, for as many files as this process may open."""
    try:
        import resource
    except ImportError:  # no such limit
        return MOST
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST
    return max(_FEWEST, min(MOST, files - _OTHER_FILES))
