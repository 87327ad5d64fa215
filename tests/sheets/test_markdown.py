"""Markdown shows every name as it is: no part of one becomes markup."""

from __future__ import annotations

import pytest

from careeval.sheets.markup import plain_markdown


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("_x_", r"\_x\_"),
        ("~~y~~ and ~z~", r"\~\~y\~\~ and \~z\~"),
        ("a__b__", r"a\_\_b\_\_"),
        ("&lt;b&gt; &#60;", r"\&lt;b\&gt; \&#60;"),
        ("[a](b) [a][b] [a]: b", r"[a\](b) [a\][b] [a\]: b"),
        ("*a* `b` <c> | \\", r"\*a\* \`b\` \<c\> \| \\"),
        ("worst_at_n, R&D, 5 & 6, [0.5, 2.1], a-b", "worst_at_n, R&D, 5 & 6, [0.5, 2.1], a-b"),
        ("\x1b[31mred\n\tline", "[31mred line"),
    ],
)
def test_a_name_is_no_markup(text: str, escaped: str) -> None:
    """What GitHub would render is escaped; what it leaves alone stays readable as it is."""
    assert plain_markdown(text) == escaped
