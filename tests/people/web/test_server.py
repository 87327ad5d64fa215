"""The real server against what no browser does: silence, floods, requests of two meanings, locks.

Which of two things comes first is looked at, not how long either takes.
"""

from __future__ import annotations

import re
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import h11
import pytest

from careeval.bank import load_bank
from careeval.people.store import Store
from careeval.people.web.connection import StrictReader
from support.bank_folder import GOOD_BANK
from support.review_audit import audit_plan
from support.review_study import made_plan

PATIENCE = 60.0
"""Seconds until a test gives up on a server that does not answer."""

EMPTY = "Content-Length: 0\r\nConnection: close\r\n"

SERVE = """
import resource, socket, sys
from pathlib import Path
from careeval.bank import load_bank
from careeval.people import database
from careeval.people.web import app
from careeval.people.web.connection import Limits
path, bank, files, busy, head, exchange = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_NOFILE, (int(files), int(files)))
database.BUSY_SECONDS = float(busy)
listening = app._listening
def with_little_room(host, port):  # to send, so that it is soon seen who takes nothing
    listener = listening(host, port)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    return listener
app._listening = with_little_room
app.serve(Path(path), load_bank(bank, probes=False) if bank else None, port=0,
          limits=Limits(head=float(head), exchange=float(exchange)),
          ready=lambda address: print(address.rpartition(":")[2], flush=True))
"""


@dataclass(frozen=True)
class Served:
    """A study or an audit that is being served."""

    path: Path
    port: int
    token: str

    @property
    def door(self) -> str:
        """The address at which a form opens a session, and so writes."""
        return f"/i/{self.token}"

    def connect(self) -> socket.socket:
        """A connection that nothing has been said on."""
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.settimeout(PATIENCE)
        line.connect(("127.0.0.1", self.port))
        return line

    def request(self, method: str = "GET", path: str = "/help", more: str = "") -> str:
        """The head of a request, as a browser sends it."""
        place = f"127.0.0.1:{self.port}"
        return (
            f"{method} {path} HTTP/1.1\r\nHost: {place}\r\nOrigin: http://{place}\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\n{more}\r\n"
        )

    def get(self, path: str) -> str:
        """The first line of an answer."""
        with self.connect() as line:
            line.sendall(self.request(path=path, more="Connection: close\r\n").encode())
            return said(line).partition("\r\n")[0]

    def sessions(self) -> int:
        """Return how many sessions have been opened."""
        with sqlite3.connect(self.path) as copy:
            (n,) = copy.execute("SELECT count(*) FROM sessions").fetchone()
        copy.close()
        return int(n)


