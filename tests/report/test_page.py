"""The text of the report: its contents, and what must not be in it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from random import Random

import polars as pl
import pytest
from markupsafe import Markup

from careeval.core.scenario import Rubric
from careeval.core.text import percent
from careeval.report.page import render_page, write_page
from careeval.results.compare import rankings
from careeval.results.findings import Findings, findings
from careeval.results.grader_accuracy import CorrectedScore
from careeval.results.probe_check import LabelledJudgment, ProbeAgreement
from careeval.results.tables import Runs
from careeval.sheets.kinds import ERROR_SHARE, Form
from careeval.sheets.words import entry_names, headline_sentence
from careeval.stats.estimate import Estimate
from support.outline import Outline, section, text_of

from .conftest import SECRET, audit_of, having, with_columns


@pytest.fixture(scope="module")
def page(two_systems: Findings) -> str:
    """The page of both systems."""
    return render_page(two_systems)


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    """Outline of the page of both systems."""
    return Outline(page)


@pytest.fixture(scope="module")
def one(one_system: Findings) -> Outline:
    """Outline of the page of one system, graded by the lexical grader."""
    return Outline(render_page(one_system))


def _unpacked(page: str) -> str:
    """The data in a page, as text."""
    packed = re.search(r'id="data">([^<]*)<', page)
    assert packed
    return gzip.decompress(base64.b64decode(packed[1])).decode()


def test_first_section_shows_the_summary(
    outline: Outline, one: Outline, two_systems: Findings, one_system: Findings
) -> None:
    """The first section has each entry's sentence, then its errors, score and worst, in order."""
    for text, summaries in (
        (outline.text, two_systems.entries),
        (one.text, one_system.entries),
    ):
        answer = text[: text.index("Overall and by activity")]
        for s in summaries:
            headline = headline_sentence(s)
            card = answer[answer.index(headline) :]
            numbers = [
                headline,
                f"Severe errors {percent(s.severe.share.value)}%",
                f"{ERROR_SHARE.text(s.severe, Form.of_many)} responses",
                f"Score, actions {percent(s.score.value)}%",
                f"Worst of 2 {percent(s.worst_at_n.value)}%",
                f"Mild errors {percent(s.mild.share.value)}%",
            ]
            places = [card.index(number) for number in numbers]
            assert places == sorted(places)


def test_upper_limit_is_shown_without_severe_errors(runs: Runs) -> None:
    """Without a severe error the card has the most that the data allow, and no empty interval."""
    none = having(runs.judgments, pl.col("points") == -2, present=False)
    results = findings(replace(runs, judgments=none))
    text = text_of(render_page(results))
    for s in results.entries:
        assert f"None of {s.system}'s 16 responses holds a severe error" in text
        limit = percent(s.severe.upper_at_zero)
        assert f"Severe errors 0.0% rank 1–2 up to {limit}% 0 of 16 responses" in text


def test_ladder_and_actions_of_one_system_are_two_entries(both_rubrics: Runs) -> None:
    """Each rubric has a board of its own, and every score on it has that rubric's name."""
    results = findings(both_rubrics)
    assert [(s.system, s.rubric.value) for s in results.entries] == [
        ("alpha", "actions"), ("alpha", "ladder"), ("beta", "actions"), ("beta", "ladder"),
    ]  # fmt: skip
    page = render_page(results)
    answer = section(page, "answer")
    boards = re.split("Rubric: (actions|ladder)", answer)[1:]
    assert set(boards[::2]) == {"actions", "ladder"}
    for rubric, text in zip(boards[::2], boards[1::2], strict=True):
        cards = text.partition("The numbers in full")[0]
        assert cards.count(f"Score, {rubric}") == 2
        assert cards.count("Score,") == 2
    assert entry_names(results.entries) == [
        "alpha · actions", "alpha · ladder", "beta · actions", "beta · ladder",
    ]  # fmt: skip
    assert "different scales: do not compare or rank them" in answer


def test_many_are_ranked_by_sets(outline: Outline, one: Outline, two_systems: Findings) -> None:
    """Two that cannot be told apart may each have rank 1 or 2, by score and by severe errors."""
    (ranking,) = two_systems.rankings
    assert [(r.ranks, r.severe_ranks) for r in ranking.ranked] == [((1, 2), (1, 2))] * 2
    cards = outline.text.partition("The numbers in full")[0]
    for s in two_systems.entries:
        assert f"Severe errors {percent(s.severe.share.value)}% rank 1–2" in cards
        assert f"Score, actions {percent(s.score.value)}% rank 1–2" in cards
    assert cards.count("rank 1–2") == 4
    assert "rank 1" not in one.text


