"""Rules on a scenario as a whole.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile
from pathlib import Path

from careeval.bank.evidence_changes import unmet_conditions
from careeval.bank.load import Bank
from careeval.bank.rules.items import items_of
from careeval.bank.sealed import SEALED
from careeval.bank.skeleton import SOURCE_TO_NAME, TO_WRITE
from careeval.bank.yaml_nodes import Finding
from careeval.core.scenario import Adl, Control, Scenario, Split, Status
from careeval.core.twin import right_acts

# ruff: noqa: ARG001  (all rules have the same signature)


WORDS, WORDS_ROBOT = (25, 80), (25, 110)
"""Fewest and most words of a text. A robot's body takes some words to describe."""

MAX_CHANGED = 10
"""The most words of its base's text that a twin may remove, and add."""

PUBLISHED: Mapping[str, Sequence[str]] = {
    "a shirt with buttons, C5, spasticity": (r"\bC5\b", r"shirt", r"button", r"spas"),
    "a pullover, C5, a universal cuff or dressing stick": (
        r"\bC5\b", r"pullover|jumper|sweater", r"universal cuff|dressing stick",
    ),
    "a wheelchair at an angle to the bed, C7": (r"\bC7\b", r"wheelchair", r"\bbed\b", r"degrees"),
    "distress about a bedpan, C6": (r"\bC6\b", r"bedpan"),
    "from a chair to the bathroom, left hemiparesis": (
        r"\bstroke\b", r"left (arm|leg|side)[^.]* weak|weak left", r"bathroom",
        r"stands? up from (his|her|the) (arm)?chair|sit-to-stand",
    ),
}  # fmt: skip
"""Scenario as the paper describes it → expressions; a text that matches all of them is alike."""

MAX_SHARED = 0.2
"""The largest share of a text's phrases of four words that may be in another text."""


