"""A label of a judgment."""

from __future__ import annotations

import pytest

from careeval.core.label import Label, Reading


@pytest.mark.parametrize(("rater", "judgment"), [("", "j1"), ("ann", "")])
def test_a_label_is_somebodys_of_something(rater: str, judgment: str) -> None:
    """A label without a rater or without a judgment cannot be made."""
    with pytest.raises(ValueError, match="somebody's, of something"):
        Label(rater, judgment, Reading.present)
