"""Vendors by name; two graders by hand."""

from __future__ import annotations

from typing import Any

import pytest

from careeval.core.scenario import Rubric
from careeval.core.vendors import vendor
from careeval.protocol.selection import read_roster
from careeval.results.entries import entries
from careeval.results.graders import GraderPair, grader_pairs
from careeval.results.tables import Runs
from results.authored import Marks, judgments, responses

PAPER = ["openai", "anthropic", "google", "openai", "openai", "meta", "deepseek", "moonshot",
         "alibaba"]  # fmt: skip
"""Who made the models of the paper's roster, in its order."""


def test_the_makers_of_the_paper_s_models() -> None:
    """Each of the nine models has its maker, six of them behind a host."""
    assert [vendor(model) for model in read_roster("paper")] == PAPER


@pytest.mark.parametrize(
    ("model", "maker"),
    [
        ("openai/gpt-4o-2024-08-06", "openai"),
        ("openai/azure/gpt-4o", "openai"),
        ("anthropic/bedrock/claude-sonnet-4-5", "anthropic"),
        ("google/vertex/gemini-2.5-pro", "google"),
        ("grok/grok-4", "xai"),
        ("mistral/mistral-large-latest", "mistral"),
        ("together/openai/gpt-oss-120b", "openai"),
        ("together/Qwen/Qwen2.5-72B-Instruct", "alibaba"),
        ("groq/llama-3.3-70b-versatile", "meta"),
        ("fireworks/accounts/fireworks/models/deepseek-v3p1", "deepseek"),
        ("bedrock/us.anthropic.claude-sonnet-4-20250514-v1:0", "anthropic"),
        ("bedrock/meta.llama3-70b-instruct-v1:0", "meta"),
        ("bedrock/amazon.nova-pro-v1:0", "amazon"),
        ("azureai/gpt-4o", "openai"),
        ("azureai/Phi-4", "microsoft"),
        ("vertex/claude-opus-4-5", "anthropic"),
        ("openrouter/x-ai/grok-4", "xai"),
        ("openrouter/z-ai/glm-4.6", "zhipu"),
        ("openrouter/nvidia/llama-3.1-nemotron-70b-instruct", "nvidia"),
        ("openrouter/cohere/command-a", "cohere"),
        ("cloudflare/@cf/meta/llama-3.1-8b-instruct", "meta"),
        ("hf/mistralai/Mistral-7B-Instruct-v0.3", "mistral"),
        ("hf/EleutherAI/gpt-neo-2.7B", "eleutherai"),
        ("hf/somebody/gpt-neo-2.7B", "eleutherai"),
        ("hf/somebody/their-own", "somebody"),
        ("vllm/meta-llama/Llama-3.1-8B-Instruct", "meta"),
        ("vllm//data/models/planner", None),
        ("ollama/gemma3:4b", "google"),
        ("llama-cpp-python/qwen2.5-7b", "alibaba"),
        ("openai-api/lab/planner", None),
        ("openai-api/lab/qwen2.5-7b-instruct", "alibaba"),
        ("openai-api/lab/acme/planner", "acme"),
        ("openai/qwen2.5-7b", "alibaba"),
        ("openrouter/openrouter/auto", None),
        ("gguf/SmolLM2-135M-Instruct-Q4_K_M.gguf", "huggingface"),
        ("gguf/mine.gguf", None),
        ("vendor-a/simulated-a", "vendor-a"),
        ("careeval/lexical", None),
        ("mockllm/model", None),
        ("", None),
        (None, None),
    ],
)
def test_vendor(model: str | None, maker: str | None) -> None:
    """A host is no vendor, and what a name does not say is not known."""
    assert vendor(model) == maker


def test_a_family_is_a_whole_word() -> None:
    """A name that only begins like a family is not of it."""
    assert vendor("ollama/phidget") is None
    assert vendor("ollama/grokking") is None


