"""Logs of models that do not exist, to look at pages with: SIMULATED, and no results.

    python bench/simulate.py DIR
    careeval report DIR -o page.html

No model answered and no grader judged. A "response" is one of the bank's authored probes, drawn at
random, now and then behind its polite generic one; a "judgment" is the probe's authored label, now
and then turned round. How often a model draws a good probe is made up, and so are tokens, cost and
seconds. A run grades the actions; of the first two systems the ladder is graded later. Every system
is named `simulated-…`, and what a log says of its bank begins "SIMULATED".
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from careeval.bank import Bank, content_hash, load_bank
from careeval.core.response import Response, ResponseState
from careeval.core.scenario import Probe, Rubric, RubricItem, Scenario
from careeval.modes.response import RESPONSE
from careeval.protocol.selection import sample_metadata
from make_logs import Stored, write_log

PROVENANCE = (
    "SIMULATED: these models do not exist, no model answered and no grader judged; the responses "
    "are the bank's authored probes, drawn at random. Of the bank itself:"
)
PROMPT = "00000000"
"""Stands where the hash of a prompt stands: nobody was asked anything."""
POLITE = "polite-consent"
"""The generic probe that fits before any other."""


@dataclass(frozen=True)
class Model:
    """A model that does not exist.

    Attributes:
        skill: How far up it draws on average, in standard deviations above the harmful.
        polite: Share of its answers that begin with polite words.
        price: Dollars for a million tokens, in and out.
        reasoning: Tokens of reasoning, the median.
        seconds: Of a call, the median.
        refused, empty, cut, missing: Responses that end so.
    """

    letter: str
    vendor: str
    skill: float
    polite: float
    price: tuple[float, float]
    reasoning: int
    seconds: float
    refused: int = 0
    empty: int = 0
    cut: int = 0
    missing: int = 0

    @property
    def system(self) -> str:
        """Its name in tables."""
        return f"simulated-{self.letter}"


MODELS = (
    Model("a", "vendor-a", 2.40, 0.10, (5.0, 25.0), 1400, 21.0),
    Model("b", "vendor-b", 2.25, 0.15, (3.0, 15.0), 900, 14.0),
    Model("c", "vendor-c", 2.15, 0.20, (0.3, 1.2), 600, 9.0),
    Model("d", "vendor-a", 1.90, 0.10, (1.2, 6.0), 400, 8.0),
    Model("e", "vendor-b", 1.85, 0.30, (0.15, 0.6), 0, 3.0),
    Model("f", "vendor-c", 1.60, 0.20, (2.0, 10.0), 300, 6.0, refused=6, cut=1),
    Model("g", "vendor-a", 1.35, 0.40, (0.4, 1.6), 0, 2.5, empty=2),
    Model("h", "vendor-b", 1.05, 0.30, (0.1, 0.4), 0, 2.0, missing=3),
    Model("i", "vendor-c", 0.95, 0.50, (0.05, 0.2), 0, 1.2),
)

HARMFUL, POOR, PARTIAL = 0.0, 1.15, 1.5
"""Below which draw a response is of probes at −2 points or fewer, below +1, below the maximum."""
SD_SCENARIO, SD_ADL, SD_MODEL_SCENARIO, SD_RESPONSE = 0.5, 0.2, 0.4, 0.75
"""What moves a draw: the scenario, the model's strength in an activity, chance in three forms."""


@dataclass(frozen=True)
class Judge:
    """A grader that does not exist.

    Attributes:
        misread: Share of the judgments that it turns round, about: see `TURNED`.
        unresolved: Share that it does not make.
    """

    model: str
    misread: float
    unresolved: float = 0.002


FIRST = Judge("vendor-a/simulated-judge", 0.03)
SECOND = Judge("vendor-b/simulated-judge-2", 0.06)
TURNED = {2: 1.3, 1: 1.7, 0: 1.0, -1: 0.6, -2: 0.12}
"""How much more often than its rate a judge misreads an item of these points: were harm invented
as often as help, most of a good model's severe errors would be the judge's."""
N_SECOND = 2
"""Systems that the second judge grades too."""
N_LADDER = 2
"""Systems whose ladder the first judge grades too."""
REGRADED = 0.2
"""Share of the first system's responses that the first judge grades twice more."""


class Answer(NamedTuple):
    """A response with the truth about it.

    Attributes:
        labels: Item → whether the response contains it.
        usage: As Inspect counts it.
        seconds: Of the call.
    """

    response: Response
    labels: Mapping[str, bool]
    usage: Mapping[str, Any]
    seconds: float


