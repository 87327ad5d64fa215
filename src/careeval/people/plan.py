"""The parts that plans of studies and audits share: people, consent, addresses, and the assignment.

Work is assigned in balanced incomplete blocks, repeatable by the seed. Experts' time is short, and
agreement should be known of more than a few pairs of raters. So each scenario gets its exact number
of raters, raters get equally many scenarios (one more or less), every role is spread over the
scenarios, and the pairs of raters who share a scenario are spread over all pairs: first by a greedy
choice, then by exchanges.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from itertools import combinations
from random import Random
from typing import ClassVar, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from careeval.core.rating import Rater, Role
from careeval.core.scenario import Frozen, Slug, Text
from careeval.core.text import counted
from careeval.errors import ReviewError

PORTS = {"study": 8700, "audit": 8701}
"""The default ports of studies and audits, different so that both can be served at once."""


@dataclass(frozen=True)
class Addresses:
    """The addresses under which browsers reach the app."""

    origins: frozenset[str]
    """Scheme, host and port of each address, as a browser's Origin header has them."""
    secure: bool  # True if all origins are https, so that cookies can be restricted to https

    @classmethod
    def loopback(cls, port: int) -> Self:
        """Return the addresses of a server that this machine alone can reach."""
        hosts = ("127.0.0.1", "localhost", "[::1]")
        return cls(frozenset(f"http://{host}:{port}" for host in hosts), secure=False)

    @classmethod
    def behind_proxy(cls, address: str) -> Self:
        """Return the https address of a proxy that passes requests on with their Host header.

        Raises:
            ReviewError: The address is not https, or is more than a host and a port.
        """
        parts = urlsplit(address)
        if parts.scheme != "https" or not parts.hostname or parts.path.strip("/") or parts.query:
            raise ReviewError(
                f"{address!r} is not an https address of a host alone",
                hint="give the https address without a path, as https://rating.example.org",
            )
        port = f":{parts.port}" if parts.port not in (None, 443) else ""
        return cls(frozenset({f"https://{parts.hostname}{port}"}), secure=True)

    @property
    def hosts(self) -> frozenset[str]:
        """The values that the Host header may have."""
        return frozenset(urlsplit(origin).netloc for origin in self.origins)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine's own, so that no other machine can reach it."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class Consent(Frozen):
    """The terms of a study or an audit, as the people who run it have written them."""

    text: Text
    """The use that is made of people's answers; an empty line begins a paragraph."""
    ethics: Text
    """The reference of the ethics committee's approval, or the reason why none was needed."""
    contact: Text
    """The person to ask, and how to reach them."""

    @property
    def digest(self) -> str:
        """A short hash of the terms; if it changes, people are asked to agree again."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]


class Invitee(Frozen):
    """The pseudonym and role of one person who is asked to rate or label."""

    id: Slug
    role: Role

    @property
    def rater(self) -> Rater:
        """The same pseudonym and role, as a `Rater`."""
        return Rater(self.id, self.role)


def numbered_raters(roles: Iterable[Role]) -> list[Rater]:
    """Return a rater for each role, called r01, r02 … in this order."""
    return [Rater(f"r{n:02}", role) for n, role in enumerate(roles, 1)]


class Plan(Frozen):
    """The plan of a study or an audit, as the store keeps it."""

    kind: ClassVar[str]  # "study" or "audit"

    title: Text
    """The title that people see."""
    seed: int
    """The seed of the assignment and of every order."""
    consent: Consent

    def json_text(self) -> str:
        """Return the plan as the store keeps it."""
        return self.model_dump_json()

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the plan that `json_text` wrote; raise ReviewError if the text is not one."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise ReviewError(
                f"the file's plan of the {cls.kind} cannot be read: {error}",
                hint="go on from the last backup of the file",
            ) from error


# Assignment


T = TypeVar("T")

_EXCHANGES = 60
"""Exchanges tried for each place in a block. More hardly helps."""

_ROLES_FIRST = 1000
"""Cost of an uneven role; an uneven pair of raters costs 1, so roles always come first."""


def assign(
    scenarios: Sequence[str],
    raters: Sequence[Rater],
    *,
    seed: int,
    per_rater: int | None = None,
    raters_per_scenario: int | None = None,
) -> dict[str, tuple[str, ...]]:
    """Assign scenarios to raters in balanced blocks.

    Args:
        scenarios: Their ids.
        raters: The raters.
        seed: The seed of everything random here.
        per_rater: The largest number of scenarios of a rater; the exact number where
            `raters_per_scenario` is not given.
        raters_per_scenario: The exact number of raters of a scenario. Where only `per_rater` is
            given, the number follows from it, and scenarios differ by one rater at most. Where
            neither is given, everybody rates everything.

    Returns:
        Rater id → the scenarios of that rater, in a random order.

    Raises:
        ReviewError: There are no scenarios or no raters, a number is out of range, or the raters
            cannot give as many ratings as the scenarios need.
    """
    blocks = _blocks(scenarios, raters, Random(seed), per_rater, raters_per_scenario)
    return {
        rater.id: tuple(
            _shuffled([s for s in scenarios if rater.id in blocks[s]], Random(f"{seed}/{rater.id}"))
        )
        for rater in raters
    }


def separate_families(names: Sequence[str], family: Mapping[str, str]) -> tuple[str, ...]:
    """Return scenarios in their order, changed only to keep those of a family apart.

    A rater who reads a scenario and its twin one after the other would rate the difference. If a
    family is too large for the rest to separate it, some of its scenarios stay neighbours.

    Args:
        names: Scenarios in a seat's order.
        family: Scenario → the base of its twins; a scenario without a key is a family of its own.
    """
    left, order, last = list(names), list[str](), ""
    while left:
        families = [family.get(name, name) for name in left]
        (largest, n), *_ = Counter(families).most_common(1)
        if 2 * n > len(left) and largest != last:  # else some of its members become neighbours
            k = families.index(largest)
        else:
            k = next((k for k, each in enumerate(families) if each != last), 0)
        last = families[k]
        order.append(left.pop(k))
    return tuple(order)


def _blocks(
    scenarios: Sequence[str],
    raters: Sequence[Rater],
    random: Random,
    per_rater: int | None,
    raters_per_scenario: int | None,
) -> Mapping[str, set[str]]:
    if not scenarios or not raters:
        raise ReviewError(
            f"a study needs scenarios and raters, but has {counted(len(scenarios), 'scenario')} "
            f"and {counted(len(raters), 'rater')}"
        )
    n, m = len(scenarios), len(raters)
    for name, asked, max_value in (
        ("scenarios per rater", per_rater, n),
        ("raters per scenario", raters_per_scenario, m),
    ):
        if asked is not None and not 1 <= asked <= max_value:
            raise ReviewError(f"{name} must be 1 to {max_value}, not {asked}")
    places = n * (raters_per_scenario or m)
    if per_rater is not None:
        if raters_per_scenario is None:
            places = m * per_rater
        elif places > m * per_rater:
            raise ReviewError(
                f"{n} scenarios with {raters_per_scenario} raters each need {places} ratings, but "
                f"{m} raters with at most {per_rater} each give only {m * per_rater}",
                hint=f"give each {-(-places // m)}, or find {-(-places // per_rater)} raters",
            )
    blocks = _greedy(scenarios, raters, places, random)
    _exchange(blocks, raters, random)
    return blocks


def _greedy(
    scenarios: Sequence[str], raters: Sequence[Rater], places: int, random: Random
) -> dict[str, set[str]]:
    """Return scenario → its raters, chosen one by one: always one with the most left to do.

    Of several such raters, one is taken whose role is rarest among those chosen for the scenario,
    and who shares the fewest scenarios with them. Since those with the most left come first, the
    numbers left stay within one of each other, so that the last scenario can still be given to
    different raters.
    """
    left = dict(zip([r.id for r in raters], _even(places, len(raters), random), strict=True))
    role = {rater.id: rater.role for rater in raters}
    together: Counter[frozenset[str]] = Counter()
    blocks: dict[str, set[str]] = {}
    sizes = _even(places, len(scenarios), random)
    for scenario, size in zip(_shuffled(scenarios, random), sizes, strict=True):
        block: list[str] = []
        for _ in range(size):
            free = _shuffled([rater for rater in left if rater not in block], random)
            roles = Counter(role[other] for other in block)
            block.append(
                min(
                    free,
                    key=lambda rater: (
                        -left[rater],
                        roles[role[rater]],
                        sum(together[frozenset((rater, other))] for other in block),
                    ),
                )
            )
            left[block[-1]] -= 1
        together.update(frozenset(pair) for pair in combinations(block, 2))
        blocks[scenario] = set(block)
    return blocks


def _exchange(blocks: dict[str, set[str]], raters: Sequence[Rater], random: Random) -> None:
    """Swap scenarios between two raters if roles, or else pairs of raters, get more even.

    Unevenness is the sum of squared counts. A swap changes neither the number of a scenario's
    raters nor the number of a rater's scenarios.
    """
    role = {rater.id: rater.role for rater in raters}
    together = Counter(
        frozenset(pair) for block in blocks.values() for pair in combinations(block, 2)
    )
    roles = {scenario: Counter(role[r] for r in block) for scenario, block in blocks.items()}
    names = sorted(blocks)
    if len(names) < 2:
        return

    def cost(first: str, second: str, leaves: str, comes: str) -> int:
        """Return half the change in cost if `comes`, now in `second`, replaces `leaves`."""
        a, b = role[leaves], role[comes]
        uneven = 0 if a == b else roles[first][b] - roles[first][a] + 1
        pairs = sum(
            together[frozenset((comes, other))] - together[frozenset((leaves, other))] + 1
            for other in blocks[first] - {leaves} - blocks[second]
        )
        return _ROLES_FIRST * uneven + pairs

    for _ in range(_EXCHANGES * sum(len(block) for block in blocks.values())):
        first, second = random.sample(names, 2)
        out = sorted(blocks[first] - blocks[second])
        into = sorted(blocks[second] - blocks[first])
        if not out or not into:
            continue
        one, other = random.choice(out), random.choice(into)
        if cost(first, second, one, other) + cost(second, first, other, one) >= 0:
            continue
        for block, leaves, comes in ((first, one, other), (second, other, one)):
            stay = blocks[block] - {leaves}
            together.subtract(frozenset((leaves, mate)) for mate in stay)
            together.update(frozenset((comes, mate)) for mate in stay)
            blocks[block] = stay | {comes}
            roles[block].subtract([role[leaves]])
            roles[block].update([role[comes]])


def _even(total: int, n: int, random: Random) -> list[int]:
    """Split `total` into n whole numbers that differ by 1 at most, the larger at random places."""
    return _shuffled([total // n + (i < total % n) for i in range(n)], random)


def _shuffled(values: Sequence[T], random: Random) -> list[T]:
    shuffled = list(values)
    random.shuffle(shuffled)
    return shuffled


def draw_scenarios(
    seats: Mapping[str, Sequence[str]], each: int, *, seed: int
) -> dict[str, tuple[str, ...]]:
    """Draw the scenarios that raters answer: the same number for each rater, spread evenly.

    The sum, over scenarios, of the squared number of answers is the smallest that these seats
    allow.

    Args:
        seats: Rater → their scenarios, in their order; each has at least `each`.
        each: Answers per rater, at least 1.
        seed: The seed of everything random here.

    Returns:
        Rater → the scenarios that they answer, in their order.
    """
    random = Random(f"{seed}/answers")
    scenarios = sorted({name for names in seats.values() for name in names})
    random.shuffle(scenarios)
    count = dict.fromkeys(scenarios, 0)
    chosen: dict[str, set[str]] = {}
    for rater in random.sample(sorted(seats), len(seats)):
        names = random.sample(list(seats[rater]), len(seats[rater]))
        chosen[rater] = set(sorted(names, key=count.__getitem__)[:each])
        for name in chosen[rater]:
            count[name] += 1
    while (swaps := _evening_swaps(seats, chosen, count)) is not None:
        for rater, leaves, takes in swaps:
            chosen[rater] = chosen[rater] - {leaves} | {takes}
            count[leaves] -= 1
            count[takes] += 1
    return {rater: tuple(n for n in seats[rater] if n in chosen[rater]) for rater in seats}


_Swap = tuple[str, str, str]

"""A rater, the scenario that they no longer answer, and the one that they answer instead."""


def _evening_swaps(
    seats: Mapping[str, Sequence[str]], chosen: Mapping[str, set[str]], count: Mapping[str, int]
) -> list[_Swap] | None:
    """Return swaps that move an answer from a scenario to one with at least two fewer; else None.

    If no such swaps exist, the draw is as even as possible.
    """
    min_count = min(count.values(), default=0)
    for start in sorted(count, key=count.__getitem__, reverse=True):
        if count[start] < min_count + 2:
            return None
        swaps: dict[str, list[_Swap]] = {start: []}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            if count[here] < count[start] - 1:
                return swaps[here]
            for rater in sorted(chosen):
                if here in chosen[rater]:
                    for other in seats[rater]:
                        if other not in chosen[rater] and other not in swaps:
                            swaps[other] = [*swaps[here], (rater, here, other)]
                            queue.append(other)
    return None
