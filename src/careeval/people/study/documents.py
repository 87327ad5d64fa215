"""The documents, files and JSON of a study, and the sheets of its raters.

Raters appear with a pseudonym and a role. Comments are unchanged; comments on held-out scenarios
are withheld.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from careeval.bank.evidence_changes import EvidenceChange
from careeval.core.rating import Comment, PointsView, Rater
from careeval.core.text import counted
from careeval.people.deck import Progress
from careeval.people.study.decisions import Decision, ItemResult, ScaleRatings, ScenarioResult
from careeval.people.study.plan import StudyPlan
from careeval.people.study.results import (
    COEFFICIENTS,
    DESCRIBES,
    RaterAgreement,
    RolePanel,
    StudyResults,
    any_cut,
)
from careeval.people.study.rounds import FASTEST_READER, RaterProgress
from careeval.people.study.sheets import (
    AGREEMENT,
    DECIMALS,
    IN_ROLE,
    ROLE,
    ROUND,
    SCALE,
    SUBJECT,
    UNDECIDED,
    YEARS,
    decisions_sheet,
    roles_sheet,
    scales_sheet,
    subject_row,
    validity_sheet,
)
from careeval.results.held_out_words import WITHHELD
from careeval.sheets.data_files import conventions, write_tables
from careeval.sheets.json_output import estimate_json
from careeval.sheets.kinds import (
    COUNT,
    FLAG,
    SIGNED,
    WORD_LIST,
    Form,
    Kind,
    Unit,
    flag_kind,
    number_kind,
)
from careeval.sheets.sheet import DataTable, Document, Field, Row, Sheet, Shown, View
from careeval.stats.estimate import Estimate
from careeval.stats.validity import AikenV, Endorsement

_RATER = Field("rater", "pseudonym of the rater")

TOO_FAST = f"faster than {FASTEST_READER} words a minute"
"""The pace of ratings that were given too fast to have read what is rated."""


def _rater_row(rater: Rater) -> Row:
    return {"rater": rater.id, "role": rater.role.value}


# Agreement

CUT_OFF_NOTE = "≤ −1: the interval is cut off at −1, and says hardly anything about agreement."
"""Note on "≤ −1" in an interval."""

_COEFFICIENTS = (
    Field("identical", "share of identical pairs", AGREEMENT, "Identical pairs"),
    Field("ac1", "Gwet's AC1", AGREEMENT, "Gwet’s AC1", "AC1"),
    Field("ac2", "Gwet's AC2", AGREEMENT, "Gwet’s AC2", "AC2"),
    Field("alpha", "Krippendorff's, ordinal", AGREEMENT, "Alpha, ordinal", "alpha"),
    Field("icc", "ICC(2,k) over the n_complete", AGREEMENT, "ICC(2,k)", "ICC(2,k)"),
)
_RATED = (
    ROUND,
    SCALE,
    Field("n_subjects", "scenarios, or items, rated", COUNT, "Rated"),
    Field("n_raters", "raters who rated any of them", COUNT, "Raters"),
    Field("n_complete", "scenarios, or items, that all of them rated", COUNT, "Rated by all"),
)


def agreement_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of how far raters agree, by round and scale."""
    fields = (*_RATED, *_COEFFICIENTS)
    rows = [{field.key: getattr(each, field.key) for field in fields} for each in study.agreement]
    caption, note = "How far raters agree", CUT_OFF_NOTE if any_cut(study.agreement) else ""
    return Sheet("agreement_by_scale", "a round and a scale", fields, rows, caption, note)


