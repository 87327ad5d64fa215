"""`careeval site`: a folder of pages, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run

ANSWERS = [
    {"scenario": "dressing-101", "response": "I stop the sleeve and ask where it hurts."},
    {"scenario": "eating-101", "response": "I wait for her to clear her right cheek."},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recorded run, graded by the lexical grader."""
    root = tmp_path_factory.mktemp("site")
    answers = root / "by-hand.jsonl"
    answers.write_text("".join(json.dumps(answer) + "\n" for answer in ANSWERS), encoding="utf-8")
    line = ["run", "--responses", str(answers), "--grader", "careeval/lexical"]
    assert run([*line, "-o", str(root / "runs")]) == OK
    return root / "runs"


def test_a_folder_is_written_that_deploys(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`site` writes an index, pages and data, and says on stderr where they are."""
    out = tmp_path / "site"
    assert run(["site", str(folder), "-o", str(out), "--title", "Our lab"]) == OK
    assert "Our lab" in (out / "index.html").read_text(encoding="utf-8")
    assert (out / ".nojekyll").exists()
    assert (out / "robots.txt").exists()
    assert (out / "models" / "by-hand.html").exists()
    printed = capsys.readouterr()
    assert (out / "index.html").as_uri() in printed.err
    assert printed.out == ""


def test_the_lexical_grader_s_card_is_measured_at_once(folder: Path, tmp_path: Path) -> None:
    """Of the lexical grader the site says how far it agrees with the bank's probes."""
    assert run(["site", str(folder), "-o", str(tmp_path)]) == OK
    assert "labelled judgments" in (tmp_path / "evidence.html").read_text(encoding="utf-8")
    document = json.loads((tmp_path / "data" / "probes-by-points.json").read_text(encoding="utf-8"))
    assert {row["grader"].partition(" ")[0] for row in document["rows"]} == {"careeval/lexical"}
    assert document["canary"].startswith("careeval-open canary")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["site", "-o", "out"], "name the folder"),
        (["site", "RUNS"], "--out"),
        (["site", "/no/such/folder", "-o", "out"], "is not a folder"),
        (["site", "RUNS", "-o", "out", "--probes", "RUNS"], "no audit"),
        (["site", "RUNS", "-o", "a-file"], "a-file"),
        (["site", "RUNS", "-o", "RUNS"], "has runs in it"),
        (["site", "RUNS", "-o", "RUNS/by-hand"], "is the folder of a run"),
        (["site", "RUNS", "-o", "RUNS/by-hand/site"], "is inside the folder of a run"),
        (["site", "RUNS", "-o", "out", "--repository", "javascript:x"], "is not a web address"),
    ],
)
def test_mistakes_get_a_word(
    line: list[str],
    said: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A user's mistake ends with status 2 and a sentence on stderr."""
    monkeypatch.chdir(tmp_path)
    Path("a-file").touch()
    before = sorted(folder.rglob("*"))
    assert run([word.replace("RUNS", str(folder)) for word in line]) == USAGE
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""
    assert sorted(folder.rglob("*")) == before
