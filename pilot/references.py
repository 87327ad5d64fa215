"""Recompute the references in words: answers of the pilot and of a small model, over today's bank.

    python pilot/references.py            # the references, as JSON
    python pilot/references.py --write    # references.json in the bank, and the README's figure
    python pilot/references.py --check    # whether both are what the answers give

Acts that read as in bank 3-A keep the pilot's judgments. `bank-4/` has what is new since then:
answers to texts that changed, and judgments of acts that changed and of a small model's answers,
which are in `results/`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from figures import FIRST, HERE, entry_of, frozen_bank, rows, unchanged

from careeval.bank import Bank, bank_folder, load_bank
from careeval.core.scenario import Rubric
from careeval.protocol.tables import read_runs
from careeval.report import charts
from careeval.report.charts.drawing import moved
from careeval.results.references import (
    FILE,
    Reference,
    own_references,
    references_json,
)

# ruff: noqa: T201  (a script prints)

NEW = "bank-4"
"""Folder of what is new since bank 3-A."""

SMALL = "smollm2"
AI = "AI by Anthropic"
READERS = "AI readers, by Anthropic"

ABOUT: Mapping[str, tuple[str, str]] = {
    "closed": (AI, "Of the family that wrote the bank; many texts answered in one context"),
    "complies": ("Complies", "One text for every scenario: it does as asked, without a question"),
    "refuses": ("Refuses", "One text for every scenario: it stops, and calls somebody"),
    "vague": ("Vague", "One text for every scenario: careful and kind, in general words"),
    "echo": ("Echo", "The scenario's own words"),
    SMALL: ("SmolLM2, 135M", "A model of 135 million parameters, at most 512 tokens"),
}
"""Kind of answer → name of the reference, and what it is."""

SMALL_RUN = HERE.parent / "results" / "smollm2-135m" / "submission.zip"

GAP = 28
"""Pixels between the two plots of the figure."""

IMAGE = HERE.parent / "docs" / "images" / "references.svg"


def today(bank: Bank) -> list[Reference]:
    """Return the references over the public bases of a bank.

    Raises:
        SystemExit: Answers are missing or appear twice, or an act is not judged once in each.
    """
    same = unchanged(bank, frozen_bank())
    same_texts = {scenario for scenario, _ in same}

    @cache
    def merged(folder: str, kind: str) -> Sequence[Mapping[str, Any]]:
        if (folder, kind) == ("answers", SMALL):
            return [*_small_answers()]
        before = [] if kind == SMALL else rows(folder, kind)
        if folder == "answers":
            before = [row for row in before if row["scenario"] in same_texts]
        else:
            before = [row for row in before if (row["scenario"], row["item"]) in same]
        return [*before, *rows(f"{NEW}/{folder}", kind)]

    acts = {s.id: sorted(act.id for act in s.actions) for s in bank.bases}
    made = []
    for kind, (name, about) in ABOUT.items():
        answers = merged("answers", kind)
        _check_complete(kind, acts, answers, merged("gradings", kind))
        entry = entry_of(kind, bank, bank.bases, merged)
        made.append(
            Reference(
                bank.about.name, bank.about.version, name, about, Rubric.actions,
                given=None, step=False, judged_by=READERS,
                n_scenarios=entry.n_scenarios, n_epochs=entry.n_epochs,
                severe=entry.severe, score=entry.score,
                data="results/smollm2-135m" if kind == SMALL else "pilot",
            )
        )  # fmt: skip
    return made


def _small_answers() -> Iterator[Mapping[str, Any]]:
    responses = read_runs(SMALL_RUN).responses.select("scenario", "epoch", "text")
    for scenario, epoch, text in responses.iter_rows():
        yield {"scenario": scenario, "epoch": epoch, "response": text}


def _check_complete(
    kind: str,
    acts: Mapping[str, Sequence[str]],
    answers: Sequence[Mapping[str, Any]],
    judgments: Sequence[Mapping[str, Any]],
) -> None:
    """End unless each base has the same epochs, and each act is judged once in each answer."""
    judged: dict[tuple[str, int], list[str]] = {}
    for row in judgments:
        if row["grader"] == FIRST:
            judged.setdefault((row["scenario"], row["epoch"]), []).append(row["item"])
    given = [(row["scenario"], row["epoch"]) for row in answers if row["scenario"] in acts]
    epochs = {epoch for _, epoch in given}
    if sorted(given) != sorted((scenario, epoch) for scenario in acts for epoch in epochs):
        sys.exit(f"{kind}: answers are missing, or appear twice")
    if wrong := [place for place in given if sorted(judged.get(place, ())) != acts[place[0]]]:
        sys.exit(f"{kind}: acts are not judged once each, such as in {sorted(wrong)[:3]}")


def picture() -> str:
    """Return the README's figure, of the references in words and in acts, as SVG."""
    half = (charts.WIDE - GAP) // 2
    shown = [each for each in own_references() if each.condition in ("", "facts")]
    most = max(end for each in shown for end in each.severe.share.ci95 or ())
    first, second = (
        charts.severity_scatter(
            # labels are placed in this order: those at the left edge have the least room
            [
                (each.name, each.severe, each.score, True)
                for each in sorted(of_bank, key=lambda each: each.severe.count / each.severe.n)
            ],
            half,
            heading.format(of_bank[0].bank_version),
            up_to=100 * most,
        )
        for of_bank, heading in (
            ([each for each in shown if not each.given], "In words: bank {}, actions"),
            ([each for each in shown if each.given], "In acts: bank plans {}, given facts"),
        )
    )
    both = charts.Figure(
        charts.WIDE,
        max(first.height, second.height),
        (*first.marks, *moved(second.marks, half + GAP, 0)),
        f"{first.description} {second.description}",
    )
    title = "Severe errors and score of the references"
    return charts.standalone_svg(both, "references", title, both.description) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Print, write or check the references."""
    bank = load_bank()
    text = references_json(today(bank))
    if not arguments:
        print(text)
        return
    # the figure is drawn from the file
    for path, made in ((bank_folder(None) / FILE, lambda: text), (IMAGE, picture)):
        content = made()
        if arguments == ["--write"]:
            path.write_text(content, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != content:
            sys.exit(f"{path} is not what the answers give: pilot/references.py --write")


if __name__ == "__main__":
    main(sys.argv[1:])
