"""Vendors by name; two graders by hand; scores without a system's own vendor."""

from __future__ import annotations

from typing import Any

import pytest

from careeval.protocol.roster import read_roster
from careeval.results.entries import entries
from careeval.results.graders import GraderPair, OwnVendorOut, grader_pairs, own_vendor_out, vendor
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
        ("openai/gpt-4o-2024-08-06 (batched, prompt 2f0c473a)", "openai"),
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
        ("careeval/lexical (batched, prompt 2f0c473a)", None),
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
    (found,) = grader_pairs(list(entries(judged(by_grader))))
    return found


def test_pair_by_hand() -> None:
    """Ten judgments, one of which differs, by item and beyond chance."""
    found = pair({"a": {"eating-1": ["11000", "00010"]}, "b": {"eating-1": ["10000", "00010"]}})
    assert (found.a, found.b, found.systems, found.n) == ("a", "b", ("robot-a",), 10)
    assert found.agree.value == pytest.approx(9 / 10)
    # present in 3 and in 2 of 10: chance agrees in .3 × .2 + .7 × .8 = .62
    assert found.kappa.value == pytest.approx((0.9 - 0.62) / (1 - 0.62))
    assert found.by_points == {2: (1, 2), 1: (0.5, 2), 0: (1, 2), -1: (1, 2), -2: (1, 2)}
    assert list(found.by_points) == [2, 1, 0, -1, -2]
    assert found.agree.reason == found.kappa.reason == "fewer than five scenarios"


def test_what_only_one_of_two_judged_is_in_no_pair() -> None:
    """Unresolved and ungraded judgments are left out, and so are responses without words."""
    marks = {"eating-1": ["1?000", "11000", "empty"]}
    found = pair({"a": marks, "b": {"eating-1": ["1100?", "ungraded", "empty"]}})
    assert (found.n, found.agree.value) == (3, 1)
    nothing = pair({"a": {"eating-1": ["?????"]}, "b": {"eating-1": ["11000"]}})
    assert (nothing.n, nothing.agree.value, nothing.kappa.value) == (0, None, None)
    apart = judged({"a": {"eating-1": ["11000"] * 2}, "b": {"eating-1": ["ungraded"] * 2}})
    assert grader_pairs(list(entries(apart))) == []


def test_kappa_of_a_grader_that_finds_nothing() -> None:
    """Two graders that find nothing agree, and kappa is unknown, not 1."""
    found = pair({"a": {"eating-1": ["00000"]}, "b": {"eating-1": ["00000"]}})
    assert found.agree.value == 1
    assert found.kappa.value is None
    assert "throughout" in found.kappa.reason


def test_scenarios_are_the_clusters_of_a_pair() -> None:
    """Ten copies of each response change neither agreement nor the width of kappa's interval."""
    a = {f"eating-{k}": ["11000"] for k in range(8)}
    b = {f"eating-{k}": ["11000" if k % 2 else "10010"] for k in range(8)}
    once = pair({"a": a, "b": b})
    often = pair({g: {k: v * 10 for k, v in marks.items()} for g, marks in (("a", a), ("b", b))})
    assert often.n == 10 * once.n
    assert often.agree.value == once.agree.value
    assert often.kappa.ci95 == pytest.approx(once.kappa.ci95)
    assert once.kappa.ci95 is not None


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
    (found,) = grader_pairs(list(entries(Runs.together([one, other]))))
    assert (found.systems, found.n) == (("robot-a", "robot-b"), 10)


FULL, HALF, NONE = "11000", "01010", "00010"
"""3, 0 and -1 of 3 points."""


def without_own(by_grader: dict[str, str], model: str | None = "openai/gpt-5.1") -> OwnVendorOut:
    """Of a system that was asked once."""
    marks: dict[str, Marks] = {name: {"eating-1": [mark]} for name, mark in by_grader.items()}
    (found,) = own_vendor_out(list(entries(judged(marks, model))))
    return found


def test_own_vendor_out_by_hand() -> None:
    """The score is the mean over the graders of other vendors."""
    found = without_own(
        {"anthropic/claude (x)": FULL, "google/gemini (x)": HALF, "openai/gpt-4o (x)": NONE}
    )
    assert found.kept == ("anthropic/claude (x)", "google/gemini (x)")
    assert found.left_out == ("openai/gpt-4o (x)",)
    assert found.unknown == ()
    assert found.score.value == pytest.approx((3 + 0) / 2 / 3)
    assert found.action_score.value is None


def test_what_has_no_known_vendor_is_kept() -> None:
    """A grader behind an address of one's own is kept and named, and so is a system."""
    graders = {"openai-api/lab/judge (x)": FULL, "openai/gpt-4o (x)": NONE}
    found = without_own(graders)
    assert found.unknown == ("openai-api/lab/judge (x)",)
    assert found.score.value == 1
    recorded = without_own(graders, None)
    assert recorded.unknown == ("robot-a", "openai-api/lab/judge (x)")
    assert (recorded.left_out, recorded.score.value) == ((), pytest.approx(1 / 3))


def test_only_own_graders() -> None:
    """Where no grader is left the score is unknown."""
    found = without_own({"openai/gpt-4o (x)": FULL, "openai/gpt-4o (y)": FULL})
    assert (found.kept, found.score.value) == ((), None)


def test_one_serious_grader_is_not_several() -> None:
    """The lexical grader is for seeing everything work, and counts for none."""
    marks: Marks = {"eating-1": [FULL]}
    runs = judged({"careeval/lexical (x)": marks, "openai/gpt-4o (x)": marks}, "openai/gpt-5.1")
    assert own_vendor_out(list(entries(runs))) == []


def test_kept_graders_are_averaged_over_what_all_of_them_judged() -> None:
    """A grader of one scenario does not stand for the others."""
    whole: Marks = {"eating-1": [FULL], "eating-2": [NONE]}
    part: Marks = {"eating-1": [HALF], "eating-2": ["ungraded"]}
    runs = judged({"anthropic/claude (x)": whole, "google/gemini (x)": part}, "openai/gpt-5.1")
    (found,) = own_vendor_out(list(entries(runs)))
    assert found.score.value == pytest.approx((3 + 0) / 2 / 3)
