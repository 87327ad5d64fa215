"""A kit for a first study: which scenarios it has, and its texts, which the organiser adapts.

The texts are the Markdown files of `kit_texts/`. Their gaps, which the organiser fills in, are in
square brackets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.metadata import version
from itertools import count
from pathlib import Path
from random import Random
from string import Template

from careeval.bank import Bank
from careeval.core.rating import LOWEST, STEPS, Scale
from careeval.core.scenario import Adl, Scenario, Split, Status
from careeval.people.plan import Consent
from careeval.people.study.plan import StudyPlan
from careeval.people.study.questions import minutes_of_raters, rating_question
from careeval.stats.intervals import rule_of_three
from careeval.stats.paired import smallest_p
from careeval.stats.validity import Endorsement, EndorsementRule

_TEXTS = Path(__file__).parent / "kit_texts"
_GAP = re.compile(r"\[[^\]\n]+\](?!\()")  # and not a link

PER_ACTIVITY = 2
"""Scenarios of each activity: twelve in all, which take about an hour with the items."""

RATERS = ("occupational-therapist:8", "family-caregiver:4")
"""The raters, if nobody says otherwise."""

ETHICS = "[reference of the ethics board's decision]"
CONTACT = "[name and e-mail address of the person to ask]"


def draw_for_kit(bank: Bank, seed: int) -> list[str]:
    """Return the ids of scenarios of each activity, equally many, drawn from the public bases."""
    of_adl = {adl: list[str]() for adl in Adl}
    for s in bank.bases:
        if s.split is Split.public and s.status is not Status.withdrawn:
            of_adl[s.adl].append(s.id)
    random = Random(f"kit/{seed}")
    return [name for ids in of_adl.values() for name in sorted(random.sample(ids, PER_ACTIVITY))]


def kit_consent(ethics: str = "", contact: str = "") -> Consent:
    """Return the terms of a kit, in which the organiser fills in the gaps."""
    text = _text("consent").strip()
    return Consent(text=text, ethics=ethics or ETHICS, contact=contact or CONTACT)


def gaps_left(consent: Consent) -> list[str]:
    """Return the gaps of a kit's terms that nobody has filled in yet, each once, in order."""
    gaps = dict.fromkeys([*_GAP.findall(_text("consent")), ETHICS, CONTACT])
    return [
        gap for gap in gaps if gap in "\n".join((consent.text, consent.ethics, consent.contact))
    ]


def kit_texts(plan: StudyPlan, scenarios: Mapping[str, Scenario], bank: Bank) -> dict[str, str]:
    """Return the name and the text of each sheet of a kit.

    Args:
        plan: The study.
        scenarios: Its scenarios by id.
        bank: Their bank.

    Raises:
        StatsError: There are fewer than three raters.
    """
    n_raters = len(plan.seats)
    n_public = sum(s.split is Split.public for s in bank.bases)
    values = {
        "n_raters": n_raters,
        "n_scenarios": len(scenarios),
        "n_activities": len(Adl),
        "minutes": round(max(minutes_of_raters(plan, scenarios))),
        "seed": plan.seed,
        "bank": plan.bank,
        "bank_version": plan.bank_version,
        "version": version("careeval"),
        "scenarios": ", ".join(f"`{name}`" for name in scenarios),
        "steps": _steps(),
        **_numbers(n_raters, len(scenarios), n_public),
    }
    names = ("README", "information", "consent", "raters", "numbers")
    return {f"{name}.md": Template(_text(name)).substitute(values) for name in names}


def chances_to_pass(numbers: tuple[int, ...]) -> str:
    """Return a Markdown table: how often a scenario passes the paper's rule, by numbers of raters.

    A column is the share of all possible raters who would endorse the scenario on one scale.
    """
    rule, shares = EndorsementRule.paper, (0.7, 0.8, 0.9, 0.95)
    rows = [
        ["raters", "needed", f"{shares[0]:.0%} would", *(f"{share:.0%}" for share in shares[1:])],
        ["---:"] * (2 + len(shares)),
        *(
            [
                str(n),
                str(rule.min_endorsements(n)),
                *(whole_percent(rule.pass_probability(n, s)) for s in shares),
            ]
            for n in numbers
        ),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def whole_percent(share: float) -> str:
    """Return a share as a whole percentage, which says neither 0% nor 100% of what is between."""
    text = f"{share:.0%}"
    return {"0%": "<1%", "100%": ">99%"}.get(text, text) if 0 < share < 1 else text


def _numbers(n: int, n_scenarios: int, n_public: int) -> dict[str, object]:
    """Return what n raters of these scenarios, of all public ones, can and cannot show."""
    rule = EndorsementRule.paper
    needed = rule.min_endorsements(n)
    kept = rule.pass_probability(n, 0.9)
    interval = Endorsement(needed, n).interval
    return {
        "n": n,
        "n_public": n_public,
        "needed": needed,
        "table": chances_to_pass((n,)),
        "low": whole_percent(interval.low),
        "high": whole_percent(interval.high),
        "low_all": whole_percent(Endorsement(n, n).interval.low),
        "together": whole_percent(kept),
        "independent": whole_percent(kept**2),
        "fail_low": f"{n_scenarios * (1 - kept):.1f}",
        "fail_high": f"{n_scenarios * (1 - kept**2):.1f}",
        "half": whole_percent(rule.pass_probability(n, 0.5)),
        "seen_tenth": whole_percent(1 - 0.9**n),
        "seen_twentieth": whole_percent(1 - 0.95**n),
        "unseen": whole_percent(rule_of_three(n)),
        "differing": next(k for k in count(1) if smallest_p(k) < 0.05),
        "bank_unseen": whole_percent(rule_of_three(n_scenarios)),
    }


def _steps() -> str:
    scales = (Scale.realism, Scale.validity)
    rows = [["", *(rating_question(scale).text for scale in scales)], ["---"] * 3]
    steps = zip(*(STEPS[scale] for scale in scales), strict=True)
    rows += [[str(n), *words] for n, words in enumerate(steps, LOWEST)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _text(name: str) -> str:
    return (_TEXTS / f"{name}.md").read_text(encoding="utf-8")
