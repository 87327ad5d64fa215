"""The cases by which the rules on "or" and "while" were tried."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

CASES = json.loads((Path(__file__).parents[1] / "data" / "or-while.json").read_text("utf-8"))


def test_the_cases_are_mixed() -> None:
    """Thirty cases over the six activities, none twice, neither answer far from a half."""
    cases = CASES["cases"]
    assert len({(case["answer"], case["item"]) for case in cases}) == 30
    assert len({case["activity"] for case in cases}) == 6
    assert 12 <= Counter(case["present"] for case in cases)[True] <= 18
