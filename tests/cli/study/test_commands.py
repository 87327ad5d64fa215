"""`careeval study` as it is typed, from a plan to the evidence in the bank."""

from __future__ import annotations

import csv
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from careeval.bank import load_bank
from careeval.cli.app import OK, USAGE, run
from careeval.core.scenario import Rubric, Status
from careeval.people.forms import FormId
from careeval.people.store import Store
from careeval.people.study.documents import changes_document
from careeval.people.study.plan import StudyPlan
from support.bank_folder import SCENARIO, BankFolder

RATERS = ["occupational-therapist:3", "family-caregiver:2"]
ALL = ["r01", "r02", "r03", "r04", "r05"]


@pytest.fixture
def folder(tmp_path: Path) -> BankFolder:
    """A bank of three scenarios that differ in their ids alone."""
    bank = BankFolder.good(tmp_path / "bank")
    return bank.copy_scenario("dressing-002").copy_scenario("dressing-003")


@pytest.fixture
def study(folder: BankFolder, tmp_path: Path) -> Path:
    """A study of it: items and points are asked about too."""
    assert new(folder, tmp_path, "--items", "--points") == OK
    return tmp_path / "study.db"


def new(folder: BankFolder, tmp_path: Path, *more: str) -> int:
    """Plan a study."""
    consent = tmp_path / "consent.txt"
    consent.write_text("Made up for tests.\n", encoding="utf-8")
    terms = ["--consent", str(consent), "--ethics", "none: a test", "--contact", "t@example.org"]
    line = ["study", "new", str(folder.root), "-o", str(tmp_path / "study.db"), *more]
    for name, *rest in (["--raters", *RATERS], *zip(terms[::2], terms[1::2], strict=True)):
        line += [] if name in more else [name, *rest]
    return run(line)


@pytest.fixture
def rate(study: Path, folder: BankFolder, tmp_path: Path) -> Callable[..., int]:
    """Type rows of ratings into the study."""

    def type_in(rows: Sequence[Sequence[Any]], *more: str, head: str = "") -> int:
        path = tmp_path / "typed.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow((head or "rater scenario scale item value comment").split())
            writer.writerows(rows)
        line = ["study", "import", str(study), str(path), "--typed-by", "an assistant"]
        return run([*line, "--bank", str(folder.root), *more])

    return type_in


def realism(scenario: str, values: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return rows with everybody's realism as given, and validity 5."""
    rows: list[tuple[Any, ...]] = []
    for rater, value in zip(ALL, values, strict=True):
        rows += [(rater, scenario, "realism", "", value), (rater, scenario, "validity", "", 5)]
    return rows


def item_rows(folder: BankFolder, scenario: str) -> list[tuple[Any, ...]]:
    """Return rows in which everybody keeps both −2 items and finds each item relevant."""
    scenario_ = load_bank(folder.root).scenario(scenario)
    items = {f"{r}/{i.id}": i.points for r in Rubric for i in scenario_.rubric(r)}
    severe = [name for name, points in items.items() if points == -2]
    assert len(severe) == 2
    rows = [(rater, scenario, "points", name, "-2") for rater in ALL for name in severe]
    rated = [name for name, points in items.items() if points]
    return rows + [(rater, scenario, "relevance", name, "5") for rater in ALL for name in rated]


def out_json(capsys: pytest.CaptureFixture[str], *line: str) -> Any:
    """Return the JSON that a command prints."""
    capsys.readouterr()
    assert run([*line, "--json"]) == OK
    return json.loads(capsys.readouterr().out)


def test_new_prints_each_link_once_and_stores_none(
    folder: BankFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each rater gets one link, which opens that rater's pages and is not in the file."""
    assert new(folder, tmp_path, "--address", "https://rate.example.org/") == OK
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(rater, role) for rater, role, _ in lines][2:4] == [
        ("r03", "occupational-therapist"),
        ("r04", "family-caregiver"),
    ]
    store = Store.open(tmp_path / "study.db")
    for rater, _, link in lines:
        token = link.removeprefix("https://rate.example.org/i/")
        found = store.link(token)
        assert found is not None
        assert found.rater.id == rater
        assert token.encode() not in (tmp_path / "study.db").read_bytes()
    store.close()


def test_links_go_to_a_file_for_its_owner_alone(
    folder: BankFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With --links nothing is printed on stdout, and the file is nobody else's to read."""
    path = tmp_path / "links.tsv"
    assert new(folder, tmp_path, "--links", str(path)) == OK
    assert capsys.readouterr().out == ""
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(re.findall(r"/i/[\w-]{43}$", path.read_text(encoding="utf-8"), re.MULTILINE)) == 5


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--raters", "priest:2"], "unknown role 'priest'"),
        (["--raters", "other:none"], "expected a whole number"),
        (["--contact", " "], "missing or empty: --contact"),
        (["--per-rater", "1", "--raters-per-scenario", "5"], "ratings"),
    ],
)
def test_a_study_that_cannot_be_is_not_written(
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    words: str,
) -> None:
    """A study that cannot be planned is refused, and no file is written."""
    assert new(folder, tmp_path, *more) == USAGE
    assert words in capsys.readouterr().err
    assert not (tmp_path / "study.db").exists()


