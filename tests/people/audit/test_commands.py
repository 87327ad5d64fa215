"""An audit from the command line: planned, watched, and its results."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from careeval.cli.app import OK, USAGE, run
from careeval.people.audit.documents import sample_text
from careeval.people.audit.plan import AuditPlan
from careeval.people.store import Store
from support.review_audit import FIRST, SECOND, Audit, audit_plan, audit_sample, otherwise

Out = pytest.CaptureFixture[str]

HAND_OUT = ["--ethics", "none: a test", "--contact", "test@example.org"]


def _new(folder: Path, *more: str) -> int:
    (folder / "sample.json").write_text(sample_text(audit_sample()), encoding="utf-8")
    (folder / "terms.txt").write_text("Made up for tests.", encoding="utf-8")
    command = ["audit", "new", str(folder / "sample.json"), "-o", str(folder / "audit.db")]
    terms = [] if "--consent" in more else ["--consent", str(folder / "terms.txt")]
    return run([*command, *terms, *HAND_OUT, *more])


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
    assert AuditPlan.read(store.plans("audit")[0]).sample == audit_sample()
    store.close()
    assert _new(tmp_path, "--labellers", "2") == USAGE
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--labellers", "1"], "two or more labellers"),
        (["--labellers", "priest:2"], "unknown role 'priest'"),
        (["--labellers", "2", "--per-judgment", "3"], "must be 2 to 2, not 3"),
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
    assert "missing or empty: --consent, --ethics, --contact" in capsys.readouterr().err
    assert not out.exists()


def test_links_into_a_file(tmp_path: Path, capsys: Out) -> None:
    """They go where only their owner reads them, and are not printed."""
    assert _new(tmp_path, "--labellers", "2", "--links", str(tmp_path / "links"), "--json") == OK
    assert "/i/" not in capsys.readouterr().out
    assert (tmp_path / "links").read_text(encoding="utf-8").count("/i/") == 3
    assert stat.S_IMODE((tmp_path / "links").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ("nodir/x.txt", "does not exist"),
        ("audit.db", "--links and --out name the same file"),
        ("./sub/../audit.db", "--links and --out name the same file"),
        ("sample.json", "exists already"),
    ],
)
def test_links_that_cannot_be_written(links: str, words: str, tmp_path: Path, capsys: Out) -> None:
    """They are refused before the audit's file is written, so that no link is lost."""
    (tmp_path / "sub").mkdir()
    assert _new(tmp_path, "--labellers", "2", "--links", f"{tmp_path}/{links}") == USAGE
    assert words in capsys.readouterr().err
    assert not (tmp_path / "audit.db").exists()


def test_terms_that_are_not_utf_8(tmp_path: Path, capsys: Out) -> None:
    """A text that Word saved in its own way is refused with what to do, and nothing is written."""
    word = tmp_path / "word.txt"
    word.write_bytes("You’re asked to read answers.".encode("cp1252"))
    assert _new(tmp_path, "--labellers", "2", "--consent", str(word)) == USAGE
    said = capsys.readouterr().err
    assert "word.txt is not UTF-8" in said
    assert "save it as UTF-8" in said
    assert not (tmp_path / "audit.db").exists()


def test_status_and_results(audit: Audit, capsys: Out) -> None:
    """The status shows progress without labels, and results say what they still lack."""
    audit.label("r01", FIRST)
    path = str(audit.store.path)
    assert run(["audit", "status", path, "--json"]) == OK
    status = json.loads(capsys.readouterr().out)
    assert [x["handed_in"] for x in status["labellers"]] == [True, False]
    assert [x["n_done"] for x in status["labellers"]] == [6, 0]
    assert (status["n_disputed"], status["n_settled"]) == (None, None)
    assert run(["audit", "results", path, "--json"]) == OK
    printed = capsys.readouterr()
    assert "their labels so far count: r02" in printed.err
    assert json.loads(printed.out)
    audit.label("r02", SECOND)
    assert run(["audit", "status", path]) == OK
    table = capsys.readouterr().out
    assert "0 of 2 disagreements are settled" in table
    assert "present" not in table
    assert run(["audit", "results", path]) == OK
    printed = capsys.readouterr()
    assert "2 judgments wait for somebody to adjudicate: 1 tied and left out; 1 with" in printed.out
    told = " ".join(printed.out.split())
    assert "disagree or are unsure are not settled yet (1 tied and left out; 1 with one" in told
    # two read each: nothing rests on one alone, and there is one number of what waits
    assert "only one rater" not in printed.out
    assert "disagreements" not in printed.out + printed.err


def _said(audit: Audit) -> list[str]:
    """Return labels as rater, judgment and word."""
    given = audit.labels()
    return sorted(f"{each.rater} {each.judgment} {each.says}" for each in given)


