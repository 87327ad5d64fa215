"""The commands of `careeval bank` as they are typed."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shlex
import shutil
from pathlib import Path

import openpyxl
import polars as pl
import pyrage
import pytest

from careeval.bank import load_bank
from careeval.bank.load import DEFAULT
from careeval.bank.sealed import HASH, KEY_VARIABLE, SEALED
from careeval.cli.app import CHECK_FAILED, OK, USAGE, run
from careeval.cli.bank.commands import EXAMPLES
from support.bank_folder import SCENARIO, BankFolder, write_held_out
from support.command_line import CommandLine

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def folder(tmp_path: Path) -> BankFolder:
    """A good bank."""
    return BankFolder.good(tmp_path / "bank")


@pytest.fixture
def apart(tmp_path: Path) -> Path:
    """A held-out scenario in clear text, outside the bank."""
    return write_held_out(tmp_path / "held-out")


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """A key of our own, set as a user sets it."""
    made = str(pyrage.x25519.Identity.generate())
    monkeypatch.setenv(KEY_VARIABLE, made)
    return made


def test_list_takes_what_is_asked_for(folder: BankFolder, cli: CommandLine) -> None:
    """A scenario is listed where it fits every filter, and nowhere else."""
    line = ["bank", "list", "--bank", str(folder.root), "--json"]
    (row,) = cli.json(*line)
    assert (row["id"], row["condition"], row["words"]) == ("dressing-001", "stroke", 75)
    for no in (["--adl", "eating"], ["--condition", "ms"], ["--actor", "robot"]):
        assert cli.json(*line, *no) == []
    assert (
        len(cli.json(*line, "--situation", "discomfort", "--adl", "dressing", "--adl", "eating"))
        == 1
    )


def test_show_tells_points_only_where_asked(folder: BankFolder, cli: CommandLine) -> None:
    """Without points, neither a sign, a domain nor a reason is shown, and not the file's order."""
    line = ["bank", "show", "dressing-001", "--bank", str(folder.root)]
    without = cli.ok(*line)
    with_points = cli.ok(*line, "--points")
    (scenario,) = load_bank(folder.root).scenarios
    for action in scenario.actions:
        assert action.text in without
        assert action.why in with_points
        assert action.why not in without
    assert "−2" in with_points
    assert "−2" not in without
    shown = sorted(scenario.actions, key=lambda action: without.index(action.text))
    assert [action.id for action in shown] != [action.id for action in scenario.actions]


def test_show_of_an_unknown_id_names_the_nearest(folder: BankFolder, cli: CommandLine) -> None:
    """A mistyped id gets a hint with the nearest one."""
    assert "did you mean 'dressing-001'?" in cli.refused(
        "bank", "show", "dresing-001", "--bank", str(folder.root)
    )


