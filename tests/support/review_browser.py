"""Helpers for tests in a real browser: a server, pressing keys, and checking accessibility."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page

from careeval.people.store import Store, Work

ACTIVE = (
    "({tag: document.activeElement.tagName, type: document.activeElement.type,"
    " text: document.activeElement.textContent.trim(), checked: document.activeElement.checked,"
    " name: document.activeElement.name})"
)


@contextmanager
def served(kind: str, file: Path, bank: Path | None = None) -> Iterator[str]:
    """Run `careeval study serve` or `audit serve`; give the address that it tells, end by Ctrl-C.

    Args:
        kind: `study` or `audit`.
        file: Of the study or the audit.
        bank: Of a study.
    """
    command = [sys.executable, "-m", "careeval", kind, "serve", str(file), "--port", "0"]
    server = subprocess.Popen(
        [*command, *(["--bank", str(bank)] if bank else [])],
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
        server.wait(60)
        assert server.stderr is not None
        server.stderr.close()


SERVE = """
import sys
from pathlib import Path
from careeval.bank import load_bank
from careeval.people.web.app import serve
bank = load_bank(sys.argv[2], probes=False) if sys.argv[2:] else None
serve(Path(sys.argv[1]), bank, port=0, ready=lambda address: print(address, flush=True))
"""


@dataclass(frozen=True)
class Served:
    """A study or an audit that is being served."""

    address: str
    path: Path
    tokens: dict[str, str]

    def work(self, rater: str) -> Work:
        """A rater's answers in its file."""
        store = Store.open(self.path)
        try:
            return store.work(rater)
        finally:
            store.close()

    def enter(self, page: Page, rater: str) -> None:
        """Come as far as the first page of work."""
        page.goto(f"{self.address}/i/{self.tokens[rater]}")
        click(page, "Start")
        if page.url.endswith("/consent"):
            click(page, "I agree")
            click(page, "rather not")
        if "/practice/" in page.url:
            click(page, "Skip the practice")


@contextmanager
def serving(path: Path, tokens: dict[str, str], *bank: Path) -> Iterator[Served]:
    """Serve a study, of this bank, or an audit; the server ends well when it is told to."""
    command = [sys.executable, "-c", SERVE, str(path), *map(str, bank)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    yield Served(server.stdout.readline().strip(), path, tokens)
    server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0
    server.stdout.close()


def tab_to(page: Page, text: str) -> None:
    """Press Tab until what has the focus says that."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if text in page.evaluate(ACTIVE)["text"]:
            return
    raise AssertionError(f"the keyboard does not reach {text!r} on {page.url}")


def press(page: Page, text: str) -> None:
    """Go to a button or link with Tab, and press it."""
    tab_to(page, text)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def click(page: Page, name: str) -> None:
    """Click a button that leads to another page, and wait until that page is there."""
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()


def check(page: Page, place: str) -> None:
    """An automatic check finds nothing, light or dark; nothing is too wide or a small target."""
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
    results = Axe().run(page)
    assert results.violations_count == 0, f"{place}\n{results.generate_report()}"
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate("axe.run({runOnly: ['color-contrast']})")  # the script is there now
    assert dark["violations"] == [], f"{place}, dark"
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, place
    small = page.evaluate(SMALL)
    assert small == [], place


TARGETS = "button, .choices label, nav a, footer a, .rows a, textarea"
SMALL = f"""Array.from(document.querySelectorAll('{TARGETS}')).filter((e) => {{
  const box = e.getBoundingClientRect();
  return e.checkVisibility() && Math.min(box.width, box.height) < 44;
}}).map((e) => e.outerHTML)"""
