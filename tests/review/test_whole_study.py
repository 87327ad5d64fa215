"""A study by its commands and in a real browser, from the plan to numbers worked out by hand."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from bank_folder import GOOD_BANK
from careeval.cli.app import OK, run
from chromium import IN_A_BROWSER

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

    with _served(study) as address:
        for rater, (realism, validity) in GIVEN.items():
            context = browser.new_context(java_script_enabled=False)
            page = context.new_page()
            page.goto(f"{address}/i/{tokens[rater]}")
            for button in ("Start", "I agree", "rather not", "Skip the practice"):
                page.get_by_role("button", name=button).click()
            page.locator(f"[name='q.realism'][value='{realism}']").check()
            page.locator(f"[name='q.validity'][value='{validity}']").check()
            page.get_by_label("Comment on this scenario").fill(f"from {rater}")
            page.get_by_role("button", name="Save and next").click()
            page.get_by_role("button", name="I have finished").click()
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


def _numbers(scale: dict[str, Any]) -> tuple[float, ...]:
    cvi = scale["i_cvi"]
    return cvi["k"], cvi["n"], scale["modified_kappa"], scale["aiken_v"]["value"]


@contextmanager
def _served(study: Path) -> Iterator[str]:
    """The command `careeval study serve`, and the address that it tells; ended as by Ctrl-C."""
    command = [sys.executable, "-m", "careeval", "study", "serve", str(study)]
    server = subprocess.Popen(
        [*command, "--bank", str(GOOD_BANK), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    try:
        assert server.stderr is not None
        told = re.search(r"http://[\d.:]+\d", server.stderr.readline())
        assert told is not None
        yield told.group()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)
        assert server.stderr is not None
        server.stderr.close()