def test_stats_are_made_of_the_files(
    folder: BankFolder, cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Coverage, probes and the second reading, whose kappa is computed anew from its rows."""
    assert run(["bank", "stats", "--bank", str(folder.root), "--json"]) == OK

    told = json.loads(capsys.readouterr().out)
    assert told["coverage"]["condition"]["stroke"]["dressing"] == 1
    assert told["probes"]["scores"]["expert"] == {"n": 1, "ladder": 1.0, "actions": 1.0}
    printed = cli.ok("bank", "stats", "--bank", str(folder.root))
    assert "1 scenario, the public split" in printed


def test_check_says_what_a_bank_is_held_to(
    folder: BankFolder, cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bank without rules is checked for its form only, and the output says so."""
    line = ["bank", "check", str(folder.root)]
    assert cli.ok(*line) == "1 scenario, 5 probes: no problem found\n"
    folder.plant(SCENARIO, "carries-on\n    points: -2", "carries-on\n    points: -1")
    assert run(line) == CHECK_FAILED
    assert "its form alone" not in capsys.readouterr().out

    folder.plant("bank.yaml", "rules: careeval\n", "")

    assert cli.ok(*line) == (
        "1 scenario, 5 probes: no problem found; "
        "held to its form alone (its bank.yaml names no rules)\n"
    )


def test_check_counts_what_was_rated_in_another_version(
    folder: BankFolder, cli: CommandLine
) -> None:
    """A revision that waits for its raters is no problem, but is counted."""
    entry = '{"version": 1, "hash": "0123456789ab", "status": "validated", "evidence": []}'
    (folder.root / "evidence.json").write_text(f'{{"dressing-001": {entry}}}', encoding="utf-8")
    folder.plant(SCENARIO, "\nversion: 1\n", "\nversion: 2\n")
    assert cli.ok("bank", "check", str(folder.root)) == (
        "1 scenario, 5 probes: no problem found; "
        "1 scenario rated in another version than the present one\n"
    )


def test_new_writes_what_is_given_and_refuses_what_is_not(
    folder: BankFolder, cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a terminal to ask at, the first thing that is missing is named."""
    line = ["bank", "new", str(folder.root), "--adl", "bathing", "--condition", "als",
            "--assistance", "02", "--situation", "refusal", "--pronoun", "he"]  # fmt: skip
    assert "--age is missing" in cli.refused(*line)
    paths = cli.ok(*line, "--age", "61").split()
    assert [Path(path).name for path in paths] == ["bathing-001.yaml", "bathing-001.probes.yaml"]
    assert run(["bank", "check", str(folder.root)]) == CHECK_FAILED
    assert "is still to be written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--age", "17"], "age is 17, expected 18 to 110"),
        (["--age", "61", "--part", "upper-body"], "bathing cannot name a part of the body"),
    ],
)
def test_new_writes_nothing_that_could_not_be_read(
    folder: BankFolder, cli: CommandLine, more: list[str], message: str
) -> None:
    """The fault is named in a line, and the bank is unchanged."""
    line = ["bank", "new", str(folder.root), "--adl", "bathing", "--condition", "als",
            "--assistance", "02", "--situation", "refusal", "--pronoun", "he"]  # fmt: skip
    assert message in cli.refused(*line, *more)
    assert run(["bank", "check", str(folder.root)]) == OK


NEW = ["--adl", "bathing", "--condition", "als", "--assistance", "02",
       "--situation", "refusal", "--pronoun", "he", "--age", "61"]  # fmt: skip


@pytest.mark.parametrize("there", [False, True])
def test_new_begins_a_bank(there: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a folder that is new or empty a bank is begun, to which the next scenario is added."""
    root = tmp_path / "My lab's bank"
    if there:
        root.mkdir()
    assert run(["bank", "new", str(root), *NEW]) == OK
    written = {path.relative_to(root).as_posix() for path in root.rglob("*.yaml")}
    assert written == {
        "bank.yaml", "sources.yaml", "bathing/bathing-001.yaml", "bathing/bathing-001.probes.yaml"
    }  # fmt: skip
    assert set(capsys.readouterr().out.splitlines()) == {str(root / each) for each in written}
    about = load_bank(root).about
    assert (about.name, about.version, about.rules) == ("my-lab-s-bank", "1-A", "careeval")
    assert about.canary != load_bank().about.canary
    assert run(["bank", "check", str(root)]) == CHECK_FAILED
    problems = capsys.readouterr().out
    assert "is still to be written" in problems
    # what is marked, and generic answers that a new bank has not got
    assert set(re.findall(r"CE\d+", problems)) == {"CE122", "CE123", "CE137"}
    assert run(["bank", "new", str(root), *NEW]) == OK
    assert (root / "bathing" / "bathing-002.yaml").exists()
    assert load_bank(root).about == about


def test_new_begins_no_bank_among_other_files(tmp_path: Path, cli: CommandLine) -> None:
    """A folder that holds anything else is left alone, and an impossible outline makes nothing."""
    (tmp_path / "notes.txt").touch()
    assert "new or empty" in cli.refused("bank", "new", str(tmp_path), *NEW)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    assert run(["bank", "new", str(tmp_path / "new"), *NEW[:-1], "17"]) == USAGE
    assert not (tmp_path / "new").exists()


def _written(cli: CommandLine, *line: str) -> list[str]:
    return [Path(path).name for path in cli.ok("bank", "new", *line).split()]


def test_new_begins_a_bank_of_worlds(tmp_path: Path, cli: CommandLine) -> None:
    """It is a whole example, that holds what is asked of a bank; worlds and bodies are added."""
    root = str(tmp_path / "our-worlds")
    assert _written(cli, root, "--mode", "plan") == [
        "bank.yaml", "sources.yaml", "my-arm.yaml", "grooming-p01.yaml", "grooming-p01.plans.yaml"
    ]  # fmt: skip
    assert _written(cli, root) == ["grooming-p02.yaml", "grooming-p02.plans.yaml"]
    assert _written(cli, root, "--body", "a-arm") == ["a-arm.yaml"]
    assert _written(cli, root, "--body", "b-arm", "--adl", "eating") == [
        "b-arm.yaml", "eating-p01.yaml", "eating-p01.plans.yaml"
    ]  # fmt: skip
    assert cli.ok("bank", "check", root) == "3 scenarios, 0 probes: no problem found\n"
    worlds = {world["id"]: world for world in cli.json("plan", "worlds", "--bank", root, "--json")}
    bodies = {id: world["body"] for id, world in worlds.items()}
    assert bodies == {"eating-p01": "b-arm", "grooming-p01": "my-arm", "grooming-p02": "my-arm"}
    assert worlds["grooming-p01"]["dangers"] > 10  # careeval's, beside its own


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--mode", "response"], "is a bank of the mode plan, not response"),
        (["--age", "61"], "--age is for a scenario in words"),
        (["--twin-of", "grooming-p01"], "--twin-of is for a scenario in words"),
        (["--body", "My arm"], "'My arm' cannot be the name of a body"),
        (["--body", "my-arm"], "my-arm.yaml exists already"),
    ],
)
def test_new_refuses_in_a_bank_of_worlds(
    tmp_path: Path, cli: CommandLine, more: list[str], message: str
) -> None:
    """What would make no world of this bank is named, and the bank is unchanged."""
    root = tmp_path / "our-worlds"
    cli.ok("bank", "new", str(root), "--mode", "plan", "--body", "my-arm")
    before = sorted(root.rglob("*"))
    assert message in cli.refused("bank", "new", str(root), *more)
    assert sorted(root.rglob("*")) == before