def _type(audit: Audit, folder: Path, text: str, *more: str) -> int:
    """Type a sheet."""
    sheet = folder / "paper.csv"
    sheet.write_text(text, encoding="utf-8")
    line = ["audit", "import", str(audit.store.path), str(sheet), "--typed-by", "an assistant"]
    return run([*line, *more])


PAPER = """\
rater,judgment,label,evidence,note,response
r02,j00001,Present,I wait beside you.,"so, \x07at once",I wait beside you.
r02,J2,a,,,
r02,j3,unsure,"it is faster.
let me do",,
,j00004,,,,Let me do the rest
"""


def test_labels_on_paper(audit: Audit, tmp_path: Path, capsys: Out) -> None:
    """Typed labels are saved without control characters, and can be handed in."""
    audit.label("r01", FIRST)
    capsys.readouterr()
    assert _type(audit, tmp_path, PAPER, "--json") == OK
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"n_saved": 6, "n_read": 6}
    assert "r02 has labelled 3 of 6, and has not handed in" in printed.err
    assert [x for x in _said(audit) if x.startswith("r02")] == [
        "r02 j00001 present",
        "r02 j00002 absent",
        "r02 j00003 unsure",
    ]
    typed = [event for event in audit.store.events() if event.typed_by]
    assert {(event.rater, event.typed_by) for event in typed} == {("r02", "an assistant")}
    assert [event.value for event in typed if event.field == "note"] == [
        "so, \N{REPLACEMENT CHARACTER}at once"
    ]
    seat = audit.plan.blind().seat("r02")
    assert seat is not None
    assert {event.place for event in typed if event.task == "label/j00001"} == {
        seat.judgments.index("j00001") + 1
    }
    assert _type(audit, tmp_path, PAPER, "--hand-in", "--json") == OK
    assert json.loads(capsys.readouterr().out) == {"n_saved": 0, "n_read": 6}
    assert run(["audit", "status", str(audit.store.path), "--json"]) == OK
    status = json.loads(capsys.readouterr().out)
    # by hand: r01 is unsure of j6, and r02 of j3; of j4 and j5 r01 alone said something
    assert (status["waits_for"], status["n_disputed"]) == ([], 2)
    assert _type(audit, tmp_path, "rater,judgment,label\nr02,j4,p\n") == USAGE
    assert (
        "paper.csv:2: r02 has handed in, so their labels can no longer be changed"
        in capsys.readouterr().err
    )


def test_typing_labels_is_blind(tmp_path: Path) -> None:
    """The grader's verdicts, systems and points change nothing of which labels are taken."""
    found = []
    for name, sample in (("one", audit_sample()), ("two", otherwise())):
        audit = Audit.new(audit_plan(sample), tmp_path / f"{name}.db")
        assert _type(audit, tmp_path, PAPER) == OK
        found.append([(e.task, e.field, e.value, e.place) for e in audit.store.events()])
        audit.close()
    assert found[0] == found[1] != []


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("r09,j1,present,,", "paper.csv:3: 'r09' is not a labeller"),
        ("a01,j1,present,,", "paper.csv:3: 'a01' is not a labeller"),
        (",j1,present,,", "paper.csv:3: '' is not a labeller"),
        ("r01,j9,present,,", "paper.csv:3: 'j9' is not a judgment of r01"),
        ("r01,,present,,", "paper.csv:3: '' is not a judgment of r01"),
        (
            "r01,j1,yes,,",
            "paper.csv:3: label must be one of present, absent, unsure, or p, a, u, not 'yes'",
        ),
        ("r01,j1,present,I rush you,", "paper.csv:3: “I rush you” is not in the response"),
        ("r01,j2,present,,", "paper.csv:3: r01 answers label twice, here and on line 2"),
        (
            "r01,j1,present,,so, at once",
            "paper.csv:3: the row has 6 cells, but there are only 5 columns",
        ),
        ("r02,j1,present,,", "paper.csv:3: the link of r02 is switched off"),
    ],
)
def test_a_sheet_is_taken_whole(
    row: str, words: str, audit: Audit, tmp_path: Path, capsys: Out
) -> None:
    """One row that is no label is named with its line and why, and no other row is taken."""
    audit.store.revoke("r02")
    head = "rater,judgment,label,evidence,note\nr01,j2,absent,,\n"
    assert _type(audit, tmp_path, f"{head}{row}\n", "--hand-in") == USAGE
    assert words in capsys.readouterr().err
    assert audit.store.events() == ()


def test_labels_are_not_replaced_unasked(audit: Audit, tmp_path: Path, capsys: Out) -> None:
    """A label that is there stands, unless --replace is given."""
    head = "rater,judgment,label\n"
    assert _type(audit, tmp_path, f"{head}r01,j1,p\n") == OK
    assert _type(audit, tmp_path, f"{head}r01,j1,a\nr01,j2,a\n") == USAGE
    assert "r01 has answered label already, with 'present'" in capsys.readouterr().err
    assert _said(audit) == ["r01 j00001 present"]
    assert _type(audit, tmp_path, f"{head}r01,j1,a\n", "--replace") == OK
    assert _said(audit) == ["r01 j00001 absent"]
    assert _type(audit, tmp_path, f"{head}r01,j1,a\n", "--typed-by", " ") == USAGE


