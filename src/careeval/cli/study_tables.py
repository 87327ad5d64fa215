"""What `careeval study status` and `apply` print, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from careeval.bank.apply import Change
from careeval.cli.app import counted
from careeval.review.asking import Progress
from careeval.review.study import StudyPlan
from careeval.sheets.document import Document
from careeval.sheets.kinds import COUNT, WORD_LIST, Form, Kind
from careeval.sheets.sheet import Field, Row, Sheet, Shown, View
from careeval.sheets.study_kinds import ROLE

if TYPE_CHECKING:
    from careeval.review.outcome import Whereabouts


@dataclass(frozen=True)
class _OwnAnswers(Kind):
    """How many answers of their own somebody wrote, and whether they stand."""

    is_number: bool = False

    def text(self, value: Row, form: Form = Form.short) -> str:  # noqa: ARG002
        """Return the number of those asked for; nothing where none were."""
        if not value["n_asked"] and not value["handed_in"]:
            return ""
        asked = f" of {value['n_asked']}" if value["n_asked"] else ""
        stands = "handed in" if value["handed_in"] else "not handed in"
        return f"{value['n_written']}{asked}, {stands}"


_STATUS = (
    Field("rater", "pseudonym"),
    Field("role", "in which capacity", ROLE),
    Field("access", "whether they agreed, and can reach the app", head="Agreed"),
    Field("own_answers", "answers of their own", _OwnAnswers(), in_files=False),
    Field("done", "scenarios that are rated whole", COUNT),
    Field("started", "scenarios that are rated in part", COUNT),
    Field("skipped", "scenarios that are left out", COUNT),
    Field("untouched", "scenarios still to rate", COUNT, "Left"),
    Field("n_typed", "answers that somebody else typed", COUNT, "Typed"),
    Field("last", "when anything of theirs was last saved, UTC", head="Last"),
)


def status_document(
    plan: StudyPlan, raters: Sequence[Whereabouts], closed: bool, n_withdrawn: int
) -> Document:
    """Return who is where, a row a rater."""
    rows = [
        _status(each) | {"access": "link off" if each.revoked else "yes" if each.agreed else "no"}
        for each in raters
    ]
    sheet = Sheet("status", "a rater of the newest round", _STATUS, rows)
    answers = any(each.n_to_write or each.handed_in for each in raters)
    keys = [field.key for field in _STATUS if answers or field.key != "own_answers"]
    done = sum(row["done"] for row in rows)
    total = sum(sum(each.counts.values()) for each in raters)
    gone = f"; {n_withdrawn} withdrawn" if n_withdrawn else ""
    caption = f"{plan.title} · round {plan.round}{' · closed' if closed else ''}"
    view = View(sheet, tuple(map(Shown, keys)), caption)
    return Document((view,), (f"{done} of {total} done{gone}",), sheet)


def status_json(
    plan: StudyPlan, raters: Sequence[Whereabouts], closed: bool, n_withdrawn: int
) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "title": plan.title,
        "round": plan.round,
        "closed": closed,
        "n_withdrawn": n_withdrawn,
        "raters": [_status(each) for each in raters],
    }


def _status(each: Whereabouts) -> Row:
    return {
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


_CHANGES = (
    Field("scenario", "id of the scenario"),
    Field("from", "its status so far"),
    Field("becomes", "its status then", head="To"),
    Field("why", "why it is no better, or left alone", WORD_LIST),
)


def changes_document(changes: Sequence[Change], n_unrated: int) -> Document:
    """Return what writing would do, a row a scenario."""
    rows = [
        row
        | {
            "becomes": row["to"] or "left alone",
            "why": [row["refused"]] if row["refused"] else row["lacking"],
        }
        for row in map(_change, changes)
    ]
    sheet = Sheet("changes", "a scenario that was rated", _CHANGES, rows, "Changes")
    view = View(sheet, tuple(Shown(field.key) for field in _CHANGES))
    have = counted(n_unrated, "scenario has", "scenarios have")
    notes = (f"{have} not been rated on both scales: nothing changes",) if n_unrated else ()
    return Document((view,) if rows else (), notes, sheet)


def changes_json(changes: Sequence[Change], n_unrated: int) -> dict[str, Any]:
    """Return the same as JSON."""
    return {"n_unrated": n_unrated, "changes": list(map(_change, changes))}


def _change(change: Change) -> Row:
    return {
        "scenario": change.standing.scenario,
        "from": change.before.value,
        "to": None if change.refused else change.standing.status.value,
        "lacking": change.standing.lacking,
        "refused": change.refused,
        "evidence": change.standing.evidence.model_dump(mode="json"),
    }
