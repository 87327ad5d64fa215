"""The questions of an audit, its labels, and the app as labellers use it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from careeval.core.rating import Reading, Role
from careeval.errors import ReviewError
from careeval.people.audit.labels import (
    LabelledAudit,
    evidence_passages,
    label_questions,
    mark_evidence,
)
from careeval.people.audit.plan import AuditPlan, new_audit
from careeval.people.audit.results import audit_results
from careeval.people.audit.sample import AuditSample
from careeval.people.forms import FormId
from careeval.people.store import Answer
from careeval.people.web.app import create_app
from careeval.results.grader_accuracy import LabelCounts
from support.review_audit import (
    FINAL,
    FIRST,
    SECOND,
    Audit,
    audit_plan,
    audit_sample,
    otherwise,
)
from support.review_study import CONSENT, hidden, put

TEXT = "I wait beside you.\n\nThen I hold the cloth; don’t hurry."


def _says(judgment_says: dict[str, str], *, finished: bool = True) -> dict[str, Any]:
    """A labeller's work."""
    work: dict[str, Any] = {
        f"label/j0000{n}": {"says": Answer(says, 1, "2026-01-02T03:04:05+00:00")}
        for n, says in judgment_says.items()
    }
    return work | ({"finish": {"handed-in": Answer("yes", 9, "")}} if finished else {})


# The plan


def test_a_plan_is_kept_whole() -> None:
    """A plan is read back from the store as it was, with its hidden part."""
    plan = audit_plan()
    assert AuditPlan.read(plan.json_text()) == plan
    with pytest.raises(ReviewError, match="plan of the audit cannot be read"):
        AuditPlan.read(plan.json_text().replace("j00006", "j00005"))


