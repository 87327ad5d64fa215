"""Models that are withdrawn: what is said of them, and which runs are refused."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from careeval.errors import ProtocolError
from careeval.modes.response import RESPONSE
from careeval.protocol.prices import price_of
from careeval.protocol.providers import Endpoint
from careeval.protocol.retirements import (
    CHECKED,
    RETIREMENTS,
    check_not_rerouted,
    retirement_notes,
    retirement_of,
)
from careeval.protocol.selection import PAPER, ROSTERS, read_roster

GEMINI = "google/gemini-2.5-pro"
END = date(2026, 12, 1)


def test_worked_examples() -> None:
    """Each model is named once, with the end and what is known of a successor."""
    asked = ["google/gemini-2.5-pro", "openai/gpt-5.1", "acme/house", RESPONSE.grader]
    assert [*retirement_notes([*asked, *asked])] == [
        "google/gemini-2.5-pro is served until 2026-12-01; from then on, google/gemini-3.8-flash "
        "answers under its name.",
        "openai/gpt-5.1 is served until 2027-04-01; no successor was known on 2026-11-29.",
        "openai/gpt-4o-2024-08-06 is served until 2027-01-14; its provider names "
        "openai/gpt-6-luna as successor.",
    ]


def test_another_model_does_not_answer_unnoticed() -> None:
    """From the day on which the successor answers, a run is refused, and not the day before."""
    endpoints = [Endpoint("ask", GEMINI, None, {})]
    check_not_rerouted(endpoints, END - timedelta(days=1))
    with pytest.raises(ProtocolError, match="withdrawn on 2026-12-01") as refused:
        check_not_rerouted(endpoints, END)
    assert "name google/gemini-3.8-flash instead" in refused.value.hint


def test_a_server_of_ones_own_may_serve_it() -> None:
    """A model at an address that the run gives is not refused."""
    check_not_rerouted([Endpoint("ask", GEMINI, "http://localhost:8000", {})], END)


def test_a_model_that_only_ends_is_not_refused() -> None:
    """Its provider refuses it, or has postponed the date."""
    ended = [Endpoint("grade", RESPONSE.grader, None, {})]
    check_not_rerouted(ended, date(2028, 1, 1))


def test_the_table_is_of_models_that_careeval_names() -> None:
    """Each retirement is of a model of the paper's roster or of the default grader."""
    ours = {*read_roster(PAPER), RESPONSE.grader}
    for each in RETIREMENTS:
        assert ours & {*each.names}
        assert each.source.startswith("https://")
        assert each.source_read <= CHECKED
    assert [*RETIREMENTS] == sorted(RETIREMENTS, key=lambda each: each.served_until)


def test_successors_have_no_retirement_of_their_own() -> None:
    """A hint never names a model that ends."""
    assert not any(retirement_of(each.successor) for each in RETIREMENTS if each.successor)


def test_the_roster_says_what_ends() -> None:
    """The comment of a model in the roster has the date of its end and its successor."""
    text = Path(ROSTERS / f"{PAPER}.txt").read_text(encoding="utf-8")
    for model in read_roster(PAPER):
        assert price_of(model, day=CHECKED) is not None
        if retirement := retirement_of(model):
            comment = text[text.index(model) :].partition("\n\n")[0]
            assert f"{retirement.served_until}" in comment
            if retirement.successor:
                assert retirement.successor.partition("/")[2] in comment
