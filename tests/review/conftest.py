"""A bank of three made-up scenarios, and a study over it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bank_folder import GOOD_BANK
from careeval.bank import Bank, load_bank
from careeval.core.scenario import Rubric
from careeval.review.store import Store
from careeval.review.study import StudyPlan, new_plan
from review_study import CONSENT, ROLES, Study


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
    return new_plan(bank, ROLES, title="A test", consent=CONSENT, seed=7, rubrics=[Rubric.ladder])


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