def coefficients_sheet(study: StudyResults) -> Sheet:
    """Return `agreement_sheet` in long form: a row for each round, scale and coefficient."""
    fields = (
        *_RATED,
        Field("coefficient", "; ".join(f"{each.key}: {each.holds}" for each in _COEFFICIENTS)),
        Field("value", "the coefficient; null if unknown", DECIMALS),
        Field(
            "ci95_low",
            "lower end of its 95% interval over scenarios like these; -1 means -1 or less",
            DECIMALS,
        ),
        Field("ci95_high", "upper end of its 95% interval", DECIMALS),
        Field("reason", "why the value, or its interval, is unknown"),
    )
    rows = []
    for row in agreement_sheet(study).rows:
        for name in COEFFICIENTS:
            estimate: Estimate = row[name]
            low, high = estimate.ci95 or (None, None)
            numbers = {"value": estimate.value, "ci95_low": low, "ci95_high": high}
            reason = {"reason": estimate.reason or None}
            rows.append(row | {"coefficient": name} | numbers | reason)
    return Sheet("agreement", "a coefficient", fields, rows)


# The panel


def panel_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of raters by round: how many scenarios each was asked and has rated."""
    fields = (
        ROUND,
        _RATER,
        IN_ROLE,
        Field("n_asked", "scenarios that this rater was given", COUNT),
        Field("n_rated", "of n_asked, those rated on at least one scale", COUNT),
        Field("n_typed", "answers that somebody else typed for this rater", COUNT),
        Field("n_too_fast", f"scenarios that this rater rated {TOO_FAST}", COUNT),
        Field("n_untimed", "scenarios that this rater rated in an unknown time", COUNT),
        Field("agreed", "whether this rater agreed to the terms", FLAG),
    )
    rows: list[Row] = []
    for each in study.rounds:
        rated = {(rating.rater, rating.subject.scenario) for rating in each.ratings}
        rows += [
            {
                "round": each.number,
                **_rater_row(seat.rater),
                "n_asked": len(seat.scenarios),
                "n_rated": sum(rater == seat.rater for rater, _ in rated),
                "n_typed": seat.n_typed,
                "n_too_fast": len(seat.too_fast),
                "n_untimed": len(seat.untimed),
                "agreed": seat.agreed,
            }
            for seat in each.seats
        ]
    return Sheet("panel", "a rater in a round", fields, rows)


PANEL_COUNTS = (
    Field("n_invited", "raters in the study, without those who withdrew", COUNT, "Invited"),
    Field("n_rated", "of n_invited, those who rated anything", COUNT, "Rated"),
    Field("n_agreed", "of n_rated, those who agreed to the terms", COUNT, "Agreed"),
    Field("n_asked", "scenarios given to them, counted in each round", COUNT, "Scenarios asked"),
    Field("n_ratings", "ratings that they gave", COUNT, "Ratings given"),
    Field("n_typed", "answers that somebody else typed for them", COUNT, "Typed for them"),
    Field("n_too_fast", f"scenarios that they rated {TOO_FAST}", COUNT, "Too fast"),
    Field("n_untimed", "scenarios that they rated in an unknown time", COUNT, "Time unknown"),
)
"""The counts of the raters of one role."""


def pace_notes(study: StudyResults) -> Iterator[str]:
    """Yield who rated too fast and whether it counts, then how often the time is unknown."""
    fast = [
        f"{seat.rater.id} {len(seat.too_fast)} of {len(seat.scenarios)}"
        f"{f' in round {each.number}' if len(study.rounds) > 1 else ''}"
        for each in study.rounds
        for seat in each.seats
        if seat.too_fast
    ]
    if fast:
        scenarios = counted(study.n_too_fast, "scenario was", "scenarios were")
        counts = "these ratings are left out" if study.without_fast else "these ratings count"
        yield f"{scenarios} rated {TOO_FAST} ({', '.join(fast)}): {counts}."
    if study.n_untimed:
        n = counted(study.n_untimed, "scenario was", "scenarios were")
        yield f"{n} rated in an unknown time; these ratings count."


def panel_roles_sheet(study: StudyResults) -> Sheet:
    """Return a sheet with a row for each role: counts of raters and ratings, and experience."""
    fields = (
        IN_ROLE,
        *PANEL_COUNTS,
        Field("n_years", "of n_rated, those who gave years of experience; null below 3", COUNT),
        Field("years_mean", "mean of the years", YEARS, "Years of experience", "years: mean"),
        Field("years_fewest", "fewest years; null below 5 raters, to protect them", COUNT),
        Field("years_most", "most years; null below 5 raters", COUNT),
        Field("reason", "why the years, or their range, are not given"),
    )
    rows = [_role_row(role) for role in study.panel]
    note = (
        "Years of those who rated and said how many: the mean of three or more people, the range "
        "of five or more."
    )
    caption = "Who was invited, and who rated"
    return Sheet("panel-roles", "those of one role, all rounds", fields, rows, caption, note)


def _role_row(role: RolePanel) -> Row:
    row = {"role": role.role.value} | {f.key: getattr(role, f.key) for f in PANEL_COUNTS}
    row["reason"] = role.why_no_years or role.why_no_range or None
    if years := role.years:
        row |= {"n_years": years.n, "years_mean": years.mean}
        row |= {"years_fewest": years.low, "years_most": years.high}
    return row


# Ratings and comments


def ratings_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of single ratings, a row each."""
    rows = [
        {
            **subject_row(r.subject),
            "scale": r.scale.value,
            **_rater_row(r.rater),
            "value": r.value,
            "too_fast": each.is_too_fast(r.rater, r.subject.scenario),
        }
        for each in study.rounds
        for r in each.ratings
    ]
    value = Field("value", "1 to 5", COUNT)
    fast = Field("too_fast", f"whether it was given {TOO_FAST}; null if the time is unknown", FLAG)
    fields = (*SUBJECT, SCALE, _RATER, IN_ROLE, value, fast)
    return Sheet("ratings", "a rating", fields, rows)


