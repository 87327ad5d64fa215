"""Which scenarios of a bank a run takes, and which rubrics."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import chain, zip_longest

from careeval.bank import Bank
from careeval.bank.sealed import KEY_VARIABLE
from careeval.core.scenario import Adl, Rubric, Scenario, Split
from careeval.errors import ProtocolError


def select_scenarios(
    bank: Bank,
    split: Split,
    adls: Sequence[str] = (),
    ids: Sequence[str] = (),
    limit: int | None = None,
) -> list[Scenario]:
    """The scenarios to put, in the order of their ids.

    Args:
        bank: Where they are.
        split: Public or held-out.
        adls: Activities to take; all when empty.
        ids: Scenarios to take; all when empty.
        limit: At most so many, taken from the activities in turn, so that a small run sees all of
            them.

    Raises:
        ProtocolError: A name is not known, or nothing is left.
        BankError: An id is not in the bank.
    """
    for adl in adls:
        if adl not in Adl.__members__.values():
            near = get_close_matches(adl, [known.value for known in Adl], n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"use {', '.join(Adl)}"
            raise ProtocolError(f"activity {adl!r} is not known", hint=hint)
    if limit is not None and limit < 1:
        raise ProtocolError(f"limit {limit} leaves nothing to do", hint="use 1 or more")
    wanted = {bank.scenario(scenario_id).id for scenario_id in ids}
    chosen = [
        s
        for s in bank.scenarios
        if s.split is split and (not adls or s.adl in adls) and (not wanted or s.id in wanted)
    ]
    if not chosen:
        raise ProtocolError(
            f"no scenario of bank {bank.about.name!r} is {split} and fits what was asked for",
            hint=f"a sealed split is read with its key: set {KEY_VARIABLE}"
            if split is Split.held_out
            else "",
        )
    if limit is None:
        return chosen
    by_adl = [[s for s in chosen if s.adl is adl] for adl in Adl]
    in_turn = [s for s in chain.from_iterable(zip_longest(*by_adl)) if s is not None]
    return sorted(in_turn[:limit], key=lambda s: s.id)


def rubrics_named(rubric: str) -> list[Rubric]:
    """`ladder`, `actions` or `both`, as a list.

    Raises:
        ProtocolError: It is none of them.
    """
    if rubric == "both":
        return list(Rubric)
    if rubric not in Rubric.__members__.values():
        raise ProtocolError(f"rubric {rubric!r} is not known", hint="use ladder, actions or both")
    return [Rubric(rubric)]
