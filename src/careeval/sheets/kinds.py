"""Kinds of values: their text for people and their columns in data files.

A kind is a value, not a class: a `Kind` holds the functions that write and store its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

import polars as pl

from careeval.core.scenario import WHEN
from careeval.core.text import dollars, percent, signed, thousands
from careeval.results.graded_rubric import Errors
from careeval.results.tables import Column, Cost
from careeval.stats.estimate import Estimate
from careeval.stats.intervals import MIN_SCENARIOS

Scalar = str | int | float | bool | None | list[Any]
DataType = pl.DataType | type[pl.DataType]

UNKNOWN = "unknown"
DASH = "–"
"""Stands for a value that is unknown or does not exist."""


class Form(StrEnum):
    """The amount of detail in a value's text.

    Bounds are the lowest and highest value that the unresolved judgments allow.
    """

    whole = "whole"  # The value, the bounds and the interval
    short = "short"
    """The value and the interval, which includes the bounds; without interval, the bounds."""
    bare = "bare"  # The value alone
    of_many = "count"  # For errors, the count: "2 of 36"


class StoredColumn(NamedTuple):
    """One of the columns that hold a field's values in data files."""

    suffix: str  # Added to the field's key; empty for the value itself
    type: DataType
    holds: str = "{}"  # Description of the column; `{}` stands for the field's own


@dataclass(frozen=True)
class Kind:
    """The way in which a field's values are written and stored.

    The functions of a kind are only called with values that are not `None`.
    """

    stored: tuple[StoredColumn, ...] = (StoredColumn("", pl.String),)  # The columns in data files
    write: Callable[[Any, Form], str] = lambda value, _: str(value)
    store: Callable[[Any], tuple[Scalar, ...]] = lambda value: (value,)  # One for each column
    order: Callable[[Any], float | None] = lambda _: None  # The sort key; `None`: by the text
    write_on_page: Callable[[Any, Form], str] | None = None  # The text with its unit, if it has one
    lines: Callable[[Any], tuple[str, ...]] = lambda _: ()  # Small lines below a value on a page
    unit: Callable[[Form], str] = lambda _: ""  # The unit at the end of a column head
    is_number: bool = True  # True if a table aligns the values right
    if_missing: str = UNKNOWN  # The text on a page if there is no value
    is_long: bool = False  # True if the values are sentences, which LaTeX wraps

    def columns(self, key: str, holds: str) -> tuple[Column, ...]:
        """Return the data columns of a field with this key and description."""
        return tuple(Column(f"{key}{p.suffix}", p.type, p.holds.format(holds)) for p in self.stored)

    def text(self, value: Any, form: Form = Form.short) -> str:
        """Return the text of a value; a dash for `None`."""
        return DASH if value is None else self.write(value, form)

    def sort_key(self, value: Any) -> float | None:
        """Return the sort key of a value; `None` if unknown, or if rows sort by the text."""
        return None if value is None else self.order(value)

    def page_text(self, value: Any, form: Form = Form.bare) -> str:
        """Return the text of a value on a page, with the unit; `if_missing` for `None`."""
        return self.if_missing if value is None else (self.write_on_page or self.write)(value, form)


# Text


def text_kind(
    names: Mapping[str, str] | None = None,
    shown_name: Callable[[Any], str] = str,
    *,
    is_number: bool = False,
    if_missing: str = UNKNOWN,
) -> Kind:
    """Return the kind of a text, or of a name that tables show in another form than data files.

    Args:
        names: Stored name → shown name.
        shown_name: Returns the shown name for a stored name that `names` lacks.
        is_number: Whether a table aligns the values right.
        if_missing: The text on a page if there is no value.
    """
    return Kind(
        write=lambda value, _: (names or {}).get(value) or shown_name(value),
        store=lambda value: (str(value),),
        is_number=is_number,
        if_missing=if_missing,
    )


def part_name_kind(
    names: Mapping[str, str] | None = None, shown_name: Callable[[Any], str] = str
) -> Kind:
    """Return the kind of the name of a part of the scenarios, with a capital on a page."""
    kind = text_kind(names, shown_name)

    def with_capital(value: Any, form: Form) -> str:
        text = kind.write(value, form)
        return f"{text[:1].upper()}{text[1:]}"

    return replace(kind, write_on_page=with_capital)


