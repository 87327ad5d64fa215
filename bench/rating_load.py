"""A load test of thirty raters who save at once on the real server, which is killed meanwhile.

Each rater has a connection and a scenario open, as a browser with scripts has: every change sends
the whole form, and the next waits for the answer to the one before. A change that is not answered
is sent again, the same form, until it is. Afterwards the file is read: each change that was
answered must be there, in its order, exactly once.

    python bench/rating_load.py                      # two minutes, killed once
    python bench/rating_load.py --seconds 20 --think 0.5
    python bench/rating_load.py --audit              # labellers of an audit instead
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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from careeval.bank import Bank, load_bank
from careeval.core.rating import Reading, Role
from careeval.core.scenario import Rubric
from careeval.people.audit.labels import label_task
from careeval.people.audit.plan import new_audit
from careeval.people.audit.sample import (
    AuditSample,
    DrawnJudgment,
    Hidden,
    ItemToJudge,
    ShownResponse,
    Stratum,
)
from careeval.people.plan import Consent
from careeval.people.store import Store
from careeval.people.study.plan import new_plan, planned_scenarios
from careeval.people.study.questions import ScenarioQuestions

HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')

SERVE = """
import sys
from pathlib import Path
from careeval.bank import load_bank
from careeval.people.web.app import serve
bank = None if sys.argv[3] == "audit" else load_bank(sys.argv[4] or None, probes=False)
serve(Path(sys.argv[1]), bank, port=int(sys.argv[2]),
      ready=lambda address: print(address.rpartition(":")[2], flush=True))
"""

CONSENT = Consent(text="A load test.", ethics="none", contact="nobody")

NOTES = ("read once", "read twice", "to be read again")
"""What made-up labellers write."""

N_RESPONSES = 20
"""Of a made-up audit; of each, three judgments."""

Fields = Mapping[str, Sequence[tuple[tuple[str, str], Sequence[str]]]]
"""By task, what is asked there with its choices: its name in the form, and in the store."""


@dataclass
class Rater:
    """One who rates or labels, and what has been answered to them."""

    token: str
    path: str
    fields: Fields
    seconds: list[float] = field(default_factory=list)
    saved: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    async def rate(self, port: int, is_over: Over, think: float, seed: int) -> None:
        """Save until it is over."""
        chance = random.Random(seed)
        self.line = Line(port)
        _, cookie = await self.line.ask("POST", f"/i/{self.token}", "x=y")
        self.line.cookie = cookie.partition(";")[0]
        await self.line.ask("POST", "/consent", "agree=yes")
        while not is_over(self):
            n = chance.randint(1, len(self.fields))
            page, _ = await self.line.ask("GET", f"{self.path}/{n}")
            form = {unescape(k): unescape(v) for k, v in HIDDEN.findall(page)}
            now: dict[str, str] = {}
            for _ in self.fields[form["task"]]:  # as many changes as there are questions
                if is_over(self):
                    break
                await asyncio.sleep(think * chance.uniform(0.5, 1.5))
                (name, stored_name), choices = chance.choice(self.fields[form["task"]])
                stored = self.saved[form["task"], stored_name]
                last = now.get(name) or (stored[-1] if stored else "")
                now[name] = chance.choice([c for c in choices if c != last])
                form["number"] = str(int(form["number"]) + 1)
                answers = {f"q.{k}": v for k, v in now.items()}
                began = time.monotonic()
                await self.line.ask("POST", f"{self.path}/{n}", urlencode(form | answers))
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
        """Return the answer and the cookie that it sets; ask again until there is an answer."""
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


Over = Callable[[Rater], bool]
"""Tell whether a rater has rated enough."""


async def rate_all(raters: Iterable[Rater], port: int, is_over: Over, think: float) -> None:
    """All at once."""
    await asyncio.gather(*(r.rate(port, is_over, think, n) for n, r in enumerate(raters)))


def new_study(bank: Bank, n: int, path: Path) -> dict[str, Rater]:
    """A study of careeval's own bank, and its raters."""
    max_scenarios = min(20, len(bank))
    plan = new_plan(
        bank,
        [Role.other] * n,
        study_id="aaaa",
        title="Load",
        consent=CONSENT,
        seed=1,
        per_rater=max_scenarios,
    )
    scenarios = planned_scenarios(plan, bank)
    store = Store.create(path, "study", plan.json_text())
    raters = {}
    for seat in plan.seats:
        fields = {
            plan.task(name): [
                ((q.name, q.field), q.choices)
                for q in ScenarioQuestions(plan, scenarios[name], seat.id).asked
                if q.choices
            ]
            for name in seat.scenarios
        }
        raters[seat.id] = Rater(store.add_rater(seat.rater), "/rate", fields)
    store.close()
    return raters


