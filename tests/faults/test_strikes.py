"""Runs that are struck at set moments; `bench/faults.py` draws the strikes and moments by chance.

Each is killed, told to end or left without room or money, is finished later, and comes out as the
run that nothing happened to: see `accounts` and `trial` for what is checked.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from careeval.__main__ import main
from careeval.protocol.ledger import CALLS_FILE, SPENT_FILE
from faults.damage import LOG
from faults.drawn import FULL, Drawn, Shape, Strike
from faults.outcome import differences, flaws
from faults.trial import IDS, Trial, Undisturbed, undisturbed
from support.fakes import write_bank

SHAPE = Shape(("a",), 3, 4)
CUT_OFF = tuple((name, "cut off") for name in (LOG, CALLS_FILE, SPENT_FILE))

CASES = {
    "a run and its resuming": (
        Drawn(
            1,
            SHAPE,
            0.05,
            (
                Strike("kill worker", "answered", 0.4, CUT_OFF),
                Strike("kill all", "answered", 0.5),
            ),
        ),
        ["kill worker", "kill all", "log cut off", "calls cut off", "spent cut off"],
    ),
    "a parent": (
        Drawn(2, SHAPE, 1.5, (Strike("kill parent", "answered", 0.0, hasty=True),)),
        ["kill parent", "folder held by a living worker"],
    ),
    "a run that is told to end": (
        Drawn(
            3,
            SHAPE,
            0.4,
            (Strike("SIGTERM", "answered", 0.1), Strike("two SIGINT", "answered", 0.2)),
        ),
        ["SIGTERM", "two SIGINT"],
    ),
    "a run without money": (
        Drawn(5, SHAPE, 0.2, (Strike("kill worker", "answered", 0.2),), budget=0.6),
        ["kill worker", "budget"],
    ),
    "a run without room, and a later grading": (
        Drawn(
            4,
            SHAPE,
            0.1,
            (Strike(FULL, "answered", 0.3),),
            grading=(Strike("kill worker", "answered", 0.5),),
            unsteady=True,
        ),
        [FULL, "kill worker"],
    ),
}
"""What happens, and what of it must have been met."""


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bank of all trials."""
    return write_bank(tmp_path_factory.mktemp("bank"), IDS)


@pytest.fixture(scope="module")
def calm(bank: Path, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """The undisturbed run."""
    return undisturbed(SHAPE, tmp_path_factory.mktemp("calm") / "run", bank)


@pytest.mark.parametrize("case", CASES)
def test_a_run_that_is_struck(case: str, bank: Path, calm: Undisturbed, tmp_path: Path) -> None:
    """It loses only calls in flight, says how to go on, and has the same outcome."""
    drawn, met = CASES[case]
    if drawn.needs_a_disk and os.geteuid():
        pytest.skip("only root can mount a disk that fills")
    trial = Trial(drawn, 1, tmp_path / "trial", bank, calm)
    verdict = trial.carry_out()
    assert verdict.problems == []
    assert set(met) <= set(verdict.struck)
    if "log cut off" in met:
        assert list(trial.root.rglob("*.eval.broken"))


def test_what_is_changed_is_a_difference(calm: Undisturbed) -> None:
    """A missing judgment, a double one and one without a reason are all noticed."""
    outcome = calm.outcome
    assert flaws(outcome) == differences(outcome, outcome) == []
    fewer = replace(outcome, judgments=outcome.judgments[1:])
    assert differences(fewer, outcome) == ["judgments differ: 1 lack, 0 too many"]
    twice = replace(outcome, judgments=pl.concat([outcome.judgments[:1], outcome.judgments]))
    assert flaws(twice) == ["a judgment is there twice"]
    unknown = outcome.judgments.with_columns(present=pl.lit(None, pl.Boolean), reason=pl.lit(""))
    assert flaws(replace(outcome, judgments=unknown)) == [
        "a judgment is unknown, and nobody says why"
    ]
    changed = replace(outcome, responses=outcome.responses.with_columns(text=pl.lit("other")))
    assert differences(changed, outcome) == ["responses differ in text"]


def test_ctrl_c_while_it_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped before there is anything to end in order, it ends as interrupted, in one word."""

    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("careeval.cli.app.run", interrupted)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
