"""`careeval audit`: graders side by side on the probes, a sample for people, and its results."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import polars as pl
import pytest

import careeval.cli.summary  # noqa: F401  # before a test replaces what it reads with
from careeval.cli.app import OK, USAGE, run
from careeval.people.audit.sample import OTHER_ANSWERS
from careeval.results.tables import Runs
from results.sampled import at_random, judged
from sheets.given_summaries import summary_schema
from support.fake_server import FakeServer
from support.fakes import write_bank

LEXICAL, FAKE = "careeval/lexical", "openai-api/fake/grader"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a small bank and a folder named runs."""
    write_bank(tmp_path / "bank")
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def held(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    """Have the runs hold three systems that a grader judged."""
    runs = judged({f"robot-{name}": at_random(k, 20, 4) for k, name in enumerate("abc")})
    monkeypatch.setattr("careeval.protocol.tables.read_runs", lambda *_: runs)
    assert folder.is_dir()
    return runs


@pytest.mark.usefixtures("folder")
def test_probes_tell_recall_on_severe_items_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first number of a grader is its recall of −2 items; cost, time and failures are shown."""
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["audit", "probes", "--grader", LEXICAL, "--bank", "bank"]) == OK
    out = capsys.readouterr().out
    head = next(line for line in out.splitlines() if "grader" in line)
    assert head.split("  ")[0].strip() == "grader"
    assert head.index("finds of −2") < head.index("clears of −2") < head.index("macro F1")
    assert "$0.00" in out
    by_points = out[out.index("By points of the item") :].splitlines()
    first = next(line for line in by_points if "lexical" in line)
    assert first.split()[:2] == ["−2", "actions"]
    assert f"{LEXICAL} (batched, prompt" in out
    assert "The rule is careeval's own." in " ".join(out.split())


@pytest.mark.usefixtures("folder")
def test_no_number_of_an_audit_is_cut(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a narrow terminal a table shows fewer columns, and each interval stands in one line."""
    monkeypatch.setenv("COLUMNS", "70")
    assert run(["audit", "probes", "--grader", LEXICAL, "--bank", "bank"]) == OK
    out = capsys.readouterr().out
    assert "Not shown in 70 columns: " in out
    rows = [line for line in out.splitlines() if LEXICAL in line]
    assert rows
    assert [row for row in rows if row.count("[") != row.count("]")] == []


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server that workers reach as openai-api/fake/…, with a grader that goes by one word."""
    with FakeServer() as running:
        monkeypatch.setenv("FAKE_BASE_URL", running.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "planted")
        yield


@pytest.mark.usefixtures("folder", "server")
def test_probes_as_json_have_graders_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    """Graders stand in the order of the line, one without a price beside one that costs nothing."""
    graders = ["--grader", FAKE, "--grader", LEXICAL]
    assert run(["audit", "probes", *graders, "--bank", "bank", "--yes", "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["bank"], found["bank_version"]) == (
        "careeval.audit/2",
        "small",
        "1-A",
    )
    assert [limit["minimum"] for limit in found["fails_under"]] == [0.85, 0.95, 0.8]
    good, grader = found["graders"]
    assert good["grader"].startswith(f"{FAKE} (batched")
    assert (good["failed"], good["severe"]["sensitivity"]["value"]) == ([], 1)
    assert (good["cost_usd"], good["cost_reason"]) == (
        None,
        "the price of 4 of 4 responses is not known",
    )
    assert good["seconds"] > 0
    assert grader["failed"] == []
    assert (grader["overall"]["n"], grader["cost_usd"], grader["cost_reason"]) == (12, 0, "")
    assert grader["severe"]["sensitivity"]["value"] is not None
    assert {part["trap"] for part in grader["by_trap"]} == {"expert", "harmful"}
    assert {(p["rubric"], p["points"]) for p in grader["by_points"]} >= {("actions", -2)}
    for part in good["by_points"]:
        agreement = part["agreement"]
        assert (agreement["n"], agreement["n_unresolved"]) == (part["n"], 0)
        assert agreement["n_both"] == agreement["n_either"] == part["n_present"]
        assert agreement["ac1"]["value"] == 1
        expected = 1 if part["n_present"] else None
        assert agreement["positive_agreement"]["value"] == expected
        assert agreement["positive_agreement"]["reason"]  # two scenarios have no interval
    assert not [name for name in grader["overall"] if name in {"kappa", "ac1"}]


@pytest.mark.usefixtures("folder")
def test_the_connections_of_probes_are_limited(folder: Path) -> None:
    """The number typed is that of the probe check's run."""
    line = ["audit", "probes", "--bank", "bank", "--grader", "careeval/lexical"]
    assert run([*line, "--max-connections", "3", "-o", "limited"]) == OK
    (file,) = (folder / "limited").glob("*/run.json")
    assert json.loads(file.read_text(encoding="utf-8"))["max_connections"] == 3


def test_a_grader_named_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """A grader that is named twice is refused, and nothing is left on the disk."""
    assert run(["audit", "probes", *["--grader", LEXICAL] * 2, "--bank", "bank"]) == USAGE
    assert "duplicate name" in capsys.readouterr().err
    assert not Path("runs/audit").exists()


@pytest.mark.usefixtures("folder")
def test_a_plan_is_of_all_graders(capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run of two graders plans the gradings of both, and leaves nothing behind."""
    line = ["audit", "probes", "--grader", LEXICAL, "--grader", "mockllm/model", "--bank", "bank"]
    assert run([*line, "--dry-run"]) == OK
    assert "Plan: 8 gradings" in capsys.readouterr().out
    assert list(Path("runs").rglob("*.eval")) == []
    assert list(Path("runs").rglob("run.json")) == []


def test_a_summary_has_the_scores_that_people_correct(
    held: Runs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every form of a summary has corrected scores with --audit of its runs, and none without."""
    monkeypatch.setattr("careeval.protocol.tables.read_runs", lambda *_: held)
    sampled = ["--n", "80", "--severe-found", "20", "--severe-cleared", "20"]
    assert run(["audit", "sample", "runs", "-o", "sample.json", *sampled]) == OK
    Path("consent.txt").write_text("You read answers.", encoding="utf-8")
    asked = ["--consent", "consent.txt", "--ethics", "none needed", "--contact", "nobody"]
    assert run(["audit", "new", "sample.json", "--labellers", "2", "-o", "audit.db", *asked]) == OK
    drawn = json.loads(Path("sample.json").read_text(encoding="utf-8"))["hidden"]["drawn"]
    rows = [f"{who},{each['judgment']},present,,\n" for who in ("r01", "r02") for each in drawn]
    head = "rater,judgment,label,evidence,note\n"
    Path("labels.csv").write_text(head + "".join(rows), encoding="utf-8")
    typed = ["--typed-by", "a test", "--hand-in"]
    assert run(["audit", "import", "audit.db", "labels.csv", *typed]) == OK
    capsys.readouterr()
    for form in ("table", "md", "latex", "csv", "json"):
        line = ["summary", "runs", "--format", form]
        assert run(line) == OK
        assert "orrected" not in capsys.readouterr().out, form
        assert run([*line, "--audit", "audit.db"]) == OK
        out = capsys.readouterr().out
        assert "orrected" in out, form
    found = json.loads(out)
    jsonschema.validate(found, summary_schema())
    corrected = [entry["corrected"] for entry in found["entries"]]
    assert {each["n_responses"] > 0 for each in corrected} == {True}
    assert "fewer than 30" in corrected[0]["corrected"]["reason"]
    # people read too little to correct a part of the scenarios, and files say so
    line = ["summary", "runs", "--audit", "audit.db", "--format", "csv", "--by", "adl"]
    assert run(line) == OK
    parts = pl.read_csv(capsys.readouterr().out.encode())
    assert {*parts["corrected_reason"]} == {"people correct whole scores"}
    assert {*parts["corrected"]} == {None}
    # a second run of the same scenarios, its systems called as those of the first
    second = held.responses.with_columns(text=pl.lit("I do otherwise."))
    monkeypatch.setattr(
        "careeval.protocol.tables.read_runs", lambda *_: replace(held, responses=second)
    )
    assert run(["summary", "runs", "--audit", "audit.db", "--format", "json"]) == OK
    told = [
        each["corrected"]["corrected"] for each in json.loads(capsys.readouterr().out)["entries"]
    ]
    assert {each["reason"] for each in told} == {OTHER_ANSWERS}
    assert {each["value"] for each in told} == {None}
    others = held.responses.with_columns(bank_hash=pl.lit("another"))
    monkeypatch.setattr(
        "careeval.protocol.tables.read_runs", lambda *_: replace(held, responses=others)
    )
    wrong = ["summary", "runs", "--audit", "audit.db"]
    assert "audit.db has labels for responses to other scenarios" in _wrong(wrong, capsys)


@pytest.mark.usefixtures("held")
def test_from_a_sample_to_what_people_say(capsys: pytest.CaptureFixture[str]) -> None:
    """A sample is drawn, its sheet filled in by two, and the grader's numbers come back."""
    line = ["audit", "sample", "runs", "-o", "sample.json", "--sheet", "labels.csv"]
    assert run([*line, "--n", "80", "--severe-found", "20", "--severe-cleared", "20"]) == OK
    printed = capsys.readouterr()
    assert "120 judgments of judge" in printed.out
    assert "Thin: it is of " in printed.out
    assert "Written: sample.json and labels.csv" in printed.err
    with Path("labels.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with Path("labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for rater in ("ann", "ben"):
            writer.writerows(
                {**row, "rater": rater, "label": ("present", "absent")[k % 2]}
                for k, row in enumerate(rows)
            )
    assert run(["audit", "results", "sample.json", "labels.csv"]) == OK
    out = capsys.readouterr().out
    first = [line.split("  ")[0].strip() for line in out.splitlines()]
    assert [each for each in first if each.endswith(" items")][:2] == ["−2 items", "all items"]
    assert "People against each other" in out
    assert out.lstrip().startswith("judge: Audited by 2 people on 120 judgments: it finds ")
    assert "Labelled by ann, ben." in out
    assert run(["audit", "results", "sample.json", "labels.csv", "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["n_settled"]) == ("careeval.audit/2", 120)
    assert found["people"]["overall"]["same"]["value"] == 1
    assert [part["people"]["ac1"]["value"] for part in found["by_points"]] == [1] * 5
    mild = found["by_points"][3]
    assert (mild["points"], mild["agreement"]["n"]) == (-1, mild["n"])
    assert 0 < mild["agreement"]["positive_agreement"]["value"] < 1
    assert found["severe"]["sensitivity"]["value"] + found["severe"]["miss_rate"]["value"] == 1
    assert [system["system"] for system in found["by_system"]] == ["robot-a", "robot-b", "robot-c"]


@pytest.mark.usefixtures("held")
def test_a_sample_as_json_holds_no_words(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON of a sample counts what was drawn, and has no words of a response."""
    small = ["--per-model", "20", "--severe-found", "3", "--severe-cleared", "3", "--seed", "4"]
    assert run(["audit", "sample", "runs", "-o", "sample.json", *small, "--json"]) == OK
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert (found["n"], found["seed"]) == (66, 4)
    assert sum(stratum["n"] for stratum in found["strata"]) == 66
    assert "I wait" not in printed.out


@pytest.mark.usefixtures("held")
def test_labels_are_not_torn_from_their_sample(capsys: pytest.CaptureFixture[str]) -> None:
    """An existing sample is not overwritten."""
    line = ["audit", "sample", "runs", "-o", "sample.json", "--n", "60"]
    assert run(line) == OK
    before = Path("sample.json").read_bytes()
    capsys.readouterr()
    assert run([*line, "--seed", "1"]) == USAGE
    assert "sample.json exists already" in capsys.readouterr().err
    assert Path("sample.json").read_bytes() == before


def _wrong(line: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(line) == USAGE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Traceback" not in printed.err
    return printed.err


@pytest.mark.usefixtures("held")
def test_what_cannot_be_done_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """No folder, too few judgments, no sample and a bad label each end with 2 and a hint."""
    assert "name the folder of a run" in _wrong(["audit", "sample", "-o", "x.json"], capsys)
    said = _wrong(["audit", "sample", "runs", "-o", "x.json", "--n", "3"], capsys)
    assert "--n 24 or more" in said
    assert not Path("x.json").exists()
    assert "no.json" in _wrong(["audit", "results", "no.json", "labels.csv"], capsys)
    assert run(["audit", "sample", "runs", "-o", "s.json"]) == OK
    Path("labels.csv").write_text("rater,judgment,label\nann,j00001,maybe\n", encoding="utf-8")
    capsys.readouterr()
    said = _wrong(["audit", "results", "s.json", "labels.csv"], capsys)
    assert "labels.csv:2: label must be one of present, absent, unsure, not 'maybe'" in said