def points_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of what raters think of the points of items."""
    fields = (
        *SUBJECT,
        _RATER,
        IN_ROLE,
        Field("proposed", "the points that the rater was shown", SIGNED),
        Field("points", "the points that the rater would give; null if unsure", SIGNED),
        Field("objects", "whether these differ", FLAG),
    )
    rows = [subject_row(v.subject) | view_row(v) for each in study.rounds for v in each.views]
    return Sheet("points", "a rater's view of an item's points", fields, rows)


def view_row(view: PointsView) -> Row:
    """Return a row of what one rater thinks of the points of an item."""
    points = {"proposed": view.proposed, "points": view.points, "objects": view.objects}
    return _rater_row(view.rater) | points


_TOPIC = Field(
    "topic",
    "missing: an item is missing; country: something differs in another country; null: no topic",
)


def comments_sheet(study: StudyResults) -> Sheet:
    """Return a sheet of comments, a row each."""
    text = Field("text", f"as it was typed; {WITHHELD} if the scenario is withheld")
    rows = [subject_row(c.subject) | comment_row(c) for each in study.rounds for c in each.comments]
    return Sheet("comments", "a comment", (*SUBJECT, _RATER, IN_ROLE, _TOPIC, text), rows)


def comment_row(comment: Comment) -> Row:
    """Return a rater's comment, as a row."""
    return _rater_row(comment.rater) | {"topic": comment.topic or None, "text": comment.text}


SCHEMA = "careeval.study/1"


def study_json(study: StudyResults) -> Row:
    """Return the output of `careeval study results --json`."""
    return {
        "schema": SCHEMA,
        **_named(study, "title", "bank", "bank_version"),
        "terms": asdict(study.terms),
        "decisions": {(d or UNDECIDED): len(study.with_decision(d)) for d in (*Decision, None)},
        **_named(study, "n_withdrawn", "n_invited", "n_rated"),
        "too_fast": {
            "words_a_minute": FASTEST_READER,
            "n_scenarios": study.n_too_fast,
            "n_untimed": study.n_untimed,
            "left_out": study.without_fast,
        },
        "panel": list(panel_sheet(study).rows),
        "panel_by_role": [role_json(role) for role in study.panel],
        "notes": [rated.note for rated in study.rounds if rated.note],
        "scales": [asdict(scale) for scale in study.scales],
        "agreement": [_agreement(agreement) for agreement in study.agreement],
        "scenarios": [_scenario(result) for result in study.latest],
        "earlier": [_scenario(result) for result in study.earlier],
    }


