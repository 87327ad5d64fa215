"""Words for readers: names of a bank's ids and of entries, and sentences about entries.

Numbers come from the tables; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from careeval.core.response import Grader, ResponseState
from careeval.core.scenario import Assistance, Condition, Domain, Rubric
from careeval.core.text import dollars, percent
from careeval.results.conditions import NO_PLANS
from careeval.results.entry import NOT_COMPARABLE, Entry
from careeval.results.graded_rubric import Errors
from careeval.results.grader_accuracy import PeopleAudit
from careeval.results.metrics import DIRECTIONS, SEVERE_BY_KIND, Metric, Number, share_of
from careeval.results.tables import Cost, condition_text
from careeval.sheets.kinds import DASH, DOLLARS, ERROR_SHARE, ESTIMATE, SPENDING, UNKNOWN, Form
from careeval.stats.estimate import Estimate

CONDITIONS = {
    Condition.cervical_sci: "spinal cord injury, cervical",
    Condition.thoracic_sci: "spinal cord injury, thoracic",
    Condition.ms: "multiple sclerosis",
    Condition.als: "ALS",
    Condition.parkinsons: "Parkinson’s disease",
    Condition.tbi: "traumatic brain injury",
}
"""Conditions whose id does not read as a word."""

ASSISTANCE = {
    Assistance.independent: "independent",
    Assistance.setup: "set-up help",
    Assistance.supervision: "supervision or touch",
    Assistance.partial: "partial help",
    Assistance.substantial: "substantial help",
    Assistance.dependent: "dependent",
}
"""Usual level of assistance, after Section GG."""

DOMAINS = {
    Domain.user_function: "User function",
    Domain.user_agency: "User agency",
    Domain.communication_intent: "Communication and intent",
    Domain.functional_safety: "Functional safety",
}


def plain(name: str | None) -> str:
    """Return an id as text: hyphens and underscores become spaces; "unknown" for `None`."""
    return name.replace("-", " ").replace("_", " ") if name else UNKNOWN


def condition(name: str | None) -> str:
    """Return the name of a condition; if `CONDITIONS` lacks it, as by `plain`."""
    return CONDITIONS[Condition(name)] if name in CONDITIONS else plain(name)


def assistance(code: str | None) -> str:
    """Return a level of assistance as text; if it is not a Section GG code, as by `plain`."""
    return ASSISTANCE[Assistance(code)] if code in ASSISTANCE else plain(code)


def actor(name: str | None) -> str:
    """Return "a person helps" or "a robot helps"; for another actor, as by `plain`."""
    return {"person": "a person helps", "robot": "a robot helps"}.get(name or "", plain(name))


ANSWERS = {
    "yes": "agrees",
    "no": "refuses",
    "silence": "no answer",
    "stop": "says stop",
}
"""The person's answers while a plan is carried out, in the mode `plan`."""

RUBRIC_TITLES = {
    Rubric.actions: "Actions: single acts",
    Rubric.ladder: "Ladder: graded whole answers",
    Rubric.plan: "Plan: goals and dangers",
}
"""Rubrics with what they are made of, for headings."""

SMALL = "* fewer than five scenarios: no interval, and not for comparing."
"""Note on the asterisk beside a number of scenarios."""

NO_RANKING = "do not compare or rank them."

CORRECTED = (
    "Corrected by people: the score that people would have given all responses, estimated from "
    "those that they read. If its interval excludes the score as graded, the grader is off for "
    "that system."
)


# Names


def grader_names(graders: Iterable[str]) -> dict[str, str]:
    """Return grader → name: model, model and mode, or full name; the shortest that is unique."""
    graders = list(dict.fromkeys(graders))
    parsed = [Grader(grader) for grader in graders]
    for names in ([grader.model for grader in parsed], [grader.short for grader in parsed]):
        if len(set(names)) == len(graders):
            return dict(zip(graders, names, strict=True))
    return {grader: grader for grader in graders}


def brief_grader_names(graders: Iterable[str]) -> dict[str, str]:
    """Return `grader_names`, without the provider if the names are unique without it."""
    names = grader_names(graders)
    brief = {grader: name.rpartition("/")[2] or name for grader, name in names.items()}
    return brief if len(set(brief.values())) == len(names) else names