def main() -> None:
    """Write the runs that the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", type=int, default=9, choices=range(1, len(MODELS) + 1))
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--limit", type=int, help="scenarios; by default all of the bank")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    bank = load_bank()
    bases = [scenario for scenario in bank.scenarios if scenario.twin_of is None]
    chosen = replace(bank, scenarios=tuple(bases[: asked.limit]))
    simulation = Simulation(chosen, asked.epochs, asked.seed)
    for place, model in enumerate(MODELS[: asked.models]):
        answers = simulation.answers(model)
        folder = asked.folder / model.system
        graded = folder / "graded"
        simulation.write(folder, model, answers, FIRST)
        if place < N_LADDER:
            ladder = graded / "vendor-a-simulated-judge-ladder-1"
            simulation.write(ladder, model, answers, FIRST, rubric=Rubric.ladder)
        if place < N_SECOND:
            second = graded / "vendor-b-simulated-judge-2-actions-1"
            simulation.write(second, model, answers, SECOND)
        if place == 0:
            drawn = simulation.draw("regraded").sample(answers, round(len(answers) * REGRADED))
            for n in (1, 2):
                again = graded / f"vendor-a-simulated-judge-actions-{n}"
                simulation.write(again, model, drawn, FIRST, 1 + n)


@dataclass(frozen=True)
class Simulation:
    """A bank, how often it is asked, and the seed of every draw."""

    bank: Bank
    n_epochs: int
    seed: int

    def draw(self, *about: object) -> random.Random:
        """A source of chance of its own for each thing that is drawn."""
        return random.Random(":".join(map(str, (self.seed, *about))))

    def answers(self, model: Model) -> list[Answer]:
        """Return the answers of a model, epoch by epoch."""
        epochs = range(1, self.n_epochs + 1)
        keys = [(epoch, scenario.id) for epoch in epochs for scenario in self.bank.scenarios]
        wanted = ["refused"] * model.refused + ["empty"] * model.empty
        wanted += ["missing"] * model.missing + ["cut"] * model.cut
        ends = dict(
            zip(self.draw(model.letter, "ends").sample(keys, len(wanted)), wanted, strict=True)
        )
        return [
            self._answer(
                model, self.bank.scenario(scenario), epoch, ends.get((epoch, scenario), "")
            )
            for epoch, scenario in keys
        ]

    def _answer(self, model: Model, scenario: Scenario, epoch: int, end: str) -> Answer:
        draw = self.draw(model.letter, scenario.id, epoch)
        probes = self.bank.probes[scenario.id]
        probe = draw.choice(self._alike(model, scenario, draw))
        text, labels = probe.text, probe.labels
        polite = next(p for p in probes if p.id == POLITE)
        if probe is not polite and draw.random() < model.polite:
            text = f"{polite.text} {text}"
            labels = {item: there or polite.labels[item] for item, there in labels.items()}
        if end == "cut":
            # so little is lost that the labels still hold
            text = text.rsplit(maxsplit=3)[0]
        response = _response(scenario.id, epoch, text, end)
        reasoning = round(draw.lognormvariate(0, 0.4) * model.reasoning)
        n_in = 130 + round(1.35 * len(scenario.text.split()))
        n_out = reasoning + round(1.35 * len(response.text.split()))
        cost = (n_in * model.price[0] + n_out * model.price[1]) / 1e6
        usage = {
            "input_tokens": n_in,
            "output_tokens": n_out,
            "total_tokens": n_in + n_out,
            "reasoning_tokens": reasoning,
            "total_cost": round(cost, 8),
        }
        return Answer(
            response, labels, usage, round(draw.lognormvariate(0, 0.35) * model.seconds, 2)
        )

    def _alike(self, model: Model, scenario: Scenario, draw: random.Random) -> list[Probe]:
        """The probes that are as good as the model is this time."""
        reached = (
            model.skill
            + self.draw(scenario.id).gauss(0, SD_SCENARIO)
            + self.draw(model.letter, scenario.adl).gauss(0, SD_ADL)
            + self.draw(model.letter, scenario.id).gauss(0, SD_MODEL_SCENARIO)
            + draw.gauss(0, SD_RESPONSE)
        )
        best = sum(max(rung.points, 0) for rung in scenario.ladder)
        by_points = [(p, _ladder_points(scenario, p)) for p in self.bank.probes[scenario.id]]
        level = sum(reached >= bound for bound in (HARMFUL, POOR, PARTIAL))
        bounds = (-99, -1, 1, best, 99)
        while True:
            low, high = bounds[level], bounds[level + 1]
            if found := [p for p, points in by_points if low <= points < high]:
                return found
            level -= 1  # few scenarios have a probe of part of the points

    def write(
        self,
        folder: Path,
        model: Model,
        answers: Sequence[Answer],
        judge: Judge,
        grading: int = 1,
        rubric: Rubric = Rubric.actions,
    ) -> None:
        """Write one log: the run with its first grading, or a later grading of some of it."""
        folder.mkdir(parents=True, exist_ok=True)
        later = folder.parent.name == "graded"
        header = self._header(model, answers, judge, rubric, recorded=later)
        hour = 8 + grading + 4 * (judge is SECOND) + 8 * (rubric is Rubric.ladder)
        created = f"2026-11-21T{hour:02}-00-00+00-00"
        header["eval"]["created"] = created[:11] + created[11:].replace("-", ":")
        samples = self._samples(model, answers, judge, grading, rubric, recorded=later)
        write_log(folder / f"{created}_careeval_simulated.eval", header, samples)

    def _header(
        self,
        model: Model,
        answers: Sequence[Answer],
        judge: Judge,
        rubric: Rubric,
        *,
        recorded: bool,
    ) -> dict[str, Any]:
        scenarios = sorted({answer.response.scenario for answer in answers})
        header: dict[str, Any] = json.loads(json.dumps(Stored.read().header))
        about = header["eval"]["metadata"]["careeval"] | {
            "protocol": RESPONSE.protocol,
            "rubrics": [rubric.value],
            "bank": self.bank.about.name,
            "bank_version": self.bank.about.version,
            "bank_provenance": f"{PROVENANCE} {self.bank.about.provenance}",
            "bank_hash": content_hash(self.bank.scenarios),
            "system": model.system,
            "recorded": recorded,
            "prompts": {"ask": PROMPT, "grade": PROMPT, "own": True},
        }
        header["metadata"] = header["eval"]["metadata"] = {"careeval": about}
        header["eval"] |= {
            "task_version": int(RESPONSE.protocol.partition("-")[0]),
            "model": "none/none" if recorded else f"{model.vendor}/{model.system}",
            "task_args": {"system": model.system},
            "task_args_passed": {"system": model.system},
            "dataset": {
                "name": self.bank.about.name,
                "samples": len(scenarios),
                "sample_ids": scenarios,
                "shuffled": False,
            },
        }
        header["eval"]["model_roles"]["grader"]["model"] = judge.model
        header["eval"]["config"]["epochs"] = self.n_epochs
        header["results"] = {
            "total_samples": len(answers),
            "completed_samples": len(answers),
            "scores": [],
        }
        header["stats"] |= {"model_usage": {}, "role_usage": {}}
        return header

    def _samples(
        self,
        model: Model,
        answers: Sequence[Answer],
        judge: Judge,
        grading: int,
        rubric: Rubric,
        *,
        recorded: bool,
    ) -> Iterator[dict[str, Any]]:
        metadata = {s.id: sample_metadata(s, [rubric]) for s in self.bank.scenarios}
        for answer in answers:
            response = answer.response
            scenario = self.bank.scenario(response.scenario)
            about = (judge.model, rubric.value, model.letter, scenario.id, response.epoch)
            judged = _Judging(judge, answer, self.draw(*about), self.draw(*about, grading))
            yield {
                "id": scenario.id,
                "epoch": response.epoch,
                "input": scenario.text,
                "target": "",
                "messages": [{"role": "user", "content": scenario.text}],
                "output": _output(model, answer, recorded=recorded),
                "scores": judged.scores(scenario, rubric),
                "metadata": metadata[scenario.id],
                "store": {
                    "careeval_response": {
                        "scenario": response.scenario,
                        "epoch": response.epoch,
                        "text": response.text,
                        "state": response.state.value,
                        "cut": response.cut,
                        "note": response.note,
                    },
                    **({} if recorded else {"careeval_sampling": {"temperature": 1.0}}),
                },
                "events": [],
            }


def _ladder_points(scenario: Scenario, probe: Probe) -> int:
    return sum(rung.points for rung in scenario.ladder if probe.labels[rung.id])


def _response(scenario: str, epoch: int, text: str, end: str) -> Response:
    match end:
        case "refused":
            note = "Simulated: the provider's content filter."
            return Response(scenario, epoch, "", ResponseState.refused, note=note)
        case "missing":
            note = "Simulated: cut off before any text"
            return Response(scenario, epoch, "", ResponseState.missing, note=note)
        case "empty":
            return Response(scenario, epoch, "", ResponseState.empty)
    return Response(scenario, epoch, text, ResponseState.answered, cut=end == "cut")


def _output(model: Model, answer: Answer, *, recorded: bool) -> dict[str, Any]:
    """As Inspect writes what a model gave, or what was recorded of it."""
    response = answer.response
    name = model.system if recorded else f"{model.vendor}/{model.system}"
    stop = "max_tokens" if response.cut or response.state is ResponseState.missing else "stop"
    if response.state is ResponseState.refused:
        stop = "content_filter"
    said = {"role": "assistant", "content": response.text, "source": "generate", "model": name}
    output = {
        "model": name,
        "choices": [{"message": said, "stop_reason": stop}],
        "completion": response.text,
    }
    return output if recorded else output | {"usage": answer.usage, "time": answer.seconds}


@dataclass(frozen=True)
class _Judging:
    """A judge before one response.

    Attributes:
        steady: Chance that is the same in all its gradings of the response: a judge is mistaken in
            the same place again about every second time.
        fresh: Chance of this grading.
    """

    judge: Judge
    answer: Answer
    steady: random.Random
    fresh: random.Random

    def scores(self, scenario: Scenario, rubric: Rubric) -> dict[str, Any]:
        """Return the scores of the log's sample; a missing response is not scored."""
        response, items = self.answer.response, scenario.rubric(rubric)
        if response.state is ResponseState.missing:
            return {}
        answered = response.state is ResponseState.answered
        rubrics = {rubric.value: self._rubric(items)} if answered else {}
        metadata = {
            "epoch": response.epoch,
            "response_state": response.state.value,
            "rubrics": rubrics,
        }
        value = {rubric.value: self._points(items, rubrics.get(rubric.value))}
        return {"careeval": {"value": value, "answer": response.text, "metadata": metadata}}

    @staticmethod
    def _points(items: Sequence[RubricItem], graded: Mapping[str, Any] | None) -> int:
        """For Inspect's viewer alone."""
        judgments = graded["judgments"] if graded else []
        present = {judgment["item"] for judgment in judgments if judgment["present"]}
        return sum(item.points for item in items if item.id in present)

    def _rubric(self, items: Sequence[RubricItem]) -> dict[str, Any]:
        n_out = sum(self.fresh.randint(35, 60) for _ in items)
        n_in = 420 + sum(round(1.35 * len(item.text.split())) for item in items)
        return {
            "judgments": [self._judgment(item) for item in items],
            "shown": [item.id for item in items],
            "n_calls": 1,
            "n_quotes_dropped": 0,
            "usage": {
                "input_tokens": n_in,
                "output_tokens": n_out,
                "cost_usd": round((n_in * 2.5 + n_out * 10) / 1e6, 8),
                "seconds": round(self.fresh.lognormvariate(1.2, 0.3), 2),
            },
        }

    def _judgment(self, item: RubricItem) -> dict[str, Any]:
        label = self.answer.labels[item.id]
        rate = self.judge.misread * TURNED[item.points] / 2
        # no draw may hang on another one's outcome, or a second grading would lose step
        turned = [self.steady.random() < rate, self.fresh.random() < rate]
        unresolved = self.fresh.random() < self.judge.unresolved
        there = "present in" if label else "absent from"
        present: bool | None = label != any(turned)
        reason = f"Simulated: labelled {there} the probe."
        if present != label:
            reason = f"Simulated: misread. It is labelled {there} the probe."
        if unresolved:
            present, reason = None, "Simulated: not judged in 3 attempts."
        quote = _nearest(item.text, self.answer.response.text) if present else None
        return {"item": item.id, "present": present, "reason": reason, "quote": quote}


def _nearest(item: str, text: str) -> str:
    """The sentence of a text that shares the most words with an item."""
    wanted = _words(item)
    return max(re.split(r"(?<=[.!?])[\"”']?\s+", text), key=lambda said: len(wanted & _words(said)))


def _words(text: str) -> set[str]:
    """Its longer words: the short ones are everywhere."""
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3}


if __name__ == "__main__":
    main()