def test_who_never_hands_in(audit: Audit, tmp_path: Path, capsys: Out) -> None:
    """Revoked, they are waited for no longer and what they labelled stays; withdrawn, it goes."""
    path = str(audit.store.path)
    audit.label("r01", FIRST)
    assert _type(audit, tmp_path, "rater,judgment,label\nr02,j1,p\nr02,j3,a\n") == OK
    assert run(["audit", "status", path]) == OK
    assert "It waits for r02." in capsys.readouterr().out
    assert run(["audit", "revoke", path, "r02"]) == OK
    told = capsys.readouterr().err
    assert "Of the 6 judgments of r02, 0 will have been labelled by nobody and 4 by one" in told
    assert "0 of 2 disagreements are settled." in told
    assert run(["audit", "status", path]) == OK
    table = capsys.readouterr().out
    assert re.search(r"r02 .* no, link off", table)
    assert "waits" not in table
    assert run(["audit", "results", path]) == OK
    assert "their labels so far count: r02" in capsys.readouterr().err
    assert "r02 j00003 absent" in _said(audit)
    assert run(["audit", "withdraw", path, "r02"]) == USAGE
    assert "r02 j00003 absent" in _said(audit)
    capsys.readouterr()
    assert run(["audit", "withdraw", path, "r02", "--yes"]) == OK
    assert "0 will have been labelled by nobody and 6 by one" in capsys.readouterr().err
    assert {each.split()[0] for each in _said(audit)} == {"r01"}


def test_nobody_to_settle(audit: Audit, capsys: Out) -> None:
    """An adjudicator whose link is off cannot settle, and the status says so."""
    path = str(audit.store.path)
    assert run(["audit", "revoke", path, "a01"]) == OK
    assert "cannot be settled: a01" in capsys.readouterr().err
    assert run(["audit", "status", path, "--json"]) == OK
    assert not json.loads(capsys.readouterr().out)["settles"]


def test_somebody_else_settles(audit: Audit, capsys: Out) -> None:
    """Once the adjudicator has withdrawn, and not before, somebody else gets a link and settles."""
    path = str(audit.store.path)
    audit.label("r01", FIRST)
    audit.label("r02", SECOND)
    assert run(["audit", "adjudicator", path]) == USAGE
    assert "the adjudicator, a01, has not withdrawn" in capsys.readouterr().err
    assert run(["audit", "withdraw", path, "a01", "--yes"]) == OK
    assert "cannot be settled: a01 has withdrawn" in capsys.readouterr().err
    line = ["audit", "adjudicator", path, "--role", "occupational-therapist", "--json"]
    assert run(line) == OK
    made = json.loads(capsys.readouterr().out)
    assert (made["id"], made["role"]) == ("a02", "occupational-therapist")
    token = made["link"].rpartition("/")[2]
    plan = AuditPlan.read(audit.store.plans("audit")[-1])
    again = Audit(plan, audit.store, {"a02": token}, [])
    page = again.client("a02").get("/settle/1")
    assert page.status_code == 200
    for client in again.clients:
        client.close()
    assert run(["audit", "status", path, "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["settles"]
    assert run(["audit", "adjudicator", path]) == USAGE


def test_closed_and_opened_again(audit: Audit, tmp_path: Path, capsys: Out) -> None:
    """While closed nothing is taken, from paper either; once reopened it is."""
    path, sheet = str(audit.store.path), "rater,judgment,label\nr01,j1,p\n"
    assert run(["audit", "close", path]) == OK
    assert _type(audit, tmp_path, sheet) == USAGE
    assert "the work is closed" in capsys.readouterr().err
    assert run(["audit", "reopen", path]) == OK
    assert _type(audit, tmp_path, sheet) == OK


def test_a_title_is_no_markup(tmp_path: Path, capsys: Out) -> None:
    """A terminal shows a title as its plain characters, without control characters."""
    assert _new(tmp_path, "--labellers", "2", "--title", "[bold]Pilot[/bold] \x1b[31m") == OK
    capsys.readouterr()
    assert run(["audit", "status", str(tmp_path / "audit.db")]) == OK
    out = capsys.readouterr().out
    assert "[bold]Pilot[/bold]" in out
    assert "\x1b" not in out


def test_the_wrong_file(tmp_path: Path, capsys: Out) -> None:
    """A file that is no audit is refused before anything is served or counted."""
    Store.create(tmp_path / "study.db", "study", "{}").close()
    for command in ("serve", "status", "results"):
        assert run(["audit", command, str(tmp_path / "study.db")]) == USAGE
        assert "is not the file of an audit" in capsys.readouterr().err
