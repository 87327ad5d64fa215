"""What is said of entries in words: what each is called, its two first numbers, what must be read.

Sentences hold numbers as the tables have them; nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from careeval.core.grader import Grader
from careeval.core.scenario import HarmKind
from careeval.results.amounts import dollars, percent
from careeval.results.care_directions import directions
from careeval.results.entry_numbers import EntryNumbers
from careeval.results.score.cost import Cost
from careeval.results.score.graded_rubric import Errors
from careeval.results.score.summary import NOT_COMPARABLE, Summary
from careeval.results.trust.audit.results import AuditResults
from careeval.sheets.estimate_kinds import ERROR_SHARE, MEASURE
from careeval.sheets.kinds import DASH, DOLLARS, Form
from careeval.sheets.page_kinds import SPENDING
from careeval.stats import Estimate

SMALL = "* fewer than five scenarios: no interval, and not for comparing."
"""What an asterisk means at a number of scenarios."""

NO_RANKING = "do not compare or rank them."

KINDS = {HarmKind.injury: "that may injure", HarmKind.rights: "against the person's rights"}
"""What a severe error does, in words."""

CORRECTED = (
    "Corrected by people: what the score would be if people had judged every answer, from those "
    "that they read. Where its interval leaves out the score as graded, the grader is off for that "
    "system."
)


# Names


def grader_names(graders: Iterable[str]) -> dict[str, str]:
    """Return, for each grader, its name without its mode where that tells it from the others."""
    whole = list(dict.fromkeys(graders))
    parsed = [Grader.parse(grader) for grader in whole]
    for names in ([grader.model for grader in parsed], [grader.short for grader in parsed]):
        if len(set(names)) == len(whole):
            return dict(zip(whole, names, strict=True))
    return {grader: grader for grader in whole}


def brief_grader_names(graders: Iterable[str]) -> dict[str, str]:
    """Return, for each grader, the same without who made or hosts it, where that is enough."""
    names = grader_names(graders)
    brief = {grader: name.rpartition("/")[2] or name for grader, name in names.items()}
    return brief if len(set(brief.values())) == len(names) else names


def entry_names(summaries: Sequence[Summary]) -> list[str]:
    """Return a name for each entry: its system, and what else tells it from the others.

    That is the rubric where there are several, the grader where one system has several, and the
    protocol where even that is the same.
    """
    graders = brief_grader_names(s.grader for s in summaries)
    several = len({s.rubric for s in summaries}) > 1
    names = []
    for s in summaries:
        alike = [other for other in summaries if other.system == s.system]
        parts = [s.system]
        if several:
            parts.append(s.rubric.value)
        if len({other.grader for other in alike}) > 1:
            parts.append(graders[s.grader])
        if [(other.grader, other.rubric) for other in alike].count((s.grader, s.rubric)) > 1:
            parts.append(f"protocol {s.grading_protocol}")
        names.append(" · ".join(parts))
    return names


def judges(summaries: Sequence[Summary]) -> list[str]:
    """Return who judged each entry, with the protocol where entries would else be called alike."""
    names = grader_names(s.grader for s in summaries)
    keys = [(s.system, s.rubric, s.grader) for s in summaries]
    return [
        f"{names[s.grader]}, protocol {s.grading_protocol}"
        if keys.count(key) > 1
        else names[s.grader]
        for s, key in zip(summaries, keys, strict=True)
    ]


def worst_n(summaries: Iterable[Summary]) -> str:
    """Return the n of the worst of n; "n" where entries have different ones."""
    epochs = {s.n_epochs for s in summaries}
    return str(epochs.pop()) if len(epochs) == 1 else "n"


# The two first numbers


def sentences(summaries: Sequence[Summary]) -> list[str]:
    """Return `sentence` of each entry; the grader is named where a system's rubric has several."""
    judged = [(s.system, s.rubric) for s in summaries]
    return [
        f"{sentence(s).removesuffix('.')}, judged by {judge}."
        if judged.count((s.system, s.rubric)) > 1
        else sentence(s)
        for s, judge in zip(summaries, judges(summaries), strict=True)
    ]


