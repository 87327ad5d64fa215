"""Tests of prices: the user's own come first, then the shipped list; others are unknown."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.errors import ProtocolError
from careeval.protocol.prices import (
    FREE,
    Price,
    cost_of,
    price_of,
    read_prices,
)
from careeval.protocol.providers import CLOUDS, PROVIDERS
from careeval.protocol.run import Run, as_fields, run_from_fields

DAY = date(2026, 11, 20)
"""A day for which the shipped list has prices that change with the date or the hour."""

USD = st.floats(0, 1e6, allow_nan=False)
PRICES = st.builds(Price, input=USD, output=USD, cache_read=USD, cache_write=USD, source=st.text())
TOKENS = st.integers(0, 10**9)


def flat(usd: float) -> Price:
    """A price that is the same for everything."""
    return Price(input=usd, output=usd, cache_read=usd, cache_write=usd, source="a test")


def known(model: str, day: date = DAY) -> Price:
    """A price that is in the list."""
    price = price_of(model, day=day)
    assert price is not None, f"{model} has no price"
    return price


def written(folder: Path, text: str) -> Path:
    """A prices file."""
    path = folder / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_worked_example(tmp_path: Path) -> None:
    """1M tokens in at $2, 0.5M out at $8, 4M read and 2M written at $0.5 and $3 cost $14."""
    path = written(
        tmp_path,
        '["openai/gpt-x"]\ninput = 2\noutput = 8.0\ncache_read = 0.5\ncache_write = 3\n',
    )
    price = read_prices(path)["openai/gpt-x"]
    # 2 + 4 + 2 + 6
    assert cost_of(price, 1_000_000, 500_000, 4_000_000, 2_000_000) == 14
    assert price.source == "prices.toml"


def test_a_cache_costs_what_a_prompt_does_unless_stated(tmp_path: Path) -> None:
    """A prices file that leaves the cache out prices it as input."""
    prices = read_prices(written(tmp_path, '["a/b"]\ninput = 3\noutput = 9\n'))
    assert (prices["a/b"].cache_read, prices["a/b"].cache_write) == (3, 3)


def test_the_papers_grader_has_the_listed_price() -> None:
    """GPT-4o of August 2024 costs $2.50 in and $10 out, and half of the former from the cache."""
    price = known("openai/gpt-4o-2024-08-06")
    assert (price.input, price.output, price.cache_read) == (2.5, 10, 1.25)
    # the list names none for writing to the cache
    assert price.cache_write == price.input
    assert price.source.startswith("genai-prices ")
    assert price.source.endswith(": openai gpt-4o")


def test_own_prices_come_first() -> None:
    """A model of the list, and one that runs in the process, cost what the user's own file says."""
    for model in ("openai/gpt-4o", "gguf/smollm2-135m"):
        assert price_of(model, {model: flat(7)}) == flat(7)
        assert price_of(model, {model + "-2": flat(7)}) != flat(7)


@pytest.mark.parametrize("model", ["gguf/smollm2-135m", "careeval/lexical"])
def test_what_runs_in_the_process_costs_nothing(model: str) -> None:
    """The embedded model and the lexical grader have a price, and it is zero."""
    assert price_of(model) == FREE
    assert cost_of(FREE, 10**9, 10**9, 10**9, 10**9) == 0


@pytest.mark.parametrize(
    "model",
    [
        "openai/no-such-model",
        "openai-api/robot/gpt-4o",
        "vllm/meta-llama/Llama-3.3-70B-Instruct",
        "ollama/llama3",
        "hf/gpt2",
        "litellm-proxy/gpt-4o",
        "gpt-4o",
        "openai/",
        "openai/azure/",
        "",
        "careeval",
    ],
)
def test_what_is_not_in_the_list_is_unknown(model: str) -> None:
    """A model of an own server, of nobody's, or of no provider has no price rather than a zero."""
    assert price_of(model) is None


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("openai/text-embedding-3-small", "it has no output price"),
        ("perplexity/sonar", "each request is charged beside its tokens"),
        ("openrouter/openai/gpt-oss-20b:free", "the list has it with no price at all"),
    ],
)
def test_a_price_known_in_part_is_unknown(model: str, why: str) -> None:
    """A listed price that does not say what a whole call costs is no price."""
    assert price_of(model, day=DAY) is None, why


def test_a_tiered_price_is_its_base() -> None:
    """Gemini 2.5 Pro, dearer above 200,000 tokens, costs what it does below them."""
    price = known("google/gemini-2.5-pro")
    assert (price.input, price.output) == (1.25, 10)


def test_a_price_that_changes_with_the_hour_is_the_dearest() -> None:
    """DeepSeek's model of two daily rates, $0.135 and $0.27 in, is planned at the higher."""
    price = known("deepseek/deepseek-chat")
    assert (price.input, price.output) == (0.27, 1.1)


def test_a_price_that_changed_is_that_of_the_day() -> None:
    """DeepSeek V3.1 at its host cost $0.55 in on 8 November 2026, and $0.27 from the 9th."""
    model = "openrouter/deepseek/deepseek-chat-v3.1"
    assert known(model, date(2026, 11, 8)).input == 0.55
    assert known(model, date(2026, 11, 9)).input == 0.27


@pytest.mark.parametrize(
    ("model", "seller"),
    [
        ("openai/azure/gpt-4o", "azure"),
        ("anthropic/bedrock/anthropic.claude-opus-4-5-20251101-v1:0", "aws"),
        ("google/vertex/gemini-2.5-pro", "google"),
        ("grok/grok-4", "x-ai"),
        ("moonshot/kimi-k2-thinking", "moonshotai"),
    ],
)
def test_the_seller_is_found_by_inspects_name(model: str, seller: str) -> None:
    """The price is that of the service named, where Inspect and the list name it differently."""
    assert f": {seller} " in known(model).source


