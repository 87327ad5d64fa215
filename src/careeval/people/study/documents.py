"""The document of `careeval study results`: the decisions, then the numbers behind them."""

from __future__ import annotations

from collections.abc import Iterator

from careeval.people.study.kinds import UNDECIDED
from careeval.people.study.rater_agreement import COEFFICIENTS, DESCRIBES
from careeval.people.study.rater_sheets import agreement_sheet, pace_notes, panel_roles_sheet
from careeval.people.study.results import StudyResults
from careeval.people.study.scenario_decisions import Decision
from careeval.people.study.scenario_sheets import decisions_sheet, scales_sheet, validity_sheet
from careeval.sheets.document import Document
from careeval.sheets.kinds import Form
from careeval.sheets.sheet import Shown, View
from careeval.stats import Estimate


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
