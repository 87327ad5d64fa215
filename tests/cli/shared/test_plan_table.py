"""The plan as it is printed: what a person reads before money is spent."""

from __future__ import annotations

import re

import pytest

from careeval.cli.shared.plan_table import print_plan
from careeval.protocol.estimate import Plan, PlanLine


def line(
    model: str, usd: float | None, role: str = "ask", n: int = 200, n_kept: int = 0
) -> PlanLine:
    """A line of 62,000 tokens in and 58,000 out, whose worst case costs twice as much."""
    return PlanLine(
        "ask" if role == "ask" else "grade",
        model,
        n,
        n_kept,
        62_000,
        58_000,
        124_000,
        1_600_000,
        usd,
        None if usd is None else 2 * usd,
    )


def printed(capsys: pytest.CaptureFixture[str], *lines: PlanLine) -> str:
    """Print a plan and return the text, with each gap as one space."""
    print_plan(Plan(lines))
    return re.sub(r" +", " ", capsys.readouterr().out)


def test_worked_example(capsys: pytest.CaptureFixture[str]) -> None:
    """A known, an unknown and a free model are three rows, and the known ones the total."""
    out = printed(
        capsys,
        line("openai/gpt-5.1", 0.655),
        line("acme/house", None),
        line("openai/gpt-4o", 1.265, "grade", n=400),
        line("careeval/lexical", 0, "grade", n=400),
    )
    assert "Plan: 400 responses of 2 models, then 800 gradings" in out
    assert "openai/gpt-5.1 200 62k / 58k $0.66 $1.31" in out
    assert "acme/house 200 62k / 58k unknown unknown no price: --prices FILE" in out
    assert "openai/gpt-4o (grader) 400 62k / 58k $1.26 $2.53" in out
    assert "careeval/lexical (grader) 400 – nothing nothing" in out
    assert "total (known) $1.92 $3.84" in out
    assert "* every reply reaches its token limit" in out
    assert "Reasoning is not in it" in out


def test_a_known_total_is_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """If every price is known, the total is not marked and no prices file is asked for."""
    out = printed(capsys, line("openai/gpt-5.1", 0.655))
    assert "Plan: 200 responses of openai/gpt-5.1" in out
    assert "total $0.66 $1.31" in out
    assert "--prices" not in out


def test_nothing_known_has_no_total(capsys: pytest.CaptureFixture[str]) -> None:
    """If no price is known, the total is unknown and no amount is shown."""
    out = printed(capsys, line("acme/house", None))
    assert "total (known) unknown unknown" in out
    assert "$" not in out


def test_what_is_free_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """A run inside the process costs nothing, and has no note on what tokens cost."""
    out = printed(capsys, line("gguf/smollm2", 0), line("careeval/lexical", 0, "grade"))
    assert "gguf/smollm2 200 – nothing nothing" in out
    assert "total $0.00 $0.00" in out
    assert "Reasoning" not in out


def test_what_is_on_disk_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """A resumed run says how much of it is not asked for again."""
    out = printed(
        capsys, line("a/b", 1, n=80, n_kept=120), line("a/c", 1, "grade", n=199, n_kept=1)
    )
    assert "Plan: 80 responses of a/b, then 199 gradings" in out
    assert "not asked for again: 120 responses." in out
    assert "not asked for again: 1 grading." in out


def test_a_plan_as_a_message_leaves_stdout_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """A plan that is printed as a message goes to stderr."""
    print_plan(Plan((line("a/b", 1),)), to_stderr=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Plan: 200 responses" in err


def test_names_are_not_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """A model's name is printed with its brackets and without its control characters."""
    out = printed(capsys, line("acme/[red]x\x1b[2J", 1))
    assert out.count("acme/[red]x[2J") == 2
    assert "\x1b" not in out
