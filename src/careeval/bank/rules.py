"""What makes a bank good, as coded rules: each with what it asks, why, and an example.

They hold for a bank whose `bank.yaml` says `rules: careeval`; a bank of short scenarios with twins
says `rules: careeval-3`, and shares most of them (`short_rules`). A rule's docstring is its page in
the documentation.
"""

# ruff: noqa: ARG001  (every rule has the same signature, whether or not it looks at the whole bank)

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, takewhile
from pathlib import Path

from careeval.bank.apply import unmet
from careeval.bank.blueprint import N_SCENARIOS, comes_near, gaps
from careeval.bank.coverage import domain_shares
from careeval.bank.load import Bank
from careeval.bank.sealed import SEALED
from careeval.bank.skeleton import SOURCE_TO_NAME, TO_WRITE
from careeval.bank.yaml_nodes import Loc
from careeval.core.scenario import Action, Adl, Domain, Rubric, RubricItem, Scenario, Split, Status

POSITIVE_SUM = 6
"""Positive action points of a scenario: equal, so that the ratio of sums is the mean of ratios."""

VERDICT_WORDS = (
    "unsafe", "unsafely", "safely", "wrong", "wrongly", "incorrect", "incorrectly", "correctly",
    "improper", "improperly", "inappropriate", "inappropriately", "appropriately", "dangerous",
    "dangerously", "harmful", "fails to", "neglects to", "forgets to", "properly",
)  # fmt: skip
"""Words that tell a grader which side an item is on."""

_VERDICT = re.compile(rf"\b({'|'.join(VERDICT_WORDS)})\b".replace(" ", r"\s+"), re.IGNORECASE)

MAX_SHARED = 0.2
"""Of a text's phrases of four words, at most so many may stand in another text."""

MIN_BANK = 10
"""Scenarios from which the balance of domains over a bank means something."""

Finding = tuple[Loc, str, str]
"""Where in the scenario's file, what, and a hint."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A coded rule over one scenario of a bank.

    Attributes:
        code: `CE106` …
        find: Every finding in one scenario, placed in the scenario's file, or in that of its
            probes where the rule is `about_probes`.
        about_probes: Whether the findings are places of `<id>.probes.yaml`.
    """

    code: str
    find: Callable[[Scenario, Bank], Iterator[Finding]]
    about_probes: bool = False

    @property
    def name(self) -> str:
        """The rule's name in words."""
        return self.find.__name__.replace("_", " ")

    @property
    def page(self) -> str:
        """What it asks, why, and an example: its page in the documentation."""
        return self.find.__doc__ or ""