def entry_names(entries: Sequence[Entry]) -> list[str]:
    """Return a unique name for each entry: `Entry.name`, and more if entries share it.

    The name has the rubric if there are several rubrics, the grader if the system has several
    graders, and the protocol if the grader is the same too.
    """
    graders = brief_grader_names(s.grader for s in entries)
    has_several_rubrics = len({s.rubric for s in entries}) > 1
    names = []
    for s in entries:
        same_system = [other for other in entries if other.name == s.name]
        parts = [s.name]
        if has_several_rubrics:
            parts.append(s.rubric.value)
        if len({other.grader for other in same_system}) > 1:
            parts.append(graders[s.grader])
        if [(other.grader, other.rubric) for other in same_system].count((s.grader, s.rubric)) > 1:
            parts.append(f"protocol {s.grading_protocol}")
        names.append(" · ".join(parts))
    return names


def entry_graders(entries: Sequence[Entry]) -> list[str]:
    """Return the name of each entry's grader, with the protocol if needed to be unique."""
    names = grader_names(s.grader for s in entries)
    keys = [(s.name, s.rubric, s.grader) for s in entries]
    return [
        f"{names[s.grader]}, protocol {s.grading_protocol}"
        if keys.count(key) > 1
        else names[s.grader]
        for s, key in zip(entries, keys, strict=True)
    ]


def worst_n(entries: Iterable[Entry]) -> str:
    """Return the n of the worst of n as text; "n" if entries differ in it."""
    epochs = {s.n_epochs for s in entries}
    return str(epochs.pop()) if len(epochs) == 1 else "n"


# The headline numbers


def headline_sentences(entries: Sequence[Entry]) -> list[str]:
    """Return `headline_sentence` of each entry, with the grader if several judged that rubric."""
    keys = [(s.name, s.rubric) for s in entries]
    return [
        f"{headline_sentence(s).removesuffix('.')}, judged by {grader}."
        if keys.count((s.name, s.rubric)) > 1
        else headline_sentence(s)
        for s, grader in zip(entries, entry_graders(entries), strict=True)
    ]


def headline_sentence(s: Entry) -> str:
    """Return a sentence on an entry: its severe errors and its score; of answers, what is right."""
    severe, score = s.severe, s.score
    if s.given in NO_PLANS:
        if score.value is None:
            return f"How much {s.name} answers right is unknown: {score.reason}."
        share = f"{percent(score.value, 0)}%{_in_brackets(score, 0)}"
        return f"{s.name} earns {share} of the points of closed questions."
    if severe.share.value is None:
        first = (
            f"Whether {s.name}'s responses hold a severe error is unknown: {severe.share.reason}"
        )
    elif severe.upper_at_zero is not None:
        first = (
            f"None of {s.name}'s {severe.n:,} responses holds a severe error; up to "
            f"{percent(severe.upper_at_zero)}% may (95% limit)"
        )
    else:
        first = (
            f"{percent(severe.share.value)}%{_in_brackets(severe.share, 1)} of {s.name}'s "
            "responses hold a severe error"
        )
    if score.value is None:
        return f"{first}; its score is unknown: {score.reason}."
    in_brackets = _in_brackets(score, 0)
    return f"{first}; it scores {percent(score.value, 0)}%{in_brackets} on the {s.rubric}."


def _in_brackets(estimate: Estimate, digits: int) -> str:
    if estimate.ci95 is None:
        return ""
    low, high = (percent(end, digits) for end in estimate.ci95)
    return f" ({low} to {high})" if estimate.ci95[0] < 0 else f" ({low}–{high})"


# Remarks on the numbers


def remarks(entries: Sequence[Entry], *, shares: bool = True) -> list[str]:
    """Return all warnings and remarks on entries, without duplicates; empty without entries.

    Args:
        entries: The entries.
        shares: Whether to give shares that are no warning, such as of too little care.
    """
    lines = (
        *comparison_warnings(entries),
        *ranking_remarks(entries),
        *entry_remarks(entries, shares=shares),
        *(f"Bank {s.bank} {s.bank_version}: {s.bank_provenance}" for s in entries),
        *epoch_remarks(entries),
    )
    return [*dict.fromkeys(lines), NOT_COMPARABLE] if entries else []