def test_the_same_seed_the_same_orders() -> None:
    """Orders come of the seed; labellers have different ones, and a response stays together."""
    plan = audit_plan()
    assert plan == audit_plan()
    first, second = (seat.judgments for seat in plan.seats)
    assert first != second
    assert set(first) == set(second) == {f"j0000{n}" for n in range(1, 7)}
    for order in (first, second):
        of = [(int(name[-1]) - 1) // 2 for name in order]
        assert sorted(of[::2]) == [0, 1, 2]
        assert of[::2] == of[1::2]


def test_each_judgment_has_two() -> None:
    """With two labellers a judgment, each of four labels half of the responses or one more."""
    plan = new_audit(
        audit_sample(), [Role.other] * 4, title="x", consent=CONSENT, seed=1, per_judgment=2
    )
    counts = Counter(name for seat in plan.seats for name in seat.judgments)
    assert set(counts.values()) == {2}
    assert sorted(len(seat.judgments) for seat in plan.seats) == [2, 2, 4, 4]


@pytest.mark.parametrize(
    ("n", "per_judgment", "sample", "words"),
    [
        (1, None, audit_sample(), "two or more labellers"),
        (2, 3, audit_sample(), "must be 2 to 2, not 3"),
        (3, 1, audit_sample(), "must be 2 to 3"),
        (2, None, AuditSample((), audit_sample().hidden), "sample has no judgments"),
    ],
)
def test_no_audit(n: int, per_judgment: int | None, sample: AuditSample, words: str) -> None:
    """Too few people, or nothing to label, is refused in words."""
    with pytest.raises(ReviewError, match=words):
        new_audit(
            sample, [Role.other] * n, title="x", consent=CONSENT, seed=1, per_judgment=per_judgment
        )


def test_expected_time() -> None:
    """Each text is read once: 27 words of responses, 9 of the scenario, 14 of items; 6 to make."""
    blind = audit_plan().blind()
    assert blind.minutes(list(blind.judgments)) == pytest.approx(50 / 180 + 6 * 0.4)


# Evidence


@pytest.mark.parametrize(
    ("typed", "fits"),
    [
        ("wait beside", True),
        ("you. then I", True),  # over a paragraph, without its capital
        ("WAIT  beside\n\nthe cloth", True),
        ("don't hurry", True),  # a keyboard's quotes
        ("I waited", False),
        ("\n".join(["wait"] * 21), False),
        ("wait beside\nnot there", False),
        (".*", False),
    ],
)
def test_evidence_stands_in_the_response(typed: str, fits: bool) -> None:
    """Each line must stand there, 20 at most; spaces, capitals and quotes may differ."""
    question = label_questions(TEXT)[1]
    if fits:
        assert question.read(f" {typed} ") == typed
    else:
        with pytest.raises(ValueError, match=r"is not in the response|at most 20 passages"):
            question.read(typed)


def test_what_is_marked() -> None:
    """Every place of a passage is marked, and passages that meet are one."""
    parts = mark_evidence("wait and Wait on", ["wait", "AND wait"])
    assert parts == [("wait", True), (" ", False), ("and Wait", True), (" on", False)]
    assert mark_evidence("", ["x"]) == []


@given(st.text("ab \n", max_size=30), st.lists(st.text("ab ", min_size=1, max_size=3), max_size=3))
def test_marking_changes_no_word(text: str, found: list[str]) -> None:
    """The parts make up the response, and none stands beside another of its kind."""
    parts = mark_evidence(text, [each for each in found if each.strip()])
    assert "".join(part for part, _ in parts) == text
    assert all(a[1] != b[1] for a, b in pairwise(parts))


def test_passages() -> None:
    """One a line, empty lines none."""
    assert evidence_passages(" a b \n\n c") == ("a b", "c")


# What is disputed, and what comes out


def test_results_by_hand() -> None:
    """Two of three found, two of three cleared, people agree on four of five: as in the example."""
    plan = audit_plan()
    settled: Any = {
        f"settle/j0000{n}": {"says": Answer(says, 1, "2026-01-02T03:04:05+00:00"),
                             "reason": Answer("because", 2, "")}
        for n, says in FINAL.items()
    }  # fmt: skip
    works = {"r01": _says(FIRST), "r02": _says(SECOND), "a01": settled}
    assert set(LabelledAudit(plan.blind(), works).disputed) == {"j00003", "j00006"}
    assert LabelledAudit(plan.blind(), works).n_settled == 2
    given_labels = LabelledAudit(plan.blind(), works).labels
    assert len(given_labels) == 14
    assert [x.says for x in given_labels if x.judgment == "j00003"] == [
        Reading.present, Reading.absent, Reading.present
    ]  # fmt: skip
    assert [(x.rater, x.note) for x in given_labels if x.adjudicated] == [("a01", "because")] * 2
    found = audit_results(plan.sample, given_labels)
    assert found.counts == LabelCounts(found=2, missed=1, invented=1, cleared=2, unresolved=0)
    assert found.overall.sensitivity.value == pytest.approx(2 / 3)
    assert found.overall.specificity.value == pytest.approx(2 / 3)
    assert found.people.same.value == pytest.approx(4 / 5)
    assert (found.n_adjudicated, found.n_tied, found.n_unsure) == (2, 0, 0)
    before = audit_results(plan.sample, LabelledAudit(plan.blind(), works | {"a01": {}}).labels)
    assert (before.n_settled, before.n_tied, before.n_single) == (5, 1, 1)


def test_what_is_disputed() -> None:
    """Present to one and absent to another, or unsure to any; nothing before all have committed."""
    blind = audit_plan().blind()
    first, second = {"1": "present", "2": "unsure", "3": "absent"}, {"1": "present", "3": "absent"}
    works = {"r01": _says(first), "r02": _says(second)}
    assert LabelledAudit(blind, works).disputed == ("j00002",)
    both = {"r01": _says({"1": "unsure"}), "r02": _says({"1": "unsure"})}
    assert LabelledAudit(blind, both).disputed == ("j00001",)
    assert LabelledAudit(blind, works | {"r02": _says(second, finished=False)}).disputed == ()
    assert LabelledAudit(blind, {"r01": works["r01"]}).disputed == (
        "j00002",
    )  # the other has withdrawn
    assert LabelledAudit(blind, {}).disputed == ()


def test_who_never_hands_in() -> None:
    """Settling waits for who can still hand in; what somebody whose link is off gave is settled."""
    blind = audit_plan().blind()
    half = _says({"1": "present", "2": "absent", "3": "absent"}, finished=False)
    works = {"r01": _says(FIRST), "r02": half}
    assert LabelledAudit(blind, works).awaited == ("r02",)
    assert not LabelledAudit(blind, works).is_settling_open
    assert LabelledAudit(blind, works, {"r02"}).is_settling_open
    assert set(LabelledAudit(blind, works, {"r02"}).disputed) == {"j00003", "j00006"}
    # r01 made all six, r02 three of them
    assert LabelledAudit(blind, works, {"r02"}).count_thin("r02") == (0, 3)
    # r01 has made none yet, but will
    assert LabelledAudit(blind, {"r01": {}, "r02": half}, {"r02"}).count_thin("r02") == (0, 3)
    assert LabelledAudit(blind, {"r02": half}, {"r02"}).count_thin("r02") == (3, 3)
    assert LabelledAudit(blind, {"r01": _says(FIRST)}).count_thin("r02") == (0, 6)
    assert not LabelledAudit(blind, works, {"a01"}).can_be_settled


@given(st.sets(st.sampled_from(["r01", "r02", "a01"])), st.sets(st.sampled_from(["r01", "r02"])))
def test_nobody_is_waited_for_in_vain(revoked: set[str], finished: set[str]) -> None:
    """Settling has begun once every labeller has handed in or can no more, and not before."""
    blind = audit_plan().blind()
    works = {name: _says(FIRST, finished=name in finished) for name in ("r01", "r02")}
    assert LabelledAudit(blind, works, revoked).is_settling_open == (
        {"r01", "r02"} <= revoked | finished
    )
    assert len(LabelledAudit(audit_plan().blind(), works).labels) == 12


def test_the_adjudicator_goes_on_without(audit: Audit) -> None:
    """Once the link of who never hands in is off, what they gave stands before the adjudicator."""
    audit.label("r01", FIRST)
    second = audit.client("r02")
    task = hidden(second.get("/label/1").text)["task"]
    other = {"present": "absent", "absent": "present", "unsure": "present"}[FIRST[task[-1]]]
    put(second, "/label/1", {"q.says": other, "q.note": "seen by one"})
    settles = audit.client("a01")
    assert "That is not so yet" in settles.get("/overview").text
    audit.store.revoke("r02")
    assert second.get("/label/1").status_code == 403
    pages = [settles.get(f"/settle/{n}").text for n in (1, 2)]
    assert sum("seen by one" in text for text in pages) == 1


def test_what_was_only_begun_is_no_label() -> None:
    """A note without an answer, and a settlement without a reason, are in no result."""
    plan, at = audit_plan(), "2026-01-02T03:04:05+00:00"
    works: Any = {
        "r01": {"label/j00001": {"note": Answer("hm", 1, at)}},
        "a01": {"settle/j00001": {"says": Answer("present", 1, at)}},
    }
    assert LabelledAudit(plan.blind(), works).labels == []
    assert [each.withdrawn for each in LabelledAudit(plan.blind(), works).labellers] == [
        False,
        True,
    ]


# The app

LABELLER = ["/", "/overview", "/label/1", "/label/2?missing=1", "/label/6", "/finish"]
LABELLER += ["/practice/1", "/practice/2", "/pause", "/withdraw", "/help", "/accessibility"]
LABELLER += ["/consent", "/about", "/label/0", "/label/7", "/label/x", "/settle/1", "/rate/1"]


def test_a_labeller_goes_through(audit: Audit) -> None:
    """From the link over consent and practice to the first judgment, and on to handing in."""
    client = audit.client()
    assert "6 judgments, about 5 minutes" in client.get(f"/i/{audit.tokens['r01']}").text
    client.post(f"/i/{audit.tokens['r01']}", data={"go": "x"})
    client.post("/consent", data={"agree": "yes"})
    client.post("/about", data={"go": "skip"})
    assert client.get("/").headers["location"] == "/practice/1"
    untried = client.get("/practice/1").text
    assert "<b>This is practice.</b>" in untried
    assert "<mark>" not in untried
    tried = client.post("/practice/1", data={"q.says": "absent", "go": "try"}).text
    assert "We would say: Present." in tried
    assert "<mark>wait while you finish, there is no hurry</mark>" in tried
    client.post("/practice/1", data={"go": "next"})
    client.post("/practice/2", data={"go": "next"})
    half = client.post("/practice/3", data={"go": "try"}).text
    assert "We would say: Absent.</b> Half of it is there" in half
    client.post("/practice/3", data={"go": "next"})
    assert client.get("/").headers["location"] == "/label/1"
    assert put(client, "/label/1", {}).headers["location"] == "/label/1?missing=1"
    assert "1 question is not answered yet" in client.get("/label/1?missing=1").text
    assert put(client, "/label/1", {}, "skip").headers["location"] == "/label/2"
    assert put(client, "/label/2", {"q.says": "unsure"}).headers["location"] == "/label/3"
    assert client.get("/").headers["location"] == "/label/3"
    assert put(client, "/label/3", {}, "back").headers["location"] == "/label/2"
    overview = client.get("/overview").text
    assert "1 of 6 done, 1 skipped" in overview
    gaps = re.findall(r'href="(/label/\d\?missing=1#q1)"', client.get("/finish").text)
    assert len(gaps) == 5
    # nothing can be changed afterwards, so that to go on is what stands out
    assert '<a class="main-button" href="/label/1">Go on with' in client.get("/finish").text
    client.post("/finish", data={"go": "x"})
    assert "handed in 1 of 6 judgments" in client.get("/finish").text
    assert client.get("/").headers["location"] == "/finish"


def test_lists_are_short(tmp_path: Path) -> None:
    """Judgments are listed under their responses, a line each, unfolded where somebody goes on."""
    sample = audit_sample()
    long = "Waits until she has done up all six buttons, then asks her whether they are straight."
    shown = tuple(
        replace(each, items=tuple(replace(item, text=f"{item.text} {long}") for item in each.items))
        for each in sample.shown
    )
    audit = Audit.new(audit_plan(replace(sample, shown=shown)), tmp_path / "long.db")
    client = audit.client("r01")
    for n in (1, 2, 3):
        put(client, f"/label/{n}", {"q.says": "absent"})
    for place, listed in (("/overview", [1, 2, 3, 4, 5, 6]), ("/finish", [4, 5, 6])):
        lists = client.get(place).text.rpartition("</details>")[0].split("<details")[1:]
        unfolded = ["/label/4" in each for each in lists if " open" in each.partition(">")[0]]
        assert unfolded == [True]
        found = [re.findall(r'href="/label/(\d)[^>]*>([^<]+)<', each) for each in lists]
        assert [int(n) for each in found for n, _ in each] == listed
        assert all({int(n) + int(n) % 2 for n, _ in each} == {int(each[-1][0])} for each in found)
        called = [unescape(words) for each in found for _, words in each]
        assert all(len(words) <= 36 and words.endswith("…") for words in called)
    assert "Time left, by our estimate: about 5 minutes." in client.get("/overview").text
    audit.close()


def test_evidence_is_checked_and_marked(audit: Audit) -> None:
    """Words that are not in the response come back to be mended; those that are, are marked."""
    client = audit.client("r01")
    n = _place_of(client, "j00001")
    wrong = put(client, f"/label/{n}", {"q.says": "present", "q.evidence": "I waited"})
    assert wrong.status_code == 422
    assert "“I waited” is not in the response" in unescape(wrong.text)
    stored = audit.store.answers("r01", "label/j00001")
    assert {name: answer.value for name, answer in stored.items()} == {"says": "present"}
    put(client, f"/label/{n}", {"q.evidence": "Wait beside you. Then"})
    page = client.get(f"/label/{n}").text
    assert "<mark>wait beside you.\n\nThen</mark>" in page
    assert "&lt;b&gt;like&lt;/b&gt;" in page
    note = [label.note for label in audit.labels()]
    assert note == ["“Wait beside you. Then”"]


def _place_of(client: TestClient, judgment: str) -> int:
    for n in range(1, 7):
        if hidden(client.get(f"/label/{n}").text)["task"] == f"label/{judgment}":
            return n
    raise AssertionError(judgment)


def test_a_response_is_text(tmp_path: Path) -> None:
    """Markup, templates and control characters of a model are shown, not obeyed."""
    sample = audit_sample()
    hostile = "<script>alert(1)</script> {{ 7 * 7 }} \x00\u202e<img src=x> wait"
    shown = tuple(replace(each, text=hostile) for each in sample.shown)
    audit = Audit.new(audit_plan(replace(sample, shown=shown)), tmp_path / "hostile.db")
    client = audit.client("r01")
    put(client, "/label/1", {"q.says": "present", "q.evidence": "<img src=x> wait"})
    page = client.get("/label/1").text
    audit.close()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ 7 * 7 }}" in page
    assert "<mark>&lt;img src=x&gt; wait</mark>" in page
    assert not re.search("[\x00\u202e]|<img|<script>alert", page)


