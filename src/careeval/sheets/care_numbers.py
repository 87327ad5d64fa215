"""The numbers on care directions and twins that an entry has, with their names and meanings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from careeval.results.entries import Entry
from careeval.results.probe_check import ProbeAgreement
from careeval.stats.estimate import Estimate


class CareNumber(NamedTuple):
    """One number on care directions or twins, with its names and meaning."""

    key: str  # Name in files
    head: str  # Column header in tables
    meaning: str  # What the share is a share of
    n: int  # Number of responses, pairs or controls that the share is computed over
    share: Estimate  # The number


def care_numbers(s: Entry) -> Iterator[CareNumber]:
    """Yield the numbers on care directions and twins that an entry has, in display order."""
    if s.care is not None:
        for key, head, meaning in (
            ("too_little", "Too little care", "responses with an act of too little care"),
            ("too_much", "Too much care", "responses with an act of too much care"),
            ("unspecific", "Unspecific", "responses without technique where technique is scored"),
            ("core", "Easy core", "points that are earned of those of the easy core"),
            ("other", "Other good acts", "points that are earned of those of other good acts"),
        ):
            rate = getattr(s.care, key)
            yield CareNumber(key, head, meaning, rate.n, rate.share)
    if s.lenient is not None:
        yield CareNumber("lenient", "Lenient score", "points if a rung that lacks one act counted",
                         s.n_responses - s.n_missing - s.n_ungraded, s.lenient)  # fmt: skip
    if s.twins is not None:
        n, n_controls = sum(pair.n > 0 for pair in s.twins.pairs), len(s.twins.controls)
        n_twice = sum(each.same_text is not None for each in s.twins.controls)
        pairs = "pairs of a base and its twin whose answers"
        controls = "pairs of answers that differ in an act of ±2"
        yield CareNumber("adapted", "Adapted", f"{pairs} each have their own right act alone", n,
                         s.twins.adapted)  # fmt: skip
        stuck = f"{pairs} both do the base's right act alone, or both the twin's"
        yield CareNumber("stuck", "Stuck", stuck, n, s.twins.stuck)
        yield CareNumber("neither", "Neither", f"{pairs} do neither", n, s.twins.neither)
        changed = f"{controls}, to a base and its control"
        yield CareNumber("changed", "Changed by a control", changed, n_controls, s.twins.changed)
        yield CareNumber("same_text", "Changed by chance", f"{controls}, to one text", n_twice,
                         s.twins.same_text)  # fmt: skip


def grader_twin_errors(s: Entry, probes: ProbeAgreement | None) -> Iterator[CareNumber]:
    """Yield the grader's errors on the probes of twins, if the entry has twins."""
    slips = probes.pairs if probes and s.twins else None
    if slips is None:
        return
    probes_of_pair = "probes of twins that hold one right act of the pair, of which the grader"
    mistaken = f"{probes_of_pair} misjudges either act"
    yield CareNumber("mistaken", "Mistaken by the grader", mistaken, slips.n, slips.mistaken)
    swapped = f"{probes_of_pair} finds the other act instead"
    yield CareNumber("swapped", "Swapped by the grader", swapped, slips.n, slips.swapped)