def list_kind(element: DataType) -> Kind:
    """Return the kind of a list in one cell, joined by semicolons in tables."""
    return Kind(
        (StoredColumn("", pl.List(element)),),
        lambda value, _: "; ".join(map(str, value)),
        lambda value: (list(value),),
        is_number=False,
    )


def flag_kind(yes: str = "yes", no: str = "no") -> Kind:
    """Return the kind of a value that is true or false, with the text for either."""
    stored = (StoredColumn("", pl.Boolean),)
    return Kind(stored, lambda value, _: yes if value else no, is_number=False)


WORDS = text_kind()
WORD_LIST = list_kind(pl.String)
NUMBER_LIST = list_kind(pl.Float64)
JOINED = replace(WORD_LIST, stored=WORDS.stored, store=lambda value: ("; ".join(value),))
FLAG = flag_kind()


# Numbers without an interval


class Unit(NamedTuple):
    """The unit and the decimals that a number is written with."""

    scale: float = 100  # The factor that the number is multiplied by
    sign: str = "%"  # Symbol after the number, where there is room
    decimals: int | None = 1  # `None`: two for numbers below ten, none from ten up

    def text(self, value: float | None) -> str:
        """Return the number without its sign; a dash if it is unknown."""
        if value is None:
            return DASH
        if self.scale == 100 and self.decimals is not None:
            return percent(value, self.decimals)
        decimals = self.decimals if self.decimals is not None else 0 if abs(value) >= 10 else 2
        return f"{self.scale * value:z.{decimals}f}".replace("-", "−")

    def ends(self, interval: tuple[float, float], between: str = ", ") -> str:
        """Return both ends of an interval as text."""
        return f"{self.text(interval[0])}{between}{self.text(interval[1])}"


PERCENT = Unit()
POINTS = Unit(sign=" points")
PLAIN = Unit(1, "", None)
TWO_DECIMALS = Unit(1, "", 2)


def _plain(write: Callable[[Any, Form], str], type_: DataType = pl.Float64) -> Kind:
    """Return the kind of a number that is stored and sorted as it is."""
    return Kind((StoredColumn("", type_),), write, order=lambda value: value)


def number_kind(unit: Unit = PERCENT, if_missing: str = UNKNOWN) -> Kind:
    """Return the kind of a number without an interval, written in a unit."""
    return replace(
        _plain(lambda value, _: unit.text(value)),
        write_on_page=lambda value, _: f"{unit.text(value)}{unit.sign}",
        if_missing=if_missing,
    )


def mark_small(n: int) -> str:
    """Return a number of scenarios, with an asterisk if they are too few for an interval."""
    return f"{n}*" if 0 < n < MIN_SCENARIOS else str(n)


def _p_value(p: float, _: Form) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _seconds(value: float, _: Form) -> str:
    return f"{value / 60:,.0f} min" if value >= 120 else f"{value:.1f} s"


def _ranks(ranks: tuple[int, int], _: Form) -> str:
    best, worst = ranks
    return str(best) if best == worst else f"{best}–{worst}"


COUNT = _plain(lambda n, _: f"{n:,}", pl.Int64)
SMALL_COUNT = _plain(lambda n, _: mark_small(n), pl.Int64)
SIGNED = replace(_plain(lambda n, _: signed(n), pl.Int64), if_missing=DASH)
SECONDS = _plain(_seconds)
SHARE = number_kind()
DECIMAL = number_kind(PLAIN)
PERCENT_POINTS = number_kind(POINTS, DASH)
ROUND_SHARE = number_kind(Unit(decimals=0), DASH)
P_VALUE = replace(_plain(_p_value), if_missing=DASH)  # `None`: not tested
_BEST = "{}, best possible: 1 + the number of significantly better systems"
_WORST = "{}, worst possible: the number of ranked systems that are not significantly worse"
RANKS = Kind(
    (StoredColumn("_best", pl.Int64, _BEST), StoredColumn("_worst", pl.Int64, _WORST)),
    _ranks,
    tuple,
    order=lambda ranks: ranks[0] + ranks[1] / 1000,
    if_missing=DASH,
)
"""The best and the worst rank that a system may have."""