def _named(record: object, *names: str) -> Row:
    """Return attribute name → value of a record, for JSON."""
    return {name: getattr(record, name) for name in names}


def role_json(role: RolePanel) -> Row:
    """Return the counts of a role's raters and their years of experience, or why these are null."""
    years: Row = {"value": None, "reason": role.why_no_years}
    if role.years:
        years = {"value": role.years.mean, **_named(role.years, "low", "high", "n")}
        if role.why_no_range:
            years["reason"] = role.why_no_range
    return _named(role, "role", *(field.key for field in PANEL_COUNTS)) | {"years": years}


def _agreement(agreement: RaterAgreement) -> Row:
    numbers = {name: estimate_json(getattr(agreement, name)) for name in COEFFICIENTS}
    return asdict(agreement) | numbers


def _scenario(result: ScenarioResult) -> Row:
    return {
        **_named(result.subject, "scenario", "version", "round"),
        "text": result.text or None,
        **_named(result, "decision", "reasons", "to_read", "n_lacking"),
        "realism": _judged(result.realism),
        "validity": _judged(result.validity),
        "comments": [comment_row(each) for each in result.comments],
        "items": [_item(each) for each in result.items],
    }


def _item(item: ItemResult) -> Row:
    return {
        **_named(item.subject, "rubric", "item"),
        "text": item.text or None,
        "to_read": item.to_read,
        "relevance": _judged(item.relevance),
        "points": [view_row(each) for each in item.views],
        "comments": [comment_row(each) for each in item.comments],
    }


def _judged(judged: ScaleRatings) -> Row:
    return {
        **_named(judged, "n_asked", "counts"),
        "i_cvi": _share(judged.at_cut),
        "i_cvi_other": _share(judged.at_other),
        "i_cvi_strict": _share(judged.strict),
        "modified_kappa": judged.kappa,
        "aiken_v": _share(judged.aiken),
        **_named(judged, "passes", "cut_sensitive", "reason"),
        "by_role": [
            {"role": ratings.role, "ratings": ratings.values, "lowest": ratings.lowest}
            | {"i_cvi": _share(ratings.endorsed), "passes": ratings.passes}
            for ratings in judged.by_role
        ],
    }


def _share(share: Endorsement | AikenV | None) -> Row | None:
    """Return a share with its interval and, for an endorsement, its counts; `None` for `None`."""
    if share is None:
        return None
    count = _named(share, "k", "n") if isinstance(share, Endorsement) else {}
    return {"value": share.value, **count, "ci95": share.interval}


def study_tables(study: StudyResults) -> Iterator[DataTable]:
    """Yield the data tables: results, then agreement, panel, and single answers."""
    results = (*study.latest, *study.earlier)
    yield decisions_sheet(study, results).data
    yield validity_sheet(results).data
    yield roles_sheet(results).data
    yield scales_sheet(study).data
    yield coefficients_sheet(study).data
    yield panel_sheet(study).data
    yield panel_roles_sheet(study).data
    yield ratings_sheet(study).data
    yield points_sheet(study).data
    yield comments_sheet(study).data