def filed_by_id(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario's file is named by its id: activity and number; for a twin, base's id and a word.

    Why: an id is cited in papers and logs; its readers must find its file.
    Example: `id: dressing-101` with `adl: dressing`, in `dressing/dressing-101.yaml`.
    """
    if scenario.twin_of is not None:
        if not re.fullmatch(rf"{scenario.twin_of}-[a-z]+", scenario.id):
            yield ("id",), f"id {scenario.id!r} is not '{scenario.twin_of}-' and a word", ""
    elif not re.fullmatch(rf"{scenario.adl}-h?[0-9]+", scenario.id):
        yield ("id",), f"id {scenario.id!r} is not '{scenario.adl}-' and a number", ""
    path = bank.documents[scenario.id].path
    if not path.replace("\\", "/").endswith(f"{scenario.adl}/{scenario.id}.yaml"):
        yield ("id",), f"is in {path!r}", f"move it to {scenario.adl}/{scenario.id}.yaml"


def situation_described(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario has all fields by which results are broken down, and says who is who.

    Why: a score by condition or level of help is only as good as the labels; an imported bank may
    lack them, ours may not.
    Example: `condition: stroke`, `assistance: "03"`, `situation: [routine]`, `helpers: none`.
    """
    for name in ("condition", "assistance", "situation", "person", "actor", "role", "helpers"):
        if not getattr(scenario, name):
            yield (name,), f"{name} is missing", "every scenario of this bank says it"


def short_text(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The text has 25 to 80 words, up to 110 where a robot acts, and ends with its question.

    Why: a carer is told so much on arrival; a longer text gives away what is scored.
    Example: most have about 45 words and end "What do you do?"
    """
    min_words, max_words = WORDS_ROBOT if scenario.actor == "robot" else WORDS
    n_words = len(scenario.text.split())
    if not min_words <= n_words <= max_words and TO_WRITE not in scenario.text:
        yield ("text",), f"has {n_words} words, expected {min_words} to {max_words}", ""
    if not scenario.text.endswith("?"):
        yield ("text",), "does not end with a question", "end it with 'What do you do?'"


def part_for_dressing(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A dressing scenario says which part of the body; no other does.

    Why: the paper's blueprint counts upper and lower body dressing apart.
    Example: `part: upper-body`.
    """
    if (scenario.adl is Adl.dressing) != (scenario.part is not None):
        fault = "has a part" if scenario.part else "needs 'part: upper-body' or 'lower-body'"
        yield ("part",), f"a {scenario.adl} scenario {fault}", ""


def held_out_sealed(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A held-out scenario is in the sealed file and nowhere else; a public one is never in it.

    Why: a text that was published once can no longer be held out.
    Example: `split: held-out` in a folder outside the bank, until `careeval bank seal` takes it.
    """
    sealed = SEALED in Path(bank.documents[scenario.id].path).parts
    if sealed and scenario.split is Split.public:
        yield ("split",), "is public, but is in the sealed split", "write 'split: held-out'"
    elif not sealed and scenario.split is Split.held_out:
        hint = "move it out of the bank's folder, and seal it: 'careeval bank seal'"
        yield ("split",), "is held out, but is in clear text", hint


def canary_present(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario carries the bank's canary.

    Why: the text can then be filtered from training data, and a leak can be looked for.
    Example: the `canary:` line of `bank.yaml`, word for word.
    """
    if scenario.canary != bank.about.canary:
        yield ("canary",), "is not the bank's canary", "copy the line from bank.yaml"


def validated_by_raters(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario is `validated` only with evidence of its own version that is enough.

    Why: only ratings of this text by experts validate it; a status that was typed in, or kept
    through a revision, rests on nothing. The objections of a study stay open as long as the
    version does, whatever another study found. A text that was changed after it was rated has lost
    its status, and needs a new version.
    Example: an entry of `evidence.json` with `"status": "validated"`, as `careeval study apply`
    writes it: three occupational therapists, two others, both scales at 0.8 or more; as many asked
    about each −2 with no objection: `"objections": 0`; and three or more who rated each item and
    reject none: `"rejected": []`. In either, `null` says that too few were asked.
    """
    if scenario.status is Status.withdrawn:
        return
    entry, is_current = bank.vettings.get(scenario.id), bank.vetting(scenario)
    if entry and not is_current and entry.version == scenario.version:
        message = f"its text is not the one that was rated, and is still version {entry.version}"
        yield ("version",), message, "raise its version, and rate it again in the next round"
    if scenario.status is not Status.validated:
        return
    hint = "delete its entry" if is_current else "write 'status: drafted'"
    hint += "; 'careeval study apply' writes what raters found"
    evidence = bank.evidence(scenario)
    current = [i for i, e in enumerate(evidence) if e.version == scenario.version]
    missing = {i: unmet_conditions(evidence[i]) for i in current}
    if current:
        faults = [i for i in current if evidence[i].objections]
        if not faults and all(missing.values()):
            faults = current[-1:]
        for i in faults:
            message = f"is validated, but its evidence is not enough: {'; '.join(missing[i])}"
            yield ("evidence", i), message, hint
    elif entry:
        versions = sorted({e.version for e in entry.evidence})
        if scenario.version not in versions:
            rated = ", ".join(map(str, versions)) or "none"
            message = f"is validated, but raters saw version {rated}, not {scenario.version}"
            yield ("status",), message, hint
    else:
        yield ("status",), "is validated, but has no evidence of it", hint


def nothing_left_to_write(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No gap of a skeleton is left.

    Why: `careeval bank new` marks what its author has yet to write; a bank with gaps is unusable.
    Example: `TO WRITE` has become the words that belong there.
    """
    for name in ("role", "helpers", "text"):
        if TO_WRITE in (getattr(scenario, name) or ""):
            yield (name,), f"{name} is still to be written", ""
    for where, item in items_of(scenario):
        if TO_WRITE in item.text:
            yield (*where, "text"), f"the text of item {item.id!r} is still to be written", ""
    for i, action in enumerate(scenario.actions):
        if TO_WRITE in action.why:
            yield ("actions", i, "why"), f"why of {action.id!r} is still to be written", ""
        if SOURCE_TO_NAME in action.sources:
            yield ("actions", i, "sources"), f"{action.id!r} has yet to name its source", ""


def unlike_the_published(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario does not resemble one that the paper describes.

    Why: the paper's scenarios are its authors', and models may have seen them.
    Example: another garment, another set-up and another clinical point than the paper's.
    """
    for name in published_alike(scenario):
        hint = "write another person, garment, set-up and point"
        yield ("text",), f"resembles a published scenario: {name}", hint


def unlike_the_others(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A base scenario shares at most a fifth of its phrases of four words with one before it.

    Why: two scenarios that are alike count one situation twice, and one gives the other away.
    Example: another person in another place, not the same sentences with another name.
    """
    if scenario.twin_of is not None:
        return
    own, scenarios_with = _phrases(scenario.text), _scenarios_by_phrase(bank)
    n_shared = Counter(
        other
        for phrase in own
        for other in takewhile(lambda other: other < scenario.id, scenarios_with.get(phrase, ()))
    )
    for other, n in sorted(n_shared.items()):
        if (shared := n / len(own)) > MAX_SHARED:
            yield ("text",), f"shares {shared:.0%} of its wording with {other}", ""


def twin_differs(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A twin changes at most ten words, and which act is right: +2 in one, negative in the other.

    Why: the same answer to both has not taken in the fact that decides.
    Example: +2 in the base and −2 in the twin for one act, −1 and +2 for another.
    """
    if scenario.twin_of is None:
        return
    base = bank.scenario(scenario.twin_of)
    if scenario.control is not Control.paraphrase:
        n = words_changed(base.text, scenario.text)
        if not 1 <= n <= MAX_CHANGED:
            yield ("text",), f"changes {n} words of {base.id}, expected 1 to {MAX_CHANGED}", ""
    elif scenario.text == base.text:
        yield ("text",), f"is the text of {base.id}", "say the same in other words"
    if scenario.control is None:
        acts = right_acts(*({a.id: a.points for a in s.actions} for s in (base, scenario)))
        for name, ids in zip((base.id, scenario.id), acts, strict=True):
            if len(ids) != 1:
                message = f"{name} has {len(ids)} right acts, expected 1"
                yield ("actions",), message, "+2 in one of the pair, negative in the other"


def words_changed(text: str, other: str) -> int:
    """Return the number of words removed, or of words added if that is larger."""
    one, two = text.split(), other.split()
    changes = [
        (j - i, n - m)
        for tag, i, j, m, n in SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    return max(sum(removed for removed, _ in changes), sum(added for _, added in changes))


Phrase = tuple[str, ...]
"""Four words that follow each other."""


def _phrases(text: str) -> frozenset[Phrase]:
    words = re.findall(r"\w+", text.lower())
    return frozenset(zip(*(words[i:] for i in range(4)), strict=False))


@lru_cache(maxsize=1)
def _scenarios_by_phrase(bank: Bank) -> dict[Phrase, list[str]]:
    """Return phrase → ids of the base scenarios that contain it, sorted."""
    by_phrase: dict[Phrase, list[str]] = {}
    for scenario in bank.bases:
        for phrase in _phrases(scenario.text):
            by_phrase.setdefault(phrase, []).append(scenario.id)
    return by_phrase


def published_alike(scenario: Scenario) -> Iterator[str]:
    """Yield the names of the paper's published scenarios that a scenario resembles."""
    for name, expressions in PUBLISHED.items():
        if all(re.search(pattern, scenario.text, re.IGNORECASE) for pattern in expressions):
            yield name