@pytest.mark.parametrize("links", ["study.db", "sub/../study.db", "nodir/links.tsv"])
def test_links_that_cannot_be_written(folder: BankFolder, tmp_path: Path, links: str) -> None:
    """Links that have no file of their own are refused before the study's file is written."""
    (tmp_path / "sub").mkdir()
    assert new(folder, tmp_path, "--links", f"{tmp_path}/{links}") == USAGE
    assert not (tmp_path / "study.db").exists()


def test_one_of_anything_is_told_as_one(
    folder: BankFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A plan, changes and answers that lack name one thing in the singular."""
    assert new(folder, tmp_path, "--limit", "1", "--raters", "other") == OK
    told = capsys.readouterr().err
    assert re.search(r"^1 scenario, 1 rater, 1 scenario each: about \d+ minutes? for ", told)
    assert "1 scenario has not been rated on both" in changes_document([], 1).notes[0]
    assert "2 scenarios have not been rated on both" in changes_document([], 2).notes[0]


def test_withdrawn_scenarios_are_not_rated_again(
    folder: BankFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A withdrawn scenario is in no new study, and does not count towards --limit."""
    folder.plant(SCENARIO, "status: drafted\n", "status: withdrawn\n")
    assert new(folder, tmp_path, "--limit", "2") == OK
    found = out_json(
        capsys, "study", "results", str(tmp_path / "study.db"), "--bank", str(folder.root)
    )
    assert [each["scenario"] for each in found["scenarios"]] == ["dressing-002", "dressing-003"]


def test_a_study_is_not_written_over(
    study: Path, folder: BankFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An existing file is not overwritten."""
    before = study.read_bytes()
    assert new(folder, tmp_path) == USAGE
    assert "exists already" in capsys.readouterr().err
    assert study.read_bytes() == before


def test_typed_ratings_are_results(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Typed ratings give counts, decisions and comments, and the typist is kept."""
    item = load_bank(folder.root).scenario("dressing-001").actions[0]
    severe = next(a for a in load_bank(folder.root).scenarios[0].actions if a.points == -2)
    rows = [
        *realism("dressing-001", [5, 4, 4, 5, 2]),
        *realism("dressing-002", [3, 3, 3, 4, 4]),
        ("r01", "dressing-001", "", item.id, 4, "Well put."),
        ("r02", "dressing-001", "points", f"actions/{severe.id}", "−1", ""),
        ("r03", "dressing-001", "points", f"actions/{severe.id}", "-2", ""),
        ("r03", "dressing-002", "", "", "", "Nobody would do this."),
    ]
    assert rate(rows) == OK

    found = out_json(capsys, "study", "results", str(study), "--bank", str(folder.root))
    assert found["decisions"] == {"keep": 1, "revise": 0, "drop": 1, "undecided": 1}
    first, second, third = found["scenarios"]
    assert first["realism"]["i_cvi"]["k"] == 4
    assert first["to_read"] == [
        "a family caregiver rated its realism 2",
        f"actions/{severe.id}: 1 of 2 would not give it −2",
    ]
    by_item = {each["item"]: each for each in first["items"]}
    assert by_item[item.id]["comments"][0]["text"] == "Well put."
    assert second["comments"] == [
        {
            "rater": "r03",
            "role": "occupational-therapist",
            "topic": None,
            "text": "Nobody would do this.",
        }
    ]
    assert third["realism"]["reason"] == "nobody has rated it"
    assert [seat["n_typed"] for seat in found["panel"]] == [6, 5, 6, 4, 4]
    events = _events(study)
    assert {event.typed_by for event in events} == {"an assistant"}


def _events(study: Path) -> Sequence[Any]:
    store = Store.open(study)
    events = store.events()
    store.close()
    return events


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("r09", "dressing-001", "realism", "", 4), "'r09' is not a rater"),
        (("r01", "eating-001", "realism", "", 4), "'eating-001' is not a scenario"),
        (("r01", "dressing-001", "realism", "", 6), "realism must be one of 1, 2, 3, 4, 5"),
        (("r01", "dressing-001", "beauty", "", 4), "scale must be one of realism"),
        (
            ("r01", "dressing-001", "", "no-such", 4),
            "this study does not ask for relevance on item",
        ),
        (
            ("r01", "dressing-002", "realism", "", 5),
            "r01 answers realism twice, here and on line 2",
        ),
        (
            ("r01", "dressing-001", "", "", "", "so", "at once"),
            "the row has 7 cells, but there are only 6 columns",
        ),
    ],
)
def test_a_file_is_taken_whole_or_not_at_all(
    rate: Callable[..., int],
    study: Path,
    capsys: pytest.CaptureFixture[str],
    row: tuple[Any, ...],
    words: str,
) -> None:
    """A row that is no answer is named with its line, and no row is imported."""
    assert rate([("r01", "dressing-002", "realism", "", 5), row]) == USAGE
    assert f"typed.csv:3: {words}" in capsys.readouterr().err
    assert _events(study) == ()


