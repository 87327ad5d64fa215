"""Probes: what their labels are, and what is wrong with them at their place."""

from __future__ import annotations

import pytest

from support.bank_folder import PROBES, SCENARIO, BankFolder

HURRY = """\
      talks-over: present
      0: absent
"""
"""The last labels of the harmful probe."""


def labels(folder: BankFolder, probe_id: str) -> dict[str, bool]:
    """The labels of one probe of the bank."""
    (probe,) = (p for p in folder.load().probes["dressing-001"] if p.id == probe_id)
    return dict(probe.labels)


def test_rungs_follow_from_actions(folder: BankFolder) -> None:
    """A rung is present where all the actions that it is made of are, and else absent."""
    assert labels(folder, "expert") == {
        "stops": True, "offers-choice": True, "asks-where": True, "own-part": True,
        "carries-on": False, "talks-over": False,
        "+2": True, "+1": True, "0": False, "-1": False, "-2": False,
    }  # fmt: skip

    folder.plant(PROBES, "      offers-choice: present\n", "      offers-choice: absent\n")

    after = labels(folder, "expert")
    assert (after["+2"], after["+1"]) == (False, True)


def test_stated_rung_stands(folder: BankFolder) -> None:
    """A rung that is labelled by hand has that label, whatever its actions say."""
    assert labels(folder, "hurry")["-1"] is True

    folder.plant(PROBES, HURRY, HURRY + "      -1: absent\n")

    assert labels(folder, "hurry")["-1"] is False


@pytest.mark.parametrize(
    ("labels", "code", "message", "hint", "place"),
    [
        (HURRY.replace("      0: absent\n", ""), "CE105", "probe 'hurry' does not label rung '0'",
         "a rung made of no actions is labelled by hand", "stops: absent"),
        ("      0: absent\n", "CE105", "probe 'hurry' does not label 'talks-over'",
         None, "stops: absent"),
        (HURRY + "      talk-over: present\n", "CE105",
         "'talk-over' is not an item of dressing-001",
         "did you mean 'talks-over'?", "talk-over"),
        (HURRY.replace("0: absent", "0: no"), "CE102",
         "probes[1].labels.0: found 'no', expected 'present' or 'absent'", None, "no\n"),
    ],
    ids=["rung of no actions", "action without", "of no item", "neither word"],
)  # fmt: skip
def test_a_wrong_label_is_told_at_its_place(
    folder: BankFolder, labels: str, code: str, message: str, hint: str | None, place: str
) -> None:
    """A label that is missing (absent is never assumed), of no item, or neither word."""
    folder.plant(PROBES, HURRY, labels)
    (problem,) = folder.problems()
    assert problem.code == code
    assert message == problem.message
    assert hint in (None, problem.hint)
    assert problem.place == folder.place(PROBES, place)


def test_generic_text(folder: BankFolder) -> None:
    """A probe that has only the id of a generic answer has that answer's text and trap."""
    probes = {probe.id: probe for probe in folder.load().probes["dressing-001"]}

    assert probes["hands-off"].text == "I let the person do it and do not touch them."
    assert probes["hands-off"].trap == "generic"


def test_probes_keep_their_order(folder: BankFolder) -> None:
    """Probes come in the order of their file."""
    ids = [probe.id for probe in folder.load().probes["dressing-001"]]

    assert ids == ["expert", "hurry", "polite-consent", "call-for-help", "hands-off"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: hands-off", "id: hands-of"),
        ("    trap: harmful\n", ""),
        ("    text: That does not hurt, I tell her, and pull the sleeve up.\n", ""),
    ],
    ids=["no such generic answer", "text without trap", "trap without text"],
)
def test_probe_without_words(folder: BankFolder, old: str, new: str) -> None:
    """A probe without text or trap that is no generic one is CE104, with the generic ids."""
    (problem,) = folder.plant(PROBES, old, new).problems()

    assert problem.code == "CE104"
    assert problem.hint.endswith("a generic probe: call-for-help, hands-off, polite-consent")
    assert problem.place == folder.place(PROBES, "hands-of" if "hands" in new else "hurry")


def test_probe_twice(folder: BankFolder) -> None:
    """A second probe of the same id is CE104 at its id."""
    folder.plant(PROBES, "id: hurry", "id: expert")

    (problem,) = folder.problems()

    assert (problem.code, problem.message) == ("CE104", "probe 'expert' appears twice")
    assert problem.place.line == folder.place(PROBES, "trap: harmful").line - 1


def test_faults_of_scenario_and_probes_together(folder: BankFolder) -> None:
    """A scenario with a fault does not hide the faults of its probes file."""
    folder.plant(SCENARIO, "actor: person", "actor: cat")
    folder.plant(PROBES, "trap: harmful", "trap: Harmful")

    assert [p.place for p in folder.problems()] == [
        folder.place(PROBES, "Harmful"),
        folder.place(SCENARIO, "cat"),
    ]
