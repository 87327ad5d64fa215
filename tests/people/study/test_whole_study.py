"""A study by its commands and in a real browser, from the plan to numbers worked out by hand."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser

from careeval.cli.app import OK, run
from careeval.core.scenario import Status
from support.bank_folder import GOOD_BANK, SCENARIO, BankFolder
from support.chromium import IN_A_BROWSER
from support.review_browser import click, served

pytestmark = IN_A_BROWSER

GIVEN = {"r01": ("5", "5"), "r02": ("4", "5"), "r03": ("2", "4")}
"""What each rater gives the one scenario: realism, validity."""


def test_from_serve_to_results(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three raters rate in a browser, and every number of the one scenario is that by hand.

    Realism 5 4 2: two of three endorse, and the paper's rule needs all three. By chance two of
    three would with 3 × 0.5³ = 0.375, so that kappa is (2/3 - 0.375) / 0.625 = 0.46667; V is
    (4 + 3 + 1) / (3 × 4) = 2/3. Validity 5 5 4: three of three, and V is 11/12.
    """
    study, links = tmp_path / "study.db", tmp_path / "links.tsv"
    consent = tmp_path / "consent.txt"
    consent.write_text("Made up for a test.\n", encoding="utf-8")
    terms = ["--consent", str(consent), "--ethics", "none: a test", "--contact", "t@example.org"]
    raters = ["--raters", "occupational-therapist:2", "roboticist:1"]
    plan = ["study", "new", str(GOOD_BANK), "-o", str(study), "--links", str(links)]
    assert run([*plan, *raters, *terms]) == OK
    tokens = dict(re.findall(r"^(r\d+)\t.*/i/(\S+)$", links.read_text(encoding="utf-8"), re.M))

    with served("study", study, GOOD_BANK) as address:
        for rater, (realism, validity) in GIVEN.items():
            context = browser.new_context(java_script_enabled=False)
            page = context.new_page()
            page.goto(f"{address}/i/{tokens[rater]}")
            for button in ("Start", "I agree", "rather not", "Skip the practice"):
                click(page, button)
            page.locator(f"[name='q.realism'][value='{realism}']").check()
            page.locator(f"[name='q.validity'][value='{validity}']").check()
            page.get_by_label("Yes", exact=True).check()
            page.get_by_label("Comment on this scenario").fill(f"from {rater}")
            click(page, "Save and next")
            click(page, "I have finished")
            assert page.locator("h1").inner_text() == "Thank you"
            context.close()

    assert run(["study", "close", str(study)]) == OK
    capsys.readouterr()
    assert run(["study", "results", str(study), "--bank", str(GOOD_BANK), "--json"]) == OK
    found = json.loads(capsys.readouterr().out)
    (scenario,) = found["scenarios"]
    assert found["decisions"] == {"keep": 0, "revise": 1, "drop": 0, "undecided": 0}
    assert _numbers(scenario["realism"]) == pytest.approx((2, 3, 0.46667, 2 / 3), abs=1e-5)
    assert _numbers(scenario["validity"]) == pytest.approx((3, 3, 1, 11 / 12))
    assert (scenario["realism"]["passes"], scenario["validity"]["passes"]) == (False, True)
    said = {(each["role"], each["text"]) for each in scenario["comments"]}
    assert said == {
        ("occupational-therapist", "from r01"),
        ("occupational-therapist", "from r02"),
        ("roboticist", "from r03"),
    }


REJECTED = "Asks her where it hurts."


