"""`careeval study` as it is typed, from a plan to the evidence in the bank."""

from __future__ import annotations

import csv
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from careeval.bank import Bank
from careeval.cli.app import USAGE
from careeval.core.scenario import Rubric, Scenario, Status
from careeval.people.forms import FormId
from careeval.people.store import Store
from careeval.people.study.documents import changes_document
from careeval.people.study.plan import StudyPlan
from support.bank_folder import SCENARIO, BankFolder
from support.command_line import CommandLine

ALL = ["r01", "r02", "r03", "r04", "r05"]
Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class StudyFolder:
    """A folder with a bank, a study of it as planned by `new`, and the command line."""

    root: Path
    bank_folder: BankFolder
    cli: CommandLine

    @property
    def path(self) -> Path:
        """The file of the study."""
        return self.root / "study.db"

    @property
    def bank(self) -> Bank:
        """The bank as it is now."""
        return self.bank_folder.load()

    @property
    def first(self) -> Scenario:
        """The first scenario as it is now."""
        return self.bank.scenario("dressing-001")

    def revise(self, file: str = SCENARIO) -> None:
        """Raise a scenario's version."""
        self.bank_folder.plant(file, "\nversion: 1\n", "\nversion: 2\n")

    def new(self, *more: str) -> list[str]:
        """The line that plans a study of five raters."""
        consent = self.root / "consent.txt"
        consent.write_text("Made up for tests.\n", encoding="utf-8")
        terms = {
            "--raters": ["occupational-therapist:3", "family-caregiver:2"],
            "--consent": [str(consent)],
            "--ethics": ["none: a test"],
            "--contact": ["t@example.org"],
        }
        others = [word for name, words in terms.items() if name not in more
                  for word in (name, *words)]  # fmt: skip
        return ["study", "new", str(self.bank_folder.root), "-o", str(self.path), *others, *more]

    def renew(self, *more: str) -> str:
        """Plan another study in its place; return what is told."""
        self.path.unlink()
        return self.cli.told(*self.new(*more))

    def line(self, command: str, *more: str) -> list[str]:
        """The line of a command that takes the bank."""
        return ["study", command, str(self.path), "--bank", str(self.bank_folder.root), *more]

    def json(self, command: str, *more: str) -> Any:
        """What a command that takes the bank prints for a program."""
        return self.cli.json(*self.line(command, *more, "--json"))

    def change(self) -> dict[str, Any]:
        """The change of the first scenario that writing would make."""
        found = self.json("apply")["changes"]
        first: dict[str, Any] = next(each for each in found if each["scenario"] == "dressing-001")
        return first

    def typed(self, rows: Rows, *more: str) -> list[str]:
        """The line that imports these rows."""
        path = self.root / "typed.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["rater", "scenario", "scale", "item", "value", "comment"])
            writer.writerows(rows)
        return [*self.line("import", str(path), "--typed-by", "an assistant"), *more]

    def rate(self, rows: Rows, *more: str) -> None:
        """Type rows of ratings into the study."""
        self.cli.ok(*self.typed(rows, *more))

    @contextmanager
    def store(self) -> Iterator[Store]:
        """Its open file."""
        store = Store.open(self.path)
        yield store
        store.close()

    def events(self) -> Sequence[Any]:
        """All that was answered."""
        with self.store() as store:
            return store.events()

    def item_rows(self) -> list[tuple[Any, ...]]:
        """Rows in which everybody keeps the first scenario's −2 items and finds all relevant."""
        items = {f"{r}/{i.id}": i.points for r in Rubric for i in self.first.rubric(r) if i.points}
        severe = [name for name, points in items.items() if points == -2]
        assert len(severe) == 2
        rows = [(rater, "dressing-001", "points", name, "-2") for rater in ALL for name in severe]
        return rows + [(rater, "dressing-001", "relevance", n, "5") for rater in ALL for n in items]

    def rows_that_validate(self) -> list[tuple[Any, ...]]:
        """Rows that are enough for the first scenario to be validated."""
        return [*realism("dressing-001", [5] * 5), *self.item_rows()]


@pytest.fixture
def unplanned(tmp_path: Path, cli: CommandLine) -> StudyFolder:
    """A bank of three scenarios that differ in their ids alone, and no study of it."""
    bank = BankFolder.good(tmp_path / "bank")
    return StudyFolder(
        tmp_path, bank.copy_scenario("dressing-002").copy_scenario("dressing-003"), cli
    )


