"""Commands that studies and audits share: links, withdrawals, the end, and copies of the file."""

from __future__ import annotations

import stat
from contextlib import closing
from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run
from careeval.people.forms import FormId
from careeval.people.store import Store
from support.review_study import ServedWork

Out = pytest.CaptureFixture[str]


@pytest.fixture(params=["study", "audit"])
def work(request: pytest.FixtureRequest) -> ServedWork:
    """A study, and then an audit."""
    work: ServedWork = request.getfixturevalue(request.param)
    return work


def test_links_are_renewed_closed_and_withdrawn(work: ServedWork, capsys: Out) -> None:
    """A new link opens, and the old one does not; work closes and opens; who withdraws is gone."""
    path, store, kind = str(work.store.path), work.store, work.store.kind
    assert run([kind, "link", path, "r02"]) == OK
    link = store.link(capsys.readouterr().out.strip().rpartition("/")[2])
    assert link is not None
    assert (link.rater.id, link.revoked) == ("r02", False)
    assert store.link(work.tokens["r02"]) is None
    for command, closed in (("close", True), ("reopen", False)):
        assert run([kind, command, path]) == OK
        assert store.closed == closed
    assert run([kind, "withdraw", path, "r02"]) == USAGE
    assert "r02" in {rater.id for rater in store.raters()}
    assert run([kind, "withdraw", path, "r02", "--yes"]) == OK
    assert "r02" not in {rater.id for rater in store.raters()}


@pytest.mark.parametrize("command", [["link"], ["revoke"], ["withdraw", "--yes"]])
def test_nobody_of_that_name(work: ServedWork, command: list[str], capsys: Out) -> None:
    """Who is not in the file gets no link, and loses none."""
    name, *more = command
    assert run([work.store.kind, name, str(work.store.path), "r09", *more]) == USAGE
    assert "has nobody called 'r09'" in capsys.readouterr().err


def test_a_backup(work: ServedWork, tmp_path: Path, capsys: Out) -> None:
    """A copy holds what was saved before it and nothing later, and takes the place of no file."""
    copy = tmp_path / "copy.db"
    line = [work.store.kind, "backup", str(work.store.path), str(copy)]
    for n, status in enumerate((OK, USAGE)):
        work.store.save("r01", f"t{n}", {"x": "1"}, FormId.new())
        assert run(line) == status
    assert "copy.db exists already" in capsys.readouterr().err
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.glob("copy*")] == ["copy.db"]
    with closing(Store.open(copy)) as store:
        assert (store.kind, [event.task for event in store.events()]) == (work.store.kind, ["t0"])
    assert run([*line[:-1], str(tmp_path / "no" / "copy.db")]) == USAGE


@pytest.mark.parametrize("kind", ["study", "audit"])
def test_a_file_that_is_missing(kind: str, tmp_path: Path, capsys: Out) -> None:
    """No command makes a file by opening it."""
    path = tmp_path / "none.db"
    commands = ["serve", "status", "results", "close", "reopen", "revoke", "withdraw", "backup"]
    commands += ["link", "apply" if kind == "study" else "adjudicator"]
    for command in commands:
        needs_more = command in ("revoke", "withdraw", "backup", "link")
        assert run([kind, command, str(path), *["more"] * needs_more]) == USAGE
        assert f"there is no {kind} file" in capsys.readouterr().err
    assert not path.exists()
