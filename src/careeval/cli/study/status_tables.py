"""The tables of `careeval study status` and `apply`, whose rows are in their JSON too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from careeval.bank.evidence_changes import EvidenceChange
from careeval.core.text import counted
from careeval.people.deck import Progress
from careeval.people.study.plan import StudyPlan
from careeval.people.study.sheets import ROLE
from careeval.sheets.kinds import COUNT, FLAG, WORD_LIST, Form, Kind, Unit, flag_kind, number_kind
from careeval.sheets.sheet import Document, Field, Row, Sheet, Shown, View

if TYPE_CHECKING:
    from careeval.people.study.rounds import RaterProgress


def _own_answers(row: Row, _: Form) -> str:
    """Return how many own answers are written and if handed in; empty if none was asked."""
    if not row["n_asked"] and not row["handed_in"]:
        return ""
    total = f" of {row['n_asked']}" if row["n_asked"] else ""
    return f"{row['n_written']}{total}, {'handed in' if row['handed_in'] else 'not handed in'}"


_MINUTES = number_kind(unit=Unit(1, "", 1), if_missing="")

_STATUS = (
    Field("rater", "pseudonym"),
    Field("role", "in which capacity", ROLE),
    Field("opened", "whether they have opened their link", FLAG),
    Field("agreed", "whether they agreed to the terms", FLAG),
    Field("declined", "whether they have said that they do not agree", FLAG),
    Field(
        "revoked", "whether their link is switched off", flag_kind(yes="link off", no=""), "Link"
    ),
    Field(
        "own_answers",
        "answers of their own",
        Kind(write=_own_answers, is_number=False),
        in_files=False,
    ),
    Field("done", "scenarios that are rated whole", COUNT),
    Field("started", "scenarios that are rated in part", COUNT),
    Field("skipped", "scenarios that are left out", COUNT),
    Field("untouched", "scenarios still to rate", COUNT, "Left"),
    Field("finished", "whether they say that they have finished, and leave the rest out", FLAG),
    Field("minutes", "median of the time over a scenario that is done", _MINUTES, "Minutes each"),
    Field(
        "n_too_fast", "scenarios rated in less time than it takes to read them", COUNT, "Too fast"
    ),
    Field("n_typed", "answers that somebody else typed", COUNT, "Typed"),
    Field("last", "when anything of theirs was last saved, UTC"),
)


def status_document(
    plan: StudyPlan, raters: Sequence[RaterProgress], closed: bool, n_withdrawn: int
) -> Document:
    """Return a table of raters with their progress."""
    sheet = Sheet("status", "a rater of the newest round", _STATUS, [*map(_status, raters)])
    is_shown = {
        "own_answers": any(each.n_to_write or each.handed_in for each in raters),
        "revoked": any(each.revoked for each in raters),
        "declined": any(each.declined for each in raters),
    }
    columns = tuple(Shown(field.key) for field in _STATUS if is_shown.get(field.key, True))
    n_done = sum(row["done"] for row in sheet.rows)
    n = sum(sum(each.counts.values()) for each in raters)
    withdrawn = f"; {n_withdrawn} withdrawn" if n_withdrawn else ""
    caption = f"{plan.title} · round {plan.round}{' · closed' if closed else ''}"
    return Document((View(sheet, columns, caption),), (f"{n_done} of {n} done{withdrawn}",), sheet)


def _status(rater: RaterProgress) -> Row:
    return {
        "rater": rater.rater.id,
        "role": rater.rater.role.value,
        "opened": rater.opened,
        "agreed": rater.agreed,
        "declined": rater.declined,
        "revoked": rater.revoked,
        **{p.name: rater.counts.get(p, 0) for p in Progress},
        "finished": rater.finished,
        "minutes": rater.minutes,
        "n_too_fast": rater.n_too_fast,
        "n_typed": rater.n_typed,
        "own_answers": {
            "n_asked": rater.n_to_write,
            "n_written": rater.n_written,
            "handed_in": rater.handed_in,
        },
        "last": rater.last or None,
    }


_CHANGES = (
    Field("scenario", "id of the scenario"),
    Field("from", "its status so far"),
    Field("to", "its status then; null where it is left alone"),
    Field("lacking", "why it is not validated", WORD_LIST, "Why"),
    Field("refused", "why it is left alone", head="Left alone, since"),
)


def changes_document(changes: Sequence[EvidenceChange], n_unrated: int) -> Document:
    """Return a table of the changes that writing would make, one row per scenario."""
    sheet = Sheet(
        "changes", "a scenario that was rated", _CHANGES, [*map(_change, changes)], "Changes"
    )
    refused = any(change.refused for change in changes)
    keys = [field.key for field in _CHANGES if refused or field.key != "refused"]
    have = counted(n_unrated, "scenario has", "scenarios have")
    notes = (f"{have} not been rated on both scales: nothing changes",) if n_unrated else ()
    return Document((View(sheet, tuple(map(Shown, keys))),) if changes else (), notes, sheet)


def _change(change: EvidenceChange) -> Row:
    return {
        "scenario": change.proposed.scenario,
        "from": change.before.value,
        "to": None if change.refused else change.proposed.status.value,
        "lacking": change.proposed.lacking,
        "refused": change.refused,
        "evidence": change.proposed.evidence.model_dump(mode="json"),
    }