@pytest.fixture
def study(unplanned: StudyFolder) -> StudyFolder:
    """A study of it: items and points are asked about too."""
    unplanned.cli.ok(*unplanned.new("--items", "--points"))
    return unplanned


def realism(scenario: str, values: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return rows with everybody's realism as given, and validity 5."""
    rows: list[tuple[Any, ...]] = []
    for rater, value in zip(ALL, values, strict=True):
        rows += [(rater, scenario, "realism", "", value), (rater, scenario, "validity", "", 5)]
    return rows


def test_new_prints_each_link_once_and_stores_none(unplanned: StudyFolder) -> None:
    """Each rater gets one link, which opens that rater's pages and is not in the file."""
    printed = unplanned.cli.ok(*unplanned.new("--address", "https://rate.example.org/"))
    lines = [line.split("\t") for line in printed.splitlines()]
    assert [(rater, role) for rater, role, _ in lines][2:4] == [
        ("r03", "occupational-therapist"),
        ("r04", "family-caregiver"),
    ]
    with unplanned.store() as store:
        for rater, _, link in lines:
            token = link.removeprefix("https://rate.example.org/i/")
            found = store.link(token)
            assert found is not None
            assert found.rater.id == rater
            assert token.encode() not in unplanned.path.read_bytes()


def test_links_go_to_a_file_for_its_owner_alone(unplanned: StudyFolder) -> None:
    """With --links nothing is printed on stdout, and the file is nobody else's to read."""
    path = unplanned.root / "links.tsv"
    assert unplanned.cli.ok(*unplanned.new("--links", str(path))) == ""
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(re.findall(r"/i/[\w-]{43}$", path.read_text(encoding="utf-8"), re.MULTILINE)) == 5


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--raters", "priest:2"], "unknown role 'priest'"),
        (["--raters", "other:none"], "expected a whole number"),
        (["--contact", " "], "missing or empty: --contact"),
        (["--per-rater", "1", "--raters-per-scenario", "5"], "ratings"),
        # links that have no file of their own
        (["--links", "study.db"], ""),
        (["--links", "sub/../study.db"], ""),
        (["--links", "nodir/links.tsv"], ""),
    ],
)
def test_a_study_that_cannot_be_is_not_written(
    unplanned: StudyFolder, monkeypatch: pytest.MonkeyPatch, more: list[str], words: str
) -> None:
    """A study that cannot be planned is refused, and no file is written."""
    monkeypatch.chdir(unplanned.root)
    (unplanned.root / "sub").mkdir()
    assert words in unplanned.cli.refused(*unplanned.new(*more))
    assert not unplanned.path.exists()


def test_one_of_anything_is_told_as_one(unplanned: StudyFolder) -> None:
    """A plan, changes and answers that lack name one thing in the singular."""
    told = unplanned.cli.told(*unplanned.new("--limit", "1", "--raters", "other"))
    assert re.search(r"^1 scenario, 1 rater, 1 scenario each: about \d+ minutes? for ", told)
    assert "1 scenario has not been rated on both" in changes_document([], 1).notes[0]
    assert "2 scenarios have not been rated on both" in changes_document([], 2).notes[0]


def test_withdrawn_scenarios_are_not_rated_again(unplanned: StudyFolder) -> None:
    """A withdrawn scenario is in no new study, and does not count towards --limit."""
    unplanned.bank_folder.plant(SCENARIO, "status: drafted\n", "status: withdrawn\n")
    unplanned.cli.ok(*unplanned.new("--limit", "2"))
    names = [each["scenario"] for each in unplanned.json("results")["scenarios"]]
    assert names == ["dressing-002", "dressing-003"]


def test_a_study_is_not_written_over(study: StudyFolder) -> None:
    """An existing file is not overwritten."""
    before = study.path.read_bytes()
    assert "exists already" in study.cli.refused(*study.new())
    assert study.path.read_bytes() == before