@dataclass(frozen=True)
class Work:
    """A study or an audit, to be served."""

    path: Path
    bank: str
    token: str

    @contextmanager
    def serving(
        self, *, files: int = 1024, busy: float = 2, head: float = 10, exchange: float = 30
    ) -> Iterator[Served]:
        """Serve it with these limits; afterwards, nothing may have gone wrong within."""
        line = [sys.executable, "-c", SERVE, self.path, self.bank, files, busy, head, exchange]
        server = subprocess.Popen(
            list(map(str, line)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert server.stdout is not None
        try:
            yield Served(self.path, int(server.stdout.readline()), self.token)
        finally:
            server.send_signal(signal.SIGTERM)
            _, complaints = server.communicate(timeout=PATIENCE)
        assert "Traceback" not in complaints, complaints
        assert "out of system resource" not in complaints, complaints


def said(line: socket.socket) -> str:
    """All that comes until the server ends the connection."""
    parts = []
    with suppress(ConnectionError):
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts).decode()


def ended(line: socket.socket) -> bool:
    """Tell whether the server has ended a connection; its words are dropped."""
    try:
        while select.select([line], [], [], 0)[0]:
            if not line.recv(65536):
                return True
    except ConnectionError:
        return True
    return False


def lost(line: socket.socket) -> bool:
    """Tell whether the server cuts a connection off whose answers nobody takes."""
    watch = select.poll()
    watch.register(line, 0)  # for errors alone
    return bool(watch.poll(1000 * PATIENCE))


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program has begun to write."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        other.close()


def _study(path: Path) -> Work:
    bank = load_bank(GOOD_BANK, probes=False)
    plan = made_plan(bank)
    store = Store.create(path, "study", plan.json_text())
    token = store.add_rater(plan.seats[0].rater)
    store.close()
    return Work(path, str(GOOD_BANK), token)


def _audit(path: Path) -> Work:
    plan = audit_plan()
    store = Store.create(path, "audit", plan.json_text())
    token = store.add_rater(plan.raters[0])
    store.close()
    return Work(path, "", token)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Work:
    """A study."""
    return _study(tmp_path_factory.mktemp("served") / "study.db")


@pytest.fixture(scope="module", params=[_study, _audit], ids=["study", "audit"])
def work(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Work:
    """A study, and then an audit."""
    made: Work = request.param(tmp_path_factory.mktemp("served") / "work.db")
    return made


# Locks


def test_a_lock_elsewhere_stalls_no_page(work: Work) -> None:
    """While saves wait for another program, pages that look and files come, and then all is saved.

    What comes first is looked at, and no clock: no save is answered before every page is there.
    """
    with work.serving(busy=PATIENCE) as server, ExitStack() as stack:
        other = stack.enter_context(locked(work.path))
        before = server.sessions()
        saves = [stack.enter_context(server.connect()) for _ in range(12)]
        for save in saves:
            save.sendall(server.request("POST", server.door, EMPTY).encode())
        for path in ("/static/review.css", "/help", server.door, "/", "/static/kept.js"):
            assert server.get(path).split()[1] in ("200", "401"), path
        assert not select.select(saves, [], [], 0)[0]
        other.execute("ROLLBACK")
        assert {said(save).split()[1] for save in saves} == {"303"}
        assert server.sessions() == before + len(saves)


def test_a_save_waits_for_a_lock_only_so_long(work: Work) -> None:
    """While another program keeps the file, each of many saves gets a page: not saved, try again.

    None is kept half, and the same works when that program lets go.
    """
    with work.serving(busy=0.2) as server, ExitStack() as stack:
        other = stack.enter_context(locked(work.path))
        before = server.sessions()
        saves = [stack.enter_context(server.connect()) for _ in range(30)]
        for save in saves:
            save.sendall(server.request("POST", server.door, EMPTY).encode())
        answers = [said(save) for save in saves]
        assert {answer.split()[1] for answer in answers} == {"503"}
        assert all("Not saved" in answer and "try again" in answer for answer in answers)
        other.execute("ROLLBACK")
        assert server.sessions() == before
        with server.connect() as again:
            again.sendall(server.request("POST", server.door, EMPTY).encode())
            assert said(again).split()[1] == "303"


# Silence

HALVES = {
    "nothing": "",
    "half a line": "GET /he",
    "half a head": "GET /help HTTP/1.1\r\nHost: x\r\nAccept: text",
    "half a form": "POST {door} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    "Origin: http://127.0.0.1:{port}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    "Content-Length: 100\r\n\r\nq.note=",
    "half a form to another address": "POST {door} HTTP/1.1\r\nHost: x\r\n"
    "Content-Length: 100\r\n\r\nq.note=",
    "half a second head": "GET /help HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\nGET /he",
}


@pytest.mark.parametrize("drips", [False, True], ids=["silent", "dripping"])
def test_who_does_not_go_on_is_dropped(study: Work, drips: bool) -> None:
    """Whoever stops in the midst of a request, or sends it a byte at a time, loses the connection.

    A rater is served beside them.
    """
    with study.serving(head=0.4, exchange=0.8) as server, ExitStack() as stack:
        lines = {name: stack.enter_context(server.connect()) for name in HALVES}
        for name, line in lines.items():
            line.sendall(HALVES[name].format(door=server.door, port=server.port).encode())
        assert server.get("/help") == "HTTP/1.1 200 OK"
        left = dict(lines)
        until = time.monotonic() + PATIENCE
        while left and time.monotonic() < until:
            for name, line in list(left.items()):
                if ended(line):
                    del left[name]
                elif drips:
                    with suppress(ConnectionError):
                        line.send(b"x")
            time.sleep(0.05)
        assert not left
        assert server.get("/help") == "HTTP/1.1 200 OK"


def test_who_does_not_read_is_dropped(study: Work) -> None:
    """Whoever asks for pages and takes none of them loses the connection."""
    with study.serving(exchange=0.5) as server, server.connect() as line:
        line.sendall(server.request(path="/static/review.css").encode() * 20)
        assert lost(line)
        assert server.get("/help") == "HTTP/1.1 200 OK"


def test_who_asks_on_and_on_is_dropped(study: Work) -> None:
    """Requests that come far ahead of their answers, as no browser sends them, are not kept."""
    with study.serving() as server, server.connect() as line:
        with suppress(ConnectionError):
            line.sendall(server.request().encode() * 10_000)
        assert lost(line)
        assert server.get("/help") == "HTTP/1.1 200 OK"


def test_a_rater_gets_in_beside_400_who_say_nothing(study: Work) -> None:
    """At 256 open files a rater gets in and saves while 400 connections say nothing or half."""
    with study.serving(files=256, head=PATIENCE) as server, ExitStack() as stack:
        for n in range(400):
            line = stack.enter_context(server.connect())
            half = list(HALVES.values())[n % 5].format(door=server.door, port=server.port)
            with suppress(ConnectionError):
                line.sendall(half.encode())
        before = server.sessions()
        for path in ("/help", "/static/review.css", server.door):
            assert server.get(path) == "HTTP/1.1 200 OK"
        with server.connect() as rater:
            rater.sendall(server.request("POST", server.door, EMPTY).encode())
            assert said(rater).split()[1] == "303"
        assert server.sessions() == before + 1


@pytest.mark.parametrize("more", ["Content-Length: 4000000\r\n", "Transfer-Encoding: chunked\r\n"])
@pytest.mark.parametrize("place", ["/consent", "/i/unknown"])
def test_no_large_form_is_taken_from_a_stranger(work: Work, place: str, more: str) -> None:
    """Whoever has neither session nor link is refused before most of a large form is sent."""
    with work.serving(head=PATIENCE, exchange=PATIENCE) as server, server.connect() as line:
        cookie = "Cookie: careeval-aaaa=guessed\r\n"
        line.sendall(server.request("POST", place, cookie + more).encode())
        line.sendall(b"186a0\r\n" * ("chunked" in more) + b"x" * 100_000)
        assert line.recv(12).decode() in ("HTTP/1.1 401", "HTTP/1.1 404")


# Requests that two readers take for different ones

HEAD = "POST {door} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
HEAD += "Content-Type: application/x-www-form-urlencoded\r\n"
CHUNKED = HEAD + "Transfer-Encoding: chunked\r\n\r\n"

TWOFOLD = {
    "length and chunks": HEAD + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and length": HEAD + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + "Content-Length: 0\r\nContent-Length: 3\r\n\r\na=b",
    "one length twice": HEAD + "Content-Length: 3\r\nContent-Length: 3\r\n\r\na=b",
    "a list of lengths": HEAD + "Content-Length: 3, 3\r\n\r\na=b",
    "a signed length": HEAD + "Content-Length: +3\r\n\r\na=b",
    "a space before the colon": HEAD + "Content-Length : 3\r\n\r\na=b",
    "two codings": HEAD
    + "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a list of codings": HEAD + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": CHUNKED.replace("HTTP/1.1", "HTTP/1.0") + "0\r\n\r\n",
    "bare LF after the first line": HEAD.replace("HTTP/1.1\r\n", "HTTP/1.1\n")
    + "Content-Length: 3\r\n\r\na=b",
    "bare LF after a field": HEAD + "X: y\nContent-Length: 3\r\n\r\na=b",
    "bare LF at the end": HEAD + "Content-Length: 3\r\n\na=b",
    "bare LF throughout": (HEAD + "Content-Length: 3\r\n\r\na=b").replace("\r\n", "\n"),
    "bare CR in a field": HEAD + "X: y\rContent-Length: 3\r\n\r\na=b",
    "a folded field": HEAD + "Content-Length:\r\n 3\r\n\r\na=b",
    "bare LF after a chunk's size": CHUNKED + "3\na=b\r\n0\r\n\r\n",
    "bare LF after a chunk": CHUNKED + "3\r\na=b\n0\r\n\r\n",
    "bare LF in a trailer": CHUNKED + "3\r\na=b\r\n0\r\nX: y\nZ: y\r\n\r\n",
    "bare LF at the end of chunks": CHUNKED + "3\r\na=b\r\n0\r\n\n",
}
ALIKE = {
    "a length": HEAD + "Content-Length: 3\r\n\r\na=b",
    "chunks": CHUNKED + "3\r\na=b\r\n0\r\n\r\n",
    "chunks with a trailer": CHUNKED + "3\r\na=b\r\n0\r\nX: y\r\n\r\n",
    "a form of line ends": HEAD + "Content-Length: 6\r\n\r\na=\n\n\r\n",
}
SECOND = "GET /help HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def server(study: Work) -> Iterator[Served]:
    """The study, served with the limits of every day."""
    with study.serving() as server:
        yield server


@pytest.mark.parametrize("slowly", [False, True], ids=["at once", "by bytes"])
@pytest.mark.parametrize("first", TWOFOLD.values(), ids=TWOFOLD)
def test_a_request_of_two_meanings(server: Served, first: str, slowly: bool) -> None:
    """It is refused and changes nothing, and nothing that came behind it is read as a request."""
    before = server.sessions()
    answer = exchange(server, first + SECOND, slowly=slowly)
    # of an answer to what is still being sent, nothing need arrive
    assert re.findall(r"HTTP/1\.1 (\d+)", answer) in (["400"], ["501"], *([[]] if slowly else []))
    assert server.sessions() == before


def test_a_head_that_is_too_long(server: Served) -> None:
    """A head of 40,000 bytes is refused, also when all of it comes in one piece."""
    long = "GET /help HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: " + "a" * 40_000 + "\r\n\r\n"
    # of an answer to what is still being sent, nothing need arrive
    assert re.findall(r"HTTP/1\.1 (\d+)", exchange(server, long, slowly=False)) in (["400"], [])


@pytest.mark.parametrize("slowly", [False, True], ids=["at once", "by bytes"])
@pytest.mark.parametrize("first", ALIKE.values(), ids=ALIKE)
def test_a_request_of_one_meaning(server: Served, first: str, slowly: bool) -> None:
    """It is answered, and so is the one behind it on the same connection."""
    answer = exchange(server, first + SECOND, slowly=slowly)
    assert re.findall(r"HTTP/1\.1 (\d+)", answer)[-1] == "200"


@pytest.mark.parametrize("text", [*ALIKE.values(), *TWOFOLD.values()], ids=[*ALIKE, *TWOFOLD])
def test_parts_of_a_request(text: str) -> None:
    """A request is read the same, or refused, wherever it is cut in two."""
    content = text.format(door="/i/x", port=80).encode()
    whole = readings([content])
    assert [readings([content[:k], content[k:]]) for k in range(1, len(content))] == [whole] * (
        len(content) - 1
    )


def readings(parts: list[bytes]) -> bytes | None:
    """Return the body that is read from a request that comes in parts; None if it is refused."""
    reader, body = StrictReader(), b""
    for part in parts:
        reader.receive_data(part)
        try:
            while not isinstance(event := reader.next_event(), type):
                body += bytes(event.data) if isinstance(event, h11.Data) else b""
        except h11.RemoteProtocolError:
            return None
    return body


def exchange(server: Served, text: str, *, slowly: bool) -> str:
    """All that is answered to what is sent, at once or a byte at a time."""
    content = text.format(door=server.door, port=server.port).encode()
    with server.connect() as line:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):
            for part in [content[k : k + 1] for k in range(len(content))] if slowly else [content]:
                line.sendall(part)
        return said(line)
