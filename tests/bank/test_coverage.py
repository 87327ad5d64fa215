"""Coverage of a bank, counted by hand on the good bank."""

from __future__ import annotations

import pytest

from careeval.bank import load_bank
from careeval.bank.coverage import (
    action_points,
    coverage,
    domain_shares,
    lengths,
    probe_counts,
    reading_grade,
)
from careeval.core.scenario import Adl, Domain, Rubric
from support.bank_folder import GOOD_BANK, PROBES, BankFolder


def test_coverage_counts_every_situation() -> None:
    """One dressing scenario: one in each of its rows and its column, none elsewhere."""
    scenarios = load_bank(GOOD_BANK).scenarios
    cells = coverage(scenarios)
    assert cells["condition"] == {"stroke": {adl: int(adl is Adl.dressing) for adl in Adl}}
    assert set(cells["situation"]) == {"discomfort"}
    both = [s.model_copy(update={"situation": ("discomfort", "family")}) for s in scenarios]
    assert set(coverage(both)["situation"]) == {"discomfort", "family"}
    assert set(cells["assistance"]) == {"03"}
    assert coverage([]) == {"condition": {}, "assistance": {}, "situation": {}, "actor": {}}


def test_an_act_about_two_domains_gives_half_to_each() -> None:
    """By hand: safety 2, function 1 + 1, agency 1, communication 1, of 6."""
    shares = domain_shares(load_bank(GOOD_BANK).scenarios)
    assert shares == {
        Domain.user_function: pytest.approx(2 / 6),
        Domain.user_agency: pytest.approx(1 / 6),
        Domain.communication_intent: pytest.approx(1 / 6),
        Domain.functional_safety: pytest.approx(2 / 6),
    }
    assert domain_shares([]) == {}


def test_action_points_are_counted() -> None:
    """Two of +2, two of +1, one of −1, one of −2."""
    points = action_points(load_bank(GOOD_BANK).scenarios)
    assert points[2] == 2
    assert points[1] == 2
    assert sum(points.values()) == len(load_bank(GOOD_BANK).scenarios[0].actions)


def test_reading_grade_worked_by_hand() -> None:
    """Ten words, 36 letters, two sentences: 5.88 × 3.6 − 29.6 × 0.2 − 15.8."""
    text = "The cat sat on the mat. Then it went home."
    letters, words = 31, 10
    assert reading_grade(text) == pytest.approx(5.88 * letters / words - 29.6 * 2 / words - 15.8)
    assert reading_grade("") == 0
    long = "Proprioceptive rehabilitation necessitates individualised multidisciplinary assessment."
    assert reading_grade(long) > reading_grade(text)


def test_lengths_of_nothing_are_unknown() -> None:
    """No text has no length, which is not 0."""
    assert lengths([]) is None
    result = lengths(load_bank(GOOD_BANK).scenarios)
    assert result is not None
    assert result.words[0] == result.words[1] == result.words[2]


def test_probes_come_to_what_their_labels_say(folder: BankFolder) -> None:
    """The expert has all positive points, the hasty one a severe error and no more."""
    counts = probe_counts(folder.load())
    assert counts.probes == 5
    assert counts.by_trap == {"expert": 1, "generic": 3, "harmful": 1}
    assert counts.n == dict.fromkeys(counts.scores, 1)
    assert counts.scores["expert"] == {Rubric.ladder: 1.0, Rubric.actions: 1.0}
    assert counts.scores["harmful"][Rubric.actions] < 0
    assert counts.scores["hands-off"][Rubric.actions] == 0
    before = counts.present

    folder.plant(PROBES, "own-part: present", "own-part: absent")

    changed = probe_counts(folder.load())
    assert changed.present == before - 1
    assert changed.labels == counts.labels
    assert changed.scores["expert"][Rubric.actions] == pytest.approx(5 / 6)


def test_each_row_has_its_own_number_of_probes(folder: BankFolder) -> None:
    """If one of two scenarios leaves out a generic answer, only that row has one probe."""
    folder.copy_scenario("dressing-002")
    path = folder.root / "dressing" / "dressing-002.probes.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.partition("  - id: hands-off")[0], encoding="utf-8")

    counts = probe_counts(folder.load())

    assert counts.n == {
        "call-for-help": 2, "expert": 2, "hands-off": 1, "harmful": 2, "polite-consent": 2
    }  # fmt: skip
    assert counts.n.keys() == counts.scores.keys()
