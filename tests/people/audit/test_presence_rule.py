"""People who check a grader judge by its rule: sentence by sentence, wherever they judge."""

from __future__ import annotations

import hashlib
import re
from html import unescape
from importlib.resources import files

from support.review_audit import FIRST, SECOND, Audit

RULE = files("careeval.people.web").joinpath("templates/present.html").read_text("utf-8")
SAID = [" ".join(said.split()) for said in re.findall(r"<li>(.*?)</li>", RULE, re.DOTALL)]
"""The rule in the words for people, by paragraph; the last says when to choose Unsure."""

GRADERS_ARE_TOLD = "395922121f37d4f5"
"""A hash of the rule in the grader's prompt when `RULE` was last compared with it."""


def _n_sentences(text: str) -> int:
    return len(re.split(r"(?<=\.) ", text))


def test_it_says_what_graders_are_told() -> None:
    """Each sentence of the rule in the grader's prompt has one for people, in the same order."""
    prompt = files("careeval.modes.response").joinpath("prompts/grade-system.md").read_text("utf-8")
    told = [line[2:] for line in prompt.splitlines() if line.startswith("- ")]
    digest = hashlib.sha256("\n".join(told).encode()).hexdigest()[:16]
    assert digest == GRADERS_ARE_TOLD, "say what changed to people too, in RULE, and then here"
    assert list(map(_n_sentences, told)) == list(map(_n_sentences, SAID[:-1]))


def _missing(html: str) -> list[str]:
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
    return [said for said in SAID if said not in text]


def test_it_stands_wherever_somebody_judges(audit: Audit) -> None:
    """On every page of practice and of judgments, above the choice and folded; and in the help."""
    labeller = audit.client("r01")
    pages = {place: labeller.get(place).text for place in ("/label/1", "/label/6", "/practice/3")}
    assert _missing(labeller.get("/help").text) == []
    assert "<details" not in labeller.get("/help").text
    audit.label("r01", FIRST)
    audit.label("r02", SECOND)
    pages["/settle/1"] = audit.client("a01").get("/settle/1").text
    for place, html in pages.items():
        rule, choice = html.index("What counts as present"), html.index('type="radio"')
        assert _missing(html[rule:choice]) == [], place
        assert html.rindex("<details", 0, rule) < html.index("</details>", rule) < choice, place
        assert " open" not in html[html.rindex("<details", 0, rule) : rule], place


def test_the_adjudicator_practises_too(audit: Audit) -> None:
    """The adjudicator does the practice first, with the item that is half present."""
    client = audit.client()
    client.post(f"/i/{audit.tokens['a01']}", data={"go": "x"})
    client.post("/consent", data={"agree": "yes"})
    client.post("/about", data={"go": "skip"})
    seen = []
    while (place := client.get("/").headers["location"]).startswith("/practice/"):
        seen.append(client.post(place, data={"go": "try"}).text)
        client.post(place, data={"go": "next"})
    assert place == "/overview"
    assert sum("Every part must be there" in text for text in seen) == 1