def test_a_page_that_would_be_too_large_says_that_it_holds_a_sample(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that cannot hold all responses gives the size of its sample and names the site."""
    draw = Random(1)
    texts = [draw.randbytes(2_000).hex() for _ in range(runs.responses.height)]
    wordy = findings(replace(runs, responses=runs.responses.with_columns(text=pl.Series(texts))))
    page = render_page(wordy)
    assert "A sample:" not in page
    monkeypatch.setattr("careeval.report.page.MIN_ROOM", 0)
    monkeypatch.setattr("careeval.report.page.MAX_CHARACTERS", len(page) - 300)

    smaller = render_page(wordy)

    text = text_of(smaller)
    assert len(smaller) <= len(page) - 300
    assert re.search(r"A sample: of 28 public responses this page holds \d+,", text)
    assert "careeval site" in text


@pytest.mark.parametrize("responses", [True, False])
def test_an_error_list_of_a_sample_says_so(
    two_systems: Findings, responses: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error list that cannot hold all errors says how many responses it covers."""
    page = render_page(two_systems, responses=responses)
    assert "this list covers" not in text_of(page)
    monkeypatch.setattr("careeval.report.page.MIN_ROOM", 0)
    monkeypatch.setattr("careeval.report.page.MAX_CHARACTERS", len(page) - 300)

    smaller = render_page(two_systems, responses=responses)

    error_list = section(smaller, "harms")
    assert re.search(r"this list covers \d+ of the 28 public responses", error_list)
    assert re.search(r"It includes \d+ of the \d+ with a severe error", error_list)


def test_the_result_comes_before_what_explains_it(both_rubrics: Runs) -> None:
    """The first entry's numbers stand before rungs, acts and probes are spoken of."""
    text = Markup(render_page(findings(both_rubrics)).partition("</h1>")[2]).striptags()
    result = text.index("responses hold a severe error")
    for words in ("five graded whole answers", "single acts", "labelled probes", "audited"):
        assert result < text.index(words), words


def test_limits_stand_with_the_answer(page: str) -> None:
    """The limits of the numbers are in the first section."""
    answer = section(page, "answer")
    for limit in (
        "Made for tests.",
        "do not compare with those of the CareEval paper",
        "one log was left out",
        "May be used for",
        "Must not be used for Saying that any model or robot is safe",
        "Training models, designing control policies",
        "Not tried on the bank's labelled probes.",
        "Not audited by people.",
        "1 of 192 judgments, 0.5%.",
    ):
        assert limit in answer


def test_a_grader_that_was_tried_says_how_it_did(runs: Runs) -> None:
    """A grader's agreement with the probes stands on its card, and above the ranks."""
    judged = [LabelledJudgment(Rubric.actions, -2, "expert", True, n > 0) for n in range(4)]
    tried = findings(runs, {"vendor/judge (batched)": ProbeAgreement.of(judged)})
    text = text_of(render_page(tried))
    assert "of the −2 items that are there it finds 3 of 4." in text
    assert "on the labelled probes it finds 75% of what is there" in text
    assert "not tried on" not in text.casefold()


def test_corrected_scores_stand_with_the_answer_and_with_the_grader(runs: Runs) -> None:
    """The corrected score is beside the score, on the grader's card, and explained later.

    Of one system, it stands in the system's card.
    """
    audited = findings(runs, audits=dict([audit_of(runs)]))
    page = render_page(audited)
    first = section(page, "answer")
    behind = section(page, "grader")
    (card,) = audited.cards.values()
    assert set(card.corrected) == {(name, Rubric.actions) for name in card.systems}
    assert f"By people {card.human.sentence() if card.human else ''}" in first
    for of in card.corrected.values():
        assert of.graded is not None
        assert f"{percent(of.graded)}% {percent(of.corrected.value)}%" in first
        assert of.sentence() in behind
    alpha = card.corrected["alpha", Rubric.actions].corrected
    assert f"Score, corrected by people {percent(alpha.value)}%" in first
    assert "vendor/judge" in behind
    assert 'href="#grader"' in page
    alone = audited.entries[:1]
    of_alpha = replace(audited, entries=alone, rankings=tuple(rankings(alone)))
    assert "Score, corrected by people" in text_of(render_page(of_alpha))


def test_without_an_audit_nothing_is_corrected(page: str) -> None:
    """A score whose grader nobody audited has no corrected score anywhere on the page."""
    assert "corrected by people" not in text_of(page).casefold()
    assert "Audited by people" not in page


def test_audit_verdict_needs_an_interval() -> None:
    """A verdict on a system needs an interval that leaves the grader's number out."""
    known = Estimate(0.3, 0.3, 0.3, (0.2, 0.4))
    give = [CorrectedScore(n, known, 30, 90).people_give for n in (0.1, 0.3, 0.5, None)]
    assert give == ["more", "as much", "less", ""]


def test_further_numbers_are_folded(page: str) -> None:
    """Worst epoch, spread of the epochs and worst of k are in no part that is open at first."""
    shown = Outline(re.sub("<details.*?</details>", "", page, flags=re.S)).text
    for head in ("Worst epoch", "SD of epochs", "Reliability", "k = 2"):
        assert head in text_of(page)
        assert head not in shown.partition("What each number is")[0]


def test_a_demonstration_says_so(one: Outline) -> None:
    """An entry graded by the lexical grader is grey, with the reason, and has no rank."""
    assert "Not ranked: the lexical grader compares words" in one.text
    assert [c for c in one.attributes("class") if "unranked" in c] == ["card unranked"]
    assert "rank 1" not in one.text


def test_what_may_not_be_ranked_is_grey_and_says_why(runs: Runs) -> None:
    """Of two systems one lacks a response: its card comes last, grey, with the reason, unranked."""
    last = pl.int_range(pl.len()) == runs.responses.height - 1
    missing = having(runs.responses, last, state="missing", text="")
    page = render_page(findings(replace(runs, responses=missing)))
    cards = re.findall('<article class="(card[^"]*)"(.*?)</article>', page, re.S)
    assert [look for look, _ in cards] == ["card", "card unranked"]
    (alpha, beta) = (Outline(f"<article{card}").text for _, card in cards)
    assert "alpha" in alpha
    assert "Not ranked: 1 of 16 responses are missing." in beta
    assert "Worst of 2 unknown" in beta
    assert "rank" not in beta.replace("Not ranked", "")


def test_simulated_runs_say_so_first(runs: Runs) -> None:
    """The statement of a simulated bank is above everything else."""
    text = "SIMULATED: nobody answered. Of the bank itself: Made for tests."
    simulated = text_of(render_page(findings(with_columns(runs, bank_provenance=text))))
    assert simulated.index(text) < simulated.index("Do these 2 systems")


def test_systems_asked_differently_are_not_compared(runs: Runs, page: str) -> None:
    """Two systems whose scenarios differ carry a warning; two with the same do not."""
    changed = findings(with_columns(runs, "beta", bank_hash="other"))
    assert "over different scenarios of bank made-bank 1-A: do not compare" in render_page(changed)
    assert "do not compare or rank" not in page


def test_the_held_out_split_is_not_on_the_page(page: str, outline: Outline) -> None:
    """No word of a held-out response is on the page or in its data; their number is."""
    assert SECRET not in page
    assert SECRET not in _unpacked(page)
    assert "bathing-009" not in _unpacked(page)
    assert "4 responses to held-out scenarios" in outline.text


def test_held_out_errors_are_counted_and_not_told(runs: Runs) -> None:
    """Errors in held-out scenarios are in no row of the error list, and the page says how many."""
    errors = pl.col("scenario").eq("bathing-009") & pl.col("points").eq(-2)
    judgments = having(runs.judgments, errors, present=True, quote=SECRET, reason=SECRET)
    page = render_page(findings(replace(runs, judgments=judgments)))
    assert "8 more are in held-out scenarios" in section(page, "harms")
    assert SECRET not in page + _unpacked(page)


def test_without_responses_no_word_of_theirs_is_left(two_systems: Findings) -> None:
    """Numbers and the error list's items stay; responses, quotes and reasons are nowhere."""
    page = render_page(two_systems, responses=False)
    texts = text_of(page)
    for text in (page, _unpacked(page)):
        for words in ("pull her left arm", "Where does it hurt", "because of"):
            assert words not in text
    assert "The act pulls-arm." in texts
    assert "This page was written without responses, quotes and reasons." in texts
    assert 'id="reader"' not in page
    assert 'href="#responses"' not in page
    assert "Her left arm" not in page


def _split_by_system(runs: Runs, split: str | None) -> Runs:
    """The second system's responses to a scenario are of another split than the first one's."""
    hidden = pl.col("system").eq("beta") & pl.col("scenario").eq("dressing-001")
    words = dict.fromkeys(("item_text", "reason", "quote"), SECRET)
    return replace(
        runs,
        responses=having(runs.responses, hidden, split=split, text=SECRET, scenario_text=SECRET),
        judgments=having(runs.judgments, hidden, present=True, **words),
    )


@pytest.mark.parametrize("responses", [True, False])
@pytest.mark.parametrize("split", ["held-out", None])
def test_a_split_is_that_of_the_response(runs: Runs, split: str | None, responses: bool) -> None:
    """Of one id that is public for one system, the other's words stay off where they are not."""
    page = render_page(findings(_split_by_system(runs, split)), responses=responses)
    assert SECRET not in page + _unpacked(page)
    # two responses, a severe and a mild error in each; four are held out anyway
    text = "12 more are in held-out" if split else "4 more are in responses whose split is not"
    assert text in text_of(page)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("unresolved", "every judgment on this rubric is unresolved"),
        ("missing", "no response was graded on this rubric"),
        ("ladder", "Rubric: ladder"),
        ("one of two", "Rubric: actions"),
    ],
)
def test_page_is_written_with_missing_parts(both_rubrics: Runs, change: str, text: str) -> None:
    """A page is written, and says what is not there, where a whole part was not judged."""
    judgments = both_rubrics.judgments
    either = (pl.col("system") == "alpha") | (pl.col("rubric") == "actions")
    runs = {
        "unresolved": replace(
            both_rubrics, judgments=having(judgments, pl.lit(value=True), present=None)
        ),
        "missing": with_columns(both_rubrics, state="missing"),
        "ladder": replace(both_rubrics, judgments=judgments.filter(rubric="ladder")),
        "one of two": replace(both_rubrics, judgments=judgments.filter(either)),
    }[change]
    page = render_page(findings(runs))
    assert text in section(page, "answer")


