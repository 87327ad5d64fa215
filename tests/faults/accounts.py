"""The accounts of a run that is struck: the replies lost, paid and asked for, and their limits.

A call is in flight from its request until its line is on disk in calls.jsonl. With C connections a
worker has at most C questions and C gradings in flight. So, for every time that careeval was
started:

- no worker was killed by SIGKILL: every reply that the server sent whole is on disk;
- w workers were killed: at most 2 C w replies are not, each of them sent less than `RECENT` seconds
  before the kill. A parent's death kills no worker.
- the disk was full beneath w workers: the same.

Over all, each call is answered whole at most once, and once more for each time that its reply was
lost so, or that its line was damaged by the campaign.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from faults.damage import damage
from faults.drawn import FULL, Strike
from faults.kept import n_unkept, n_unpaid, not_to_be_asked, paid, part_of, unfinished
from faults.recorded_server import Ident, Record
from faults.striking import CONNECTIONS, Struck
from support.fake_server import FakeServer

RECENT = 5.0
"""Seconds between a reply and its line on disk, at most, on a busy machine."""


class Accounts:
    """The replies that a run has lost so far."""

    def __init__(self, root: Path, record: Record) -> None:
        self.lost: Counter[Ident] = Counter()  # how often each call's reply was lost
        self.max_lost = 0  # replies that were lost at one start of careeval, at most
        self._root, self._record = root, record
        self._done: set[Ident] = set()
        self._n_settled = 0
        self._n_torn_paid = 0
        self._n_may_be_unkept = 0

    def settle(self, strike: Strike | None, struck: Struck, *, grading: bool) -> Iterator[str]:
        """Yield the problems in the accounts after one start of careeval has ended."""
        done = self._now_done()
        new = self._record.replies[self._n_settled :]
        self._n_settled = len(self._record.replies)
        came = {ident: at for at, ident in new}
        if vanished := self._done - done:
            yield f"{len(vanished)} kept calls have vanished"
        lost = (self._done | came.keys()) - done
        self.lost.update(lost)
        self.max_lost = max(self.max_lost, len(lost))
        max_lost = CONNECTIONS * struck.n_killed * (1 if grading else 2)
        if len(lost) > max_lost:
            yield f"{len(lost)} replies lost where {max_lost} may be"
        ages = [round((struck.at or 0) - came[ident], 1) for ident in lost if ident in came]
        if max(ages, default=0) > RECENT:
            yield f"a reply that came {max(ages)} s before the kill is lost"
        # a worker that is killed has paid for one call at most that it has not kept yet
        is_full = strike is not None and strike.kind == FULL
        self._n_may_be_unkept += max_lost if is_full else struck.n_killed
        for folder in unfinished(self._root):
            if (n := n_unpaid(folder)) > self._n_torn_paid:
                yield f"{part_of(folder)}: {n} kept calls are not in the ledger"
            if (n := n_unkept(folder)) > self._n_may_be_unkept:
                yield f"{part_of(folder)}: {n} calls of the ledger are not kept"
        self._done = done

    def damaged(self, strike: Strike, rng: random.Random) -> Iterator[str]:
        """Damage what a strike damages, write it off, and yield the kinds for which files were."""
        for (name, how), kind in zip(strike.damage, strike.damages, strict=True):
            n_paid = len(paid(self._root))
            if damage(self._root, name, how, rng):
                yield kind
                self._n_torn_paid += n_paid - len(paid(self._root))
        done = self._now_done()
        self.lost.update(self._done - done)
        self._n_may_be_unkept += len(self._done - done)
        self._done = done

    def close(self, server: FakeServer) -> Iterator[str]:
        """Yield the problems in the accounts at the end."""
        n_paid = len(paid(self._root))
        if n_paid + self._n_torn_paid < len(server.answered):
            yield f"{n_paid} calls paid, {len(server.answered)} kept"
        if n_paid > sum(server.answered.values()):
            yield "more calls paid than were answered"
        for name, n in server.answered.items():
            if n > 1 + self.lost[self._record.idents[name]]:
                yield f"{name} answered {n} times"

    def _now_done(self) -> set[Ident]:
        return not_to_be_asked(self._root, [ident for _, ident in self._record.replies])