def test_a_rejected_item_a_replaced_rater_and_a_second_round(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Five rate in four kinds of browser: reviewed for a rejected item, validated once revised.

    In the second round the first of them looks at every page with axe; it finds nothing there.

    r05 never comes, and r06 takes the place. All give 5 and agree to the points, but call one act
    not relevant: 0 of 5, a modified kappa of (0 - 0.03125) / 0.96875, which is under .74. In the
    second round the act has other words, and all call it relevant.
    """
    folder = BankFolder.good(tmp_path / "bank")
    study, links = tmp_path / "study.db", tmp_path / "links.tsv"
    (tmp_path / "consent.txt").write_text("Made up for a test.\n", encoding="utf-8")
    terms = ["--consent", str(tmp_path / "consent.txt"), "--ethics", "none: a test"]
    raters = ["--raters", "occupational-therapist:3", "family-caregiver:2", "--items", "--points"]
    plan = ["study", "new", str(folder.root), "-o", str(study), "--links", str(links)]
    assert run([*plan, *raters, *terms, "--contact", "t@example.org"]) == OK
    tokens = dict(re.findall(r"^(r\d+)\t.*/i/(\S+)$", links.read_text(encoding="utf-8"), re.M))
    bank = ["--bank", str(folder.root)]
    capsys.readouterr()
    assert run(["study", "invite", str(study), "--replace", "r05", *bank]) == OK
    tokens["r06"] = capsys.readouterr().out.rpartition("/i/")[2].strip()
    del tokens["r05"]

    ways: list[dict[str, Any]] = [
        {"viewport": {"width": 1280, "height": 900}},
        {"viewport": {"width": 390, "height": 844}},
        {"java_script_enabled": False},
        {"color_scheme": "dark", "java_script_enabled": False},
        {"java_script_enabled": False},
    ]
    with served("study", study, folder.root) as address:
        for token, way in zip(tokens.values(), ways, strict=True):
            _rate_all(browser, f"{address}/i/{token}", way, rejecting=REJECTED)
    apply = ["study", "apply", str(study), *bank, "--yes"]
    assert run(apply) == OK
    bank_now = folder.load()
    scenario = bank_now.scenario("dressing-001")
    (evidence,) = bank_now.evidence(scenario)
    assert scenario.status is Status.reviewed
    assert evidence.rejected == ("actions/asks-where",)
    assert (evidence.realism, evidence.objections) == ("5/5", 0)
    assert evidence.raters == {"occupational-therapist": 3, "family-caregiver": 2}

    folder.plant(SCENARIO, "version: 1\n", "version: 2\n")
    folder.plant(SCENARIO, REJECTED, "Asks her to show where it hurts.")
    assert run(["study", "round", str(study), *bank, "--yes"]) == OK
    with served("study", study, folder.root) as address:
        _sees_what_changed(browser, f"{address}/i/{tokens['r01']}")
        for number, token in enumerate(tokens.values()):
            _rate_all(browser, f"{address}/i/{token}", {"java_script_enabled": number == 0})
    assert run(apply) == OK
    bank_now = folder.load()
    scenario = bank_now.scenario("dressing-001")
    assert scenario.status is Status.validated
    assert [each.rejected for each in bank_now.evidence(scenario)] == [("actions/asks-where",), ()]


def _sees_what_changed(browser: Browser, link: str) -> None:
    """In the second round the reworded act and validity are asked about, with what was answered."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    click(page, "Start")
    names = {
        each.get_attribute("name") for each in page.locator("form#rate input[type=radio]").all()
    }
    assert {name.rpartition("/")[2] for name in names if name} == {"q.validity", "relevance"}
    assert len(names) == 2
    text = page.locator("main").inner_text()
    assert f"It was: {REJECTED}" in text
    assert "Your answer before: “1, not at all relevant: not worth looking for”" in text
    context.close()


FILL = """(rejecting) => {
  for (const field of document.querySelectorAll("form#rate fieldset")) {
    const values = Array.from(field.querySelectorAll("input"), (input) => input.value);
    const item = field.closest("section.item")?.querySelector("h3").innerText ?? "";
    const value = ["agree", "enough"].find((each) => values.includes(each))
      ?? (rejecting && item.includes(rejecting) ? "1" : "5");
    field.querySelector(`input[value="${value}"]`).click();
  }
}"""
"""Chooses 5, agreement or enough in every field of a page, and 1 for the relevance of one item."""


def _rate_all(browser: Browser, link: str, way: Mapping[str, Any], *, rejecting: str = "") -> None:
    """Rate all in a browser: 5 and agreement everywhere, but 1 for the relevance of an item.

    Where scripts run, axe finds nothing on any page of the way.
    """
    context = browser.new_context(**way)
    page = context.new_page()
    page.goto(link)
    for _ in range(12):
        if way.get("java_script_enabled", True):
            assert Axe().run(page).response["violations"] == [], page.url
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), page.url
        if page.locator("h1").inner_text() == "Thank you":
            break
        page.evaluate(FILL, rejecting)
        for name in ("Start", "I agree", "rather not", "Skip the practice", "Save and next",
                     "I have finished"):  # fmt: skip
            if (button := page.get_by_role("button", name=name)).count():
                with page.expect_navigation():
                    button.first.click()
                break
    assert page.locator("h1").inner_text() == "Thank you"
    context.close()


def _numbers(scale: dict[str, Any]) -> tuple[float, ...]:
    cvi = scale["i_cvi"]
    return cvi["k"], cvi["n"], scale["modified_kappa"], scale["aiken_v"]["value"]