def new_labelling(bank: Bank, n: int, path: Path) -> dict[str, Rater]:
    """An audit of judgments that no grader made, on the bank's written answers, and its raters."""
    plan = new_audit(_made_up(bank), [Role.other] * n, title="Load", consent=CONSENT, seed=1)
    store = Store.create(path, "audit", plan.json_text())
    says = [reading.value for reading in Reading]
    asked = [(("says", "says"), says), (("note", "note"), NOTES)]
    raters = {
        seat.id: Rater(
            store.add_rater(seat.rater),
            "/label",
            {label_task(name): asked for name in seat.judgments},
        )
        for seat in plan.seats
    }
    store.close()
    return raters


def _made_up(bank: Bank) -> AuditSample:
    shown, drawn = [], []
    answered = [scenario for scenario in bank.scenarios if bank.probes.get(scenario.id)]
    for k, scenario in enumerate(answered[:N_RESPONSES], 1):
        items = [
            ItemToJudge(f"j{k:03}{i}", action.text) for i, action in enumerate(scenario.actions[:3])
        ]
        text = bank.probes[scenario.id][0].text
        shown.append(ShownResponse(f"r{k:03}", scenario.text, text, tuple(items)))
        drawn += [
            DrawnJudgment(item.judgment, f"r{k:03}", 0, scenario.id, 1, action.id, whole=False)
            for item, action in zip(items, scenario.actions, strict=False)
        ]
    stratum = Stratum(Rubric.actions, 1, True, "nobody", len(drawn), len(drawn))
    hidden = Hidden(
        bank.about.name, bank.about.version, (), "none", "nobody", 1, (stratum,), tuple(drawn),
        (), {},
    )  # fmt: skip
    return AuditSample(tuple(shown), hidden)


def serve(path: Path, port: int, kind: str, bank: str) -> tuple[subprocess.Popen[str], int]:
    """The server, answering."""
    command = [sys.executable, "-c", SERVE, str(path), str(port), kind, bank]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, int(server.stdout.readline())


def main() -> None:
    """Run it, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--raters", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--saves", type=int, help="of each rater, in place of a time")
    parser.add_argument("--think", type=float, default=0, help="seconds between two changes")
    parser.add_argument("--bank", default="", help="folder of another bank than careeval's own")
    parser.add_argument("--audit", action="store_true", help="label an audit's judgments")
    parser.add_argument("--no-kill", action="store_true", help="let the server live")
    asked = parser.parse_args()

    kind = "audit" if asked.audit else "study"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{kind}.db"
        raters = (new_labelling if asked.audit else new_study)(
            load_bank(asked.bank or None), asked.raters, path
        )
        server, port = serve(path, 0, kind, asked.bank)
        began = time.monotonic()

        def done(rater: Rater) -> float:
            """Return the share of its work that a rater has done."""
            if asked.saves:
                return len(rater.seconds) / asked.saves
            return (time.monotonic() - began) / asked.seconds

        rating = rate_all(raters.values(), port, lambda rater: done(rater) >= 1, asked.think)
        thread = threading.Thread(target=asyncio.run, args=(rating,))
        thread.start()
        down = 0.0
        if not asked.no_kill:
            while min(map(done, raters.values())) < 0.5:
                time.sleep(0.05)
            server.send_signal(signal.SIGKILL)
            server.wait()
            killed = time.monotonic()
            server, _ = serve(path, port, kind, asked.bank)
            down = time.monotonic() - killed
        thread.join()
        took = time.monotonic() - began
        server.terminate()
        server.wait()
        report(path, raters, asked, took, down)


Answers = Mapping[tuple[str, str, str], Sequence[str | None]]
"""By rater, task and field: what was said, in its order."""


def compare(said: Answers, found: Answers) -> tuple[int, int, int]:
    """Return counts of lost answers, doubled answers, and fields that differ from what was sent."""
    every = [(said.get(key, ()), found.get(key, ())) for key in {**said, **found}]
    lost = sum(max(0, len(one) - len(other)) for one, other in every)
    doubled = sum(max(0, len(other) - len(one)) for one, other in every)
    wrong = sum(list(found.get(key, ())) != list(values) for key, values in said.items())
    return lost, doubled, wrong


def report(
    path: Path, raters: dict[str, Rater], asked: argparse.Namespace, took: float, down: float
) -> None:
    """Compare what was answered with what is in the file."""
    store = Store.open(path)
    found: dict[tuple[str, str, str], list[str | None]] = defaultdict(list)
    for event in store.events():
        if "/" in event.task:
            found[event.rater, event.task, event.field].append(event.value)
    store.close()
    said = {
        (name, task, each): values
        for name, rater in raters.items()
        for (task, each), values in rater.saved.items()
        if values
    }
    lost, doubled, wrong = compare(said, found)
    # those that waited for the server to come back say how long that took, not how fast it saves
    seconds = [s for r in raters.values() for s in r.seconds if not down or s < down]
    n = sum(len(rater.seconds) for rater in raters.values())
    again = sum(rater.line.sent_again for rater in raters.values())
    cuts = statistics.quantiles(seconds, n=100)
    lines = [
        f"{asked.raters} {'labellers' if asked.audit else 'raters'}, {took:.0f} s, "
        f"{asked.think:g} s between changes",
        f"saved {n} ({n / took:.0f} a second), {again} times asked again",
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
