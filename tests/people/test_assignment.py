"""The assignment of scenarios to raters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from careeval.core.rating import Rater, Role
from careeval.errors import ReviewError
from careeval.people.plan import assign, separate_families

OT, FAMILY, ROBOTICIST = Role.occupational_therapist, Role.family_caregiver, Role.roboticist


def _raters(*roles: Role) -> list[Rater]:
    return [Rater(f"r{n:02}", role) for n, role in enumerate(roles, 1)]


def _scenarios(n: int) -> list[str]:
    return [f"eating-{k:03}" for k in range(1, n + 1)]


def _together(assigned: dict[str, tuple[str, ...]]) -> Counter[frozenset[str]]:
    return Counter(
        frozenset((a, b))
        for a, b in combinations(assigned, 2)
        for _ in set(assigned[a]) & set(assigned[b])
    )


def test_both_roles_everywhere() -> None:
    """With two therapists and two relatives, two a scenario, each scenario gets one of either."""
    raters = _raters(OT, OT, FAMILY, FAMILY)
    assigned = assign(_scenarios(6), raters, seed=3, raters_per_scenario=2)
    role = {rater.id: rater.role for rater in raters}
    for scenario in _scenarios(6):
        assert {role[name] for name, own in assigned.items() if scenario in own} == {OT, FAMILY}
    assert {len(own) for own in assigned.values()} == {3}


def test_the_papers_panel() -> None:
    """With a panel like the paper's, five a scenario, each gets its share of each role."""
    raters = _raters(*[OT] * 5, FAMILY, FAMILY, ROBOTICIST)
    assigned = assign(_scenarios(40), raters, seed=1, raters_per_scenario=5)
    role = {rater.id: rater.role for rater in raters}
    therapists = Counter(s for name, own in assigned.items() for s in own if role[name] is OT)
    family = Counter(s for name, own in assigned.items() for s in own if role[name] is FAMILY)
    assert {len(own) for own in assigned.values()} == {25}
    assert set(therapists.values()) <= {3, 4}
    assert set(family.values()) <= {1, 2}
    assert len(family) == 40


def test_everybody_rates_everything() -> None:
    """Without numbers everybody gets every scenario, each in an order of their own."""
    assigned = assign(_scenarios(12), _raters(OT, OT, FAMILY), seed=1)
    assert all(sorted(own) == _scenarios(12) for own in assigned.values())
    assert len(set(assigned.values())) == 3


def test_pairs_are_spread() -> None:
    """Seven raters on seven scenarios, three each: no pair meets more than twice."""
    assigned = assign(_scenarios(7), _raters(*[OT] * 7), seed=5, raters_per_scenario=3)
    assert max(_together(assigned).values()) <= 2


def test_too_few_raters() -> None:
    """The error of an impossible assignment gives the numbers that would be possible."""
    with pytest.raises(ReviewError, match="100 scenarios with 5 raters each need 500") as error:
        assign(_scenarios(100), _raters(*[OT] * 8), seed=1, per_rater=20, raters_per_scenario=5)
    assert error.value.hint == "give each 63, or find 25 raters"
    with pytest.raises(ReviewError, match="a study needs scenarios and raters"):
        assign([], _raters(OT), seed=1)
    with pytest.raises(ReviewError, match="must be 1 to 2"):
        assign(_scenarios(3), _raters(OT, OT), seed=1, raters_per_scenario=3)


NAMES = st.lists(st.integers(0, 30), min_size=1, max_size=9, unique=True)


@given(NAMES, st.integers(1, 4))
def test_a_twin_never_stands_beside_its_base(names: list[int], n_families: int) -> None:
    """No two of a family are neighbours where they need not be, and no more moves than that."""
    family = {f"s-{n}": f"f-{n % n_families}" for n in names}
    found = separate_families(list(family), family)
    assert sorted(found) == sorted(family)

    def touching(order: Sequence[str]) -> int:
        return sum(family[a] == family[b] for a, b in pairwise(order))

    most = max(Counter(family.values()).values())
    assert touching(found) == 0 or 2 * most > len(names) + 1
    if not touching(list(family)):
        assert found == tuple(family)


@given(st.data())
@settings(max_examples=40)
def test_blocks_are_balanced(data: st.DataObject) -> None:
    """Scenarios get their number, loads and sizes are one apart at most, and nobody rates twice."""
    n, m = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 9))
    raters = _raters(*data.draw(st.lists(st.sampled_from(Role), min_size=m, max_size=m)))
    per_scenario = data.draw(st.none() | st.integers(1, m))
    per_rater = None if per_scenario else data.draw(st.none() | st.integers(1, n))
    seed = data.draw(st.integers(0, 2**32))
    assigned = assign(
        _scenarios(n), raters, seed=seed, per_rater=per_rater, raters_per_scenario=per_scenario
    )
    loads = [len(own) for own in assigned.values()]
    sizes = [sum(s in own for own in assigned.values()) for s in _scenarios(n)]
    assert all(len(set(own)) == len(own) for own in assigned.values())
    assert max(loads) - min(loads) <= 1
    assert max(sizes) - min(sizes) <= 1
    if per_scenario:
        assert set(sizes) == {per_scenario}
    if per_rater:
        assert set(loads) == {per_rater}
    again = assign(
        _scenarios(n), raters, seed=seed, per_rater=per_rater, raters_per_scenario=per_scenario
    )
    assert again == assigned
