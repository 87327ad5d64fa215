"""An audit by its commands and in a real browser, from a run to numbers worked out by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from careeval.cli.app import OK, run
from support.chromium import IN_A_BROWSER
from support.fake_server import FakeServer
from support.fakes import write_bank
from support.review_browser import ACTIVE, SMALL, check, click, press, served

pytestmark = IN_A_BROWSER

RESPONSES = (
    "I hold the cuff and hand her the blouse.",
    "I pull the cuff over the sleeve.",
    "I lay out the blouse, sleeve first.",
    "I ask which blouse she would like.",
    "I wait while she finds the sleeve.",
    "I sit down beside her.",
)
ITEMS = {
    "Pulls her arm into the cuff.": "pulls",  # −2
    "Asks her about the blouse.": "asks",  # +2
    "Waits for her to reach the sleeve.": "waits",  # +1
}
"""The grader finds one wherever its last word stands in the response."""

# of the four −2 items that the grader calls absent two are drawn, so each of them counts twice
TABLE = """
item, response  grader   A        B        settled
pulls 1         present  present  present  -
pulls 2         present  present  absent   absent
pulls 3         absent   present  present  -
pulls 4         absent   absent   absent   -
asks  1         present  present  present  -
asks  3         present  present  present  -
asks  4         present  absent   present  -
asks  2         absent   present  present  -
asks  5         absent   absent   absent   -
asks  6         absent   unsure   absent   -
waits 2         present  present  present  -
waits 3         present  absent   absent   -
waits 5         present  present  present  -
waits 1         absent   absent   absent   -
waits 4         absent   absent   absent   -
waits 6         absent   absent   present  present
"""
ROWS = {(item, int(n)): said for item, n, *said in map(str.split, TABLE.splitlines()[2:])}
GRADER, A, B, SETTLED = range(4)

# each class stands for 6 judgments. pp: present to both, aa: absent to both. Positive agreement is
# 2pp / (2pp + those present to one alone). AC1 is (po - pe) / (1 - pe), po the share said alike,
# pe = 2s(1 - s), s the share of readings that say present.
BY_HAND: dict[int, dict[str, Any]] = {
    # pulls. Grader: pp 1 (response 1), invented 1 (2), missed 2 (3, twice), aa 2 (4, twice).
    # F1 is 2/5 of present and 4/7 of absent. po = 3/6, s = (2 + 3)/12, pe = 35/72,
    # AC1 = (36 - 35) / (72 - 35). A and B: pp 3, one alone 1, aa 2; po = 5/6, s = (4 + 3)/12,
    # AC1 = (60 - 35) / (72 - 35).
    -2: {
        "accuracy": (4, 2, 1 / 3, 2 / 3, 1 / 2, (2 / 5 + 4 / 7) / 2),
        "grader": (4, 1, 3, 2 / 5, 1 / 37),
        "people": (4, 2, 3, 6 / 7, 25 / 37),
    },
    # waits, all of it settled. Grader: pp 2, invented 1, missed 1, aa 2. po = 4/6, s = 6/12,
    # pe = 1/2. A and B: pp 2, one alone 1, aa 3; po = 5/6, s = (2 + 3)/12, pe = 35/72.
    1: {
        "accuracy": (6, 3, 2 / 3, 2 / 3, 2 / 3, 2 / 3),
        "grader": (6, 2, 4, 2 / 3, 1 / 3),
        "people": (6, 2, 3, 4 / 5, 25 / 37),
    },
    # asks. Response 4 is tied, so the other two that the grader found count 3/2 each; of 6 one is
    # sure, and absent counts. Grader: pp 3, missed 1, aa 2. F1 is 6/7 and 4/5. po = 5/6,
    # s = (4 + 3)/12, pe = 35/72. A and B are both sure of five, and of two of three that the
    # grader calls absent: pp 1 + 1 + 3/2, one alone 1, aa 3/2; po = 5/6, s = 8/12, pe = 4/9,
    # AC1 = (15 - 8) / (18 - 8).
    2: {
        "accuracy": (5, 3, 3 / 4, 1, 1, (6 / 7 + 4 / 5) / 2),
        "grader": (5, 2, 3, 6 / 7, 25 / 37),
        "people": (5, 3, 4, 7 / 8, 7 / 10),
    },
}
"""Points → what the results must say: judgments, how many are so, and the numbers."""


def test_from_a_run_to_results(
    browser: Browser,
    page: Page,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Two label, each their way, one settles two of four disputes: numbers are those by hand.

    Over all 18 judgments: found 1 + 3 + 2, missed 2 + 1 + 1, invented 1 + 0 + 1, cleared 2 + 2 + 2.
    A and B say alike 5 of each 6.
    """
    audit, links = tmp_path / "audit.db", tmp_path / "links.tsv"
    _draw(tmp_path, monkeypatch)
    consent = tmp_path / "consent.txt"
    consent.write_text("Made up for a test.\n", encoding="utf-8")
    new = ["audit", "new", str(tmp_path / "sample.json"), "--labellers", "2", "-o", str(audit)]
    terms = ["--consent", str(consent), "--ethics", "none: a test", "--contact", "t@example.org"]
    assert run([*new, *terms, "--links", str(links)]) == OK
    tokens = dict(re.findall(r"^(\w+)\t.*/i/(\S+)$", links.read_text(encoding="utf-8"), re.M))

    with served("audit", audit) as address:
        _by_keyboard(page, f"{address}/i/{tokens['r01']}")
        context = browser.new_context(
            viewport={"width": 390, "height": 844}, color_scheme="dark", java_script_enabled=False
        )
        _on_a_telephone(context.new_page(), f"{address}/i/{tokens['r02']}")
        context.close()
        page.context.clear_cookies()
        _settle(page, f"{address}/i/{tokens['a01']}")

    capsys.readouterr()
    assert run(["audit", "results", str(audit), "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    assert [found[name] for name in ("n_drawn", "n_settled", "n_adjudicated")] == [16, 15, 2]
    assert [found[name] for name in ("n_single", "n_tied", "n_unsure")] == [1, 1, 0]
    assert found["waiting"] == {"n": 2, "tied": 1, "unsure": 0, "one_sure": 1, "outvoted": 0}
    assert found["as_drawn"] == {
        "found": 5, "missed": 3, "invented": 2, "cleared": 5, "unresolved": 0,
    }  # fmt: skip
    by_points = {each["points"]: each for each in found["by_points"]}
    assert by_points.keys() == BY_HAND.keys()
    for points, by_hand in BY_HAND.items():
        one = by_points[points]
        assert _numbers(one, *ACCURACY) == pytest.approx(by_hand["accuracy"]), points
        assert _numbers(one["agreement"], *AGREEMENT) == pytest.approx(by_hand["grader"]), points
        assert _numbers(one["people"], *AGREEMENT) == pytest.approx(by_hand["people"]), points
    overall = (15, 2 + 3 + 3, 6 / 10, 6 / 8, 6 / 8, 2 / 3)
    assert _numbers(found["overall"], *ACCURACY) == pytest.approx(overall)
    assert _numbers(found["severe"], *ACCURACY) == pytest.approx(BY_HAND[-2]["accuracy"])
    people = found["people"]
    assert _numbers(people["severe"], "n", "same") == pytest.approx((4, 5 / 6))
    assert _numbers(people["overall"], "n", "same") == pytest.approx((15, 5 / 6))

    monkeypatch.setenv("COLUMNS", "220")
    assert run(["audit", "results", str(audit)]) == OK
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    for line in (
        "−2 items 4 2 33.3 66.7 66.7 50.0 0.49 – –",
        "actions −2 4 2 33.3 66.7 66.7 50.0 0.49 40.0 0.03",
        "−2 items 4 83.3 0.83 – –",
        "actions −2 4 – – 85.7 0.68",
    ):
        assert line in lines
    assert lines[0].startswith("2 judgments wait for somebody to adjudicate: 1 tied and left out")


ACCURACY = ("n", "n_present", "sensitivity", "specificity", "ppv", "macro_f1")
AGREEMENT = ("n", "n_both", "n_either", "positive_agreement", "ac1")


def _numbers(record: dict[str, Any], *names: str) -> tuple[float, ...]:
    """Return numbers of a record, of an estimate its value."""
    each = (record[name] for name in names)
    return tuple(one["value"] if isinstance(one, dict) else one for one in each)


def _draw(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have six answers graded, and draw what the table has of them."""
    ids = [f"dressing-{n:03}" for n in range(1, len(RESPONSES) + 1)]
    write_bank(folder / "bank", ids)
    answers = folder / "answers.jsonl"
    rows = [{"scenario": each, "response": text} for each, text in zip(ids, RESPONSES, strict=True)]
    answers.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    graded = ["--bank", str(folder / "bank"), "--grader", "openai-api/fake/grader", "--yes"]
    with FakeServer() as server:
        monkeypatch.setenv("FAKE_BASE_URL", server.base_url)
        monkeypatch.setenv("FAKE_API_KEY", "planted")
        runs = str(folder / "runs")
        assert run(["run", "--responses", str(answers), *graded, "-o", runs]) == OK
    sizes = ["--n", "12", "--severe-found", "2", "--severe-cleared", "2"]
    sample = folder / "sample.json"
    assert run(["audit", "sample", runs, "-o", str(sample), *sizes]) == OK
    drawn = json.loads(sample.read_text(encoding="utf-8"))
    words = {
        item["judgment"]: (ITEMS[item["text"]], 1 + RESPONSES.index(response["text"]))
        for response in drawn["shown"]
        for item in response["items"]
    }
    strata = drawn["hidden"]["strata"]
    assert {words[each["judgment"]]: strata[each["stratum"]]["present"]
            for each in drawn["hidden"]["drawn"]} == {
        row: said[GRADER] == "present" for row, said in ROWS.items()
    }  # fmt: skip


def _row(page: Page) -> list[str]:
    """Return the table's row of the judgment that a page shows, by its words alone."""
    item = page.locator("h2#item").evaluate("heading => heading.lastChild.textContent.trim()")
    response = page.locator("#response").inner_text()
    return ROWS[ITEMS[item], 1 + RESPONSES.index(response)]


def _look(page: Page, place: str) -> None:
    """Check a page, and leave it as it was."""
    check(page, place)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    page.reload()


def _by_keyboard(page: Page, link: str) -> None:
    page.goto(link)
    for text in ("Start", "I agree", "rather not", "Skip the practice"):
        _look(page, f"before {text}")
        press(page, text)
    for n in range(len(ROWS)):
        if n == 0:
            _look(page, "label")
        for _ in range(20):
            page.keyboard.press("Tab")
            if page.evaluate(ACTIVE)["type"] == "radio":
                break
        page.keyboard.press(_row(page)[A][0])  # p, a or u
        expect(page.locator("#saved")).to_contain_text("Saved")
        with page.expect_navigation():
            page.keyboard.press("Control+Enter")
    press(page, "overview")
    _look(page, "overview")
    press(page, "Finish")
    press(page, "Hand in")
    _look(page, "handed in")
    assert page.locator("h1").inner_text() == "Thank you"


def _on_a_telephone(page: Page, link: str) -> None:
    """Label without scripts; no page is wider than the window or has a small target."""
    page.goto(link)

    def go(button: str) -> None:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
        assert page.evaluate(SMALL) == [], page.url
        click(page, button)

    for button in ("Start", "I agree", "rather not", "Skip the practice"):
        go(button)
    for _ in ROWS:
        page.get_by_role("radio", name=_row(page)[B].capitalize()).check()
        go("Save and next")
    go("Hand in")
    assert page.locator("h1").inner_text() == "Thank you"


def _settle(page: Page, link: str) -> None:
    """Settle two of the four on which they differ or one is unsure, and leave the others."""
    page.goto(link)
    for text in ("Start", "I agree", "rather not", "Skip the practice"):
        press(page, text)
    _look(page, "settle")
    for _ in range(4):
        *_, a, b, settled = _row(page)
        assert sorted(page.locator(".readings h3").evaluate_all(
            "all => all.map(each => each.lastChild.textContent.trim())"
        )) == sorted((a.capitalize(), b.capitalize()))  # fmt: skip
        if settled == "-":
            press(page, "Skip for now")
            continue
        page.get_by_role("radio", name=settled.capitalize()).check()
        page.get_by_label("Why?").fill("read again")
        press(page, "Save and next")
    assert "2 of 4 disagreements are done" in page.locator("main").inner_text()
    _look(page, "left out")
    press(page, "I have finished, and leave the rest out")
    assert "You have told us that you have finished" in page.locator("main").inner_text()