def filed_by_id(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario is filed by its id: its activity and a number; for a twin, its base's and a word.

    Why: an id is cited in papers and logs; whoever reads one must find its file.
    Example: `id: dressing-101` with `adl: dressing`, in `dressing/dressing-101.yaml`.
    """
    if scenario.twin_of is not None:
        if not re.fullmatch(rf"{scenario.twin_of}-[a-z]+", scenario.id):
            yield ("id",), f"id {scenario.id!r} is not '{scenario.twin_of}-' and a word", ""
    elif not re.fullmatch(rf"{scenario.adl}-h?[0-9]+", scenario.id):
        yield ("id",), f"id {scenario.id!r} is not '{scenario.adl}-' and a number", ""
    path = bank.documents[scenario.id].path
    if not path.replace("\\", "/").endswith(f"{scenario.adl}/{scenario.id}.yaml"):
        yield ("id",), f"stands in {path!r}", f"move it to {scenario.adl}/{scenario.id}.yaml"


def situation_described(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario says all that its results are broken down by, and who is who.

    Why: a score by condition or level of help is only as good as the labels; an imported bank may
    lack them, ours may not.
    Example: `condition: stroke`, `assistance: "03"`, `situation: [routine]`, `helpers: none`.
    """
    for name in ("condition", "assistance", "situation", "person", "actor", "role", "helpers"):
        if not getattr(scenario, name):
            yield (name,), f"{name} is not there", "every scenario of this bank says it"


def text_is_a_question(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The text has 60 to 140 words and ends with its question.

    Why: shorter leaves out what decides; longer tests reading, not care.
    Example: it ends "… What do you do?"
    """
    n_words = len(scenario.text.split())
    if not 60 <= n_words <= 140 and TO_WRITE not in scenario.text:
        yield ("text",), f"has {n_words} words, expected 60 to 140", ""
    if not scenario.text.endswith("?"):
        yield ("text",), "does not end with a question", "end it with 'What do you do?' or the like"


def part_for_dressing(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A dressing scenario says which part of the body; no other does.

    Why: the paper's blueprint counts upper and lower body dressing apart.
    Example: `part: upper-body`.
    """
    if (scenario.adl is Adl.dressing) != (scenario.part is not None):
        fault = "has a part" if scenario.part else "needs 'part: upper-body' or 'lower-body'"
        yield ("part",), f"a {scenario.adl} scenario {fault}", ""


def item_ids_unique(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No two items of a scenario share an id.

    Why: judgments and labels are kept by item id.
    Example: `id: holds-elbow` once among the actions.
    """
    seen: set[str] = set()
    for where, item in items_of(scenario):
        if item.id in seen:
            yield (*where, "id"), f"item {item.id!r} stands twice", ""
        seen.add(item.id)


def action_points(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Six to nine actions; the positive points sum to 6; two to four negatives, one of them a −2.

    Why: with equal maxima no scenario weighs more than another, and every scenario can show a harm.
    Example: +2 +2 +1 +1 and −2 −2 −1.
    """
    points = [action.points for action in scenario.actions]
    if not 6 <= len(points) <= 9:
        yield ("actions",), f"has {len(points)} actions, expected 6 to 9", ""
    if (total := sum(p for p in points if p > 0)) != POSITIVE_SUM:
        yield ("actions",), f"positive points sum to {total}, expected {POSITIVE_SUM}", ""
    if not 2 <= (n_negative := sum(p < 0 for p in points)) <= 4:
        yield ("actions",), f"has {n_negative} negative actions, expected 2 to 4", ""
    if -2 not in points:
        yield ("actions",), "has no action of -2 points", ""


def maximum_reachable(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No positive action excludes another, and every excluded id is an action of the scenario.

    Why: a maximum that no answer can reach makes the best answer look worse than it is.
    Example: `excludes: [carries-on]` on the +2 act that stops.
    """
    by_id = {action.id: action for action in scenario.actions}
    for i, action in enumerate(scenario.actions):
        for j, other in enumerate(action.excludes):
            where = ("actions", i, "excludes", j)
            if other not in by_id:
                yield where, f"{other!r} is no action of this scenario", ""
            elif action.points > 0 and by_id[other].points > 0:
                yield where, f"excludes {other!r}, which is positive too", ""


def harm_of_severe_errors(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """Only items of −2 say what they harm.

    Why: severe errors are reported by kind, an injury or an override of the person's rights.
    Example: `harm: rights` on the −2 act that goes on after "stop". CE128.
    """
    for name in ("actions", "ladder"):
        for i, item in enumerate(getattr(scenario, name)):
            if item.harm is not None and item.points != -2:
                yield (name, i, "harm"), f"an item of {item.points:+d} points names a harm", ""


def ladder_nested(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """The ladder has the rungs +2, +1, 0, −1, −2; what +1 is made of is part of what +2 is made of.

    Why: only when the best answer satisfies both positive rungs can it reach the maximum of 3.
    Example: +2 `of: [stops, supports, asks]`, +1 `of: [stops, supports]`.
    """
    if scenario.twin_of is not None:
        return  # a twin is judged on single acts alone
    if [rung.points for rung in scenario.ladder] != [2, 1, 0, -1, -2]:
        yield ("ladder",), "its points are not 2, 1, 0, -1, -2 in this order", ""
        return
    points = {action.id: action.points for action in scenario.actions}
    for i, rung in enumerate(scenario.ladder):
        for j, action in enumerate(rung.of):
            where = ("ladder", i, "of", j)
            if action not in points:
                yield where, f"{action!r} is no action of this scenario", ""
            elif rung.points > 0 and points[action] <= 0:
                message = f"{action!r} has {points[action]} points"
                yield where, message, "a positive rung asks for positive acts"
    best, good = scenario.ladder[:2]
    if not set(good.of) < set(best.of) or not good.of:
        message = "what it is made of is not a part of what +2 is made of"
        yield ("ladder", 1), message, "+1 asks for fewer of the same acts"


def no_verdict_words(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """An item's text holds no word that says whether it is good or bad.

    Why: the grader must judge whether the act is there, and never learn what it is worth.
    Example: "Lifts her weak left arm above the shoulder", not "Unsafely lifts …".
    """
    for where, item in items_of(scenario):
        if match := _VERDICT.search(item.text):
            yield (*where, "text"), f"holds the verdict word {match[0]!r}", "say what is done"


def domains_fit(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scored action names one or two domains, a rung all four; good acts serve them, bad do not.

    Why: an act counts only where it belongs; 0 means "rated, not served", absence "not about it".
    Example: `domains: {user_function: 2}` on a +2 act, `{functional_safety: 0}` on a −2 act.
    """
    for i, action in enumerate(scenario.actions):
        where = ("actions", i, "domains")
        if action.points and not 1 <= len(action.domains) <= 2:
            yield where, f"names {len(action.domains)} domains, expected 1 or 2", ""
        if action.points > 0 and 0 in action.domains.values():
            yield where, "a positive act that serves a domain at 0", "leave the domain out"
        if action.points < 0 and 2 in action.domains.values():
            hint = "leave the domain out, or rate it 0 or 1"
            yield where, "a negative act that serves a domain fully", hint
    for i, rung in enumerate(scenario.ladder):
        if absent := sorted(set(Domain) - set(rung.domains)):
            where = ("ladder", i, "domains")
            yield where, f"does not rate {', '.join(absent)}", "a rung rates all four"


def sources_known(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scored act names sources of `sources.yaml`; one of ±2 rests on one of tier A or B at least.

    Why: what weighs most must rest on a guideline, a hospital, a charity or a paper.
    Example: `sources: [csbpr-shoulder]`.
    """
    for i, action in enumerate(scenario.actions):
        where = ("actions", i, "sources")
        tiers = {bank.sources[key].tier for key in action.sources if key in bank.sources}
        for j, key in enumerate(action.sources):
            if key not in (*bank.sources, SOURCE_TO_NAME):
                yield (*where, j), f"source {key!r} is not in sources.yaml", ""
        if action.points and not action.sources:
            yield where, "names no source", ""
        elif abs(action.points) == 2 and tiers == {"C"}:
            yield where, "an act of ±2 rests on tier C alone", "add a source of tier A or B"


def held_out_sealed(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A held-out scenario stands in the sealed file and nowhere else; a public one never there.

    Why: what has once been published in clear text can no longer be held out.
    Example: `split: held-out` in a folder outside the bank, until `careeval bank seal` takes it.
    """
    sealed = SEALED in Path(bank.documents[scenario.id].path).parts
    if sealed and scenario.split is Split.public:
        yield ("split",), "is public, and stands in the sealed split", "write 'split: held-out'"
    elif not sealed and scenario.split is Split.held_out:
        hint = "move it out of the bank's folder, and seal it: 'careeval bank seal'"
        yield ("split",), "is held out, and stands in clear text", hint


def validated_by_raters(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario is `validated` only with evidence of its own version that is enough.

    Why: only what experts said of these very words validates them; a status that somebody typed,
    or that outlived a revision, is a claim that nobody made. What a study objects to is open for
    as long as the version stands, whatever another study found. A text that was changed since it
    was rated has lost its status, and needs a version of its own.
    Example: an entry of `evidence.json` with `"status": "validated"`, as `careeval study apply`
    writes it: three occupational therapists, two others, both scales at 0.8 or more, and as many
    asked about each −2 with no objection: `"objections": 0`, where `null` says that too few were
    asked.
    """
    if scenario.status is Status.withdrawn:
        return
    entry, stands = bank.vettings.get(scenario.id), bank.vetting(scenario)
    if entry and not stands and entry.version == scenario.version:
        message = f"its text is not the one that was rated, and is still version {entry.version}"
        yield ("version",), message, "raise its version, and rate it again in the next round"
    if scenario.status is not Status.validated:
        return
    hint = "delete its entry" if stands else "write 'status: drafted'"
    hint += "; 'careeval study apply' writes what raters found"
    of_version = [i for i, e in enumerate(scenario.evidence) if e.version == scenario.version]
    missing = {i: unmet(scenario.evidence[i]) for i in of_version}
    if of_version:
        faults = [i for i in of_version if scenario.evidence[i].objections]
        if not faults and all(missing.values()):
            faults = of_version[-1:]
        for i in faults:
            message = f"is validated, and its evidence is not enough: {'; '.join(missing[i])}"
            yield ("evidence", i), message, hint
    elif versions := sorted({evidence.version for evidence in scenario.evidence}):
        rated = ", ".join(map(str, versions))
        message = f"is validated, and raters saw version {rated}, not {scenario.version}"
        yield ("status",), message, hint
    else:
        yield ("status",), "is validated, and has no evidence of it", hint


def nothing_left_to_write(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No gap of a skeleton is left.

    Why: `careeval bank new` marks what its author has yet to write; a bank with gaps asks nothing.
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


def probes_written(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No probe has a gap of a skeleton left.

    Why: as for the scenario.
    Example: `TO WRITE` has become an answer.
    """
    for i, probe in enumerate(bank.probes.get(scenario.id, ())):
        if TO_WRITE in probe.text:
            yield ("probes", i, "text"), f"probe {probe.id!r} is still to be written", ""


def unlike_the_published(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario does not come near to one that the paper describes.

    Why: the paper's scenarios are its authors', and models may have seen them.
    Example: another garment, another set-up and another clinical point than the paper's.
    """
    for name in comes_near(scenario):
        hint = "write another person, garment, set-up and point"
        yield ("text",), f"comes near to a published scenario: {name}", hint


def unlike_the_others(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No scenario shares much of its wording with one before it.

    Why: two that are alike count one situation twice, and one gives the other away.
    Example: another person in another place, not the same sentences with another name.
    """
    if scenario.twin_of is not None:
        return
    own, scenarios_with = _phrases(scenario.text), _scenarios_by_phrase(bank)
    n_shared = Counter(
        other
        for phrase in own
        for other in takewhile(lambda each: each < scenario.id, scenarios_with.get(phrase, ()))
    )
    for other, n in sorted(n_shared.items()):
        if (shared := n / len(own)) > MAX_SHARED:
            yield ("text",), f"shares {shared:.0%} of its wording with {other}", ""


Phrase = tuple[str, ...]
"""Words that follow each other."""


def _phrases(text: str) -> frozenset[Phrase]:
    """Every four words that follow each other."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(zip(*(words[i:] for i in range(4)), strict=False))


@lru_cache(maxsize=1)
def _scenarios_by_phrase(bank: Bank) -> dict[Phrase, list[str]]:
    """Phrase → the scenarios whose texts have it, in the order of ids."""
    found: dict[Phrase, list[str]] = {}
    for scenario in filter(lambda each: each.twin_of is None, bank.scenarios):
        for phrase in _phrases(scenario.text):
            found.setdefault(phrase, []).append(scenario.id)
    return found


def canary_present(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario carries the bank's canary.

    Why: whoever filters training data can find it, and whoever suspects a leak can look for it.
    Example: the `canary:` line of `bank.yaml`, word for word.
    """
    if scenario.canary != bank.about.canary:
        yield ("canary",), "is not the bank's canary", "copy the line from bank.yaml"


def probes_complete(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """A scenario has two probes of its own or more, one expert and one harmful, and three generic.

    Why: a grader that nobody has tried on this scenario cannot be trusted on it.
    Example: `expert`, `harmful`, `negated-harm`, and the three generic answers.
    """
    traps = [probe.trap for probe in bank.probes.get(scenario.id, ())]
    if (n_own := sum(trap != "generic" for trap in traps)) < 2:
        yield ("probes",), f"{scenario.id} has {n_own} probes of its own, expected 2 or more", ""
    for wanted, least in (("expert", 1), ("harmful", 1), ("generic", 3)):
        if (n := traps.count(wanted)) < least:
            message = f"{scenario.id} has {n} {wanted!r} probes, expected {least} or more"
            yield ("probes",), message, ""


def probes_consistent(scenario: Scenario, bank: Bank) -> Iterator[Finding]:
    """No probe has two acts that exclude each other; the expert one has every good act, no bad one.

    Why: labels are the truth that graders are held to.
    Example: `stops: present` and `carries-on: absent`.
    """
    for i, probe in enumerate(bank.probes.get(scenario.id, ())):
        where = ("probes", i, "labels")
        for one, other in combinations(scenario.actions, 2):
            if excluded(one, other) and probe.labels[one.id] and probe.labels[other.id]:
                message = f"probe {probe.id!r} has both {one.id!r} and {other.id!r}"
                yield (*where, other.id), message, "they exclude each other"
        if probe.trap == "expert":
            for action in scenario.actions:
                if action.points and probe.labels[action.id] != (action.points > 0):
                    message = f"expert probe {probe.id!r} is labelled against {action.id!r}"
                    yield (*where, action.id), message, ""


def excluded(one: Action, other: Action) -> bool:
    """Whether two actions cannot be true of the same answer."""
    return other.id in one.excludes or one.id in other.excludes


def items_of(scenario: Scenario) -> Iterator[tuple[Loc, RubricItem]]:
    """Every item of both rubrics, and where it stands."""
    for rubric in (Rubric.actions, Rubric.ladder):
        for i, item in enumerate(scenario.rubric(rubric)):
            yield (rubric.value, i), item


RULES = (
    Rule("CE106", filed_by_id),
    Rule("CE107", text_is_a_question),
    Rule("CE108", part_for_dressing),
    Rule("CE109", item_ids_unique),
    Rule("CE110", action_points),
    Rule("CE111", maximum_reachable),
    Rule("CE112", ladder_nested),
    Rule("CE113", no_verdict_words),
    Rule("CE114", domains_fit),
    Rule("CE115", sources_known),
    Rule("CE116", canary_present),
    Rule("CE117", probes_complete, about_probes=True),
    Rule("CE118", probes_consistent, about_probes=True),
    Rule("CE120", situation_described),
    Rule("CE121", held_out_sealed),
    Rule("CE122", nothing_left_to_write),
    Rule("CE123", probes_written, about_probes=True),
    Rule("CE124", unlike_the_published),
    Rule("CE125", unlike_the_others),
    Rule("CE127", validated_by_raters),
    Rule("CE128", harm_of_severe_errors),
)
"""The rules over each scenario. The loader's own are CE101 YAML, CE102 schema, CE103 unique ids,
CE104 probes and CE105 labels."""


def domains_balanced(bank: Bank) -> Iterator[Finding]:
    """Over a bank of ten scenarios or more, each domain carries 15% to 35% of the positive points.

    Why: a bank about one domain says little about the other three. CE119.
    Example: an act of +2 about two domains gives one point to each.
    """
    if len(bank.bases) < MIN_BANK:
        return
    for domain, share in domain_shares(bank.bases).items():
        if not 0.15 <= share <= 0.35:
            message = f"domain {domain} carries {share:.0%} of the positive points"
            yield (), f"{message}, expected 15% to 35%", ""


def blueprint_covered(bank: Bank) -> Iterator[Finding]:
    """A bank of a hundred covers activities, levels, situations and conditions as it set out to.

    Why: what is not in the bank is not in the score. CE126.
    Example: 18 scenarios of dressing; stroke, cervical SCI, MS and ALS twice in each activity.
    """
    if len(bank.bases) == N_SCENARIOS:
        for gap in gaps(bank.bases):
            yield (), gap, ""


BANK_RULES: dict[str, Callable[[Bank], Iterator[Finding]]] = {
    "CE119": domains_balanced,
    "CE126": blueprint_covered,
}
"""The rules over a whole bank, by code."""