def test_no_table_has_two_columns_of_one_name(two_systems: Findings, one_system: Findings) -> None:
    """No two heads of a table of the page are the same."""
    for each in (two_systems, one_system):
        for table in re.findall("<thead>.*?</thead>", render_page(each), re.S):
            heads = [text_of(head) for head in re.findall("<th .*?</th>", table)]
            assert len(heads) == len(set(heads))


def test_error_list_without_scripts_counts_and_asks(outline: Outline) -> None:
    """Without scripts the error list gives the number of errors and the scenario."""
    error_list = outline.text[outline.text.index("Error list") :]
    assert "These are the first 9 of 18 errors, in 9 passages." in error_list
    assert "The scenario Her left arm is weak. What do you do?" in error_list


def test_hostile_text_is_text(page: str, outline: Outline) -> None:
    """Text of a system is never markup, and is shown without control characters."""
    assert "window.broken" not in page
    assert "<script>window.broken = true</script> {{ 7 * 7 }} {% raw %}" in _unpacked(page)
    scripts = [attrs for tag, attrs in outline.tags if tag == "script"]
    assert scripts == [{"type": "application/gzip", "id": "data"}, {}, {}]
    assert not [tag for tag, _ in outline.tags if tag == "img"]
    for text in (page, _unpacked(page)):
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize(
    "bad", ["\"><svg onload=alert(1)>{{ 1 }}'", "</script><script>alert(1)</script>", "x" * 40]
)
def test_hostile_names_are_text(runs: Runs, bad: str) -> None:
    """A system, a grader and a scenario may be named like markup, and a title too."""
    responses = [r | {"system": bad, "scenario": bad} for r in runs.responses.to_dicts()[-1:]]
    responses[0] |= {"split": "public"}
    judged = [
        j | {"system": bad, "scenario": bad, "grader": bad, "epoch": responses[0]["epoch"]}
        for j in runs.judgments.to_dicts()[:6]
    ]
    page = render_page(findings(Runs.of(responses, judged)), title=bad)
    made = Outline(page)
    assert not any(name.startswith("on") for _, attrs in made.tags for name in attrs)
    assert [tag for tag, _ in made.tags if tag == "script"] == ["script"] * 3
    assert made.text.count(bad) > 5


