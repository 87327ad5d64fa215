"""The public surface: its names are in order, and each is there."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import careeval


def test_names_are_sorted() -> None:
    """The public types, then the public functions, stand in alphabetical order, each once."""
    names = careeval.__all__
    assert names == sorted(set(names), key=lambda name: (name[0].islower(), name.lower()))


@pytest.mark.parametrize("name", careeval.__all__)
def test_name_resolves(name: str) -> None:
    """Each public name is an object of that name, documented, and defined in this package.

    But for a summary, which is an entry.
    """
    value = getattr(careeval, name)

    assert value.__name__ == ("Entry" if name == "Summary" else name)
    assert value.__module__.startswith("careeval.")
    assert value.__doc__


def test_dir_lists_the_surface() -> None:
    """Completion in a shell offers the public names and the version."""
    assert set(dir(careeval)) == {*careeval.__all__, "__version__"}


def test_unknown_name() -> None:
    """A name that is not public is an `AttributeError` that says so."""
    with pytest.raises(AttributeError, match="module 'careeval' has no attribute 'scores'"):
        careeval.scores  # noqa: B018


def test_version() -> None:
    """The version is that of the installed distribution."""
    assert careeval.__version__ == version("careeval")