def ranking_remarks(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield why entries may not be ranked, one line a reason."""
    names = entry_names(entries)
    for reason in dict.fromkeys(reason for s in entries for reason in s.not_ranked):
        left_out = [n for n, s in zip(names, entries, strict=True) if reason in s.not_ranked]
        yield f"{', '.join(dict.fromkeys(left_out))}: not for ranking: {reason}."


def entry_remarks(entries: Sequence[Entry], *, shares: bool = True) -> Iterator[str]:
    """Yield what the numbers of each entry do not show: its warnings, and responses without points.

    Args:
        entries: The entries.
        shares: Whether to give shares that are no warning, such as of too little care.
    """
    for s in entries:
        for unit, remark in _entry_remarks(s, shares=shares):
            yield f"{s.name}{f', {unit}' if unit else ''}: {remark}."


def own_remarks(s: Entry) -> Iterator[str]:
    """Yield `entry_remarks` of one entry without its name, for a place that has it."""
    for unit, remark in _entry_remarks(s, shares=True):
        line = f"{unit}: {remark}" if unit else remark
        yield f"{line[:1].upper()}{line[1:]}."


def _entry_remarks(s: Entry, *, shares: bool) -> Iterator[tuple[str, str]]:
    """Yield each remark with the unit of its numbers; empty if it has none of its own."""
    yield from (("", warning) for warning in s.warnings)
    if shares:
        yield from _share_remarks(s)
    for state, what in _STATES.items():
        if count := s.n_of(state):
            note = s.first_note(state) if state is ResponseState.malformed else ""
            first = f"; the first: {note}" if note else ""
            yield "", f"{count} of {s.n_responses} responses {what}{first}"


def epoch_remarks(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a remark if the entries have different numbers of responses per scenario."""
    if len({s.n_epochs for s in entries}) > 1:
        yield "The worst of n can be compared only between entries with equal n."


_STATES = {
    ResponseState.empty: "are empty: 0 points each",
    ResponseState.refused: "are refused: 0 points each",
    ResponseState.malformed: "are no plan: 0 points each",
    ResponseState.not_executable: (
        "are plans that break off: goals there count nothing, dangers that follow count as intended"
    ),
}
"""State → what is said of the responses that ended in it."""


def _share_remarks(s: Entry) -> Iterator[tuple[str, str]]:
    """Yield units with the entry's shares, such as of too little care, if it has any."""
    numbers: dict[str, Number] = {**s.severe_by_kind, **s.directions}
    metrics: tuple[Metric[Any, Number], ...] = (*SEVERE_BY_KIND, *DIRECTIONS)
    by_unit: dict[str, list[str]] = {}
    for metric in metrics:
        if metric.key in numbers:
            text = f"{metric.words or metric.brief} {_share_text(numbers[metric.key])}"
            by_unit.setdefault(metric.unit, []).append(text)
    yield from ((unit, "; ".join(texts)) for unit, texts in by_unit.items())


def _share_text(number: Number) -> str:
    if not isinstance(number, Errors):
        return ESTIMATE.text(share_of(number), Form.whole)
    if number.share.value is None:
        return DASH
    return f"{ERROR_SHARE.text(number, Form.whole)}, {ERROR_SHARE.text(number, Form.of_many)}"


def comparison_warnings(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield the reasons, if any, why these entries must not be compared or ranked together."""
    banks = dict.fromkeys(f"{s.bank} {s.bank_version}" for s in entries)
    if len(banks) > 1:
        yield f"The runs are over different banks, {', '.join(banks)}: {NO_RANKING}"
    elif len({s.bank_hash for s in entries}) > 1:
        yield f"The runs are over different scenarios of bank {', '.join(banks)}: {NO_RANKING}"
    for verb, versions in (
        ("asked", dict.fromkeys(s.protocol for s in entries)),
        ("judged", dict.fromkeys(str(s.grading_protocol) for s in entries)),
    ):
        if len(versions) > 1:
            listed = ", ".join(versions)
            yield f"The runs were {verb} by different protocols, {listed}: {NO_RANKING}"
    if len(conditions := dict.fromkeys(condition_text(s.given, step=s.step) for s in entries)) > 1:
        listed = "; ".join(each or "none" for each in conditions)
        yield f"The runs were asked in different conditions, {listed}: {NO_RANKING}"
    if {Rubric.actions, Rubric.ladder} <= {s.rubric for s in entries}:
        yield f"Scores on the actions and on the ladder are on different scales: {NO_RANKING}"


def unresolved_notes(entries: Sequence[Entry]) -> Iterator[str]:
    """Yield a note with the number of unresolved judgments; nothing if there are none."""
    n_unresolved = sum(s.n_unresolved for s in entries)
    n_judgments = sum(s.n_judgments for s in entries)
    if n_unresolved:
        yield (
            f"{n_unresolved:,} of {n_judgments:,} judgments are unresolved; intervals allow for "
            "either outcome, and --format md prints the bounds."
        )


INTERVALS = (
    "n is scenarios × responses to each. In brackets: 95% intervals, clustered by scenario, "
    "which allow for unresolved judgments."
)


def entries_caption(entries: Sequence[Entry]) -> str:
    """Return a caption for tables of entries, for formats that do not print notes."""
    provenances = dict.fromkeys(s.bank_provenance for s in entries)
    parts = (
        settings_line(entries),
        *provenances,
        INTERVALS,
        *comparison_warnings(entries),
        NOT_COMPARABLE,
    )
    return " ".join(parts)


def settings_line(entries: Sequence[Entry]) -> str:
    """Return a line with bank, grading protocol, rubric, grader and n of these entries."""
    graders = list(dict.fromkeys(s.grader for s in entries))
    parts = [
        _listed("Bank", (f"{s.bank} {s.bank_version}" for s in entries)),
        _listed("protocol", (str(s.grading_protocol) for s in entries)),
        _listed("rubric", (s.rubric.value for s in entries)),
        _listed("grader", graders),
        _listed("n", (f"{s.n_scenarios} × {s.n_epochs}" for s in entries)),
    ]
    return f"{'; '.join(parts)}."


def _listed(label: str, names: Iterable[str]) -> str:
    return f"{label} {', '.join(dict.fromkeys(names))}"


def audit_remarks(audits: Mapping[str, PeopleAudit], entries: Sequence[Entry]) -> list[str]:
    """Return a sentence on each audit, and the reasons why scores are not corrected.

    Args:
        audits: Grader → results of its audit by people; if empty, so is the result.
        entries: The entries whose scores are corrected.
    """
    if not audits:
        return []
    names = entry_names(entries)
    return [
        *(f"{grader}: {audit.sentence()}" for grader, audit in audits.items()),
        *(
            f"{name} not corrected: {score.corrected.reason}."
            for name, entry in zip(names, entries, strict=True)
            if (score := entry.corrected) and score.corrected.value is None
        ),
        CORRECTED,
    ]


# Costs


def cost_lines(entries: Sequence[Entry]) -> list[str]:
    """Return a sentence per system on its costs: of asking, then of each grading."""
    by_system: dict[str, list[Entry]] = {}
    for s in entries:
        by_system.setdefault(s.name, []).append(s)
    lines = []
    for system, entries in by_system.items():
        asking = entries[0].cost.asking
        gradings = [
            f"grading the {s.rubric}{f' by {s.grader}' if len(entries) > 1 else ''} "
            f"{_cost_text(s.cost.grading)}"
            for s in entries
        ]
        line = "; ".join([f"{system}: asking {_cost_text(asking)}", *gradings])
        per_response = entries[0].cost.per_response
        if len(entries) == 1 and per_response is not None:
            line += f"; {dollars(per_response)} a response"
        lines.append(f"{line}.")
    return lines


def _cost_text(cost: Cost) -> str:
    """Return a cost as text: the dollars, and in brackets the lines of `SPENDING`."""
    return f"{DOLLARS.text(cost)} ({', '.join(SPENDING.lines(cost))})"
