"""Tests of the fake server."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.fake_server import PATH, SERVER_ERROR, Drop, FakeServer, Fault

SERVER = Path(__file__).parents[1] / "support" / "fake_server.py"


def post(base_url: str, seed: int = 0, **more: Any) -> dict[str, Any]:
    """Return the reply to a question."""
    messages = [{"role": "user", "content": "She sits on the bed."}]
    body = {"model": "m", "messages": messages, "seed": seed, **more}
    with closing(http.client.HTTPConnection(urlsplit(base_url).netloc, timeout=60)) as connection:
        connection.request("POST", PATH, json.dumps(body))
        found: dict[str, Any] = json.loads(connection.getresponse().read())
    return found


def said(completion: dict[str, Any]) -> str:
    """The text of a completion."""
    return str(completion["choices"][0]["message"]["content"])


def test_answers_depend_on_what_is_asked_alone() -> None:
    """The same question brings the same answer from any server, another seed another one."""
    with FakeServer() as one, FakeServer() as other:
        answers = [said(post(one.base_url, seed)) for seed in range(10)]
        assert [said(post(other.base_url, seed)) for seed in reversed(range(10))] == answers[::-1]
    assert len(set(answers)) == 10


def test_what_is_not_answered_whole_is_not_counted_so() -> None:
    """An error and a connection that was lost have arrived, and are not answered."""
    replies: Iterator[Fault] = iter([SERVER_ERROR, Drop(0.5)])
    with FakeServer(lambda _: next(replies)) as server:
        assert "error" in post(server.base_url)
        with pytest.raises(http.client.IncompleteRead):
            post(server.base_url)
        assert (server.n_arrived("ask"), server.n_answered("ask")) == (2, 0)


@pytest.fixture
def process() -> Iterator[str]:
    """The address of a server that runs by itself."""
    server = subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    yield server.stdout.readline().strip()
    server.terminate()
    server.wait(60)
    server.stdout.close()


def test_by_itself(process: str) -> None:
    """As a process it says where it is, and tells its counts."""
    assert said(post(process, 1)) == said(post(process, 1)) != said(post(process, 2))
    with closing(http.client.HTTPConnection(urlsplit(process).netloc, timeout=60)) as connection:
        connection.request("GET", "/counts")
        counts = json.loads(connection.getresponse().read())
    assert sorted(counts["arrived"].values()) == sorted(counts["answered"].values()) == [1, 2]


def test_it_does_not_import_inspect() -> None:
    """A process of the server is small: nothing of Inspect is in it."""
    code = f"import sys; sys.path.insert(0, {str(SERVER.parent)!r}); import fake_server; "
    code += "sys.exit('inspect_ai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
