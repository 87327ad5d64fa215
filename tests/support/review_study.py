"""A study over three made-up scenarios, served to test browsers. Its raters stand for nobody."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from typing import Any

from starlette.testclient import TestClient

from careeval.bank import Bank
from careeval.core.rating import Role
from careeval.people.plan import Addresses, Consent
from careeval.people.store import Store
from careeval.people.study.plan import StudyPlan, new_plan
from careeval.people.web.app import create_app

PORT = 8799
ORIGIN = f"http://127.0.0.1:{PORT}"

CONSENT = Consent(
    text="Made up for tests.\n\nNobody is asked.", ethics="none: a test", contact="test@example.org"
)
ROLES = [Role.occupational_therapist, Role.occupational_therapist, Role.family_caregiver]


def made_plan(
    bank: Bank, roles: Sequence[Role] = ROLES, *, title: str = "A test", **more: Any
) -> StudyPlan:
    """Plan a study of three raters."""
    settled = {"study_id": "aaaa", "consent": CONSENT, "seed": 7}
    return new_plan(bank, roles, title=title, **{**settled, **more})


class ServedWork:
    """A study or an audit being served to test clients."""

    bank: Bank | None
    store: Store
    tokens: dict[str, str]
    clients: list[TestClient]

    def client(self, rater: str = "") -> TestClient:
        """A browser; of a rater who has agreed and practised, where one is named."""
        app = create_app(self.bank, self.store, Addresses.loopback(PORT))
        client = TestClient(app, ORIGIN, headers={"Origin": ORIGIN}, follow_redirects=False)
        self.clients.append(client)
        if rater:
            client.post(f"/i/{self.tokens[rater]}", data={"go": "start"})
            client.post("/consent", data={"agree": "yes"})
            client.post("/about", data={"years": "12"})
            client.post("/practice/1", data={"go": "skip"})
        return client

    def arrived(self, rater: str) -> TestClient:
        """A browser in which a rater has followed their link, and no more."""
        client = self.client()
        client.post(f"/i/{self.tokens[rater]}", data={"go": "start"})
        return client

    def dump(self) -> list[str]:
        """All that is in the file."""
        with closing(sqlite3.connect(self.store.path)) as copy:
            return list(copy.iterdump())

    def close(self) -> None:
        """Let everything go."""
        for client in self.clients:
            client.close()
        self.store.close()


@dataclass
class Study(ServedWork):
    """A study being served to test clients."""

    bank: Bank
    plan: StudyPlan
    store: Store
    tokens: dict[str, str]
    clients: list[TestClient]

    @property
    def first_task(self) -> str:
        """The name that the store gives to the first scenario of r01."""
        return self.plan.task(self.plan.seats[0].scenarios[0])


def hidden(html: str) -> dict[str, str]:
    """The hidden fields of a page's form."""
    inputs = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', html)
    return {unescape(name): unescape(value) for name, value in inputs}


def fill(client: TestClient, n: int, answers: dict[str, str], go: str = "next") -> Any:
    """Open a scenario, answer, and press a button; what comes back."""
    return put(client, f"/rate/{n}", answers, go)


def put(client: TestClient, path: str, answers: dict[str, str], go: str = "next") -> Any:
    """Open a page, answer, and press a button; what comes back."""
    form = hidden(client.get(path).text) | answers
    return client.post(path, data=form | ({"go": go} if go else {}))
