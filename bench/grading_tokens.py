"""Tokens per judged item in four ways of grading; see README.md.

```sh
python bench/grading_tokens.py           # about a minute
python bench/grading_tokens.py --small   # a try: one scenario, nothing kept
```

The pilot's closed-book answers to the public scenarios are graded by the tests' fake server, which
keeps what it is sent. HealthBench's requests are built here, as its grader would send them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from careeval.bank import load_bank
from careeval.core.scenario import Scenario, Split
from careeval.modes.prompts import load_prompts
from careeval.modes.response import RESPONSE
from careeval.protocol.selection import select_scenarios
from support.fake_server import Completion, FakeServer, Request, asked_of_grader

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "grading_tokens.json"
PILOT = HERE.parent / "pilot"
ANSWERS = PILOT / "answers" / "closed.jsonl"
GRADINGS = PILOT / "gradings" / "closed.jsonl"

OPTIONS = {
    "one call a rubric": (),
    "one call a rubric, scenario shown": ("--grader-context", "scenario"),
    "one call an item": ("--per-item",),
}
"""Each way of careeval, and how `careeval run` is told."""

HEALTHBENCH = "HealthBench's: one call an item"
BEFORE, BETWEEN, AFTER = 49, 7, 649
"""Tokens of HealthBench's grader prompt, by the tokenizer used here: before the conversation,
between it and the rubric item, and after the item (`GRADER_TEMPLATE` in healthbench_eval.py of
https://github.com/openai/simple-evals, commit 9e2fafd). As many words stand for its text."""

HEALTHBENCH_SYSTEM = "You are a helpful assistant."
"""What its grader is told as the system message."""

REASON = "The answer proposes this in other words, and nowhere says that it does otherwise."
"""Of every judgment: 14 words, as the examples in HealthBench's grader prompt have 10 to 14."""

MIN_CACHED, CACHE_STEP = 1024, 128
"""Tokens of the shortest prefix that OpenAI caches, and of a step beyond it:
https://developers.openai.com/api/docs/guides/prompt-caching."""

PARTS = ("input", "shared", "cached", "output")
"""What the table gives a judged item."""

Tokenizer = Callable[[str], list[int]]


@dataclass(frozen=True)
class Call:
    """A call to a grader, with its reply."""

    prompt: str
    reply: str


@dataclass(frozen=True)
class Graded:
    """A response with the pilot's judgments, by the text of the item."""

    scenario: Scenario
    text: str
    present: dict[str, bool]


@dataclass(frozen=True)
class Row:
    """The tokens of one way of grading, as means.

    Attributes:
        shared: Input tokens an item that begin an earlier prompt too, in the same order: the most
            that any cache of prompts can take off.
        cached: The same by OpenAI's rule, if every earlier prompt were still in its cache.
    """

    way: str
    responses: int
    items: int
    calls: int
    input_an_item: float
    shared_an_item: float
    cached_an_item: float
    output_an_item: float
    input_a_response: float
    output_a_response: float


def main() -> None:
    """Count the tokens, print the table, and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--small", action="store_true", help="a try: one scenario, not kept")
    small = parser.parse_args().small
    responses = graded_responses(1 if small else None)
    calls = {way: careeval_calls(options, responses) for way, options in OPTIONS.items()}
    calls[HEALTHBENCH] = [call for response in responses for call in healthbench_calls(response)]
    tokenizer, name = load_tokenizer()
    rows = [asdict(count(way, calls[way], responses, tokenizer)) for way in calls]
    sys.stdout.write(table(rows))
    if not small:
        about = {"tokenizer": name, "bank": load_bank().about.version}
        kept = about | {"prompts": load_prompts(RESPONSE).grade_hash, "rows": rows}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def graded_responses(limit: int | None) -> list[Graded]:
    """Return the pilot's closed-book answers to the public scenarios, with their first grading."""
    scenarios = {each.id: each for each in select_scenarios(load_bank(), Split.public, limit=limit)}
    judged: dict[tuple[str, int], dict[str, bool]] = {}
    for line in _lines(GRADINGS):
        if line["grader"] == "first" and line["scenario"] in scenarios:
            texts = {action.id: action.text for action in scenarios[line["scenario"]].actions}
            response = judged.setdefault((line["scenario"], line["epoch"]), {})
            response[texts[line["item"]]] = line["present"]
    return [
        Graded(scenarios[line["scenario"]], line["response"], judged[name])
        for line in _lines(ANSWERS)
        if (name := (line["scenario"], line["epoch"])) in judged
    ]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


# --- what is sent, and what is replied -----------------------------------------------------------


def careeval_calls(options: Sequence[str], responses: Sequence[Graded]) -> list[Call]:
    """Return the calls of a run of careeval that grades these responses."""
    present = {response.text: response.present for response in responses}
    calls: list[Call] = []

    def grade(request: Request) -> Completion:
        response, items = asked_of_grader(request.user)
        reply = careeval_reply(response, {item: present[response][item] for item in items})
        # first, as OpenAI puts it
        schema = json.dumps(request.body["response_format"]["json_schema"]["schema"])
        said = (message["content"] for message in request.body["messages"])
        calls.append(Call("\n".join([schema, *said]), reply))
        return Completion(reply)

    with FakeServer(grade) as server:
        run_careeval(options, server.base_url, {response.scenario.id for response in responses})
    return calls


def run_careeval(options: Sequence[str], address: str, scenarios: Iterable[str]) -> None:
    """Run careeval over the pilot's answers to these scenarios, graded by a server."""
    env = {**os.environ, "FAKE_BASE_URL": address, "FAKE_API_KEY": "planted"}
    command = [sys.executable, "-m", "careeval", "run", "--yes", "-o", "out", "--rubric", "actions"]
    command += ["--responses", str(ANSWERS.resolve()), "--grader", "openai-api/fake/grader"]
    command += [*options, *(word for each in scenarios for word in ("--scenario", each))]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False)
    if done.returncode:
        sys.exit(done.stderr.decode())