# Dollars

N_EPISODES = len(WHEN)
"""Episodes of a response that is asked for one act at a time."""


def _spending_lines(cost: Cost) -> tuple[str, ...]:
    """Return why the cost is unknown and its known part, or the responses; then the tokens."""
    lines = [cost.reason] if cost.reason else []
    if cost.known_usd and cost.value is None:
        lines.append(f"the rest {dollars(cost.known_usd)}")
    if cost.n and not cost.reason:
        lines.append(f"{cost.n:,} {'response' if cost.n == 1 else 'responses'}")
    if cost.input_tokens is not None and cost.output_tokens is not None:
        tokens_in, out = thousands(cost.input_tokens), thousands(cost.output_tokens)
        lines.append(f"{tokens_in} tokens in, {out} out")
    if cost.n_calls is not None and cost.n_calls > cost.n:
        n = cost.n * N_EPISODES
        seconds = "" if cost.seconds is None else f", {cost.seconds / n:.1f} s"
        lines.append(f"{cost.n_calls:,} calls, {cost.n_calls / n:.1f}{seconds} an episode")
    return tuple(lines)


def _cost_columns(value: str, known: str, reason: str) -> tuple[StoredColumn, ...]:
    return (
        StoredColumn(value, pl.Float64, "cost in dollars {}; null if unknown"),
        StoredColumn(known, pl.Float64, "cost in dollars of the calls with a known price"),
        StoredColumn(reason, pl.String, "why it is unknown; else empty"),
    )


DOLLARS = Kind(
    _cost_columns(".value", ".known_usd", ".reason"),
    lambda cost, _: dollars(cost.value),
    lambda cost: (cost.value, cost.known_usd, cost.reason),
    order=lambda cost: cost.value,
)
"""The cost of calls."""
PLAIN_DOLLARS = replace(
    DOLLARS,
    stored=_cost_columns("", "_known", "_reason"),
    lines=lambda cost: (cost.reason,) if cost.reason else (),
)
"""The cost of calls, stored in columns whose names have no dots."""
SPENDING = replace(DOLLARS, lines=_spending_lines)
"""The cost of calls, with the number of responses and of tokens below it."""
AMOUNT = _plain(lambda value, _: dollars(value))


# Estimates

_ESTIMATE_COLUMNS = (
    StoredColumn("", pl.Float64, "{}; null if unknown"),
    StoredColumn("_low", pl.Float64, "lowest value that the unresolved items allow"),
    StoredColumn("_high", pl.Float64, "highest value that the unresolved items allow"),
    StoredColumn("_ci95_low", pl.Float64, "lower end of its 95% interval; null if unknown"),
    StoredColumn("_ci95_high", pl.Float64, "upper end of its 95% interval; null if unknown"),
    StoredColumn("_reason", pl.String, "why the value or its interval is unknown; else empty"),
)


def estimate_kind(
    unit: Unit = PERCENT,
    *,
    ends: Callable[[tuple[float, float]], str] | None = None,
    if_missing: str = UNKNOWN,
) -> Kind:
    """Return the kind of an estimate: a number, its interval, and the bounds of the unresolved.

    Args:
        unit: The unit that the numbers are written in.
        ends: Returns both ends of an interval as text, if not in the unit.
        if_missing: The text on a page if there is no estimate.
    """
    write_ends = ends or unit.ends

    def bounds(value: Estimate) -> str:
        """Return the bounds as text; empty if both look the same once rounded."""
        low, high = unit.text(value.low), unit.text(value.high)
        return "" if low == high else f"{low} to {high}"

    def write(value: Estimate, form: Form) -> str:
        text, range_ = unit.text(value.value), bounds(value)
        interval = write_ends(value.ci95) if value.ci95 else ""
        match form:
            case Form.whole:
                if range_:
                    text += f" ({range_} by the unresolved)"
                return f"{text} [{interval}]" if interval else text
            case Form.short if interval:
                return f"{text} [{interval}]"
            case Form.short if range_:
                return f"{text} ({range_})"
            case _:
                return text

    def on_page(value: Estimate, form: Form) -> str:
        return UNKNOWN if value.value is None else f"{write(value, form)}{unit.sign}"

    def lines(value: Estimate) -> tuple[str, ...]:
        """Return the interval, the bounds, and why the value or the interval is unknown."""
        interval = unit.ends(value.ci95, " to ") if value.ci95 else ""
        range_ = bounds(value)
        parts = (interval, range_ and f"unresolved: {range_}", value.reason)
        return tuple(part for part in parts if part)

    def unit_of(form: Form) -> str:
        sign = " %" if unit.sign == "%" else ""
        return f"{sign} [95% CI]" if form in (Form.whole, Form.short) else sign

    return Kind(
        _ESTIMATE_COLUMNS,
        write,
        lambda x: (x.value, x.low, x.high, *(x.ci95 or (None, None)), x.reason),
        lambda value: value.value,
        on_page,
        lines,
        unit_of,
        if_missing=if_missing,
    )


