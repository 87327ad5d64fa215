"""A label of a judgment."""

from __future__ import annotations

import pytest

from careeval.core.rating import Label, Reading


@pytest.mark.parametrize(("rater", "judgment"), [("", "j1"), ("ann", "")])
def test_a_label_needs_a_rater_and_a_judgment(rater: str, judgment: str) -> None:
    """A label without a rater or without a judgment cannot be made."""
    with pytest.raises(ValueError, match="needs a rater and a judgment"):
        Label(rater, judgment, Reading.present)