def test_handing_in_is_for_good(audit: Audit) -> None:
    """After it no page and no old form changes a label, and what was sent comes back."""
    client = audit.client("r01")
    old = hidden(client.get("/label/1").text) | {"q.says": "absent", "q.note": "typed late"}
    put(client, "/label/1", {"q.says": "present"})
    client.post("/finish", data={"go": "x"})
    answer = client.post("/label/1", data=old | {"go": "next"})
    assert answer.status_code == 409
    assert "typed late" in answer.text
    for place in ("/label/1", "/overview"):
        assert client.get(place).headers["location"] == "/finish"
    assert audit.store.work("r01")[old["task"]]["says"].value == "present"


def test_nothing_that_sways_is_shown(tmp_path: Path) -> None:
    """With other models, points, verdicts, strata and grader every page is the same, word by word.

    So none of them can be in any, nor in an order.
    """
    seen: list[dict[str, str]] = []
    for name, sample in (("one", audit_sample()), ("two", otherwise())):
        (tmp_path / name).mkdir()
        audit = Audit.new(audit_plan(sample), tmp_path / name / "audit.db")
        pages: dict[str, str] = {}
        for rater, says in (("r01", FIRST), ("r02", SECOND)):
            client = audit.client(rater)
            pages |= {f"{rater} {place}": client.get(place).text for place in LABELLER}
            audit.label(rater, says)
            pages[f"{rater} handed in"] = client.get("/finish").text
        client = audit.client("a01")
        places = ["/", "/overview", "/settle/1", "/settle/2", "/settle/3", "/finish", "/label/1"]
        pages |= {f"a01 {place}": client.get(place).text for place in places}
        audit.close()
        seen.append({place: _fixed(html) for place, html in pages.items()})
    assert seen[0] == seen[1]
    assert sum("Takes over the task." in html for html in seen[0].values()) > 4
    for place, html in seen[0].items():
        for word in ("robot-a", "grader-x", "bank-x", "hash-x", "stratum", "ladder", "grader"):
            assert word not in html, (place, word)
        assert not re.search(r"[+−-]2\b", _words(html)), place


