"""The prices of models: the user's own first, then public list prices shipped with a package.

Prices are USD per million tokens. A model whose price is not known has the price `None`, not 0:
only models that run inside the process cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from careeval.core.scenario import Frozen
from careeval.errors import ProtocolError
from careeval.files import read_toml
from careeval.protocol.providers import provider_of

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

PER = 1_000_000
"""The number of tokens to which a price applies."""

CHARGED_APART = ("requests_kcount", "output_reasoning_mtok", "output_citation_mtok")
"""Charges of the price list that come on top of the prices of input and output."""

Usd = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
"""A price in US dollars per million tokens."""


class Price(Frozen):
    """The price of one model."""

    input: Usd
    """Prompt tokens, those of a cache excluded."""
    output: Usd
    """Reply tokens, reasoning included."""
    cache_read: Usd
    """Prompt tokens that the provider read from its cache."""
    cache_write: Usd
    """Prompt tokens that the provider wrote to its cache."""
    source: str
    """The origin of the price, as text."""

    @property
    def is_free(self) -> bool:
        """True if no token costs anything."""
        return not (self.input or self.output or self.cache_read or self.cache_write)


FREE = Price(input=0, output=0, cache_read=0, cache_write=0, source="runs in this process")
"""The price of models that run inside the process."""


def price_of(model: str, own: Mapping[str, Price] = {}, day: date | None = None) -> Price | None:
    """Return the price of a model, the user's `own` first, or `None` if it is unknown.

    List prices come from the package genai-prices, never from the network, and are those of the
    provider's own server: do not use them for another base URL. If a price rises with the length of
    the prompt, this is the base price: careeval's prompts are far shorter than any threshold. If it
    changes with the hour, this is the highest of the day (UTC; today if not given). Batch and other
    service tiers are ignored. A price that is incomplete, or has charges beside those for tokens,
    is not known.
    """
    if model in own:
        return own[model]
    provider = provider_of(model)
    name = model.split("/", 2 if provider.cloud else 1)[1:]
    if name and provider.in_process:
        return FREE
    if name and name[-1] and provider.seller:
        return _list_price(provider.seller, name[-1], day)
    return None


def cost_of(
    price: Price,
    input_tokens: float,
    output_tokens: float,
    cache_read: float = 0,
    cache_write: float = 0,
) -> float:
    """Return the cost of tokens in US dollars, counted as Inspect counts a model's usage.

    Input tokens are without those read from or written to the provider's cache; output tokens
    include reasoning.
    """
    return (
        price.input * input_tokens
        + price.output * output_tokens
        + price.cache_read * cache_read
        + price.cache_write * cache_write
    ) / PER


class _PriceTable(Frozen):
    input: Usd
    output: Usd
    cache_read: Usd | None = None
    cache_write: Usd | None = None


_HINT = 'write a table per model:\n["openai/gpt-5.1"]\ninput = 1.25\noutput = 10'


def read_prices(path: Path) -> dict[str, Price]:
    """Return the user's own prices by model, from a TOML file with one table per model.

    ```toml
    ["openai/gpt-5.1"]
    input = 1.25
    output = 10
    cache_read = 0.125    # may be left out, like cache_write: then the input price
    ```

    Raises:
        ProtocolError: The file cannot be read, or has invalid entries; every problem is listed.
    """
    return prices_of_tables(read_toml(path, ProtocolError, hint=_HINT), str(path))


def prices_of_tables(tables: Mapping[str, Any], source: str) -> dict[str, Price]:
    """Return the user's own prices by model, from a table per model as `read_prices` shows it.

    Messages name the `source`: the path of a file, or another name for the origin of the tables.

    Raises:
        ProtocolError: There are invalid entries; every problem is listed.
    """
    prices: dict[str, Price] = {}
    problems: list[str] = []
    for model, table in tables.items():
        if not isinstance(table, dict):
            problems.append(f"{source}: {model!r} is not a table")
        elif not all(model.partition("/")):
            problems.append(f"{source}: [{model!r}] is not a model name of the form PROVIDER/MODEL")
        else:
            try:
                prices[model] = _own_price(table, Path(source).name)
            except ValidationError as error:
                problems += (f"{source}: [{model!r}] {_in_words(e)}" for e in error.errors())
    if problems:
        raise ProtocolError("\n".join(problems), hint=_HINT)
    return prices


def _own_price(table: dict[str, Any], source: str) -> Price:
    price = _PriceTable.model_validate(table)
    return Price(
        input=price.input,
        output=price.output,
        cache_read=price.input if price.cache_read is None else price.cache_read,
        cache_write=price.input if price.cache_write is None else price.cache_write,
        source=source,
    )


def _in_words(error: ErrorDetails) -> str:
    field = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "missing":
            return f"{field} is missing: expected USD per million tokens"
        case "extra_forbidden":
            return f"{field!r} is not a field: use {', '.join(_PriceTable.model_fields)}"
        case _:
            value = repr(error["input"])[:40]
            return f"{field} is {value}: expected USD per million tokens, 0 or more"


def _list_price(provider: str, name: str, day: date | None) -> Price | None:
    """Return the highest list price of a model on a day, or `None` if it is unknown."""
    from genai_prices import Usage, calc_price

    day = day or datetime.now(UTC).date()
    hours = [datetime(day.year, day.month, day.day, hour, tzinfo=UTC) for hour in range(24)]
    try:
        model = calc_price(
            Usage(), name, provider_id=provider, genai_request_timestamp=hours[0]
        ).model
    except LookupError:
        return None
    source = f"genai-prices {version('genai-prices')}: {provider} {model.id}"
    prices: list[Price] = []
    for hour in hours:
        if (price := _whole_price(model.get_prices(hour), source)) is None:
            return None
        prices.append(price)
    return max(prices, key=lambda price: (price.input + price.output, price.output))


def _whole_price(listed: ModelPrice, source: str) -> Price | None:
    """Return a listed price; `None` if input or output has no price, or other charges apply."""
    if any(getattr(listed, charge) is not None for charge in CHARGED_APART):
        return None
    tokens_in, tokens_out = _base(listed.input_mtok), _base(listed.output_mtok)
    if tokens_in is None or tokens_out is None:
        return None
    read, write = _base(listed.cache_read_mtok), _base(listed.cache_write_mtok)
    return Price(
        input=tokens_in,
        output=tokens_out,
        cache_read=tokens_in if read is None else read,
        cache_write=tokens_in if write is None else write,
        source=source,
    )


def _base(listed: Any) -> float | None:
    """Return a listed price as a number; for a price with tiers, the lowest tier's."""
    return None if listed is None else float(getattr(listed, "base", listed))


