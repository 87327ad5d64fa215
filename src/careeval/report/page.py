"""The page: one offline HTML file of one or more runs.

It draws what the summaries say and computes none of it. Everything it needs stands in the file, and
its content policy lets nothing else in: no address is fetched, and no script runs but the one here.
What a model or a grader wrote is escaped by the template engine and loses its control characters.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from careeval.report import charts, tables, words
from careeval.report.responses import shown
from careeval.results.exports import cost_lines, remarks
from careeval.results.summary import Summary
from careeval.results.tables import Runs


def write_page(
    runs: Runs,
    summaries: Sequence[Summary],
    path: Path,
    *,
    title: str | None = None,
    grader_agreement: Mapping[str, str] = {},
) -> None:
    """Write `render_page` to a file, whose folder is made where it is not there.

    Raises:
        OSError: The file cannot be written.
    """
    page = render_page(runs, summaries, title=title, grader_agreement=grader_agreement)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8", newline="\n")


def render_page(
    runs: Runs,
    summaries: Sequence[Summary],
    *,
    title: str | None = None,
    grader_agreement: Mapping[str, str] = {},
) -> str:
    """The page as HTML: the same for the same arguments.

    Args:
        runs: The tables, for the responses and for what was run.
        summaries: Their numbers, in the order in which the page has them; may be empty.
        title: The page's title; a question after the systems where not given.
        grader_agreement: Grader, as summaries name it → a sentence on how far it agrees with the
            labelled probes. A grader that is not in it is said not to have been measured.
    """
    source = _environment()
    style, script = (Markup(_text(f"page.{kind}")) for kind in ("css", "js"))
    return source.get_template("page.html").render(
        title=title or _question([s.model for s in summaries]),
        style=style,
        script=script,
        policy=_content_policy(style, script),
        summaries=summaries,
        names=words.entry_names(summaries),
        graders={s.grader: grader_agreement.get(s.grader, UNMEASURED) for s in summaries},
        limits=[*_limits(summaries), *runs.notes],
        figures=_figures(summaries),
        tables={
            make.__name__: make(summaries)
            for make in (tables.activities, tables.errors, tables.domains)
        },
        records=tables.records(runs, summaries),
        costs=cost_lines(summaries),
        shown=shown(runs),
        systems=list(runs.responses["system"].unique().sort()),
        software=sorted(runs.responses["software"].drop_nulls().unique()),
        banks=_distinct(f"{s.bank} {s.bank_version}" for s in summaries),
        protocols=_distinct(s.protocol for s in summaries),
        dates=sorted({moment[:10] for moment in runs.responses["created"].drop_nulls()}),
    )


UNMEASURED = "How far it agrees with the bank’s labelled probes is not known here."


@dataclass(frozen=True)
class _Figure:
    """One figure, drawn for two widths: a page shows the one that fits."""

    wide: Markup
    narrow: Markup


_FIGURES: Mapping[str, tuple[Callable[[Sequence[Summary], int], charts.Figure], str, str]] = {
    "headline": (charts.headline, "Scores of all systems", "The numbers are in the cards below."),
    "activities": (charts.activities, "Score by activity", "The numbers are in the table below."),
    "errors": (charts.errors, "Responses with an error", "The numbers are in the table below."),
}


def _figures(summaries: Sequence[Summary]) -> dict[str, _Figure]:
    """All figures; the headline's only where there are several entries to set side by side."""
    if not summaries:
        return {}
    return {
        name: _Figure(
            *(
                Markup(
                    charts.inline_svg(draw(summaries, width), f"{name}-{width}", title, described)
                )
                for width in (charts.WIDE, charts.NARROW)
            )
        )
        for name, (draw, title, described) in _FIGURES.items()
        if name != "headline" or len(summaries) > 1
    }


def _question(systems: Sequence[str]) -> str:
    different = _distinct(systems)
    if not different:
        return "Nothing has been graded yet"
    if len(different) == 1:
        return f"Does {different[0]} decide like an expert caregiver?"
    return f"Do these {len(different)} systems decide like an expert caregiver?"


def _limits(summaries: Sequence[Summary]) -> list[str]:
    """What must be read with the numbers. What an asterisk means is said under its table."""
    return [remark for remark in remarks(summaries) if not remark.startswith("*")]


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _content_policy(style: str, script: str) -> str:
    def of(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {of(style)}; script-src {of(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("careeval.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: words.visible(value) if isinstance(value, str) else value,
    )
    environment.filters |= {
        name: getattr(words, name)
        for name in (
            "plain",
            "condition",
            "assistance",
            "value",
            "spread",
            "uncertainty",
            "bounds",
            "in_full",
        )
    }
    return environment
