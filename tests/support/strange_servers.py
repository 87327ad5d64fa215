"""Fakes of addresses at which no model answers: what is there instead, or that nothing is.

They speak over bare sockets of this machine, since much of what they say is no HTTP.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def another_protocol(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Greets as a server of another protocol does, here SSH."""
    writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
    await writer.drain()
    await reader.read(65536)


PAGE = "<!DOCTYPE html><html><head><title>Welcome to nginx!</title></head><body>Hello</body></html>"


def http(status: str, body: str, kind: str = "application/json", more: str = "") -> bytes:
    """A whole response."""
    raw = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(raw)}\r\n{more}\r\n"
    return head.encode() + raw


def error(status: str, message: str, code: str, more: str = "") -> bytes:
    """An error as servers of this kind word it."""
    body = {"error": {"message": message, "type": code, "code": code}}
    return http(status, json.dumps(body), more=more)


def says(response: bytes) -> Handler:
    """Answers every request with these bytes, and leaves the connection open."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await _request(reader):
            writer.write(response)
            await writer.drain()

    return handle


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Takes the request and never answers."""
    while await reader.read(65536):
        pass


async def slow_headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends a header a second."""
    await _request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-Wait: yes\r\n")
        await writer.drain()
        await asyncio.sleep(1)


async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends as much as is taken, and never ends."""
    await _request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
    writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
        await writer.drain()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends back what comes: no HTTP."""
    while part := await reader.read(65536):
        writer.write(part)
        await writer.drain()


async def shuts(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Closes the connection when the request has come."""
    await _request(reader)


async def silent_plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Waits for a line of HTTP that does not come, as where TLS is spoken to it."""
    while part := await reader.read(65536):
        if part.startswith(b"POST"):
            writer.write(http("200 OK", PAGE, "text/html"))
            return


QUOTA = error(
    "429 Too Many Requests",
    "You exceeded your current quota, please check your plan and billing details.",
    "insufficient_quota",
)

SERVERS: dict[str, Handler] = {
    "html 200": says(http("200 OK", PAGE, "text/html")),
    "html 502": says(http("502 Bad Gateway", PAGE, "text/html")),
    "html 503": says(http("503 Service Unavailable", PAGE, "text/html")),
    "empty body": says(http("200 OK", "")),
    "half JSON": says(http("200 OK", '{"id": "x", "choices": [')),
    "JSON of another kind": says(http("200 OK", '{"status": "ok"}')),
    "JSON, a list": says(http("200 OK", "[1, 2]")),
    "insufficient_quota 429": says(QUOTA),
    "payment 402": says(error("402 Payment Required", "Insufficient Balance", "balance")),
    "key 401": says(error("401 Unauthorized", "Incorrect API key provided.", "invalid_api_key")),
    "forbidden 403": says(error("403 Forbidden", "Not in your country.", "forbidden")),
    "path 404": says(error("404 Not Found", "Not Found", "not_found")),
    "html 404": says(http("404 Not Found", PAGE, "text/html")),
    "method 405": says(http("405 Method Not Allowed", '{"detail":"Method Not Allowed"}')),
    "closes at once": shuts,
    "echo, no HTTP": echo,
    "wrong port, SSH": another_protocol,
    "hang": silent,
    "slow headers": slow_headers,
    "endless body": endless,
}
"""What a server does, by what it is called."""


@contextmanager
def serving(handler: Handler) -> Iterator[str]:
    """A server that does this, from a thread of its own; its base URL."""
    started = threading.Event()
    ended = asyncio.Event()
    loop = asyncio.new_event_loop()
    ports: list[int] = []
    writers: list[asyncio.StreamWriter] = []

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await handler(reader, writer)
        writer.close()

    async def serve() -> None:
        server = await asyncio.start_server(served, "127.0.0.1", 0, backlog=1024)
        ports.append(server.sockets[0].getsockname()[1])
        started.set()
        await ended.wait()
        server.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0.05)  # the handlers notice

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    if not started.wait(60):
        raise RuntimeError("the strange server does not start")
    try:
        yield f"http://127.0.0.1:{ports[0]}/v1"
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(60)


@contextmanager
def nobody() -> Iterator[str]:
    """An address at which every connection is refused."""
    with socket.socket() as taken:
        # bound and not listening
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@contextmanager
def dropping() -> Iterator[str]:
    """An address of this machine at which no connection is ever made: its queue is full.

    Linux drops the packets of those that come when a queue is full, as a firewall does.
    """
    with socket.socket() as listening, ExitStack() as queued:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        address = listening.getsockname()
        for _ in range(4):
            client = queued.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}/v1"


async def _request(reader: asyncio.StreamReader) -> bytes:
    """The next request, whole; empty once the client has gone, or says what is no HTTP."""
    try:
        head = await reader.readexactly(1)
        if not head.isalpha():
            return b""
        head += await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return b""
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return head + await reader.readexactly(length)