def sentence(s: Summary) -> str:
    """Return an entry's severe errors and its score, in words."""
    severe, score = s.severe, s.score
    if severe.share.value is None:
        first = (
            f"Whether {s.system}'s responses hold a severe error is unknown: {severe.share.reason}"
        )
    elif severe.upper_at_zero is not None:
        first = (
            f"None of {s.system}'s {severe.n:,} responses holds a severe error; up to "
            f"{percent(severe.upper_at_zero)}% may, for all that these data tell"
        )
    else:
        first = (
            f"{percent(severe.share.value)}%{_in_brackets(severe.share, 1)} of {s.system}'s "
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


# What must be read with the numbers


def remarks(summaries: Sequence[Summary]) -> list[str]:
    """Return what a reader must be told with these numbers, each remark once."""
    lines = [*different(summaries)]
    names = entry_names(summaries)
    for reason in dict.fromkeys(reason for s in summaries for reason in s.not_ranked):
        entries = [n for n, s in zip(names, summaries, strict=True) if reason in s.not_ranked]
        lines.append(f"{', '.join(dict.fromkeys(entries))}: not for ranking: {reason}.")
    for s in summaries:
        lines += [f"{s.system}: {warning}." for warning in s.warnings]
        if s.severe_by_kind:
            kinds = (f"{KINDS[kind]} {_errors(e)}" for kind, e in s.severe_by_kind.items())
            lines.append(f"{s.system}, % of responses with a severe error: {'; '.join(kinds)}.")
        lines += _direction_remarks(s)
        for count, what in ((s.n_empty, "empty"), (s.n_refused, "refused")):
            if count:
                share = f"{count} of {s.n_responses} responses"
                lines.append(f"{s.system}: {share} are {what}: 0 points each.")
    lines += [f"Bank {s.bank} {s.bank_version}: {s.bank_provenance}" for s in summaries]
    if len({s.n_epochs for s in summaries}) > 1:
        lines.append("The worst of n compares only between equal n.")
    return [*dict.fromkeys(lines), NOT_COMPARABLE] if summaries else []


def _errors(errors: Errors) -> str:
    if errors.share.value is None:
        return DASH
    return f"{ERROR_SHARE.text(errors, Form.whole)}, {ERROR_SHARE.text(errors, Form.of_many)}"


def _direction_remarks(s: Summary) -> Iterator[str]:
    """Yield a line on too little and too much care, and on twins, where the bank has such."""
    shown = {d.key: f"{d.head.lower()} {MEASURE.text(d.share, Form.whole)}" for d in directions(s)}
    for keys, what in (
        (("too_little", "too_much", "unspecific"), "% of responses"),
        (("core", "other"), "% of points earned"),
        (("lenient",), "% on the ladder, from strict to lenient"),
        (("adapted", "stuck", "neither"), "% of pairs of answers to a base and its twin"),
        (("changed", "same_text"), "% of pairs of answers to a base and its control"),
    ):
        if parts := [shown[key] for key in keys if key in shown]:
            yield f"{s.system}, {what}: {'; '.join(parts)}."


def different(summaries: Sequence[Summary]) -> Iterator[str]:
    """Yield why these entries may not be compared with each other, nor ranked together."""
    banks = dict.fromkeys(f"{s.bank} {s.bank_version}" for s in summaries)
    if len(banks) > 1:
        yield f"The runs are over different banks, {', '.join(banks)}: {NO_RANKING}"
    elif len({s.bank_hash for s in summaries}) > 1:
        yield f"The runs are over different scenarios of bank {', '.join(banks)}: {NO_RANKING}"
    for what, versions in (
        ("asked", dict.fromkeys(s.protocol for s in summaries)),
        ("judged", dict.fromkeys(str(s.grading_protocol) for s in summaries)),
    ):
        if len(versions) > 1:
            named = ", ".join(versions)
            yield f"The runs were {what} by different protocols, {named}: {NO_RANKING}"
    if len({s.rubric for s in summaries}) > 1:
        yield f"Scores on the actions and on the ladder are two scales: {NO_RANKING}"


def unresolved(summaries: Sequence[Summary]) -> Iterator[str]:
    """Yield how many judgments are unresolved, where any is."""
    n, of_n = (sum(getattr(s, f) for s in summaries) for f in ("n_unresolved", "n_judgments"))
    if n:
        yield (
            f"{n:,} of {of_n:,} judgments are unresolved; intervals take in either way they fall, "
            "and --format md prints the bounds."
        )


INTERVALS = (
    "n is scenarios × responses to each. In brackets: 95% intervals, clustered by scenario, "
    "which take in what unresolved judgments could make of a number."
)


def caption(summaries: Sequence[Summary]) -> str:
    """Return what must stand by the numbers of entries where nothing else does."""
    provenances = dict.fromkeys(s.bank_provenance for s in summaries)
    parts = (about(summaries), *provenances, INTERVALS, *different(summaries), NOT_COMPARABLE)
    return " ".join(parts)


def about(summaries: Sequence[Summary]) -> str:
    """Return what entries were asked and judged by, in a line."""
    graders = list(dict.fromkeys(s.grader for s in summaries))
    parts = [
        _either("Bank", (f"{s.bank} {s.bank_version}" for s in summaries)),
        _either("protocol", (str(s.grading_protocol) for s in summaries)),
        _either("rubric", (s.rubric.value for s in summaries)),
        _either("grader", graders),
        _either("n", (f"{s.n_scenarios} × {s.n_epochs}" for s in summaries)),
    ]
    return f"{'; '.join(parts)}."


def _either(what: str, names: Iterable[str]) -> str:
    return f"{what} {', '.join(dict.fromkeys(names))}"


def people_remarks(
    audits: Mapping[str, AuditResults], entries: Sequence[EntryNumbers]
) -> list[str]:
    """Return what people say of these graders, and why a score is not corrected.

    Args:
        audits: Grader → what people say of it; nothing is said without any.
        entries: Whose scores people correct.
    """
    if not audits:
        return []
    names = entry_names([each.summary for each in entries])
    return [
        *(f"{grader}: {audit.sentence()}" for grader, audit in audits.items()),
        *(
            f"{name} not corrected: {score.corrected.reason}."
            for name, each in zip(names, entries, strict=True)
            if (score := each.corrected) and score.corrected.value is None
        ),
        CORRECTED,
    ]


# What was spent


def cost_lines(summaries: Sequence[Summary]) -> list[str]:
    """Return what each system cost, a sentence each: asking it, then each of its gradings."""
    by_system: dict[str, list[Summary]] = {}
    for s in summaries:
        by_system.setdefault(s.system, []).append(s)
    lines = []
    for system, entries in by_system.items():
        asking = entries[0].cost.asking
        gradings = [
            f"grading the {s.rubric}{f' by {s.grader}' if len(entries) > 1 else ''} "
            f"{_spent(s.cost.grading)}"
            for s in entries
        ]
        line = "; ".join([f"{system}: asking {_spent(asking)}", *gradings])
        each = entries[0].cost.per_response
        if len(entries) == 1 and each is not None:
            line += f"; {dollars(each)} a response"
        lines.append(f"{line}.")
    return lines


def _spent(cost: Cost) -> str:
    """Return dollars, and in brackets why they are unknown, of how many responses, the tokens."""
    return f"{DOLLARS.text(cost)} ({', '.join(SPENDING.lines(cost))})"
