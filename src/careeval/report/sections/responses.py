"""Two sections: the responses with their rubrics, and the responses of systems side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from careeval.core.scenario import Domain
from careeval.report.sections.section import Report, Section
from careeval.sheets.kinds import SIGNED
from careeval.sheets.names import DOMAINS

Options = Sequence[tuple[str, str]]


def filter_choices(report: Report) -> Mapping[str, Any]:
    """Return the options of each filter of the responses: values and labels.

    `words` tells whether the page has texts to search; `first_two` are the systems that the page
    first shows side by side.
    """
    data = report.payload.data

    def options(values: Iterable[str | None]) -> Options:
        return [(value, value) for value in dict.fromkeys(values) if value]

    scenarios = data["scenarios"]
    points = sorted({item[0] for item in data["items"]}, reverse=True)
    return {
        "adls": options(each[1] for each in scenarios),
        "conditions": sorted(options(each[2] for each in scenarios)),
        "situations": sorted(options(name for each in scenarios for name in each[4])),
        "actors": sorted(options(each[5] for each in scenarios)),
        "scenarios": options(each[0] for each in scenarios),
        "systems": options(data["systems"]),
        "graders": [(name, short) for name, short, _ in data["graders"]],
        "epochs": options(str(n) for n in sorted({row[2] for row in data["responses"]})),
        "points": [(str(n), SIGNED.text(n)) for n in points],
        "domains": [
            (str(place), DOMAINS[domain])
            for place, domain in enumerate(Domain)
            if any(item[2] >> place & 1 for item in data["items"])
        ],
        "words": report.words_shown,
        "first_two": data["systems"][:2],
    }


def _fill(report: Report) -> Mapping[str, Any]:
    return {"choice": filter_choices(report)}


BESIDE = Section(
    "beside",
    "Side by side",
    "sections/beside.html",
    _fill,
    lambda report: report.payload.n_shown > 0 and len(report.payload.data["systems"]) > 1,
    needs_scripts=True,
)
RESPONSES = Section(
    "responses",
    "Responses",
    "sections/responses.html",
    _fill,
    lambda report: report.words_shown,
    parts=(BESIDE,),
)