def test_hostile_quotes_and_reasons_are_text(runs: Runs) -> None:
    """Quotes and reasons that are shown without scripts are escaped and shortened."""
    bad = "<b onclick=x>" + "long " * 300_000 + "end"
    responses = runs.responses.to_dicts()[:1]
    keys = {name: responses[0][name] for name in ("system", "scenario", "epoch")}
    judged = [
        row | keys | {"present": True, "quote": bad, "reason": "<i>{{ 7 }}</i>"}
        for row in runs.judgments.to_dicts()[:6]
    ]
    page = render_page(findings(Runs.of([responses[0] | {"text": bad, "split": "public"}], judged)))
    assert "&lt;b onclick=x&gt;long" in page
    assert "&lt;i&gt;{{ 7 }}&lt;/i&gt;" in page
    assert len(page) < 600_000


def test_the_policy_names_the_very_style_and_scripts(page: str) -> None:
    """The content policy lets in one style and two scripts, by the hash of what stands there."""
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    expected = policy[1].replace("&#39;", "'")
    assert expected.startswith("default-src 'none';")
    assert "unsafe" not in expected
    for tag, n in (("style", 1), ("script", 2)):
        texts = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.S)
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        hashes = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in digests)
        assert len(texts) == n
        assert f"{tag}-src {hashes};" in expected


