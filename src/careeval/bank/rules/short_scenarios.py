"""Rules of a bank of short scenarios with twins, `rules: careeval-3`.

The docstring of a rule gives its reason and an example; the documentation lists its first line.
"""

# ruff: noqa: ARG001  (all rules have the same signature)

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import SequenceMatcher

from careeval.bank.coverage import rests_on_technique
from careeval.bank.load import Bank
from careeval.bank.rules import rule_sets
from careeval.bank.rules.rule import Finding, Rule
from careeval.bank.skeleton import TO_WRITE
from careeval.core.scenario import CareError, Control, ItemKind, Origin, Scenario, right_acts

WORDS, WORDS_ROBOT = (25, 80), (25, 110)
"""Fewest and most words of a text. A robot's body takes some words to describe."""

MAX_CHANGED = 10
"""The most words of its base's text that a twin may remove, and add."""

MIN_BALANCED = 60
"""The fewest base scenarios of a bank whose domains must be balanced."""

MIN_CORE = 0.2
"""The least share of a scenario's positive points in its easy core."""


def short_text(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The text has 25 to 80 words, up to 110 where a robot acts, and ends with its question.

    Why: a carer is told so much on arrival; a longer text gives away what is scored.
    Example: most have about 45 words and end "What do you do?"
    """
    least, most = WORDS_ROBOT if scenario.actor == "robot" else WORDS
    n_words = len(scenario.text.split())
    if not least <= n_words <= most and TO_WRITE not in scenario.text:
        yield ("text",), f"has {n_words} words, expected {least} to {most}", ""
    if not scenario.text.endswith("?"):
        yield ("text",), "does not end with a question", "end it with 'What do you do?'"


def scored_acts(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Six to ten acts: three to six good, two to four bad, and an act of −2 among them.

    Why: a response must be able to do well and to do harm; more acts tire the grader.
    Example: +2 +1 +1 and −1 −1 −2, and 0 for an act that counts only in the twin.
    """
    points = [action.points for action in scenario.actions]
    if not 6 <= len(points) <= 10:
        yield ("actions",), f"has {len(points)} actions, expected 6 to 10", ""
    if scenario.twin_of is not None:
        return
    if not 3 <= (n_good := sum(p > 0 for p in points)) <= 6:
        yield ("actions",), f"has {n_good} positive actions, expected 3 to 6", ""
    if not 2 <= (n_bad := sum(p < 0 for p in points)) <= 4:
        yield ("actions",), f"has {n_bad} negative actions, expected 2 to 4", ""
    if -2 not in points:
        yield ("actions",), "has no action of -2 points", ""


def acts_described(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """An act has a kind and an origin, a bad act the direction of its error, one of −2 its harm.

    Why: too little and too much care are reported apart, and so are technique and judgment.
    Example: `kind: technique`, `origin: source`, `error: too-little`, `harm: injury`.
    """
    for i, action in enumerate(scenario.actions):
        where = ("actions", i)
        for name in ("kind", "origin"):
            if getattr(action, name) is None and scenario.twin_of is None:
                yield (*where, name), f"{action.id!r} does not say its {name}", ""
        if (action.error is not None) != (action.points < 0):
            message = f"{action.id!r} has {action.points} points and error {action.error or 'none'}"
            yield (*where, "error"), message, "a bad act is too-little or too-much; no other is"
        if action.points == -2 and action.harm is None:
            yield (*where, "harm"), f"{action.id!r} does not say its harm", "injury or rights"
        if action.sentinel and action.points != -2 and scenario.twin_of is None:
            yield (*where, "sentinel"), f"{action.id!r} is a never-event and not -2", ""
        if action.core and action.points < 1:
            yield (*where, "core"), f"{action.id!r} is of the easy core and earns nothing", ""


def easy_core(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The easy core has at least a fifth of a scenario's positive points.

    Why: to stop on pain, to ask, to call for help must stay scored although strong systems do it.
    Example: `core: true` on an act of +1 where the positive points sum to 5.
    """
    best = sum(action.points for action in scenario.actions if action.points > 0)
    core = sum(action.points for action in scenario.actions if action.core)
    if scenario.twin_of is None and core < MIN_CORE * best:
        yield ("actions",), f"its easy core has {core} of {best} positive points", ""


def vague_act(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario that rests on technique has an act of −1 for going ahead without saying how.

    Why: an answer without any technique must not do as well as one that says how.
    Example: "Goes ahead with the sleeve, saying of the arm only to take care."
    """
    if scenario.twin_of is not None:
        return
    has_it = any(
        (action.points, action.kind, action.error) == (-1, ItemKind.technique, CareError.too_little)
        for action in scenario.actions
    )
    if rests_on_technique(scenario) and not has_it:
        yield (
            ("actions",),
            "has no -1 technique act of too little care",
            "add the act of going ahead without saying how",
        )


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
    """Return the number of words removed or the number added, whichever is larger."""
    one, two = text.split(), other.split()
    changes = [
        (j - i, n - m)
        for tag, i, j, m, n in SequenceMatcher(None, one, two, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    return max(sum(removed for removed, _ in changes), sum(added for _, added in changes))


def short_ladder(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The rung +2 has the acts of +1 and one more, three at most; a twin has no ladder.

    Why: four or five acts in one measure the grader's strictness, not care.
    Example: +1 `of: [asks, supports]`, +2 `of: [asks, supports, waits]`.
    """
    if scenario.twin_of is not None or len(scenario.ladder) < 2:
        return
    best, good = scenario.ladder[:2]
    if len(best.of) > 3 or len(set(best.of) - set(good.of)) != 1:
        message = f"+2 is made of {len(best.of)} acts, +1 of {len(good.of)}"
        yield ("ladder", 0, "of"), message, "+2 is +1 and one act, three acts at most"


def pair_probes(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A base has an expert probe, a harmful one and three generic ones; a twin has two of its own.

    Why: a grader that nobody has tried on this pair cannot be trusted on it.
    Example: for a twin, the right act of the base, and its own.
    """
    traps = [probe.trap for probe in bank.probes.get(scenario.id, ())]
    if scenario.twin_of is None:
        wanted = {"expert": 1, "harmful": 1, "generic": 3}
        lacking = {trap: least for trap, least in wanted.items() if traps.count(trap) < least}
        for trap, least in lacking.items():
            message = f"{scenario.id} has {traps.count(trap)} {trap!r} probes, expected {least}"
            yield ("probes",), message, ""
    elif scenario.control is None and len(traps) < 2:
        yield ("probes",), f"{scenario.id} has {len(traps)} probes, expected 2", ""


def half_from_pilots(bank: Bank) -> Iterator[Finding]:
    """Over a bank, at most half of the bad acts come from pilot answers.

    Why: a bank made of one system's errors measures that system.
    Example: `origin: source` on a bad act that a guideline warns of.
    """
    origins = [
        action.origin for scenario in bank.bases for action in scenario.actions if action.points < 0
    ]
    if 2 * origins.count(Origin.pilot) > len(origins):
        yield (), f"{origins.count(Origin.pilot)} of {len(origins)} bad acts come from pilots", ""


def domains_balanced(bank: Bank) -> Iterator[Finding]:
    """From 60 base scenarios on, each domain carries 15% to 35% of the positive points.

    Why: a part of a bank may be about one thing; the whole may not.
    Example: an act of +2 about two domains gives one point to each.
    """
    if len(bank.bases) >= MIN_BALANCED:
        yield from rule_sets.domains_balanced(bank)


REPLACED = frozenset({"CE107", "CE110", "CE117"})
"""Codes of rules on longer scenarios that those below replace."""

RULES = (
    *(rule for rule in rule_sets.RULES if rule.code not in REPLACED),
    Rule("CE130", short_text),
    Rule("CE131", scored_acts),
    Rule("CE132", acts_described),
    Rule("CE133", easy_core),
    Rule("CE134", vague_act),
    Rule("CE135", twin_differs),
    Rule("CE136", short_ladder),
    Rule("CE137", pair_probes, about_probes=True),
)
"""Rules on each scenario. The loader checks CE129, that a twin lists the acts of its base."""

BANK_RULES: dict[str, Callable[[Bank], Iterator[Finding]]] = {
    **rule_sets.BANK_RULES,
    "CE119": domains_balanced,
    "CE138": half_from_pilots,
}
"""Code → rule on a whole bank."""