def write_study(study: StudyResults, folder: Path) -> list[Path]:
    """Write every table as CSV and Parquet, with descriptions of the columns; return the paths.

    Args:
        study: The results of the study.
        folder: Created if it does not exist, readable only by the owner; files of the same names
            are replaced.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # it has the comments of raters
    terms = study.terms
    about = (
        f"Ratings of the bank {study.bank} {study.bank_version} by people. Decided by the rule "
        f"`{terms.rule}` at the cut {terms.cut}; the other cut is {terms.other_cut}."
    )
    about = " ".join([about, *pace_notes(study)])
    tables = study_tables(study)
    return write_tables(tables, folder, ("csv", "parquet"), about, conventions("95%"))


def study_document(study: StudyResults) -> Document:
    """Return the document of a study.

    Its data are the results of the ratings: a row for each scenario or item, by round and scale.
    """
    counts = [f"{d} {len(study.with_decision(d))}" for d in Decision]
    if undecided := study.with_decision(None):
        counts.append(f"{UNDECIDED} {len(undecided)}")
    rule = f"by the rule '{study.terms.rule}', counting {study.terms.endorsing}"
    blocks: tuple[str | View, ...] = (
        f"{study.title} · bank {study.bank} {study.bank_version}",
        f"{' · '.join(counts)}, {rule}",
        *(view for view in _views(study) if view.sheet.rows),
    )
    data = validity_sheet((*study.latest, *study.earlier))
    about = f"Ratings of bank {study.bank} {study.bank_version} by {study.n_rated} people, {rule}"
    return Document(blocks, tuple(_notes(study)), data, f"{about}.")


def _views(study: StudyResults) -> Iterator[View]:
    yield View(
        decisions_sheet(study, study.worst_first),
        (
            *map(Shown, ("scenario", "version", "decision", "why")),
            Shown("realism", keep=True),
            Shown("validity", keep=True),
            Shown("n_comments"),
        ),
    )
    scales = ("scale", "when", "n", "n_pass", "s_cvi_ave", "s_cvi_ua")
    yield View(scales_sheet(study), tuple(map(Shown, scales)), groups=1)
    years = ("years_mean", "years_fewest", "years_most", "n_years")
    counts = ("role", "n_invited", "n_rated", "n_asked", "n_ratings", "n_typed", "n_too_fast")
    yield View(panel_roles_sheet(study), tuple(map(Shown, (*counts, *years))))
    rated = ("round", "scale", "n_raters", "n_subjects", "n_complete")
    identical, *others = COEFFICIENTS
    columns = (*map(Shown, rated), Shown(identical, Form.bare), *map(Shown, others))
    yield View(agreement_sheet(study), columns)


def _notes(study: StudyResults) -> Iterator[str]:
    yield "* the other cut would decide otherwise. V: Aiken's V, which needs no cut."
    yield (
        f"k/n: k of the n raters gave {study.terms.endorsing}. Panels are small: 7 of 8 is "
        "compatible with 47% to 100% of all such raters."
    )
    if any(not judged.aiken for each in study.latest for judged in each.judged):
        yield "– in place of a number of a scenario: fewer than three have rated it."
    if not study.scales:
        yield "Nobody has rated anything yet, so there are no scales and no agreement."
    yield "ICC(2,k) is over the scenarios, or items, that every rater rated."
    if any(role.years is None or role.years.low is None for role in study.panel):
        yield panel_roles_sheet(study).note
    agreement = agreement_sheet(study)
    if agreement.note:
        yield agreement.note
    for row in agreement.rows:
        for name in COEFFICIENTS:
            estimate: Estimate = row[name]
            coefficient = agreement.by_key[name].brief or agreement.by_key[name].heading.lower()
            number = f"{row['scale']}, round {row['round']}: {coefficient}"
            if estimate.value is None:
                yield f"{number} is unknown: {estimate.reason}"
            elif estimate.ci95 is None and estimate.reason != DESCRIBES:
                yield f"{number} has no interval: {estimate.reason}"
    yield from pace_notes(study)
    if n := study.n_withdrawn:
        yield f"{n} rater{' has' if n == 1 else 's have'} withdrawn; their answers are left out."


# Progress of raters, and changes of the bank


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
