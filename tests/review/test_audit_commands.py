"""An audit from the command line: planned, watched, and its results."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run
from careeval.results.audit_files import sample_text
from careeval.review.audit import read_audit_plan
from careeval.review.store import Store
from review_audit import FIRST, SECOND, Audit, audit_sample

Out = pytest.CaptureFixture[str]

HAND_OUT = ["--ethics", "none: a test", "--contact", "test@example.org"]


def _new(folder: Path, *more: str) -> int:
    (folder / "sample.json").write_text(sample_text(audit_sample()), encoding="utf-8")
    (folder / "terms.txt").write_text("Made up for tests.", encoding="utf-8")
    command = ["audit", "new", str(folder / "sample.json"), "-o", str(folder / "audit.db")]
    return run([*command, "--consent", str(folder / "terms.txt"), *HAND_OUT, *more])


def test_a_new_audit(tmp_path: Path, capsys: Out) -> None:
    """It prints each person's link, which opens the file, and writes nothing twice."""
    assert _new(tmp_path, "--labellers", "occupational-therapist:2", "1", "--seed", "4") == OK
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[:3] for line in lines] == [
        ["r01", "labeller", "occupational-therapist"],
        ["r02", "labeller", "occupational-therapist"],
        ["r03", "labeller", "other"],
        ["a01", "adjudicator", "other"],
    ]
    store = Store.open(tmp_path / "audit.db")
    link = store.link(lines[3][3].rpartition("/")[2])
    assert link is not None
    assert link.rater.id == "a01"
    assert read_audit_plan(store.plans("audit")[0]).sample == audit_sample()
    store.close()
    assert _new(tmp_path, "--labellers", "2") == USAGE
    assert "is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--labellers", "1"], "two labellers or more"),
        (["--labellers", "nurse:2"], "role 'nurse' is not known"),
        (["--labellers", "2", "--per-judgment", "3"], "at least 2 and here at most 2"),
    ],
)
def test_what_is_no_audit(more: list[str], words: str, tmp_path: Path, capsys: Out) -> None:
    """It is refused in words, and no file is left."""
    assert _new(tmp_path, *more) == USAGE
    assert words in capsys.readouterr().err
    assert not (tmp_path / "audit.db").exists()


def test_nobody_is_asked_without_terms(tmp_path: Path, capsys: Out) -> None:
    """Without terms, an ethics reference and a contact no audit begins."""
    (tmp_path / "sample.json").write_text(sample_text(audit_sample()), encoding="utf-8")
    out = tmp_path / "audit.db"
    sample = str(tmp_path / "sample.json")
    assert run(["audit", "new", sample, "--labellers", "2", "-o", str(out)]) == USAGE
    assert "--consent, --ethics, --contact says nothing" in capsys.readouterr().err
    assert not out.exists()


def test_links_into_a_file(tmp_path: Path, capsys: Out) -> None:
    """They go where only their owner reads them, and are not printed."""
    assert _new(tmp_path, "--labellers", "2", "--links", str(tmp_path / "links"), "--json") == OK
    assert "/i/" not in capsys.readouterr().out
    assert (tmp_path / "links").read_text(encoding="utf-8").count("/i/") == 3
    assert stat.S_IMODE((tmp_path / "links").stat().st_mode) == 0o600


def test_status_and_results(audit: Audit, capsys: Out) -> None:
    """Who is where, without what was said; and results that say what they still lack."""
    audit.label("r01", FIRST)
    path = str(audit.store.path)
    assert run(["audit", "status", path, "--json"]) == OK
    status = json.loads(capsys.readouterr().out)
    assert [x["handed_in"] for x in status["labellers"]] == [True, False]
    assert [x["n_done"] for x in status["labellers"]] == [6, 0]
    assert (status["n_disputed"], status["n_settled"]) == (None, None)
    assert run(["audit", "results", path, "--json"]) == OK
    printed = capsys.readouterr()
    assert "taken as far as it is: r02" in printed.err
    assert json.loads(printed.out)
    audit.label("r02", SECOND)
    assert run(["audit", "status", path]) == OK
    table = capsys.readouterr().out
    assert "0 of 2 disagreements are settled" in table
    assert "present" not in table
    assert run(["audit", "results", path]) == OK
    assert "2 of 2 disagreements are not settled yet" in capsys.readouterr().err


def test_a_new_link(audit: Audit, capsys: Out) -> None:
    """The new one opens, the old one does not; who is not there gets none."""
    assert run(["audit", "link", str(audit.store.path), "r01"]) == OK
    token = capsys.readouterr().out.strip().rpartition("/")[2]
    assert audit.store.link(token) is not None
    assert audit.store.link(audit.tokens["r01"]) is None
    assert run(["audit", "link", str(audit.store.path), "r09"]) == USAGE


def test_the_wrong_file(tmp_path: Path, capsys: Out) -> None:
    """What is no audit is said to be none, before anything is served or counted."""
    for command in ("serve", "status", "results"):
        assert run(["audit", command, str(tmp_path / "none.db")]) == USAGE
        assert "there is no audit" in capsys.readouterr().err
    Store.create(tmp_path / "study.db", "study", "{}").close()
    for command in ("serve", "status", "results"):
        assert run(["audit", command, str(tmp_path / "study.db")]) == USAGE
        assert "is no audit" in capsys.readouterr().err
