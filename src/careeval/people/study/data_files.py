"""The data files of a study: results, agreement, panel, and single answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from careeval.people.study.rater_sheets import (
    coefficients_sheet,
    comments_sheet,
    pace_notes,
    panel_roles_sheet,
    panel_sheet,
    points_sheet,
    ratings_sheet,
)
from careeval.people.study.results import StudyResults
from careeval.people.study.scenario_sheets import (
    decisions_sheet,
    roles_sheet,
    scales_sheet,
    validity_sheet,
)
from careeval.sheets.formats.data_files import conventions, write_tables
from careeval.sheets.sheet import DataTable


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