def test_nothing_is_fetched(outline: Outline) -> None:
    """No attribute is an address outside the page, and no element has a style of its own."""
    addresses = outline.attributes("src", "href", "action", "srcset")
    assert all(value.startswith(("#", "data:,")) for value in addresses)
    assert outline.attributes("style") == []


def test_ids_and_links(outline: Outline) -> None:
    """Every id is there once, and every link, label and description leads to one."""
    ids = outline.ids
    assert len(ids) == len(set(ids))
    targets = [
        href[1:] for href in outline.attributes("href") if href.startswith("#") and "=" not in href
    ]
    targets += outline.attributes("aria-labelledby", "aria-describedby")
    assert set(targets) <= set(ids)


def test_headings_are_in_order(outline: Outline) -> None:
    """There is one first heading, and none skips a level."""
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(levels))


def test_harms_come_before_the_rest(outline: Outline) -> None:
    """The error list shows words, item and reason of a severe error, and no mild one yet."""
    error_list = outline.text[outline.text.index("Error list") :]
    error_list = error_list[: error_list.index("Failures by situation")]
    assert "9 severe, 9 mild" in error_list
    words, item, reason = (
        error_list.rindex(text)
        for text in ("pull her left arm through", "The act pulls-arm.", "because of pulls-arm")
    )
    assert words < item < reason
    assert "Mild, −1" not in error_list


def test_errors_in_the_same_words_stand_together(both_rubrics: Runs) -> None:
    """Two errors found in one passage of one response have one quotation."""
    words = {"quote": "pull her left arm through"}
    judgments = having(both_rubrics.judgments, pl.col("present"), **words)
    page = render_page(findings(replace(both_rubrics, judgments=judgments)))
    error_list = page[page.index('id="error-list"') : page.index('id="situations"')]
    assert error_list.count("✗ Severe") == 18
    assert error_list.count("<blockquote") == 9


def test_a_shaded_table_with_errors_says_that_these_have_no_shade(page: str) -> None:
    """The key says what is shaded, and so does each table whose cells hold errors too."""
    assert "<span>Shade: score, actions, %</span>" in page
    n_tables = sum(line.count('class="sheet heat many') for line in page.splitlines())
    assert n_tables > 3
    assert page.count("The shade is of the score alone.") == n_tables


def test_how_to_cite(outline: Outline) -> None:
    """The citation names the version, bank, protocol, grader and day, for readers and BibTeX."""
    assert "careeval, version 0.1.0. Bank made-bank 1-A (abc123); protocol 2-A;" in outline.text
    assert "@software{careeval, author = {{The careeval authors}}," in outline.text
    assert "year = {2026}" in outline.text


def test_nothing_graded_is_said() -> None:
    """Without a summary and a response the page says that there is no number, instead of one."""
    text = text_of(render_page(findings(Runs.of([], []))))
    assert "No response has been graded, so there is no number." in text
    assert "There is no public response to show." in text


def test_the_file_is_the_page(two_systems: Findings, tmp_path: Path) -> None:
    """The same runs give the same file, byte for byte, in a folder that need not be there."""
    for name in ("a", "b"):
        write_page(two_systems, tmp_path / name / "page.html", title="A title")
    first, second = ((tmp_path / name / "page.html").read_bytes() for name in ("a", "b"))
    assert first == second
    assert b"<h1>A title</h1>" in first


@pytest.mark.parametrize("is_graded", [True, False])
def test_no_link_to_responses_that_are_left_out(two_systems: Findings, is_graded: bool) -> None:
    """Neither on a page with numbers nor on one without."""
    results = two_systems if is_graded else findings(Runs.of([], []))
    ids = Outline(render_page(results, responses=False)).ids
    assert "responses" not in ids
    assert ("overview" in ids) == is_graded


def test_every_section_of_the_tree_is_in_the_navigation(page: str, outline: Outline) -> None:
    """Each link of the navigation leads to a section, and each section has one."""
    nav = re.search("<nav.*?</nav>", page, re.S)
    assert nav
    ids = [attrs["id"] for tag, attrs in outline.tags if tag == "section"]
    assert re.findall(r'href="#([^"]+)"', nav[0]) == ids