# The estimate of one call

BYTES_PER_TOKEN = 4.0
"""Expected bytes of UTF-8 per token. Measured with OpenAI's o200k tokenizer on twelve of the
bank's scenarios: 4.0 in their texts, 4.2 in whole grading prompts, 4.4 in written answers."""

WORST_BYTES_PER_TOKEN = 3.0
"""Expected bytes of UTF-8 per token of a tokenizer that cuts a third finer, as some models have."""

ANSWER_TOKENS = 220
"""Expected tokens of a response. The prompt asks for about 150 words, which are 172 tokens at the
1.15 a word measured as above; the rest is for models that say more than they are asked."""

ACT_TOKENS = 60
"""Expected tokens of a reply that is one act of a robot: its JSON, and a sentence of reason."""

OBSERVATION_TOKENS = 80
"""Expected tokens of what a system is told after an act."""

MAX_KEPT = 2_000
"""The most characters of a reply that is one act, as the system is shown it with its next calls."""

N_ACTS = 12
"""Expected acts of an episode; the safe plans of careeval's worlds have 9 on average."""

ITEM_TOKENS = 60
"""Expected tokens of a grader's reply for each item judged. An entry with one sentence quoted and
one sentence of reason is 50 to 55 tokens, measured as above; the rest is for its layout."""


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """The estimated cost of one attempt at a call."""

    kind: str  # Role and model. Estimates for calls of one kind tend to err in the same direction.
    usd: float  # Expected cost, without reasoning
    worst_usd: float  # Cost if the reply reaches its token limit


def estimate_call(
    kind: str, price: Price, n_bytes: int, expected_tokens: float, limit: int
) -> CallEstimate:
    """Return the estimated cost of a call of a `kind`, role and model, at a price.

    `n_bytes` are sent; the reply is expected to have `expected_tokens`, and has at most `limit`.
    """
    usd = cost_of(price, n_bytes / BYTES_PER_TOKEN, min(expected_tokens, limit))
    # at worst the whole prompt is written to a cache, if that is dearer
    dearest = price.model_copy(update={"input": max(price.input, price.cache_write)})
    return CallEstimate(kind, usd, cost_of(dearest, n_bytes / WORST_BYTES_PER_TOKEN, limit))


@dataclass(frozen=True, slots=True)
class PictureTokens:
    """The tokens for which a provider charges a picture of 1024 × 768 pixels."""

    worst: float
    expected: float | None  # None where the provider's documents do not say


PICTURE_TOKENS: Mapping[str, PictureTokens] = {
    # width × height / 750, at most 1,600
    "anthropic": PictureTokens(expected=1_049, worst=1_600),
    # 768 patches of 32 × 32 pixels; older small models charge up to 2,833 + 4 × 5,667
    "openai": PictureTokens(expected=768, worst=25_501),
    # the default media resolution of Gemini 3
    "google": PictureTokens(expected=1_120, worst=1_120),
}
"""Provider → tokens of a picture, from the providers' guides to images, November 2026."""

UNKNOWN_PICTURE = PictureTokens(expected=None, worst=2_000)


def picture_tokens(model: str) -> PictureTokens:
    """Return the tokens of a picture for a model, by Inspect's name of it."""
    return PICTURE_TOKENS.get(model.partition("/")[0], UNKNOWN_PICTURE)
