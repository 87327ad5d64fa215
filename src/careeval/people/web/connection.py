"""Connections to the server, limited in time and number, with strict reading of requests.

The parser, h11, reads some requests that another parser would take for a different one: with two
lengths, with a length and chunks, with unusual line ends. A proxy that passes on such a request may
see one request where h11 sees two, so such requests are refused. uvicorn ends a connection that is
idle after a request, but not one that is silent before or during a request.
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

_PIECE = 4096
"""Bytes that h11 is given at a time. It checks the length of a head only while it is incomplete, so
that a head of any length would pass if all of it came at once."""

MAX_CONNECTIONS, _MIN_CONNECTIONS = 512, 16
"""The limit on connections at once, and its least value where few files may be open."""
_OTHER_FILES = 128
"""Open files kept for the store, static files, and connections that were just accepted."""

BACKLOG = 16
"""Connections accepted in one go, before their number is checked."""

_QUEUE = 512
"""Connections that may wait to be accepted."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Times that the server waits for a client."""

    head: float = 10.0  # Seconds for a request's first line and headers to come
    exchange: float = 30.0
    """Seconds from then on until the response is complete; and again for the client to take it."""


class TwofoldError(h11.RemoteProtocolError):
    """A request that another parser may read differently."""


class StrictReader(h11.Connection):
    """A parser of requests that refuses a request which another parser may read differently."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, _HEAD_BYTES)
        self._read_cr = False  # the last byte that h11 took was CR

    def next_event(self) -> Any:
        """Return h11's next event; raise TwofoldError if another parser may read it differently."""
        before, _ = self.trailing_data
        event = super().next_event()
        after, _ = self.trailing_data
        taken = before[: len(before) - len(after)]
        ends_line = self._read_cr and taken.startswith(b"\n")
        if taken:
            self._read_cr = taken.endswith(b"\r")
        if ends_line:  # h11 takes the CR after a chunk before the LF has come
            taken = taken[1:]
        head = isinstance(event, h11.Request)
        if head or isinstance(event, h11.EndOfMessage):
            why = next(_doubts(taken, head), "")
            if why:
                raise TwofoldError(why)
        return event


def _doubts(taken: bytes, is_head: bool) -> Iterator[str]:
    """Yield the reasons why the head of a request, or the end of its body, can be misread."""
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
    """A connection that ends if the client sends nothing or receives nothing for too long.

    If there are more than `max_connections`, a new connection replaces the one waited for longest.
    """

    limits: ClassVar[Limits]
    max_connections: ClassVar[int]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = StrictReader()
        self._timer: asyncio.TimerHandle | None = None
        self._since = 0.0
        self._between_requests = False

    @property
    def waits(self) -> bool:
        """True while the server waits for the client."""
        cycle = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body or self.flow.write_paused

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request; if connections are too many, drop the one waited for longest."""
        super().connection_made(transport)
        self._wait(self.limits.head)
        if len(self.connections) > self.max_connections:
            waiting = [each for each in cast("set[Connection]", self.connections) if each.waits]
            oldest = min(waiting, key=lambda each: each._since)
            self.connections.discard(
                oldest
            )  # connection_lost comes later, and it would be chosen again
            oldest.drop()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of a connection that has ended."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Wait for the head of the next request; further bytes do not prolong this."""
        if self._between_requests:
            self._between_requests = False
            self._wait(self.limits.head)
        for start in range(0, len(data), _PIECE):
            super().data_received(data[start : start + _PIECE])
            ahead = len(self.conn.trailing_data[0]) if self.conn.their_state is h11.DONE else 0
            if ahead > _HEAD_BYTES:
                self.drop()  # no browser sends so much before it is answered
            if self.transport.is_closing():
                return

    def handle_events(self) -> None:
        """Wait for the rest of a request once its head has come."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._between_requests = False
            self._wait(self.limits.exchange)

    def on_response_complete(self) -> None:
        """Wait for the client to take the response; uvicorn's wait for the next request begins."""
        self._between_requests = True
        self._wait(self.limits.exchange)
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse an unreadable request; if a response has begun, only close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def drop(self) -> None:
        """End the connection at once; what the client has not received is dropped."""
        raw_socket = self.transport.get_extra_info("socket")
        raw_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._since = self.loop.time()
        self._timer = self.loop.call_later(seconds, self.drop)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class ReviewServer(uvicorn.Server):
    """A uvicorn server whose queue holds more connections than it accepts at a time."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_QUEUE)  # to listen again changes nothing else


def connection_class(limits: Limits) -> type[Connection]:
    """Return a class of connections with these limits, as many as open files allow."""
    return type(
        "Connection", (Connection,), {"limits": limits, "max_connections": _max_connections()}
    )


def _max_connections() -> int:
    """Return how many connections there may be, given how many files may be open."""
    try:
        import resource
    except ImportError:  # no such limit
        return MAX_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    return max(_MIN_CONNECTIONS, min(MAX_CONNECTIONS, files - _OTHER_FILES))