def judged(by_grader: dict[str, Marks], model: str | None = None, **columns: Any) -> Runs:
    """One system, its first grader's responses judged by each grader on the paper's rubric."""
    (first, *_) = by_grader.values()
    rows = [row for grader, marks in by_grader.items() for row in judgments(marks, grader=grader)]
    return Runs.of(responses(first, model=model, **columns), rows)


def pair(by_grader: dict[str, Marks]) -> GraderPair:
    """The one pair of a run."""
    (found,) = grader_pairs(entries(judged(by_grader)))
    return found


def test_pair_by_hand() -> None:
    """Ten judgments, one of which differs, on a +1 item: agreement is by points of the item."""
    found = pair({"a": {"eating-1": ["11000", "00010"]}, "b": {"eating-1": ["10000", "00010"]}})
    assert (found.a, found.b, found.systems, found.n) == ("a", "b", ("robot-a",), 10)
    assert list(found.by_points) == [(Rubric.ladder, points) for points in (2, 1, 0, -1, -2)]
    positive = {p: of.positive_agreement.value for (_, p), of in found.by_points.items()}
    assert positive == {2: 1, 1: 0, 0: None, -1: 1, -2: None}
    counts = [(of.n, of.n_both, of.n_either) for of in found.by_points.values()]
    assert counts == [(2, 1, 1), (2, 0, 1), (2, 0, 0), (2, 1, 1), (2, 0, 0)]
    # of two judgments of the +1 rung one is alike; a quarter is present on average
    ac1 = found.by_points[Rubric.ladder, 1].ac1
    assert ac1.value == pytest.approx((0.5 - 0.375) / (1 - 0.375))
    assert ac1.reason == "fewer than five scenarios"


def test_what_only_one_of_two_judged_is_in_no_pair() -> None:
    """Unresolved judgments are counted apart, ungraded ones and those of no words are not there."""
    marks = {"eating-1": ["1?000", "11000", "empty"]}
    found = pair({"a": marks, "b": {"eating-1": ["1100?", "ungraded", "empty"]}})
    assert found.n == 3
    assert [of.n_unresolved for of in found.by_points.values()] == [0, 1, 0, 0, 1]
    nothing = pair({"a": {"eating-1": ["?????"]}, "b": {"eating-1": ["11000"]}})
    assert nothing.n == 0
    assert {of.ac1.reason for of in nothing.by_points.values()} == {"no judgment was made by two"}
    apart = judged({"a": {"eating-1": ["11000"] * 2}, "b": {"eating-1": ["ungraded"] * 2}})
    assert grader_pairs(entries(apart)) == []


def test_scenarios_are_the_clusters_of_a_pair() -> None:
    """Ten copies of each response change neither agreement nor the width of AC1's interval."""
    a = {f"eating-{k}": ["11000"] for k in range(8)}
    b = {f"eating-{k}": ["11000" if k % 2 else "10010"] for k in range(8)}
    once = pair({"a": a, "b": b})
    often = pair({g: {k: v * 10 for k, v in marks.items()} for g, marks in (("a", a), ("b", b))})
    assert often.n == 10 * once.n
    mild = (Rubric.ladder, -1)
    assert often.by_points[mild].ac1.value == pytest.approx(once.by_points[mild].ac1.value)
    assert often.by_points[mild].ac1.ci95 == pytest.approx(once.by_points[mild].ac1.ci95)
    assert once.by_points[mild].ac1.ci95 is not None


def test_systems_of_a_pair_are_together() -> None:
    """Two graders of two systems are one pair over both."""
    by_grader: dict[str, Marks] = {"a": {"eating-1": ["11000"]}, "b": {"eating-1": ["10000"]}}
    one = judged(by_grader)
    rows = [
        row
        for grader, marks in by_grader.items()
        for row in judgments(marks, grader=grader, system="robot-b")
    ]
    other = Runs.of(responses(by_grader["a"], system="robot-b"), rows)
    (found,) = grader_pairs(entries(Runs.together([one, other])))
    assert (found.systems, found.n) == (("robot-a", "robot-b"), 10)
