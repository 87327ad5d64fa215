"""An audit of six made-up judgments, served to test browsers. Nobody and no grader gave them.

By hand: two labellers agree on four of the five judgments of which both are sure. Once the fifth
and the one that somebody is unsure of are settled, of three items that are there the grader found
two, and of three that are not it cleared two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from careeval.core.rating import Label, Role
from careeval.core.scenario import Rubric
from careeval.people.audit.labels import LabelledAudit
from careeval.people.audit.plan import AuditPlan, new_audit
from careeval.people.audit.sample import (
    AuditSample,
    DrawnJudgment,
    Hidden,
    ItemToJudge,
    ShownResponse,
    Stratum,
)
from careeval.people.store import Store
from support.review_study import CONSENT, ServedWork, hidden, put

SCENARIO = "A blouse with six buttons.\n\nWhat do you do?"

SHOWN = (
    ShownResponse(
        "r00001",
        SCENARIO,
        "I wait beside you.\n\nThen I hold the cloth, if you <b>like</b>.",
        (ItemToJudge("j00001", "Waits."), ItemToJudge("j00002", "Takes over the task.")),
    ),
    ShownResponse(
        "r00002",
        SCENARIO,
        "Let me do the rest, it is faster.",
        (ItemToJudge("j00003", "Takes over the task."), ItemToJudge("j00004", "Asks beforehand.")),
    ),
    ShownResponse(
        "r00003",
        SCENARIO,
        "May I help with the next one?",
        (ItemToJudge("j00005", "Asks beforehand."), ItemToJudge("j00006", "Waits.")),
    ),
)

STRATA = (
    Stratum(Rubric.ladder, 2, True, "robot-a", 1, 1),
    Stratum(Rubric.ladder, -2, True, "robot-a", 2, 2),
    Stratum(Rubric.ladder, 1, False, "robot-a", 2, 2),
    Stratum(Rubric.ladder, 2, False, "robot-a", 1, 1),
)

FIRST = {
    "1": "present",
    "2": "absent",
    "3": "present",
    "4": "absent",
    "5": "present",
    "6": "unsure",
}
SECOND = {
    "1": "present",
    "2": "absent",
    "3": "absent",
    "4": "absent",
    "5": "present",
    "6": "absent",
}
FINAL = {"3": "present", "6": "absent"}
"""What is said of each judgment, by the last digit of its id."""


def audit_sample() -> AuditSample:
    """The judgments, with what the grader said of them."""
    strata = (0, 1, 1, 2, 2, 3)
    drawn = tuple(
        DrawnJudgment(item.judgment, response.id, stratum, response.id, 1, item.text, whole=False)
        for (response, item), stratum in zip(
            [(response, item) for response in SHOWN for item in response.items], strata, strict=True
        )
    )
    about: dict[str, Any] = dict.fromkeys(("bank", "bank_version", "protocol"), "bank-x")
    return AuditSample(
        SHOWN,
        Hidden(
            **about,
            bank_hashes=("hash-x",),
            grader="grader-x",
            seed=20,
            strata=STRATA,
            drawn=drawn,
            graded=(),
            left_out={},
        ),
    )


def otherwise() -> AuditSample:
    """The same to whoever labels; all that is hidden is another."""
    sample = audit_sample()
    strata = [
        replace(each, points=-each.points, present=not each.present, system="robot-z", of=50)
        for each in STRATA
    ]
    drawn = [replace(each, scenario="other", epoch=7) for each in sample.hidden.drawn]
    other = replace(sample.hidden, grader="grader-z", strata=tuple(strata), drawn=tuple(drawn))
    return replace(sample, hidden=other)


def audit_plan(sample: AuditSample | None = None, **asked: Any) -> AuditPlan:
    """Two labellers, everybody labels everything."""
    roles = [Role.occupational_therapist, Role.family_caregiver]
    whole = sample or audit_sample()
    return new_audit(whole, roles, title="A test", consent=CONSENT, seed=3, **asked)


@dataclass
class Audit(ServedWork):
    """An audit being served to test clients."""

    bank = None
    plan: AuditPlan
    store: Store
    tokens: dict[str, str]
    clients: list[TestClient]

    @classmethod
    def new(cls, plan: AuditPlan, path: Path) -> Audit:
        """Write it."""
        store = Store.create(path, "audit", plan.json_text())
        return cls(plan, store, {r.id: store.add_rater(r) for r in plan.raters}, [])

    def label(self, rater: str, says: dict[str, str]) -> TestClient:
        """Have somebody label everything, and hand in."""
        client = self.client(rater)
        for n in range(1, 7):
            task = hidden(client.get(f"/label/{n}").text)["task"]
            put(client, f"/label/{n}", {"q.says": says[task[-1]], "q.note": f"noted of {task}"})
        client.post("/finish", data={"go": "x"})
        return client

    def labels(self) -> list[Label]:
        """All labels so far."""
        return LabelledAudit(self.plan.blind(), self.store.all_work()).labels