def difference_kind(if_missing: str = UNKNOWN) -> Kind:
    """Return the kind of a difference in points; on a page it has its sign, the head the unit."""
    kind = estimate_kind(POINTS, if_missing=if_missing)

    def with_sign(value: Estimate, form: Form) -> str:
        if value.value is None:
            return UNKNOWN
        text = kind.write(value, form)
        return text if text.startswith(("−", "0.0")) else f"+{text}"

    return replace(kind, write_on_page=with_sign)


def _without_equal_bounds(kind: Kind) -> Kind:
    """Return a kind of estimates whose bounds are null if no judgment is unresolved."""
    columns = tuple(
        part._replace(holds=f"{part.holds}; null if none is unresolved")
        if part.suffix in ("_low", "_high")
        else part
        for part in kind.stored
    )

    def store(value: Estimate) -> tuple[Scalar, ...]:
        number, low, high, *rest = kind.store(value)
        return (number, None, None, *rest) if low == high else (number, low, high, *rest)

    return replace(kind, stored=columns, store=store)


ESTIMATE = estimate_kind()
COEFFICIENT = estimate_kind(TWO_DECIMALS)
DIFFERENCE = difference_kind()
AGREEMENT_SHARE = _without_equal_bounds(ESTIMATE)
AGREEMENT_COEFFICIENT = _without_equal_bounds(COEFFICIENT)


# Shares of responses with an error


def _error_count(errors: Errors) -> str:
    share = errors.share
    if share.value is None:
        return DASH
    prefix = "≥ " if share.low != share.high else ""
    return f"{prefix}{errors.count:,} of {errors.n:,}"


def _error_share(errors: Errors, form: Form) -> str:
    """Return the share, with its upper limit if it is zero, or the count of responses."""
    if form is Form.of_many or errors.share.value is None:
        return _error_count(errors)
    if form is Form.bare:
        return percent(errors.share.value)
    if errors.upper_at_zero is not None:
        return f"0.0 (up to {percent(errors.upper_at_zero)})"
    return ESTIMATE.write(errors.share, form)


def _error_lines(errors: Errors) -> tuple[str, ...]:
    """Return the lines of the share or its upper limit; then the count, unless it is unknown."""
    if errors.share.value is None:
        return ESTIMATE.lines(errors.share)
    limit = errors.upper_at_zero
    sure = ESTIMATE.lines(errors.share) if limit is None else (f"up to {percent(limit)}%",)
    return *sure, f"{_error_count(errors)} responses"


def _stored_errors(errors: Errors) -> tuple[Scalar, ...]:
    return *ESTIMATE.store(errors.share), errors.count, errors.n, errors.upper_at_zero


ERROR_SHARE = Kind(
    (
        *_ESTIMATE_COLUMNS,
        StoredColumn(
            "_count", pl.Int64, "responses with such an error; a minimum if any is unresolved"
        ),
        StoredColumn("_n", pl.Int64, "judged responses to scenarios whose rubric has such an item"),
        StoredColumn(
            "_upper_at_zero", pl.Float64, "if there was none, the upper 95% limit of the share"
        ),
    ),
    _error_share,
    _stored_errors,
    lambda errors: errors.share.value,
    lambda errors, form: ESTIMATE.page_text(errors.share, form),
    _error_lines,
    lambda form: " in" if form is Form.of_many else ESTIMATE.unit(form),
)
