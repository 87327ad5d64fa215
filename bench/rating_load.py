"""Thirty raters save at once on the real server, which is killed in the midst: what is lost?

Each rater has a connection and a scenario open, as a browser with scripts has: every change sends
the whole form, and the next waits for the answer to the one before. A change that is not answered
is sent again, the same form, until it is. Afterwards the file is read: each change that was
answered must be there, in its order, exactly once.

    python bench/rating_load.py                      # two minutes, killed once
    python bench/rating_load.py --seconds 20 --think 0.5
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from careeval.bank import load_bank
from careeval.core.rating import Role
from careeval.review.consent import Consent
from careeval.review.questions import questions
from careeval.review.store import Store
from careeval.review.study import new_plan, scenarios_of

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')

SERVE = """
import sys
from pathlib import Path
from careeval.bank import load_bank
from careeval.review.app import serve
serve(Path(sys.argv[1]), load_bank(probes=False), port=int(sys.argv[2]),
      ready=lambda address: print(address.rpartition(":")[2], flush=True))
"""


@dataclass
class Rater:
    """One who rates, and what has been answered to them."""

    token: str
    fields: dict[str, list[tuple[str, tuple[str, ...]]]]  # by task: names with choices
    seconds: list[float] = field(default_factory=list)
    saved: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    async def rate(self, port: int, until: float, think: float, seed: int) -> None:
        """Save until the time is up."""
        chance = random.Random(seed)
        self.line = Line(port)
        _, cookie = await self.line.ask("POST", f"/i/{self.token}", "x=y")
        self.line.cookie = cookie.partition(";")[0]
        await self.line.ask("POST", "/consent", "agree=yes")
        while time.monotonic() < until:
            n = chance.randint(1, len(self.fields))
            page, _ = await self.line.ask("GET", f"/rate/{n}")
            form = {unescape(k): unescape(v) for k, v in HIDDEN.findall(page)}
            now: dict[str, str] = {}
            for _ in self.fields[form["task"]]:  # as many changes as there are questions
                if time.monotonic() >= until:
                    break
                await asyncio.sleep(think * chance.uniform(0.5, 1.5))
                name, choices = chance.choice(self.fields[form["task"]])
                stored = self.saved[form["task"], name]
                last = now.get(name) or (stored[-1] if stored else "")
                now[name] = chance.choice([c for c in choices if c != last])
                form["number"] = str(int(form["number"]) + 1)
                answers = {f"q.{k}": v for k, v in now.items()}
                began = time.monotonic()
                await self.line.ask("POST", f"/rate/{n}", urlencode(form | answers))
                self.seconds.append(time.monotonic() - began)
                stored.append(now[name])
        self.line.close()


class Line:
    """One browser's connection, opened again when it breaks."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = ""
        self.sent_again = 0
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, body: str = "") -> tuple[str, str]:
        """What is answered, and the cookie that is set; asked again until there is an answer."""
        place = f"127.0.0.1:{self.port}"
        request = (
            f"{method} {path} HTTP/1.1\r\nHost: {place}\r\nOrigin: http://{place}\r\n"
            f"Cookie: {self.cookie}\r\nAccept: application/json\r\n"
            f"Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}"
        )
        while True:
            try:
                return await self._once(request)
            except (OSError, asyncio.IncompleteReadError):
                self.sent_again += 1
                self.close()
                await asyncio.sleep(0.1)

    async def _once(self, request: str) -> tuple[str, str]:
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        self.writer.write(request.encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:-2])
        text = (await self.reader.readexactly(int(headers["content-length"]))).decode()
        if head.split()[1] >= "4":
            raise RuntimeError(f"{request.splitlines()[0]}: {head.splitlines()[0]} {text[:200]}")
        cookie = next((x for x in head.split("\r\n") if x.lower().startswith("set-cookie")), "")
        return text, cookie.partition(": ")[2]

    def close(self) -> None:
        """End the connection."""
        if self.writer is not None:
            self.writer.close()
        self.writer = None


async def rate_all(raters: Iterable[Rater], port: int, until: float, think: float) -> None:
    """All at once."""
    await asyncio.gather(*(r.rate(port, until, think, n) for n, r in enumerate(raters)))


def serve(path: Path, port: int) -> tuple[subprocess.Popen[str], int]:
    """The server, answering."""
    command = [sys.executable, "-c", SERVE, str(path), str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, int(server.stdout.readline())


def main() -> None:
    """Run it, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--raters", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--think", type=float, default=0, help="seconds between two changes")
    parser.add_argument("--no-kill", action="store_true", help="let the server live")
    asked = parser.parse_args()

    bank = load_bank(probes=False)
    consent = Consent(text="A load test.", ethics="none", contact="nobody")
    plan = new_plan(
        bank, [Role.other] * asked.raters, title="Load", consent=consent, seed=1, per_rater=20
    )
    scenarios = scenarios_of(plan, bank)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.db"
        store = Store.create(path, "study", plan.json_text())
        raters = {}
        for seat in plan.seats:
            fields = {
                plan.task(name): [
                    (q.field, q.choices)
                    for q in questions(plan, scenarios[name], seat.id)
                    if q.choices
                ]
                for name in seat.scenarios
            }
            raters[seat.id] = Rater(store.add_rater(seat.rater), fields)
        store.close()
        server, port = serve(path, 0)
        until = time.monotonic() + asked.seconds
        rating = rate_all(raters.values(), port, until, asked.think)
        thread = threading.Thread(target=asyncio.run, args=(rating,))
        thread.start()
        down = 0.0
        if not asked.no_kill:
            time.sleep(asked.seconds / 2)
            server.send_signal(signal.SIGKILL)
            server.wait()
            began = time.monotonic()
            server, _ = serve(path, port)
            down = time.monotonic() - began
        thread.join()
        server.terminate()
        server.wait()
        report(path, raters, asked, down)


def report(path: Path, raters: dict[str, Rater], asked: argparse.Namespace, down: float) -> None:
    """Compare what was answered with what is in the file."""
    store = Store.open(path)
    found: dict[tuple[str, str, str], list[str | None]] = defaultdict(list)
    for event in store.events():
        if "/" in event.task:
            found[event.rater, event.task, event.field].append(event.value)
    store.close()
    expected = {
        (name, task, each): values
        for name, rater in raters.items()
        for (task, each), values in rater.saved.items()
        if values
    }
    lost = sum(max(0, len(v) - len(found.get(k, []))) for k, v in expected.items())
    doubled = sum(max(0, len(v) - len(expected.get(k, []))) for k, v in found.items())
    wrong = sum(found.get(k, []) != v for k, v in expected.items())
    # those that waited for the server to come back say how long that took, not how fast it saves
    seconds = [s for r in raters.values() for s in r.seconds if not down or s < down]
    n = sum(len(rater.seconds) for rater in raters.values())
    again = sum(rater.line.sent_again for rater in raters.values())
    cuts = statistics.quantiles(seconds, n=100)
    lines = [
        f"{asked.raters} raters, {asked.seconds:g} s, {asked.think:g} s between changes",
        f"saved {n} ({n / asked.seconds:.0f} a second), {again} times asked again",
        f"a save took {1000 * cuts[49]:.0f} ms (p50), {1000 * cuts[94]:.0f} ms (p95)",
        f"lost {lost}, doubled {doubled}, out of order {wrong}",
    ]
    if down:
        lines.append(
            f"killed once, back after {down:.1f} s; {n - len(seconds)} saves waited for it"
        )
    print("\n".join(lines))  # noqa: T201
    if lost or doubled or wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