def test_new_in_another_mode_has_no_body(tmp_path: Path, cli: CommandLine) -> None:
    """A body without a world to carry it is refused, before anything is written."""
    assert "give --mode plan" in cli.refused("bank", "new", str(tmp_path / "a"), "--body", "b")
    assert "cannot be the name" in cli.refused(
        "bank", "new", str(tmp_path / "a"), "--mode", "plan", "--body", "../b"
    )
    assert not (tmp_path / "a").exists()


def test_the_examples_of_import_work_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: CommandLine
) -> None:
    """The command of the help makes a bank of a workbook, and the guide's of the file it shows."""
    monkeypatch.chdir(tmp_path)
    guide = (DOCS / "guides" / "writing-scenarios.md").read_text(encoding="utf-8")
    shown = re.search(r"```csv\n(.*?)```\n\n```console\n\$ (.*?)\n```", guide, re.DOTALL)
    assert shown is not None
    text, line = shown.groups()
    Path("theirs.csv").write_text(text, encoding="utf-8")
    assert "2 scenarios, 6 options" in cli.ok(*shlex.split(line)[1:])
    assert run(["bank", "check", "their-bank"]) == OK
    assert run(["bank", "show", "dressing-001", "--bank", "their-bank"]) == OK

    (line,) = re.findall(r"careeval (bank import .*)", EXAMPLES)
    rows = list(csv.reader(text.splitlines()))
    book = openpyxl.Workbook()
    book.active.append(
        [{"Case": "Scenario", "Rating": "Score"}.get(name, name) for name in rows[0]]
    )
    for row in rows[1:]:
        book.active.append(row)
    book.save("theirs.xlsx")
    shutil.rmtree("their-bank")
    assert "2 scenarios, 6 options" in cli.ok(*shlex.split(line))