def test_every_seller_is_one_of_the_list() -> None:
    """No provider or cloud is mapped to a seller that the price list does not have."""
    from genai_prices.data import providers

    sellers = {provider.seller for provider in PROVIDERS.values() if provider.seller}
    assert {*sellers, *CLOUDS.values()} <= {provider.id for provider in providers}


def test_the_list_is_read_only_when_it_is_asked() -> None:
    """Importing the module loads no price list."""
    code = "import sys, careeval.protocol.prices; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.sampled_from([*PROVIDERS, "openai/azure", "acme"]), st.text(max_size=30))
def test_any_name_has_a_price_or_none(provider: str, name: str) -> None:
    """No model's name makes the look-up fail, and no list price found is below zero."""
    price = price_of(f"{provider}/{name}", day=DAY)
    assert price is None or min(price.input, price.output) >= 0


@given(PRICES, TOKENS, TOKENS, TOKENS, TOKENS)
def test_cost_adds_up(price: Price, tokens: int, output: int, read: int, write: int) -> None:
    """The cost of several kinds of tokens is the sum of the cost of each."""
    parts = [
        cost_of(price, tokens, 0),
        cost_of(price, 0, output),
        cost_of(price, 0, 0, cache_read=read),
        cost_of(price, 0, 0, cache_write=write),
    ]
    assert cost_of(price, tokens, output, read, write) == pytest.approx(sum(parts))


@given(st.dictionaries(st.text(), PRICES))
def test_prices_survive_json(prices: dict[str, Price]) -> None:
    """Prices that a run has stored are read back unchanged."""
    stored = json.dumps(as_fields(Run("a", None, None, 1, prices=prices)))
    assert run_from_fields(json.loads(stored)).prices == prices


@given(
    st.dictionaries(
        st.text("abc-.5", min_size=1).map(lambda name: f"acme/{name}"),
        st.tuples(st.integers(0, 1000) | USD, st.integers(0, 1000) | USD),
    )
)
def test_a_file_is_read_as_written(prices: dict[str, tuple[float, float]]) -> None:
    """Every model of a prices file is found, with the numbers that stand there."""
    text = "".join(f'["{m}"]\ninput = {i!r}\noutput = {o!r}\n' for m, (i, o) in prices.items())
    with tempfile.TemporaryDirectory() as folder:
        found = read_prices(written(Path(folder), text))
    assert {model: (p.input, p.output) for model, p in found.items()} == prices


@pytest.mark.parametrize(
    "data",
    [
        {"a/b": {"input": 1}},
        {"a/b": {**flat(1).model_dump(), "input": -1}},
        {"a/b": {**flat(1).model_dump(), "more": 1}},
        [],
        None,
    ],
)
def test_what_is_no_price_is_not_read_back(data: object) -> None:
    """Stored prices that careeval did not write are refused."""
    fields = as_fields(Run("a", None, None, 1)) | {"prices": data}
    with pytest.raises(ValueError, match="prices"):
        run_from_fields(fields)


WHOLE = '["a/b"]\ninput = 1\noutput = 2\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('["a/b"]\ninput = 1\n', "['a/b'] output is missing"),
        ('["a/b"]\noutput = 1\n', "['a/b'] input is missing"),
        (WHOLE + "cache_read = -0.5\n", "cache_read is -0.5: expected USD per million tokens"),
        (WHOLE + "cache_write = nan\n", "cache_write is nan"),
        (WHOLE.replace("2", "inf"), "output is inf"),
        (WHOLE.replace("2", '"10"'), "output is '10'"),
        (WHOLE.replace("2", "true"), "output is True"),
        (WHOLE.replace("2", "1" + "0" * 400), "output is 1000"),
        (WHOLE + "ouput = 2\n", "'ouput' is not a field: use input, output, cache_read"),
        (WHOLE + 'source = "me"\n', "'source' is not a field"),
        (WHOLE.replace("a/b", "gpt-4o"), "['gpt-4o'] is not a model name of the form"),
        ("input = 1\n", "'input' is not a table"),
        ("[openai/gpt-4o]\ninput = 1\n", "is not TOML"),
        (WHOLE + WHOLE, "is not TOML"),
        ("a = " + "[" * 5000, "is not TOML"),
    ],
)
def test_what_is_wrong_is_named(text: str, said: str, tmp_path: Path) -> None:
    """A fault of a prices file is refused with the file, the model, the field and what stands."""
    path = written(tmp_path, text)
    with pytest.raises(ProtocolError) as refused:
        read_prices(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert said in str(refused.value)
    assert "input = 1.25" in refused.value.hint


def test_every_fault_is_named(tmp_path: Path) -> None:
    """Two faults of two models are both listed."""
    with pytest.raises(ProtocolError) as refused:
        read_prices(written(tmp_path, '["a/b"]\ninput = 1\n["c/d"]\ninput = -1\noutput = 1\n'))
    assert len(str(refused.value).splitlines()) == 2


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """A file that is not there, and one that is not text, are the user's to mend."""
    with pytest.raises(ProtocolError, match=r"no\.toml: cannot be read"):
        read_prices(tmp_path / "no.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ProtocolError, match=r"bytes\.toml: is not UTF-8"):
        read_prices(tmp_path / "bytes.toml")


def test_an_empty_file_has_no_prices(tmp_path: Path) -> None:
    """A prices file of comments alone leaves the list as it is."""
    assert read_prices(written(tmp_path, "# none yet\n")) == {}
