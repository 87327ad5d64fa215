"""A study's results as tables: a row a thing, a column a fact.

Shares are fractions. An unknown number is null, and a reason stands beside it. Raters are
pseudonyms with a role; what they wrote stands as they wrote it, unless it is of a held-out
scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

from careeval.core.rating import Subject
from careeval.files import write_bytes, write_text
from careeval.results.judged import Judged
from careeval.results.rater_agreement import COEFFICIENTS
from careeval.results.study import SCvi, StudyResults
from careeval.results.tables import Column
from careeval.results.withheld import WITHHELD
from careeval.sheets.files import csv_text, parquet_bytes
from careeval.sheets.sheet import DataTable
from careeval.sheets.study_json import Row, comment_json, panel_rows, role_json, view_json
from careeval.stats.validity import AikenV, Endorsement

# Tables

_WHAT = (
    Column("round", pl.Int32, "of the study, from 1"),
    Column("scenario", pl.String, "id of the scenario"),
    Column("version", pl.Int32, "of the scenario, as it was rated"),
    Column("rubric", pl.String, "ladder or actions; null where the scenario itself is meant"),
    Column(
        "item",
        pl.String,
        "id of the item, of a held-out scenario its place: a1, r1; null where the scenario itself "
        "is meant",
    ),
)
_WHO = (
    Column("rater", pl.String, "pseudonym"),
    Column("role", pl.String, "in which capacity"),
)
_TEXT = Column("text", pl.String, "what raters read; null where it is held out, or no bank has it")
_SCALE = Column("scale", pl.String, "realism, validity or, of an item, relevance")


def study_tables(found: StudyResults) -> Iterator[DataTable]:
    """Each table: first what was found, then what was said."""
    yield DataTable.of("decisions", "a scenario in a round", _DECISIONS, _decisions(found))
    yield DataTable.of("validity", "a scenario or an item on a scale", _VALIDITY, _judged(found))
    yield DataTable.of("roles", "those of one role, on the same", _ROLES, _roles(found))
    yield DataTable.of("scales", "a scale, before or after revision", _SCALES, _scales(found))
    yield DataTable.of("agreement", "a coefficient", _AGREEMENT, _agreement(found))
    yield DataTable.of("panel", "a rater in a round", _PANEL, panel_rows(found))
    yield DataTable.of("panel-roles", "those of one role, all rounds", _WHO_RATED, _who(found))
    yield DataTable.of("ratings", "a rating", _RATINGS, _ratings(found))
    yield DataTable.of("points", "a rater's view of an item's points", _VIEWS, _views(found))
    yield DataTable.of("comments", "a comment", _COMMENTS, _comments(found))


def write_study(found: StudyResults, folder: Path) -> list[Path]:
    """Write every table as CSV and Parquet, and `columns.md`; the files written.

    Args:
        found: What was found.
        folder: Made where it is not there, for its owner alone; files of the same names are
            replaced.
    """
    written = []
    lines = ["# What the columns hold", "", _about(found), ""]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # people wrote what is in it
    for form in ("csv", "parquet"):
        (folder / form).mkdir(exist_ok=True)
    for table in study_tables(found):
        csv = folder / "csv" / f"{table.name}.csv"
        write_text(csv, csv_text(table.frame))
        parquet = folder / "parquet" / f"{table.name}.parquet"
        write_bytes(parquet, parquet_bytes(table.frame))
        written += [csv, parquet]
        lines += [f"## {table.name}", "", f"A row is {table.holds}.", ""]
        lines += ["| column | holds |", "| --- | --- |"]
        lines += [f"| `{column.name}` | {column.holds} |" for column in table.columns]
        lines.append("")
    written.append(folder / "columns.md")
    write_text(written[-1], "\n".join(lines))
    return written


def _about(found: StudyResults) -> str:
    terms = found.terms
    return (
        f"Ratings of the bank {found.bank} {found.bank_version} by people. Decided by the rule "
        f"`{terms.rule}` at the cut {terms.cut}; the other cut is {terms.other_cut}. Shares are "
        "fractions, intervals are 95%. An unknown number is null, empty in CSV, never 0. In CSV a "
        "list is joined by semicolons, a text that a spreadsheet would take for a formula begins "
        "with an apostrophe, and control characters are left out; Parquet has the text as it is."
    )


_DECISIONS = (
    *_WHAT[:3],
    Column("latest", pl.Boolean, "whether this is the scenario's newest round"),
    _TEXT,
    Column("decision", pl.String, "keep, revise or drop; null where too few rated it"),
    Column("reasons", pl.List(pl.String), "why it is not kept"),
    Column("to_read", pl.List(pl.String), "what somebody must read, whatever is decided"),
    Column("n_comments", pl.Int32, "on the scenario and its items"),
)


def _decisions(found: StudyResults) -> Iterator[Row]:
    for of in (*found.latest, *found.earlier):
        yield {
            **_what(of.subject),
            "latest": of in found.latest,
            "text": of.text or None,
            "decision": of.decision and of.decision.value,
            "reasons": list(of.reasons),
            "to_read": list(of.to_read),
            "n_comments": of.n_comments,
        }


_VALIDITY = (
    *_WHAT,
    _TEXT,
    _SCALE,
    Column("n_asked", pl.Int32, "raters who were to rate it"),
    Column("n", pl.Int32, "raters who did"),
    *(Column(f"n_{level}", pl.Int32, f"of them, gave {level}") for level in range(1, 6)),
    Column("k", pl.Int32, "of them, endorse it at the declared cut"),
    Column("i_cvi", pl.Float64, "k / n"),
    Column("i_cvi_ci95_low", pl.Float64, "where its exact 95% interval (Clopper-Pearson) begins"),
    Column("i_cvi_ci95_high", pl.Float64, "where its 95% interval ends"),
    Column("k_other", pl.Int32, "endorse it at the other cut"),
    Column("i_cvi_other", pl.Float64, "k_other / n"),
    Column("i_cvi_strict", pl.Float64, "k / n_asked: a rating that is missing endorses nothing"),
    Column(
        "modified_kappa",
        pl.Float64,
        "the I-CVI less chance (Polit, Beck and Owen 2007); null below three raters",
    ),
    Column("aiken_v", pl.Float64, "Aiken's V, which needs no cut; null below three raters"),
    Column(
        "aiken_v_ci95_low",
        pl.Float64,
        "where its 95% interval (Penfield and Giacobbi 2004) begins",
    ),
    Column("aiken_v_ci95_high", pl.Float64, "where its 95% interval ends"),
    Column("passes", pl.Boolean, "what the rule says; null where it says nothing"),
    Column("cut_sensitive", pl.Boolean, "whether the other cut would decide otherwise"),
    Column("reason", pl.String, "why nothing is decided"),
)


def _all_judged(found: StudyResults) -> Iterator[tuple[Judged, str]]:
    """What was judged, and its words."""
    for of in (*found.latest, *found.earlier):
        yield from ((judged, of.text) for judged in of.judged)
        yield from ((item.relevance, item.text) for item in of.items if item.relevance.ratings)


def _judged(found: StudyResults) -> Iterator[Row]:
    for of, words in _all_judged(found):
        row: Row = {
            **_what(of.subject),
            "text": words or None,
            "scale": of.scale.value,
            "n_asked": of.n_asked,
            "n": len(of.ratings),
            **{f"n_{level}": n for level, n in enumerate(of.counts, 1)},
            "modified_kappa": of.kappa,
            "passes": of.passes,
            "cut_sensitive": of.cut_sensitive,
            "reason": of.reason or of.too_few or None,
        }
        if of.aiken:
            row |= _ends("aiken_v", of.aiken)
        if of.at_cut and of.at_other and of.strict:
            row |= _ends("i_cvi", of.at_cut)
            row |= {"k": of.at_cut.k, "k_other": of.at_other.k, "i_cvi_other": of.at_other.value}
            row["i_cvi_strict"] = of.strict.value
        yield row


def _ends(name: str, of: Endorsement | AikenV) -> Row:
    low, high = of.interval
    return {name: of.value, f"{name}_ci95_low": low, f"{name}_ci95_high": high}


_ROLES = (
    *_WHAT,
    _SCALE,
    _WHO[1],
    Column("k", pl.Int32, "of them, endorse it at the declared cut"),
    Column("n", pl.Int32, "of this role, rated it"),
    Column("ratings", pl.List(pl.Int32), "their ratings, ascending"),
    Column("lowest", pl.Int32, "the lowest of them"),
    Column("passes", pl.Boolean, "of three occupational therapists or more; of others null"),
)


def _roles(found: StudyResults) -> Iterator[Row]:
    for of, _ in _all_judged(found):
        for role in of.by_role:
            yield {
                **_what(of.subject),
                "scale": of.scale.value,
                "role": role.role.value,
                "k": role.endorsed.k,
                "n": role.endorsed.n,
                "ratings": list(role.values),
                "lowest": role.lowest,
                "passes": role.passes,
            }


_SCALES = (
    _SCALE,
    Column("when", pl.String, "before: round 1; after: as last rated, without those dropped"),
    Column("n", pl.Int32, "scenarios, or items, that somebody rated"),
    Column("n_pass", pl.Int32, "those that the rule keeps"),
    Column("s_cvi_ave", pl.Float64, "mean of their I-CVIs"),
    Column("s_cvi_ua", pl.Float64, "share that every rater endorses"),
)


def _scales(found: StudyResults) -> Iterator[Row]:
    for each in found.scales:
        for when in ("before", "after"):
            of: SCvi = getattr(each, when)
            yield {
                "scale": each.scale.value, "when": when, "n": of.n, "n_pass": of.n_pass,
                "s_cvi_ave": of.ave, "s_cvi_ua": of.ua,
            }  # fmt: skip


_AGREEMENT = (
    _WHAT[0],
    _SCALE,
    Column("n_subjects", pl.Int32, "scenarios, or items, rated"),
    Column("n_raters", pl.Int32, "who rated any of them"),
    Column("n_complete", pl.Int32, "rated by every one of them: what the ICC rests on"),
    Column(
        "coefficient",
        pl.String,
        "identical: share of identical pairs; ac1, ac2: Gwet's; alpha: Krippendorff's, ordinal; "
        "icc: ICC(2,k) over what everybody rated",
    ),
    Column("value", pl.Float64, "null where it is unknown"),
    Column(
        "ci95_low",
        pl.Float64,
        "where its 95% interval over scenarios like these begins; cut at -1: read -1 as -1 or less",
    ),
    Column("ci95_high", pl.Float64, "where its 95% interval ends"),
    Column("reason", pl.String, "why the value, or its interval, is unknown"),
)


def _agreement(found: StudyResults) -> Iterator[Row]:
    for of in found.agreement:
        for name in COEFFICIENTS:
            estimate = getattr(of, name)
            low, high = estimate.ci95 or (None, None)
            yield {
                "round": of.round, "scale": of.scale.value, "n_subjects": of.n_subjects,
                "n_raters": of.n_raters, "n_complete": of.n_complete, "coefficient": name,
                "value": estimate.value, "ci95_low": low, "ci95_high": high,
                "reason": estimate.reason or None,
            }  # fmt: skip


_PANEL = (
    _WHAT[0],
    *_WHO,
    Column("n_asked", pl.Int32, "scenarios that this rater was given"),
    Column("n_rated", pl.Int32, "of them, rated on a scale at least"),
    Column("n_typed", pl.Int32, "answers that somebody else typed for this rater"),
    Column("agreed", pl.Boolean, "whether this rater agreed to the terms in the app"),
)

_WHO_RATED = (
    _WHO[1],
    Column("n_invited", pl.Int32, "who has a place in the study; not who withdrew"),
    Column("n_rated", pl.Int32, "of them, who rated anything"),
    Column("n_agreed", pl.Int32, "of those who rated, who agreed to the terms in the app"),
    Column("n_asked", pl.Int32, "scenarios that they were given, each in each round"),
    Column("n_ratings", pl.Int32, "ratings that they gave"),
    Column("n_typed", pl.Int32, "answers that somebody else typed for them"),
    Column("n_years", pl.Int32, "who rated and gave years of experience; null below three"),
    Column("years_mean", pl.Float64, "their mean"),
    Column("years_fewest", pl.Int32, "the fewest; null below five, whom it might tell"),
    Column("years_most", pl.Int32, "the most"),
    Column("reason", pl.String, "why the years, or their range, are not known"),
)


def _who(found: StudyResults) -> Iterator[Row]:
    for of in found.panel:
        row = role_json(of)
        years = row.pop("years")
        yield row | {
            "n_years": years.get("n"),
            "years_mean": years["value"],
            "years_fewest": years.get("low"),
            "years_most": years.get("high"),
            "reason": years.get("reason"),
        }


_RATINGS = (*_WHAT, _SCALE, *_WHO, Column("value", pl.Int32, "1 to 5"))
_VIEWS = (
    *_WHAT,
    *_WHO,
    Column("proposed", pl.Int32, "the points that the rater was shown"),
    Column("points", pl.Int32, "the points that the rater would give; null is unsure"),
    Column("objects", pl.Boolean, "whether they differ"),
)
_COMMENTS = (
    *_WHAT,
    *_WHO,
    Column("text", pl.String, f"as it was typed; {WITHHELD} where the scenario is"),
)


def _ratings(found: StudyResults) -> Iterator[Row]:
    for said in found.rounds:
        for of in said.ratings:
            yield {
                **_what(of.subject), "scale": of.scale.value, "rater": of.rater.id,
                "role": of.rater.role.value, "value": of.value,
            }  # fmt: skip


def _views(found: StudyResults) -> Iterator[Row]:
    for said in found.rounds:
        yield from ({**_what(of.subject), **view_json(of)} for of in said.views)


def _comments(found: StudyResults) -> Iterable[Row]:
    for said in found.rounds:
        yield from ({**_what(of.subject), **comment_json(of)} for of in said.comments)


def _what(of: Subject) -> Row:
    return {
        "round": of.round,
        "scenario": of.scenario,
        "version": of.version,
        "rubric": of.rubric and of.rubric.value,
        "item": of.item or None,
    }
