"""What `careeval study` prints: tables, and the same as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from careeval.bank.apply import Change
from careeval.core.text import counted, plain
from careeval.results.decided import Decision
from careeval.results.judged import Judged
from careeval.results.panel import Years
from careeval.results.rater_agreement import (
    COEFFICIENTS,
    CUT_REMARK,
    DESCRIBES,
    any_cut,
    low_end,
)
from careeval.results.study import StudyResults
from careeval.review.asking import Progress
from careeval.review.study import StudyPlan
from careeval.sheets.terminal import console, new_table
from careeval.stats import Estimate

if TYPE_CHECKING:
    from careeval.review.outcome import Whereabouts

UNDECIDED = "undecided"
NAMES = {
    "identical": "identical pairs",
    "ac1": "AC1",
    "ac2": "AC2",
    "alpha": "alpha",
    "icc": "ICC(2,k)",
}
"""Of the coefficients, as heads of columns."""

_MOST_TO_READ = 2


def print_status(
    plan: StudyPlan, found: Sequence[Whereabouts], closed: bool, n_withdrawn: int
) -> None:
    """Who is where, a line a rater."""
    title = f"{escape(plain(plan.title))} · round {plan.round}{' · closed' if closed else ''}"
    answers = ("own answers",) if any(_own_answers(each) for each in found) else ()
    table = new_table(
        title,
        ("rater", "role", "agreed", *answers),
        ("done", "started", "skipped", "left", "typed", "last"),
    )
    for each in found:
        counts = each.counts
        table.add_row(
            each.rater.id,
            each.rater.role,
            "link off" if each.revoked else "yes" if each.agreed else "no",
            *([_own_answers(each)] if answers else []),
            str(counts.get(Progress.done, 0)),
            str(counts.get(Progress.started, 0)),
            str(counts.get(Progress.skipped, 0)),
            str(counts.get(Progress.untouched, 0)),
            str(each.n_typed or ""),
            each.last or "never",
        )
    out = console()
    out.print(table)
    done = sum(each.counts.get(Progress.done, 0) for each in found)
    total = sum(sum(each.counts.values()) for each in found)
    gone = f"; {n_withdrawn} withdrawn" if n_withdrawn else ""
    out.print(f"  {done} of {total} done{gone}")


def _own_answers(each: Whereabouts) -> str:
    """How many somebody wrote, and whether they stand; empty where none were asked for."""
    if not each.n_to_write and not each.handed_in:
        return ""
    of = f" of {each.n_to_write}" if each.n_to_write else ""
    return f"{each.n_written}{of}, {'handed in' if each.handed_in else 'not handed in'}"


def status_json(
    plan: StudyPlan, found: Sequence[Whereabouts], closed: bool, n_withdrawn: int
) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "title": plan.title,
        "round": plan.round,
        "closed": closed,
        "n_withdrawn": n_withdrawn,
        "raters": [
            {
                "rater": each.rater.id,
                "role": each.rater.role.value,
                "agreed": each.agreed,
                "revoked": each.revoked,
                **{p.name: each.counts.get(p, 0) for p in Progress},
                "n_typed": each.n_typed,
                "own_answers": {
                    "n_asked": each.n_to_write,
                    "n_written": each.n_written,
                    "handed_in": each.handed_in,
                },
                "last": each.last or None,
            }
            for each in found
        ],
    }


def print_results(found: StudyResults) -> None:
    """Decisions first, then what stands behind them."""
    out = console()
    counts = [f"{d} {len(found.decided(d))}" for d in Decision]
    if undecided := found.decided(None):
        counts.append(f"{UNDECIDED} {len(undecided)}")
    terms = found.terms
    out.print(Text(plain(f"{found.title} · bank {found.bank} {found.bank_version}"), style="bold"))
    out.print(f"  {' · '.join(counts)}   by the rule '{terms.rule}', counting {terms.endorsing}")
    out.print(_decisions(found))
    out.print(_scales(found))
    out.print(_panel(found))
    out.print(_agreement(found))
    for line in _remarks(found):
        out.print(Text(plain(f"  {line}"), style="dim"))


def _decisions(found: StudyResults) -> Any:
    table = new_table(
        "Scenarios",
        ("scenario", "decision", "why, and what to read first"),
        ("realism", "other cut", "V", "validity", "other cut", "V", "comments"),
    )
    order = [Decision.drop, Decision.revise, None, Decision.keep]
    for each in sorted(found.latest, key=lambda s: (order.index(s.decision), s.subject.scenario)):
        table.add_row(
            f"{each.subject.scenario} v{each.subject.version}",
            each.decision or UNDECIDED,
            Text(plain("; ".join([*each.reasons, *_first(each.to_read)]))),
            *_cells(each.realism),
            *_cells(each.validity),
            str(each.n_comments or ""),
        )
    return table


def _first(to_read: Sequence[str]) -> list[str]:
    """As much as a line holds; the page and the tables have all."""
    more = len(to_read) - _MOST_TO_READ
    return [*to_read[:_MOST_TO_READ], *([f"and {more} more to read"] if more > 0 else [])]


def _cells(judged: Judged) -> tuple[str, str, str]:
    if judged.at_cut is None or judged.at_other is None:
        return "–", "–", "–"
    mark = "*" if judged.cut_sensitive else ""
    return (
        f"{judged.at_cut.k}/{judged.at_cut.n}{mark}",
        f"{judged.at_other.k}/{judged.at_other.n}",
        _two(judged.aiken.value if judged.aiken else None),
    )


def _scales(found: StudyResults) -> Any:
    table = new_table(
        "Scales",
        ("scale",),
        ("round 1: n", "pass", "S-CVI/Ave", "/UA", "last, not dropped: n", "pass", "S-CVI/Ave",
         "/UA"),
    )  # fmt: skip
    for each in found.scales:
        cells: list[str] = []
        for of in (each.before, each.after):
            cells += [str(of.n), str(of.n_pass), _two(of.ave), _two(of.ua)]
        table.add_row(each.scale, *cells)
    return table


def _panel(found: StudyResults) -> Any:
    table = new_table("Panel", ("role",), ("invited", "rated", "typed", "years", "range"))
    for each in found.panel:
        years = each.years
        table.add_row(
            each.role,
            str(each.n_invited),
            str(each.n_rated),
            str(each.n_typed or ""),
            f"{years.mean:.1f}" if years else "–",
            _range_of(years) if years else "–",
        )
    return table


def _range_of(years: Years) -> str:
    between = "" if years.low is None else f"{years.low} to {years.high}, "
    return f"{between}of {years.n}"


def _agreement(found: StudyResults) -> Any:
    table = new_table("Agreement", ("round", "scale"), ("raters", *NAMES.values()))
    for each in found.agreement:
        # of all coefficients it alone is of the subjects that every rater rated
        of_complete = f" of {each.n_complete}" if each.icc.value is not None else ""
        estimates = [
            _in_short(getattr(each, name)) + (of_complete if name == "icc" else "")
            for name in COEFFICIENTS
        ]
        table.add_row(str(each.round), each.scale, str(each.n_raters), *estimates)
    return table


def _in_short(estimate: Estimate) -> str:
    if estimate.ci95 is None:
        return _two(estimate.value)
    low, high = estimate.ci95
    return f"{_two(estimate.value)} [{low_end(low)}, {_two(high)}]"


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _remarks(found: StudyResults) -> list[str]:
    lines = ["* the other cut would decide otherwise. V: Aiken's, which needs no cut."]
    lines.append(
        f"k/n are raters who gave {found.terms.endorsing}, of those who rated it. Panels are "
        "small: 7 of 8 is compatible with 47% to 100% of such raters."
    )
    lines.append("ICC(2,k) rests on the scenarios, or items, that every rater rated: of so many.")
    if any(each.years is None or each.years.low is None for each in found.panel):
        lines.append(
            "Years of experience are told of three or more of a role, who rated and said; their "
            "range of five or more."
        )
    if any_cut(found.agreement):
        lines.append(CUT_REMARK)
    for each in found.agreement:
        for name in COEFFICIENTS:
            estimate: Estimate = getattr(each, name)
            what = f"{each.scale}, round {each.round}: {NAMES[name]}"
            if estimate.value is None:
                lines.append(f"{what} is unknown: {estimate.reason}")
            elif estimate.ci95 is None and estimate.reason != DESCRIBES:
                lines.append(f"{what} has no interval: {estimate.reason}")
    if found.n_withdrawn:
        n = found.n_withdrawn
        have = counted(n, "rater has", "raters have")
        lines.append(f"{have} withdrawn; nothing of theirs is here.")
    return lines


def print_changes(changes: Sequence[Change], n_unrated: int) -> None:
    """What writing would do, a line a scenario."""
    table = new_table("Changes", ("scenario", "from", "to", "why"), ())
    for change in changes:
        stands = change.standing
        why = change.refused or "; ".join(stands.lacking)
        to = "left alone" if change.refused else stands.status
        table.add_row(stands.scenario, change.before, to, Text(plain(why)))
    out = console()
    if changes:
        out.print(table)
    if n_unrated:
        have = counted(n_unrated, "scenario has", "scenarios have")
        out.print(f"  {have} not been rated on both scales: nothing changes")


def changes_json(changes: Sequence[Change], n_unrated: int) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "n_unrated": n_unrated,
        "changes": [
            {
                "scenario": change.standing.scenario,
                "from": change.before.value,
                "to": None if change.refused else change.standing.status.value,
                "lacking": list(change.standing.lacking),
                "refused": change.refused,
                "evidence": change.standing.evidence.model_dump(mode="json"),
            }
            for change in changes
        ],
    }