def _fixed(html: str) -> str:
    """Without what is random on each page, and the times."""
    html = re.sub(r'(name="page" value|data-drawer|datetime)="[^"]*"', "", html)
    return re.sub(r"\d\d:\d\d UTC", "", html)


def _words(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", html))


def test_labellers_see_nothing_of_each_other(audit: Audit) -> None:
    """Before and after both hand in, no address shows one what the other gave, or that they did."""
    one = audit.client("r01")
    before = {place: _fixed(one.get(place).text) for place in LABELLER}
    audit.label("r02", SECOND)
    assert {place: _fixed(one.get(place).text) for place in LABELLER} == before
    assert one.get("/settle/1").status_code == 404
    assert one.post("/settle/1", data={"q.says": "present"}).status_code == 404


def test_settling(audit: Audit) -> None:
    """It opens once both have handed in, shows both readings, and changes no label of theirs."""
    adjudicator = audit.client("a01")
    assert adjudicator.get("/").headers["location"] == "/overview"
    assert "Nothing to settle yet" in adjudicator.get("/overview").text
    assert "Nothing just now" in adjudicator.get(f"/i/{audit.tokens['a01']}").text
    audit.label("r01", FIRST)
    for place in ("/settle/1", "/label/1"):
        assert adjudicator.get(place).status_code in (403, 404)
    assert adjudicator.post("/finish", data={"go": "x"}).status_code == 303
    assert audit.store.work("a01").keys() == {"consent", "about", "practice"}
    audit.label("r02", SECOND)
    theirs = [audit.store.work(name) for name in ("r01", "r02")]
    assert adjudicator.get("/").headers["location"] == "/settle/1"
    assert "2 judgments, about 5 minutes" in adjudicator.get(f"/i/{audit.tokens['a01']}").text
    for n in (1, 2):
        page = adjudicator.get(f"/settle/{n}").text
        task = hidden(page)["task"]
        assert _words(page).count(f"noted of label/{task[-6:]}") == 2
        assert not re.search(r"r0[12]\b", _words(page))
        half = put(adjudicator, f"/settle/{n}", {"q.says": FINAL[task[-1]]})
        assert half.headers["location"] == f"/settle/{n}?missing=1"
        put(adjudicator, f"/settle/{n}", {"q.says": FINAL[task[-1]], "q.reason": "because"})
    assert adjudicator.get("/settle/3").status_code == 404
    assert "All 2 disagreements are done" in adjudicator.get("/finish").text
    assert [audit.store.work(name) for name in ("r01", "r02")] == theirs
    found = audit_results(audit.plan.sample, audit.labels())
    assert found.counts == LabelCounts(found=2, missed=1, invented=1, cleared=2, unresolved=0)


def test_who_gave_which_reading_is_not_told() -> None:
    """The order of labellers' readings changes from judgment to judgment."""
    blind = audit_plan().blind()
    works = {
        "r01": _says(dict.fromkeys("123456", "present")),
        "r02": _says(dict.fromkeys("123456", "absent")),
    }
    audit = LabelledAudit(blind, works)
    first = {audit.anonymous_labels(name)[0].says for name in blind.judgments}
    assert first == {Reading.present, Reading.absent}


def test_every_change_is_saved_by_the_script(audit: Audit) -> None:
    """Requests of our script are saved and answered in data, with errors by field."""
    client, script = audit.client("r01"), {"Accept": "application/json"}
    form = hidden(client.get("/label/1").text) | {"number": "1", "q.says": "absent"}
    assert client.post("/label/1", data=form, headers=script).json()["errors"] == {}
    wrong = form | {"number": "2", "q.evidence": "nowhere", "q.note": "x" * 10_001}
    answer = client.post("/label/1", data=wrong, headers=script)
    assert (answer.status_code, set(answer.json()["errors"])) == (422, {"q2", "q3"})
    for forged in ({"q.points": "2"}, {"page": ""}, {"task": "label/j00009"}):
        assert client.post("/label/1", data=form | forged).status_code in (400, 409)
    other = hidden(client.get("/label/1").text) | {"q.says": "present"}
    audit.store.save("r01", form["task"], {"says": "unsure"}, FormId.new(10**6))
    told = unescape(client.post("/label/1", data=other | {"go": "next"}).text)
    assert "you changed your answer to “Unsure”. What you gave here has replaced it." in told


def test_the_scenario_is_shown_where_the_plan_says_so(audit: Audit, tmp_path: Path) -> None:
    """Folded where it does, and nowhere where it does not."""
    folded = audit.client("r01").get("/label/1").text
    assert "<details" in folded
    assert "A blouse with six buttons." in folded
    bare = Audit.new(audit_plan(show_scenario=False), tmp_path / "bare.db")
    assert "A blouse with six buttons." not in bare.client("r01").get("/label/1").text
    bare.close()


def test_withdrawing_from_an_audit(audit: Audit) -> None:
    """A labeller who withdraws leaves no label, and settling goes on without theirs."""
    client = audit.label("r01", FIRST)
    audit.label("r02", SECOND)
    client.post("/withdraw", data={"delete": "everything"})
    found = audit.labels()
    assert {label.rater for label in found} == {"r02"}
    assert "there are no disagreements" in audit.client("a01").get("/finish").text


def test_a_study_needs_its_bank(study: Any) -> None:
    """The app takes either kind of file, and a study not without its bank."""
    with pytest.raises(ReviewError, match="is the file of a study"):
        create_app(None, study.store)