def test_what_a_rater_said_is_not_replaced_unasked(
    rate: Callable[..., int], study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A different answer that is there stands, unless --replace is given; the same is no fault."""
    row = ("r01", "dressing-001", "realism", "")
    assert rate([(*row, 5)]) == OK
    assert rate([(*row, 5)]) == OK
    assert rate([(*row, 2)]) == USAGE
    assert "has answered realism already, with '5'" in capsys.readouterr().err
    assert rate([(*row, 2)], "--replace") == OK
    assert [event.value for event in _events(study)] == ["5", "2"]


def test_a_switched_off_link_stops_the_whole_file(
    rate: Callable[..., int], study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """If one rater's link is switched off, no other rater's row is imported either."""
    assert run(["study", "revoke", str(study), "r05"]) == OK
    assert rate(realism("dressing-001", [5] * 5)) == USAGE
    assert "typed.csv:10: the link of r05 is switched off" in capsys.readouterr().err
    assert _events(study) == ()


def test_status_shows_whose_link_is_off(
    study: Path, folder: BankFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only a rater whose link is switched off is marked so, in the table and in JSON."""
    assert run(["study", "revoke", str(study), "r05"]) == OK
    line = ["study", "status", str(study), "--bank", str(folder.root)]
    found = out_json(capsys, *line)
    assert [each["rater"] for each in found["raters"] if each["revoked"]] == ["r05"]
    assert run(line) == OK
    assert re.findall(r"(r\d\d) .*link off", capsys.readouterr().out) == ["r05"]


def test_a_crash_while_typed_ratings_are_saved(
    rate: Callable[..., int], study: Path, monkeypatch: pytest.MonkeyPatch
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
            rate(rows)
    assert _events(study) == ()
    assert rate(rows) == OK
    assert len(_events(study)) == 10


def test_status_says_who_is_where(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A scenario with some of its answers is started, and a rater without any has never saved."""
    assert rate([("r02", "dressing-001", "realism", "", 5)]) == OK
    line = ["study", "status", str(study), "--bank", str(folder.root)]
    found = out_json(capsys, *line)
    by_id = {each["rater"]: each for each in found["raters"]}
    assert (by_id["r02"]["started"], by_id["r02"]["untouched"]) == (1, 2)
    assert by_id["r02"]["n_typed"] == 1
    assert (by_id["r01"]["last"], by_id["r01"]["agreed"]) == (None, False)
    assert run(line) == OK
    assert "0 of 15 done" in capsys.readouterr().out


def test_apply_writes_what_it_showed(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Validated, reviewed and withdrawn stand in the bank after --yes, and not before."""
    rows = [
        *realism("dressing-001", [5, 5, 5, 5, 5]),
        *realism("dressing-002", [5, 5, 5, 3, 3]),
        *realism("dressing-003", [1, 1, 1, 4, 4]),
        *item_rows(folder, "dressing-001"),
    ]
    assert rate(rows) == OK
    line = ["study", "apply", str(study), "--bank", str(folder.root)]
    assert run(line) == USAGE
    shown = capsys.readouterr()
    assert "--yes" in shown.err
    assert "fewer than half gave its realism 4 or 5" in shown.out
    assert {s.status for s in load_bank(folder.root).scenarios} == {Status.drafted}
    assert run([*line, "--yes"]) == OK
    bank = load_bank(folder.root)
    statuses = [scenario.status for scenario in bank.scenarios]
    assert statuses == [Status.validated, Status.reviewed, Status.withdrawn]
    assert bank.evidence(bank.scenarios[1])[0].realism == "3/5"
    assert run(line) == OK
    # the withdrawn one is left alone from now on
    assert "nothing to write." in capsys.readouterr().err
    # what was rated is still what is shown: a status is no change
    assert out_json(capsys, "study", "status", str(study), "--bank", str(folder.root))


def apply_json(
    capsys: pytest.CaptureFixture[str], study: Path, folder: BankFolder
) -> dict[str, Any]:
    """Return the change of the first scenario that writing would make."""
    found = out_json(capsys, "study", "apply", str(study), "--bank", str(folder.root))["changes"]
    first: dict[str, Any] = next(each for each in found if each["scenario"] == "dressing-001")
    return first


def test_a_text_that_nobody_rated_is_not_vetted(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A sentence added to a rated version gets no status, whatever its raters objected to."""
    item = next(a for a in load_bank(folder.root).scenarios[0].actions if a.points == -2).id
    rows = [*realism("dressing-001", [5] * 5), *item_rows(folder, "dressing-001")]
    assert rate(rows) == OK
    objection = ("r01", "dressing-001", "points", f"actions/{item}", "-1")
    assert rate([objection], "--replace") == OK
    before = apply_json(capsys, study, folder)
    assert (before["to"], before["evidence"]["objections"]) == ("reviewed", 1)
    folder.plant(SCENARIO, "last winter.", "last winter. She holds a hot cup.")
    text = (folder.root / SCENARIO).read_bytes()

    after = apply_json(capsys, study, folder)
    assert after["to"] is None
    assert "its text is not the one that was rated" in after["refused"]
    assert run(["study", "apply", str(study), "--bank", str(folder.root), "--yes"]) == OK
    assert (folder.root / SCENARIO).read_bytes() == text


@pytest.mark.parametrize("more", [[], ["--points", "--rubric", "actions"], ["--items"]])
def test_a_study_that_asked_nobody_of_severe_items_validates_nothing(
    rate: Callable[..., int],
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
) -> None:
    """If the points of a −2 item are not asked, planning says so, and objections are null."""
    path = tmp_path / "study.db"
    path.unlink()
    capsys.readouterr()
    assert new(folder, tmp_path, *more) == OK
    assert "whether −2 items deserve it: ask with --points --rubric both" in capsys.readouterr().err
    assert rate(realism("dressing-001", [5] * 5)) == OK
    first = apply_json(capsys, path, folder)
    assert (first["to"], first["evidence"]["objections"]) == ("reviewed", None)
    assert "--points --rubric both" in first["lacking"][0]
    # once it is revised, the next round asks them
    folder.plant(SCENARIO, "\nversion: 1\n", "\nversion: 2\n")
    assert run(["study", "round", str(path), "--bank", str(folder.root), "--items", "--points",
                "--rubric", "both", "--yes"]) == OK  # fmt: skip
    assert "validated" not in capsys.readouterr().err
    assert rate([*realism("dressing-001", [5] * 5), *item_rows(folder, "dressing-001")]) == OK
    assert apply_json(capsys, path, folder)["to"] == "validated"


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
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    words: str,
) -> None:
    """Planning warns of too few raters to validate, and only then."""
    assert new(folder, tmp_path, *more) == OK
    err = capsys.readouterr().err
    assert ("cannot validate every scenario" in err) == bool(words)
    assert words in err


def test_items_that_raters_reject_keep_a_scenario_from_being_validated(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Five raters who find every item of no relevance validate nothing, and the items are named."""
    rows = [
        (*row[:4], 1) if row[2] == "relevance" else row for row in item_rows(folder, "dressing-001")
    ]
    assert rate([*realism("dressing-001", [5] * 5), *rows]) == OK
    first = apply_json(capsys, study, folder)
    assert first["to"] == "reviewed"
    items = {row[3] for row in rows if row[2] == "relevance"}
    assert set(first["evidence"]["rejected"]) == items
    (lacking,) = first["lacking"]
    assert lacking.startswith(f"raters reject {len(items)} items: ")
    assert lacking.endswith(f" and {len(items) - 3} more")


def test_one_rater_lowers_nothing(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A second study by one rater leaves a validated scenario alone, and says why."""
    assert rate([*realism("dressing-001", [5] * 5), *item_rows(folder, "dressing-001")]) == OK
    assert run(["study", "apply", str(study), "--bank", str(folder.root), "--yes"]) == OK
    study.rename(tmp_path / "first.db")
    assert new(folder, tmp_path, "--raters", "roboticist:1") == OK
    assert rate([("r01", "dressing-001", scale, "", 1) for scale in ("realism", "validity")]) == OK
    first = apply_json(capsys, study, folder)
    assert (first["from"], first["to"]) == ("validated", None)
    assert first["refused"] == "5 raters made it validated; 1 is too few to make it reviewed"
    assert run(["study", "apply", str(study), "--bank", str(folder.root)]) == OK
    assert "left alone" in capsys.readouterr().out
    assert load_bank(folder.root).scenario("dressing-001").status is Status.validated


def test_three_raters_of_no_profession_withdraw_nothing(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Three roboticists who find a scenario bad leave it reviewed, and its id in use."""
    study.unlink()
    assert new(folder, tmp_path, "--raters", "roboticist:3") == OK
    rows = [(r, "dressing-001", s, "", 1) for r in ALL[:3] for s in ("realism", "validity")]
    assert rate(rows) == OK
    first = apply_json(capsys, study, folder)
    assert first["to"] == "reviewed"
    assert first["lacking"][-1] == "too few to withdraw it: 0 of 3 occupational therapists"


def test_a_second_round_keeps_the_first(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A revised scenario is rated again, and both rounds are in the results."""
    item = load_bank(folder.root).scenarios[0].actions[0].id
    assert rate([*realism("dressing-001", [3] * 5), ("r01", "dressing-001", "", item, 2)]) == OK
    old = BankFolder.good(tmp_path / "old")
    plan = ["study", "round", str(study), "--bank", str(folder.root), "--yes"]
    assert run(plan) == USAGE
    assert "has a higher version" in capsys.readouterr().err
    folder.plant(SCENARIO, "version: 1\n", "version: 2\n")
    assert run(plan) == OK
    assert rate(realism("dressing-001", [5] * 5)) == OK

    line = ["study", "results", str(study), "--bank", str(folder.root)]
    found = out_json(capsys, *line)
    revised = found["scenarios"][0]
    assert (revised["round"], revised["version"], revised["decision"]) == (2, 2, "keep")
    (first,) = found["earlier"]
    assert (first["round"], first["decision"], first["items"]) == (1, "drop", [])
    assert "items of dressing-001" in found["notes"][0]
    found = out_json(capsys, *line, "--earlier", str(old.root))
    assert found["notes"] == []
    assert [each["item"] for each in found["earlier"][0]["items"]] == [item]


def test_a_round_says_what_it_ends_and_asks(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without --yes no round is planned; with it the old round's paper forms are still taken."""
    old = shutil.copytree(folder.root, tmp_path / "old")
    assert (
        rate([("r01", "dressing-001", "realism", "", 3), ("r02", "dressing-001", "", "", "", "Hm")])
        == OK
    )
    folder.plant(SCENARIO, "version: 1\n", "version: 2\n")
    plan = ["study", "round", str(study), "--bank", str(folder.root)]
    assert run(plan) == USAGE
    err = capsys.readouterr().err
    assert "Round 1 ends: 2 of its 15 forms have an answer." in err
    assert "add --yes" in err
    assert run([*plan, "--yes"]) == OK
    late = tmp_path / "late.csv"
    late.write_text("rater,scenario,scale,value\nr02,dressing-001,realism,4\n", encoding="utf-8")
    line = ["study", "import", str(study), str(late), "--typed-by", "an assistant", "--bank"]
    assert run([*line, str(old), "--round", "1"]) == OK
    assert run([*line, str(old), "--round", "3"]) == USAGE
    assert "has no round 3" in capsys.readouterr().err
    store = Store.open(study)
    assert store.answers("r02", "1/dressing-001@1")["realism"].value == "4"
    store.close()


def test_consent_on_paper_is_recorded(
    study: Path, folder: BankFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rater whose signed form somebody saw has agreed, until the terms change."""
    line = ["study", "consented", str(study), "r02", "--typed-by", "an assistant"]
    assert run(line) == OK
    status = ["study", "status", str(study), "--bank", str(folder.root)]
    agreed = [each["agreed"] for each in out_json(capsys, *status)["raters"]]
    assert agreed == [False, True, False, False, False]
    assert run(["study", "terms", str(study)]) == USAGE
    assert "has these terms already" in capsys.readouterr().err
    assert run(["study", "terms", str(study), "--contact", "another@example.org"]) == OK
    assert not any(each["agreed"] for each in out_json(capsys, *status)["raters"])
    assert run([*line[:3], "r77", *line[4:]]) == USAGE
    assert "has nobody called 'r77'" in capsys.readouterr().err


def test_only_who_rated_a_scenario_rates_its_new_version(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two of five rated it: these two are asked again."""
    assert rate([(rater, "dressing-001", "realism", "", 3) for rater in ("r02", "r04")]) == OK
    folder.plant(SCENARIO, "version: 1\n", "version: 2\n")
    line = ["study", "round", str(study), "--bank", str(folder.root), "--yes"]
    assert [seat["id"] for seat in out_json(capsys, *line)["raters"]] == ["r02", "r04"]


def test_further_raters_are_invited(
    study: Path, folder: BankFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """A further rater gets the next pseudonym, a link and the scenarios."""
    line = ["study", "invite", str(study), "--bank", str(folder.root)]
    before = StudyPlan.read(Store.open(study).plans("study")[-1]).study_id
    (rater,) = out_json(capsys, *line, "roboticist:1")["raters"]
    assert (rater["id"], rater["role"], rater["n_scenarios"]) == ("r06", "roboticist", 3)
    store = Store.open(study)
    link = store.link(rater["link"].rpartition("/")[2])
    assert link is not None
    assert link.rater.id == "r06"
    assert StudyPlan.read(store.plans("study")[-1]).study_id == before
    store.close()
    assert run(line) == USAGE
    assert "--replace RATER" in capsys.readouterr().err


def test_who_takes_a_place_takes_no_answers(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The new rater has the role and scenarios, and nothing answered; the old link is off."""
    assert rate([("r01", "dressing-001", "realism", "", 3)]) == OK
    line = ["study", "invite", str(study), "--bank", str(folder.root), "--replace", "r01"]
    (rater,) = out_json(capsys, *line)["raters"]
    assert (rater["id"], rater["role"]) == ("r06", "occupational-therapist")
    store = Store.open(study)
    assert (store.work("r06"), store.revoked_ids()) == ({}, {"r01"})
    assert len(store.work("r01")) == 1
    store.close()
    assert run([*line[:-1], "r77"]) == USAGE
    assert "has nobody called 'r77'" in capsys.readouterr().err


def test_a_withdrawal_leaves_what_enough_raters_gave(
    rate: Callable[..., int], folder: BankFolder, tmp_path: Path
) -> None:
    """One of four therapists withdraws: the study, applied again, still validates."""
    study = tmp_path / "study.db"
    study.unlink()
    roles = ["occupational-therapist:4", "family-caregiver:2"]
    assert new(folder, tmp_path, "--items", "--points", "--raters", *roles) == OK
    rows = [*realism("dressing-001", [5] * 5), *item_rows(folder, "dressing-001")]
    rows += [("r06", *row[1:]) for row in rows if row[0] == "r05"]
    assert rate(rows) == OK
    line = ["study", "apply", str(study), "--bank", str(folder.root), "--yes"]
    assert run(line) == OK
    assert load_bank(folder.root).scenario("dressing-001").status is Status.validated
    assert run(["study", "withdraw", str(study), "r01", "--yes"]) == OK
    assert run(line) == OK
    bank = load_bank(folder.root)
    scenario = bank.scenario("dressing-001")
    assert scenario.status is Status.validated
    assert [each.realism for each in bank.evidence(scenario)] == ["5/5"]


def test_a_scenario_revised_late_is_rated_again(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Round 2 holds one scenario; another, revised afterwards, and no more, is in round 3."""
    plan = ["study", "round", str(study), "--bank", str(folder.root), "--yes"]
    folder.plant("dressing/dressing-002.yaml", "\nversion: 1\n", "\nversion: 2\n")
    assert run(plan) == OK
    folder.plant(SCENARIO, "\nversion: 1\n", "\nversion: 2\n")
    assert out_json(capsys, *plan)["n_scenarios"] == 1
    assert rate(realism("dressing-001", [5] * 5)) == OK
    line = ["study", "results", str(study), "--bank", str(folder.root)]
    rated = {each["scenario"]: each["round"] for each in out_json(capsys, *line)["scenarios"]}
    assert rated == {"dressing-001": 3, "dressing-002": 2, "dressing-003": 1}
    assert run(plan) == USAGE
    assert "has a higher version" in capsys.readouterr().err


def test_a_withdrawn_scenario_is_not_in_a_further_round(
    study: Path, folder: BankFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    """A withdrawn scenario is left out of the round, and by its name refused."""
    for path in (SCENARIO, "dressing/dressing-002.yaml"):
        folder.plant(path, "\nversion: 1\n", "\nversion: 2\n")
    folder.plant(SCENARIO, "status: drafted\n", "status: withdrawn\n")
    plan = ["study", "round", str(study), "--bank", str(folder.root), "--yes"]
    assert run([*plan, "dressing-001"]) == USAGE
    assert "dressing-001 is withdrawn" in capsys.readouterr().err
    assert out_json(capsys, *plan)["n_scenarios"] == 1


def test_a_second_study_leaves_the_evidence_of_the_first(
    rate: Callable[..., int], study: Path, folder: BankFolder, tmp_path: Path
) -> None:
    """Two studies with the default title both count, and applying the second again adds nothing."""
    rows = [*realism("dressing-001", [5] * 5), *item_rows(folder, "dressing-001")]
    line = ["study", "apply", str(study), "--bank", str(folder.root), "--yes"]
    assert rate(rows) == OK
    assert run(line) == OK
    study.rename(tmp_path / "first.db")
    assert new(folder, tmp_path, "--items", "--points") == OK
    assert rate(rows) == OK
    for _ in range(2):
        assert run(line) == OK
        bank = load_bank(folder.root)
        found = bank.evidence(bank.scenario("dressing-001"))
        assert len({each.study_id for each in found}) == len(found) == 2
        assert len({each.study for each in found}) == 1


def test_files_hold_every_rating(
    rate: Callable[..., int], study: Path, folder: BankFolder, tmp_path: Path
) -> None:
    """CSV and Parquet have each rating once, the page is written, and a formula is defused."""
    rows = [*realism("dressing-001", [5] * 5), ("r01", "dressing-001", "", "", "", "=1+1")]
    assert rate(rows) == OK
    out = tmp_path / "out"
    assert run(["study", "results", str(study), "--bank", str(folder.root), "-o", str(out)]) == OK
    ratings = pl.read_parquet(out / "parquet" / "ratings.parquet")
    assert ratings["value"].to_list() == [5] * 10
    assert "'=1+1" in (out / "csv" / "comments.csv").read_text(encoding="utf-8")
    assert pl.read_csv(out / "csv" / "decisions.csv")["decision"].to_list() == ["keep", None, None]
    assert "`i_cvi_strict`" in (out / "columns.md").read_text(encoding="utf-8")
    assert (out / "study.html").is_file()


def test_what_is_printed_is_what_is_written(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With --format csv the table of ratings is printed, and -o writes the same with all others.

    A terminal shows the decision, the count and why a coefficient is unknown.
    """
    assert rate(realism("dressing-001", [5, 4, 4, 3, 3])) == OK
    capsys.readouterr()
    line = ["study", "results", str(study), "--bank", str(folder.root)]
    assert run(line) == OK
    out = capsys.readouterr().out
    assert all(words in out for words in ("revise 1", "3/5*", "ICC(2,k) is unknown"))
    line += ["--format"]
    assert run([*line, "csv", "-o", str(tmp_path / "out")]) == OK
    csv_file = tmp_path / "out" / "csv" / "validity.csv"
    assert capsys.readouterr().out == csv_file.read_text(encoding="utf-8")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert run([*line, "md"]) == OK
    assert "| dressing-001 | 1 | Revise |" in capsys.readouterr().out


def test_what_is_left_of_a_withdrawal_is_told(
    study: Path, rate: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    """While another program reads the file, commands say that words are left, and then no more."""
    assert rate([("r02", "dressing-001", "", "", "", "Forget this.")]) == OK
    other = sqlite3.connect(study)
    other.execute("BEGIN")
    other.execute("SELECT * FROM events").fetchone()
    assert run(["study", "withdraw", str(study), "r02", "--yes"]) == OK
    err = capsys.readouterr().err
    assert "Deleted: r02" in err
    assert "not fully erased yet" in err
    assert run(["study", "close", str(study)]) == OK
    assert "not fully erased yet" in capsys.readouterr().err
    other.close()
    assert run(["study", "reopen", str(study)]) == OK
    assert "Not out of the file" not in capsys.readouterr().err
    assert not any(b"Forget this." in file.read_bytes() for file in study.parent.iterdir()
                   if file.name.startswith("study.db"))  # fmt: skip


def test_a_title_is_no_markup(
    folder: BankFolder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A title is printed as it is, without its control characters."""
    assert new(folder, tmp_path, "--title", "[bold]Pilot[/bold] \x1b[31m") == OK
    for command in ("status", "results"):
        capsys.readouterr()
        line = ["study", command, str(tmp_path / "study.db"), "--bank", str(folder.root)]
        assert run(line) == OK
        out = capsys.readouterr().out
        assert "[bold]Pilot[/bold]" in out
        assert "\x1b" not in out


def test_results_count_consent_and_years_of_work(
    rate: Callable[..., int],
    study: Path,
    folder: BankFolder,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Years of three therapists become a mean alone, "not said" is none, typed is typed."""
    store = Store.open(study)
    digest = StudyPlan.read(store.plans("study")[0]).consent.digest
    for rater, years in (("r01", "2"), ("r02", "30"), ("r03", "10"), ("r04", "not said")):
        store.save(rater, "about", {"years": years}, FormId.new(0))
        store.save(rater, "consent", {"given": digest}, FormId.new(0))
    store.close()
    assert rate(realism("dressing-001", [5, 5, 5, 4, 4])) == OK
    line = ["study", "results", str(study), "--bank", str(folder.root), "-o", str(tmp_path / "out")]
    found = out_json(capsys, *line)
    therapists, caregivers = found["panel_by_role"]
    assert "fewer than five" in therapists["years"].pop("reason")
    assert therapists["years"] == {"value": 14, "low": None, "high": None, "n": 3}
    assert (caregivers["n_invited"], caregivers["n_rated"], caregivers["n_agreed"]) == (2, 2, 1)
    assert caregivers["years"]["value"] is None
    assert "fewer than three" in caregivers["years"]["reason"]
    assert not any("years" in row for row in found["panel"])
    frame = pl.read_parquet(tmp_path / "out" / "parquet" / "panel-roles.parquet")
    assert frame["years_mean"].to_list() == [14, None]
    (rated, *_) = found["scenarios"]
    assert rated["text"] == load_bank(folder.root).scenarios[0].text
    assert run(line) == OK
    assert "14.0" in capsys.readouterr().out