def careeval_reply(response: str, present: dict[str, bool]) -> str:
    """Return a reply in the form that careeval's prompt asks for."""
    entries = [
        {
            "item": number,
            "quote": nearest_sentence(response, item) if is_present else "",
            "reason": REASON,
            "present": is_present,
        }
        for number, (item, is_present) in enumerate(present.items(), start=1)
    ]
    return json.dumps({"judgments": entries}, ensure_ascii=False)


def nearest_sentence(response: str, item: str) -> str:
    """Return the sentence of a response that shares the most words with an item."""
    words = set(re.findall(r"\w+", item.lower()))
    sentences = re.split(r"(?<=[.!?])\s+", response.strip())
    return max(sentences, key=lambda each: len(words & set(re.findall(r"\w+", each.lower()))))


def healthbench_calls(response: Graded) -> Iterator[Call]:
    """Yield the calls of HealthBench's grader about one response: one an item, with its points."""
    conversation = f"user: {response.scenario.text.strip()}\n\nassistant: {response.text}"
    for action in response.scenario.actions:
        item = f"[{action.points}] {action.text}"
        parts = (" a" * BEFORE, conversation, " a" * BETWEEN, item, " a" * AFTER)
        judgment = {"explanation": REASON, "criteria_met": response.present[action.text]}
        reply = f"```json\n{json.dumps(judgment, indent=2)}\n```"
        yield Call("".join((HEALTHBENCH_SYSTEM, "\n", *parts)), reply)


# --- what it takes -------------------------------------------------------------------------------


def load_tokenizer() -> tuple[Tokenizer, str]:
    """Return the embedded model's tokenizer, and its name."""
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    import xllamacpp

    from careeval.protocol.machine import embedded_model_path

    path = embedded_model_path()
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 512
    params.verbosity = -1
    params.ui = False
    server = xllamacpp.Server(params)

    def tokens(text: str) -> list[int]:
        body = json.dumps({"content": text}).encode()
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{server.listening_address}/tokenize", body, kind)
        with urllib.request.urlopen(request) as reply:
            read: list[int] = json.load(reply)["tokens"]
        return read

    return tokens, path.stem


def count(way: str, calls: Sequence[Call], responses: Sequence[Graded], tokens: Tokenizer) -> Row:
    """Count what the calls of one way take."""
    prompts = [tokens(call.prompt) for call in calls]
    shared = shared_prefixes(prompts)
    items = sum(len(response.present) for response in responses)
    n_input = sum(map(len, prompts))
    n_output = sum(len(tokens(call.reply)) for call in calls)
    return Row(
        way,
        len(responses),
        items,
        len(calls),
        input_an_item=round(n_input / items, 1),
        shared_an_item=round(sum(shared) / items, 1),
        cached_an_item=round(sum(map(cached, shared)) / items, 1),
        output_an_item=round(n_output / items, 1),
        input_a_response=round(n_input / len(responses), 1),
        output_a_response=round(n_output / len(responses), 1),
    )


def shared_prefixes(prompts: Sequence[list[int]]) -> list[int]:
    """Return how many tokens each prompt shares, from its first on, with one that came before.

    The prompts are taken in sorted order: what each shares most is then next to it, and the sum is
    that of any other order, since every prefix is new just once.
    """
    ordered = sorted(prompts)
    pairs = zip([[], *ordered], ordered, strict=False)
    return [_common(before, prompt) for before, prompt in pairs]


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def cached(shared: int) -> int:
    """Return how many of the tokens that a prompt shares OpenAI's rule takes from its cache."""
    return shared // CACHE_STEP * CACHE_STEP if shared >= MIN_CACHED else 0


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line a way: calls a response, tokens a judged item, tokens a response."""
    heads = ["way", "calls a response", "input an item", "… shared", "… cached", "output an item"]
    heads += ["input a response", "output a response"]
    lines = [f"| {' | '.join(heads)} |", f"| --- |{' ---: |' * (len(heads) - 1)}"]
    for row in rows:
        cells = [
            row["way"],
            f"{row['calls'] / row['responses']:.1f}",
            *(f"{row[f'{name}_an_item']:,.0f}" for name in PARTS),
            *(f"{row[f'{name}_a_response']:,.0f}" for name in ("input", "output")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
