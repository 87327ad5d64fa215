"""How many raters gave each number, as one bar; and the count that decides."""

from __future__ import annotations

from markupsafe import Markup, escape

from careeval.results.judged import LEVELS, Judged

_WIDTH, _HEIGHT = 240, 24
"""Of a bar, in its own units."""

_NARROWEST = 14
"""A part of a bar that has room for its number."""


def bar(of: Judged) -> Markup:
    """Its parts are the categories that were given; its width is everybody who rated it."""
    n = len(of.ratings)
    if not n:
        return Markup('<span class="none">not rated</span>')
    x, parts = 0.0, []
    for level, count in zip(LEVELS, of.counts, strict=True):
        width = _WIDTH * count / n
        if count:
            parts.append(
                f'<rect class="r{level}" x="{x:.2f}" y="0" width="{width:.2f}" height="{_HEIGHT}"/>'
            )
        if width >= _NARROWEST:
            parts.append(
                f'<text class="t{level}" x="{x + width / 2:.2f}" y="16.5" '
                f'text-anchor="middle">{count}</text>'
            )
        x += width
    said = ", ".join(
        f"{count} gave {level}" for level, count in zip(LEVELS, of.counts, strict=True) if count
    )
    # all of it is numbers, and names of ours
    return Markup(
        f'<span class="drawn-bar"><svg class="bar" role="img" '
        f'aria-label="{escape(of.scale.value)}: {said}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg></span>'
    )


def count_of(of: Judged) -> str:
    """k/n."""
    return f"{of.at_cut.k}/{of.at_cut.n}" if of.at_cut else "–"