def test_typed_ratings_are_results(study: StudyFolder) -> None:
    """Typed ratings give counts, decisions and comments, and the typist is kept."""
    item = study.first.actions[0]
    severe = next(a for a in study.first.actions if a.points == -2)
    study.rate(
        [
            *realism("dressing-001", [5, 4, 4, 5, 2]),
            *realism("dressing-002", [3, 3, 3, 4, 4]),
            ("r01", "dressing-001", "", item.id, 4, "Well put."),
            ("r02", "dressing-001", "points", f"actions/{severe.id}", "−1", ""),
            ("r03", "dressing-001", "points", f"actions/{severe.id}", "-2", ""),
            ("r03", "dressing-002", "", "", "", "Nobody would do this."),
        ]
    )
    found = study.json("results")
    assert found["decisions"] == {"keep": 1, "revise": 0, "drop": 1, "undecided": 1}
    first, second, third = found["scenarios"]
    assert first["realism"]["i_cvi"]["k"] == 4
    assert first["to_read"] == [
        "a family caregiver rated its realism 2",
        f"actions/{severe.id}: 1 of 2 would not give it −2",
    ]
    by_item = {each["item"]: each for each in first["items"]}
    assert by_item[item.id]["comments"][0]["text"] == "Well put."
    (comment,) = second["comments"]
    rater = {"rater": "r03", "role": "occupational-therapist"}
    assert comment == {**rater, "topic": None, "text": "Nobody would do this."}
    assert third["realism"]["reason"] == "nobody has rated it"
    assert [seat["n_typed"] for seat in found["panel"]] == [6, 5, 6, 4, 4]
    assert {event.typed_by for event in study.events()} == {"an assistant"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("r09", "dressing-001", "realism", "", 4), "'r09' is not a rater"),
        (("r01", "eating-001", "realism", "", 4), "'eating-001' is not a scenario"),
        (("r01", "dressing-001", "realism", "", 6), "realism must be one of 1, 2, 3, 4, 5"),
        (("r01", "dressing-001", "beauty", "", 4), "scale must be one of realism"),
        (("r01", "dressing-001", "", "no-such", 4), "this study does not ask for relevance on"),
        (("r01", "dressing-002", "realism", "", 5), "r01 answers realism twice, here and on line"),
        (
            ("r01", "dressing-001", "", "", "", "so", "at once"),
            "the row has 7 cells, but there are only 6 columns",
        ),
    ],
)
def test_a_file_is_taken_whole_or_not_at_all(
    study: StudyFolder, row: tuple[Any, ...], words: str
) -> None:
    """A row that is no answer is named with its line, and no row is imported."""
    told = study.cli.refused(*study.typed([("r01", "dressing-002", "realism", "", 5), row]))
    assert f"typed.csv:3: {words}" in told
    assert study.events() == ()


def test_what_a_rater_said_is_not_replaced_unasked(study: StudyFolder) -> None:
    """A different answer that is there stands, unless --replace is given; the same is no fault."""
    row = ("r01", "dressing-001", "realism", "")
    study.rate([(*row, 5)])
    study.rate([(*row, 5)])
    told = study.cli.refused(*study.typed([(*row, 2)]))
    assert "has answered realism already, with '5'" in told
    study.rate([(*row, 2)], "--replace")
    assert [event.value for event in study.events()] == ["5", "2"]


def test_a_switched_off_link_stops_the_whole_file(study: StudyFolder) -> None:
    """If one rater's link is off, no other rater's row is imported; status marks that one alone."""
    study.cli.ok("study", "revoke", str(study.path), "r05")
    told = study.cli.refused(*study.typed(realism("dressing-001", [5] * 5)))
    assert "typed.csv:10: the link of r05 is switched off" in told
    assert study.events() == ()
    assert [r["rater"] for r in study.json("status")["raters"] if r["revoked"]] == ["r05"]
    assert re.findall(r"(r\d\d) .*link off", study.cli.ok(*study.line("status"))) == ["r05"]