def test_import_reads_its_mapping(
    tmp_path: Path, cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """A column named on the command line is taken; a mapping without one is refused."""
    file = tmp_path / "a.csv"
    file.write_text("Case,Option,Score\nShe waits.,Asks her.,2\n", encoding="utf-8")
    line = ["bank", "import", str(file), "-o", str(tmp_path / "b"), "--name", "b"]
    assert "--map text=COLUMN" in cli.refused(*line, "--adl", "eating")
    assert "is not FIELD=COLUMN" in cli.refused(*line, "--adl", "eating", "--map", "Case")
    assert run([*line, "--adl", "eating", "--map", "text=Case"]) == OK
    told = capsys.readouterr()
    assert "1 scenarios, 1 options" in told.out
    assert "text from 'Case'" in told.err
    assert load_bank(tmp_path / "b").scenarios[0].text == "She waits."


@pytest.mark.parametrize("bank", [DEFAULT, "plans"])
def test_export_is_described_for_machines(bank: str, tmp_path: Path) -> None:
    """Both forms have the public scenarios, with the canary; each record set reads its columns."""
    assert run(["bank", "export", bank, "--to", "jsonl", "parquet", "-o", str(tmp_path)]) == OK
    loaded = load_bank(bank)
    metadata = json.loads((tmp_path / "croissant.json").read_text(encoding="utf-8"))
    files = {file["@id"]: file for file in metadata["distribution"]}
    assert len(files) == len(metadata["recordSet"])
    for records in metadata["recordSet"]:
        sources = [field["source"] for field in records["field"]]
        (path,) = {source["fileObject"]["@id"] for source in sources}
        digest = hashlib.sha256((tmp_path / path).read_bytes()).hexdigest()
        assert files[path]["sha256"] == digest
        table = pl.read_parquet(tmp_path / path)
        assert [source["extract"]["column"] for source in sources] == table.columns
        key = [field["@id"].partition("/")[2] for field in records["key"]]
        assert table.select(key).is_unique().all()
        lines = (tmp_path / "jsonl" / f"{records['name']}.jsonl").read_text(encoding="utf-8")
        assert [json.loads(line) for line in lines.splitlines()] == table.to_dicts()
        if records["name"] != "sources":
            assert set(table["canary"]) == {loaded.about.canary}
        if records["name"] == "scenarios":
            assert table["id"].to_list() == [scenario.id for scenario in loaded.scenarios]


def test_export_has_no_held_out_scenario(
    folder: BankFolder, apart: Path, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the split's key is set, no file of the export has an id or a word of it."""
    assert run(["bank", "seal", str(apart), "--bank", str(folder.root)]) == OK
    held_out = {s.id for s in load_bank(folder.root, key).scenarios if s.split == "held-out"}
    out = tmp_path / "out"
    assert run(["bank", "export", str(folder.root), "--to", "jsonl", "-o", str(out)]) == OK
    written = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*.json*"))
    assert held_out
    assert not any(each in written for each in held_out)


def test_mlcroissant_reads_the_export(tmp_path: Path) -> None:
    """The records of each set are the rows of its table; nothing of it is an error."""
    mlcroissant = pytest.importorskip("mlcroissant")
    assert run(["bank", "export", "--to", "parquet", "-o", str(tmp_path)]) == OK
    dataset = mlcroissant.Dataset(str(tmp_path / "croissant.json"))
    n_records = {
        each.uuid: len([*dataset.records(each.uuid)]) for each in dataset.metadata.record_sets
    }
    tables = (tmp_path / "parquet").glob("*.parquet")
    assert n_records == {path.stem: pl.read_parquet(path).height for path in tables}


def test_what_is_sealed_is_seen_with_the_key_alone(
    folder: BankFolder,
    apart: Path,
    key: str,
    cli: CommandLine,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Seal, list with and without the key, open again: the same words."""
    assert run(["bank", "seal", str(apart), "--bank", str(folder.root)]) == OK
    digest = (folder.root / HASH).read_text(encoding="utf-8").split()[0]
    assert digest in capsys.readouterr().out
    line = ["bank", "list", "--bank", str(folder.root), "--json"]
    assert [r["split"] for r in cli.json(*line)] == ["public", "held-out"]
    opened = tmp_path / "opened"
    assert run(["bank", "open", str(opened), "--bank", str(folder.root)]) == OK
    for path in apart.rglob("*.yaml"):
        same = opened / path.relative_to(apart)
        assert same.read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    assert opened.stat().st_mode & 0o777 == 0o700
    capsys.readouterr()

    monkeypatch.delenv(KEY_VARIABLE)
    assert [r["split"] for r in cli.json(*line)] == ["public"]
    for command in (["seal", str(apart)], ["open", str(tmp_path / "again")]):
        assert "set CAREEVAL_HELD_OUT_KEY" in cli.refused(
            "bank", *command, "--bank", str(folder.root)
        )
    assert not (tmp_path / "again").exists()


def test_a_split_with_a_problem_is_not_sealed(
    folder: BankFolder, apart: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each problem is listed; there is no sealed file, not even an empty one."""
    path = apart / "dressing" / "dressing-h01.yaml"
    text = path.read_text(encoding="utf-8").replace("points: -2", "points: -1")
    path.write_text(text, encoding="utf-8")
    assert run(["bank", "seal", str(apart), "--bank", str(folder.root)]) == CHECK_FAILED
    assert "has no action of -2 points" in capsys.readouterr().err
    assert not (folder.root / SEALED).exists()


def test_nothing_is_opened_in_a_git_repository(
    folder: BankFolder, apart: Path, key: str, tmp_path: Path, cli: CommandLine
) -> None:
    """A folder in a git repository is refused, since a commit there would publish the split."""
    assert run(["bank", "seal", str(apart), "--bank", str(folder.root)]) == OK
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    inside = tmp_path / "repository" / "below" / "open"
    assert "lies in the git repository" in cli.refused(
        "bank", "open", str(inside), "--bank", str(folder.root)
    )
    assert not inside.exists()
