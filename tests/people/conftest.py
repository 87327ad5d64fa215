"""A bank of three made-up scenarios, a study over it, an audit, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from careeval.bank import Bank, load_bank
from careeval.core.scenario import Rubric
from careeval.people.store import Store
from careeval.people.study.plan import StudyPlan
from support.bank_folder import GOOD_BANK
from support.chromium import chromium
from support.review_audit import Audit, audit_plan
from support.review_study import Study, made_plan


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    """Three scenarios that differ in their ids alone."""
    root = tmp_path_factory.mktemp("review") / "bank"
    shutil.copytree(GOOD_BANK, root)
    text = (root / "dressing/dressing-001.yaml").read_text(encoding="utf-8")
    for n in (2, 3):
        new = text.replace("id: dressing-001", f"id: dressing-00{n}")
        (root / f"dressing/dressing-00{n}.yaml").write_text(new, encoding="utf-8")
    return load_bank(root, probes=False)


@pytest.fixture(scope="session")
def plan(bank: Bank) -> StudyPlan:
    """Three raters, everybody rates everything; the ladder is asked about too."""
    return made_plan(bank, rubrics=[Rubric.ladder])


@pytest.fixture
def make_study(bank: Bank, tmp_path: Path) -> Iterator[Callable[[StudyPlan], Study]]:
    """Write and serve a study."""
    made: list[Study] = []

    def make(plan: StudyPlan) -> Study:
        store = Store.create(tmp_path / f"{len(made)}.db", "study", plan.json_text())
        tokens = {seat.id: store.add_rater(seat.rater) for seat in plan.seats}
        made.append(Study(bank, plan, store, tokens, []))
        return made[-1]

    yield make
    for study in made:
        study.close()


@pytest.fixture
def study(make_study: Callable[[StudyPlan], Study], plan: StudyPlan) -> Study:
    """The study."""
    return make_study(plan)


@pytest.fixture
def audit(tmp_path: Path) -> Iterator[Audit]:
    """An audit of six made-up judgments, by two labellers and an adjudicator."""
    audit = Audit.new(audit_plan(), tmp_path / "audit.db")
    yield audit
    audit.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that keeps to itself."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """An empty tab on a desk, of nobody yet; it complains when a page does."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    context.close()
    assert complaints == []