def test_a_crash_while_typed_ratings_are_saved(
    study: StudyFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is cut off between two raters leaves nothing, and is then taken whole."""
    opened = Store.open

    def fake_failing_store(path: Path) -> Store:
        store = opened(path)
        # two events for each rater: the third is another's
        times = iter([datetime(2026, 1, 2, tzinfo=UTC)] * 3)
        return Store(store._database, now=lambda: next(times))

    rows = realism("dressing-001", [5] * 5)
    with monkeypatch.context() as failing:
        failing.setattr(Store, "open", fake_failing_store)
        with pytest.raises(StopIteration):
            study.rate(rows)
    assert study.events() == ()
    study.rate(rows)
    assert len(study.events()) == 10


def test_status_says_who_is_where(study: StudyFolder) -> None:
    """A scenario with some of its answers is started, and a rater without any has never saved."""
    study.rate([("r02", "dressing-001", "realism", "", 5)])
    by_id = {each["rater"]: each for each in study.json("status")["raters"]}
    assert (by_id["r02"]["started"], by_id["r02"]["untouched"]) == (1, 2)
    assert by_id["r02"]["n_typed"] == 1
    assert (by_id["r01"]["last"], by_id["r01"]["agreed"]) == (None, False)
    assert "0 of 15 done" in study.cli.ok(*study.line("status"))


def test_apply_writes_what_it_showed(study: StudyFolder) -> None:
    """Validated, reviewed and withdrawn stand in the bank after --yes, and not before."""
    study.rate(
        [
            *study.rows_that_validate(),
            *realism("dressing-002", [5, 5, 5, 3, 3]),
            *realism("dressing-003", [1, 1, 1, 4, 4]),
        ]
    )
    line = study.line("apply")
    shown = study.cli.printed(USAGE, *line)
    assert "--yes" in shown.err
    assert "fewer than half gave its realism 4 or 5" in shown.out
    assert {s.status for s in study.bank.scenarios} == {Status.drafted}
    study.cli.ok(*line, "--yes")
    bank = study.bank
    statuses = [scenario.status for scenario in bank.scenarios]
    assert statuses == [Status.validated, Status.reviewed, Status.withdrawn]
    assert bank.evidence(bank.scenarios[1])[0].realism == "3/5"
    # the withdrawn one is left alone from now on
    assert "nothing to write." in study.cli.told(*line)
    # what was rated is still what is shown: a status is no change
    assert study.json("status")


def test_a_text_that_nobody_rated_is_not_vetted(study: StudyFolder) -> None:
    """A sentence added to a rated version gets no status, whatever its raters objected to."""
    item = next(a for a in study.first.actions if a.points == -2).id
    study.rate(study.rows_that_validate())
    study.rate([("r01", "dressing-001", "points", f"actions/{item}", "-1")], "--replace")
    before = study.change()
    assert (before["to"], before["evidence"]["objections"]) == ("reviewed", 1)
    study.bank_folder.plant(SCENARIO, "last winter.", "last winter. She holds a hot cup.")
    text = (study.bank_folder.root / SCENARIO).read_bytes()

    after = study.change()
    assert after["to"] is None
    assert "its text is not the one that was rated" in after["refused"]
    study.cli.ok(*study.line("apply", "--yes"))
    assert (study.bank_folder.root / SCENARIO).read_bytes() == text


@pytest.mark.parametrize("more", [[], ["--points", "--rubric", "actions"], ["--items"]])
def test_a_study_that_asked_nobody_of_severe_items_validates_nothing(
    unplanned: StudyFolder, more: list[str]
) -> None:
    """If the points of a −2 item are not asked, planning says so, and objections are null."""
    study = unplanned
    told = study.cli.told(*study.new(*more))
    assert "whether −2 items deserve it: ask with --points --rubric both" in told
    study.rate(realism("dressing-001", [5] * 5))
    first = study.change()
    assert (first["to"], first["evidence"]["objections"]) == ("reviewed", None)
    assert "--points --rubric both" in first["lacking"][0]
    # once it is revised, the next round asks them
    study.revise()
    asked = ("--items", "--points", "--rubric", "both", "--yes")
    assert "validated" not in study.cli.told(*study.line("round", *asked))
    study.rate(study.rows_that_validate())
    assert study.change()["to"] == "validated"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--items", "--points"], ""),
        (["--points"], "nobody rates the relevance of every item: ask with --items --rubric both"),
        (["--items", "--points", "--raters", "occupational-therapist:2"],
         "3 of 3 scenarios would have too few raters: each needs 3 occupational therapists"),
        (["--items", "--points", "--raters-per-scenario", "4"], "3 of 3 scenarios would have"),
    ],
)  # fmt: skip
def test_a_panel_that_cannot_validate_is_told_of(
    unplanned: StudyFolder, more: list[str], words: str
) -> None:
    """Planning warns of too few raters to validate, and only then."""
    told = unplanned.cli.told(*unplanned.new(*more))
    assert ("cannot validate every scenario" in told) == bool(words)
    assert words in told


def test_items_that_raters_reject_keep_a_scenario_from_being_validated(study: StudyFolder) -> None:
    """Five raters who find every item of no relevance validate nothing, and the items are named."""
    rows = [(*row[:4], 1) if row[2] == "relevance" else row for row in study.item_rows()]
    study.rate([*realism("dressing-001", [5] * 5), *rows])
    first = study.change()
    assert first["to"] == "reviewed"
    items = {row[3] for row in rows if row[2] == "relevance"}
    assert set(first["evidence"]["rejected"]) == items
    (lacking,) = first["lacking"]
    assert lacking.startswith(f"raters reject {len(items)} items: ")
    assert lacking.endswith(f" and {len(items) - 3} more")


def test_one_rater_lowers_nothing(study: StudyFolder) -> None:
    """A second study by one rater leaves a validated scenario alone, and says why."""
    study.rate(study.rows_that_validate())
    study.cli.ok(*study.line("apply", "--yes"))
    study.renew("--raters", "roboticist:1")
    study.rate([("r01", "dressing-001", scale, "", 1) for scale in ("realism", "validity")])
    first = study.change()
    assert (first["from"], first["to"]) == ("validated", None)
    assert first["refused"] == "5 raters made it validated; 1 is too few to make it reviewed"
    assert "left alone" in study.cli.ok(*study.line("apply"))
    assert study.first.status is Status.validated


def test_three_raters_of_no_profession_withdraw_nothing(unplanned: StudyFolder) -> None:
    """Three roboticists who find a scenario bad leave it reviewed, and its id in use."""
    unplanned.cli.ok(*unplanned.new("--raters", "roboticist:3"))
    scales = ("realism", "validity")
    unplanned.rate([(rater, "dressing-001", s, "", 1) for rater in ALL[:3] for s in scales])
    first = unplanned.change()
    assert first["to"] == "reviewed"
    assert first["lacking"][-1] == "too few to withdraw it: 0 of 3 occupational therapists"


def test_a_second_round_keeps_the_first(study: StudyFolder) -> None:
    """A revised scenario is rated again, and both rounds are in the results."""
    item = study.first.actions[0].id
    study.rate([*realism("dressing-001", [3] * 5), ("r01", "dressing-001", "", item, 2)])
    old = BankFolder.good(study.root / "old")
    plan = study.line("round", "--yes")
    assert "has a higher version" in study.cli.refused(*plan)
    study.revise()
    study.cli.ok(*plan)
    study.rate(realism("dressing-001", [5] * 5))

    found = study.json("results")
    revised = found["scenarios"][0]
    assert (revised["round"], revised["version"], revised["decision"]) == (2, 2, "keep")
    (first,) = found["earlier"]
    assert (first["round"], first["decision"], first["items"]) == (1, "drop", [])
    assert "items of dressing-001" in found["notes"][0]
    found = study.json("results", "--earlier", str(old.root))
    assert found["notes"] == []
    assert [each["item"] for each in found["earlier"][0]["items"]] == [item]


def test_a_round_says_what_it_ends_and_asks(study: StudyFolder) -> None:
    """Without --yes no round is planned; with it the old round's paper forms are still taken."""
    old = BankFolder(shutil.copytree(study.bank_folder.root, study.root / "old"))
    study.rate(
        [("r01", "dressing-001", "realism", "", 3), ("r02", "dressing-001", "", "", "", "Hm")]
    )
    study.revise()
    told = study.cli.refused(*study.line("round"))
    assert "Round 1 ends: 2 of its 15 forms have an answer." in told
    assert "add --yes" in told
    study.cli.ok(*study.line("round", "--yes"))
    before, late = replace(study, bank_folder=old), [("r02", "dressing-001", "realism", "", 4)]
    before.rate(late, "--round", "1")
    assert "has no round 3" in study.cli.refused(*before.typed(late, "--round", "3"))
    with study.store() as store:
        assert store.answers("r02", "1/dressing-001@1")["realism"].value == "4"


def test_consent_on_paper_is_recorded(study: StudyFolder) -> None:
    """A rater whose signed form somebody saw has agreed, until the terms change."""

    def agreed() -> list[str]:
        return [each["rater"] for each in study.json("status")["raters"] if each["agreed"]]

    line = ["study", "consented", str(study.path), "--typed-by", "an assistant"]
    study.cli.ok(*line, "r02")
    assert agreed() == ["r02"]
    terms = ["study", "terms", str(study.path)]
    assert "has these terms already" in study.cli.refused(*terms)
    study.cli.ok(*terms, "--contact", "another@example.org")
    assert agreed() == []
    assert "has nobody called 'r77'" in study.cli.refused(*line, "r77")


def test_only_who_rated_a_scenario_rates_its_new_version(study: StudyFolder) -> None:
    """Two of five rated it: these two are asked again."""
    study.rate([(rater, "dressing-001", "realism", "", 3) for rater in ("r02", "r04")])
    study.revise()
    assert [seat["id"] for seat in study.json("round", "--yes")["raters"]] == ["r02", "r04"]


def test_further_raters_are_invited(study: StudyFolder) -> None:
    """A further rater gets the next pseudonym, a link and the scenarios."""
    with study.store() as store:
        before = StudyPlan.read(store.plans("study")[-1]).study_id
    (rater,) = study.json("invite", "roboticist:1")["raters"]
    assert (rater["id"], rater["role"], rater["n_scenarios"]) == ("r06", "roboticist", 3)
    with study.store() as store:
        link = store.link(rater["link"].rpartition("/")[2])
        assert link is not None
        assert link.rater.id == "r06"
        assert StudyPlan.read(store.plans("study")[-1]).study_id == before
    assert "--replace RATER" in study.cli.refused(*study.line("invite"))


def test_who_takes_a_place_takes_no_answers(study: StudyFolder) -> None:
    """The new rater has the role and scenarios, and nothing answered; the old link is off."""
    study.rate([("r01", "dressing-001", "realism", "", 3)])
    (rater,) = study.json("invite", "--replace", "r01")["raters"]
    assert (rater["id"], rater["role"]) == ("r06", "occupational-therapist")
    with study.store() as store:
        assert (store.work("r06"), store.revoked_ids()) == ({}, {"r01"})
        assert len(store.work("r01")) == 1
    told = study.cli.refused(*study.line("invite", "--replace", "r77"))
    assert "has nobody called 'r77'" in told


def test_a_withdrawal_leaves_what_enough_raters_gave(unplanned: StudyFolder) -> None:
    """One of four therapists withdraws: the study, applied again, still validates."""
    study = unplanned
    roles = ["occupational-therapist:4", "family-caregiver:2"]
    study.cli.ok(*study.new("--items", "--points", "--raters", *roles))
    rows = study.rows_that_validate()
    study.rate([*rows, *(("r06", *row[1:]) for row in rows if row[0] == "r05")])
    study.cli.ok(*study.line("apply", "--yes"))
    assert study.first.status is Status.validated
    study.cli.ok("study", "withdraw", str(study.path), "r01", "--yes")
    study.cli.ok(*study.line("apply", "--yes"))
    assert study.first.status is Status.validated
    assert [each.realism for each in study.bank.evidence(study.first)] == ["5/5"]


def test_a_scenario_revised_late_is_rated_again(study: StudyFolder) -> None:
    """Round 2 holds one scenario; another, revised afterwards, and no more, is in round 3."""
    plan = study.line("round", "--yes")
    study.revise("dressing/dressing-002.yaml")
    study.cli.ok(*plan)
    study.revise()
    assert study.json("round", "--yes")["n_scenarios"] == 1
    study.rate(realism("dressing-001", [5] * 5))
    rated = {each["scenario"]: each["round"] for each in study.json("results")["scenarios"]}
    assert rated == {"dressing-001": 3, "dressing-002": 2, "dressing-003": 1}
    assert "has a higher version" in study.cli.refused(*plan)


def test_a_withdrawn_scenario_is_not_in_a_further_round(study: StudyFolder) -> None:
    """A withdrawn scenario is left out of the round, and by its name refused."""
    study.revise()
    study.revise("dressing/dressing-002.yaml")
    study.bank_folder.plant(SCENARIO, "status: drafted\n", "status: withdrawn\n")
    told = study.cli.refused(*study.line("round", "--yes", "dressing-001"))
    assert "dressing-001 is withdrawn" in told
    assert study.json("round", "--yes")["n_scenarios"] == 1


def test_a_second_study_leaves_the_evidence_of_the_first(study: StudyFolder) -> None:
    """Two studies with the default title both count, and applying the second again adds nothing."""
    rows = study.rows_that_validate()
    study.rate(rows)
    study.cli.ok(*study.line("apply", "--yes"))
    study.renew("--items", "--points")
    study.rate(rows)
    for _ in range(2):
        study.cli.ok(*study.line("apply", "--yes"))
        found = study.bank.evidence(study.first)
        assert len({each.study_id for each in found}) == len(found) == 2
        assert len({each.study for each in found}) == 1


def test_files_hold_every_rating(study: StudyFolder) -> None:
    """CSV and Parquet have each rating once, the page is written, and a formula is defused."""
    study.rate([*realism("dressing-001", [5] * 5), ("r01", "dressing-001", "", "", "", "=1+1")])
    out = study.root / "out"
    study.cli.ok(*study.line("results", "-o", str(out)))
    ratings = pl.read_parquet(out / "parquet" / "ratings.parquet")
    assert ratings["value"].to_list() == [5] * 10
    assert "'=1+1" in (out / "csv" / "comments.csv").read_text(encoding="utf-8")
    assert pl.read_csv(out / "csv" / "decisions.csv")["decision"].to_list() == ["keep", None, None]
    assert "`i_cvi_strict`" in (out / "columns.md").read_text(encoding="utf-8")
    assert (out / "study.html").is_file()


def test_what_is_printed_is_what_is_written(study: StudyFolder) -> None:
    """With --format csv the table of ratings is printed, and -o writes the same with all others.

    A terminal shows the decision, the count and why a coefficient is unknown.
    """
    study.rate(realism("dressing-001", [5, 4, 4, 3, 3]))
    printed = study.cli.ok(*study.line("results"))
    assert all(words in printed for words in ("revise 1", "3/5*", "ICC(2,k) is unknown"))
    out = study.root / "out"
    printed = study.cli.ok(*study.line("results", "--format", "csv", "-o", str(out)))
    assert printed == (out / "csv" / "validity.csv").read_text(encoding="utf-8")
    assert out.stat().st_mode & 0o777 == 0o700
    printed = study.cli.ok(*study.line("results", "--format", "md"))
    assert "| dressing-001 | 1 | Revise |" in printed


def test_what_is_left_of_a_withdrawal_is_told(study: StudyFolder) -> None:
    """While another program reads the file, commands say that words are left, and then no more."""
    study.rate([("r02", "dressing-001", "", "", "", "Forget this.")])
    other = sqlite3.connect(study.path)
    other.execute("BEGIN")
    other.execute("SELECT * FROM events").fetchone()
    told = study.cli.told("study", "withdraw", str(study.path), "r02", "--yes")
    assert "Deleted: r02" in told
    assert "not fully erased yet" in told
    assert "not fully erased yet" in study.cli.told("study", "close", str(study.path))
    other.close()
    assert "not fully erased yet" not in study.cli.told("study", "reopen", str(study.path))
    assert not any(b"Forget this." in file.read_bytes() for file in study.root.glob("study.db*"))


def test_a_title_is_no_markup(unplanned: StudyFolder) -> None:
    """A title is printed as it is, without its control characters."""
    unplanned.cli.ok(*unplanned.new("--title", "[bold]Pilot[/bold] \x1b[31m"))
    for command in ("status", "results"):
        printed = unplanned.cli.ok(*unplanned.line(command))
        assert "[bold]Pilot[/bold]" in printed
        assert "\x1b" not in printed


def test_results_count_consent_and_years_of_work(study: StudyFolder) -> None:
    """Years of three therapists become a mean alone, "not said" is none, typed is typed."""
    with study.store() as store:
        digest = StudyPlan.read(store.plans("study")[0]).consent.digest
        for rater, years in (("r01", "2"), ("r02", "30"), ("r03", "10"), ("r04", "not said")):
            store.save(rater, "about", {"years": years}, FormId.new(0))
            store.save(rater, "consent", {"given": digest}, FormId.new(0))
    study.rate(realism("dressing-001", [5, 5, 5, 4, 4]))
    out = study.root / "out"
    found = study.json("results", "-o", str(out))
    therapists, caregivers = found["panel_by_role"]
    assert "fewer than five" in therapists["years"].pop("reason")
    assert therapists["years"] == {"value": 14, "low": None, "high": None, "n": 3}
    assert (caregivers["n_invited"], caregivers["n_rated"], caregivers["n_agreed"]) == (2, 2, 1)
    assert caregivers["years"]["value"] is None
    assert "fewer than three" in caregivers["years"]["reason"]
    assert not any("years" in row for row in found["panel"])
    frame = pl.read_parquet(out / "parquet" / "panel-roles.parquet")
    assert frame["years_mean"].to_list() == [14, None]
    assert found["scenarios"][0]["text"] == study.first.text
    assert "14.0" in study.cli.ok(*study.line("results"))
