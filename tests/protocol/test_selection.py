"""What a run asks and grades: scenarios, rubric, and rosters of models."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from careeval.bank import Bank, load_bank
from careeval.core.scenario import Rubric, Split
from careeval.errors import BankError, ProtocolError
from careeval.modes.response import RESPONSE
from careeval.protocol.prices import price_of
from careeval.protocol.selection import (
    read_roster,
    rosters,
    rubric_graded,
    rubrics_named,
    select_scenarios,
    selection_of,
)
from support.fakes import write_bank

IDS = ["bathing-001", "dressing-001", "dressing-002", "dressing-003", "eating-001", "eating-002"]


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Bank:
    """Six scenarios of three activities."""
    return load_bank(write_bank(tmp_path_factory.mktemp("bank"), IDS))


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({}, IDS),
        ({"adls": ["eating"]}, IDS[4:]),
        ({"adls": ["eating", "bathing"]}, [IDS[0], *IDS[4:]]),
        ({"ids": ["eating-002", "dressing-001"]}, ["dressing-001", "eating-002"]),
        ({"ids": ["eating-002", "dressing-001"], "adls": ["dressing"]}, ["dressing-001"]),
        ({"limit": 1}, ["dressing-001"]),
        ({"limit": 3}, ["bathing-001", "dressing-001", "eating-001"]),
        ({"limit": 4}, ["bathing-001", "dressing-001", "dressing-002", "eating-001"]),
        ({"limit": 99}, IDS),
    ],
)
def test_what_is_chosen(bank: Bank, asked: dict[str, object], chosen: list[str]) -> None:
    """All filters hold at once, a limit takes the activities in turn, and ids come in order."""
    found = select_scenarios(bank, Split.public, **asked)  # type: ignore[arg-type]
    assert [scenario.id for scenario in found] == chosen


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ({"adls": ["dresing"]}, "activity 'dresing' is not known", "did you mean 'dressing'?"),
        (
            {"adls": ["sleep"]},
            "activity 'sleep' is not known",
            "use dressing, grooming, toileting, transferring, eating, bathing",
        ),
        ({"limit": 0}, "the limit must be 1 or more, not 0", "use 1 or more"),
        (
            {"adls": ["grooming"]},
            "bank 'small' has no public scenario of the chosen activities and ids",
            "choose others: 'careeval bank list' shows what there is",
        ),
    ],
)
def test_what_cannot_be_chosen(
    bank: Bank, asked: dict[str, object], message: str, hint: str
) -> None:
    """A name that is not known, and a choice that leaves nothing, are refused with a way out."""
    with pytest.raises(ProtocolError) as caught:
        select_scenarios(bank, Split.public, **asked)  # type: ignore[arg-type]
    assert (str(caught.value), caught.value.hint) == (message, hint)


def test_the_other_split_is_never_taken(bank: Bank) -> None:
    """A bank without held-out scenarios has none to put, whatever is asked for."""
    with pytest.raises(ProtocolError, match="has no held-out scenario"):
        select_scenarios(bank, Split.held_out)


def test_an_unknown_id_names_the_nearest(bank: Bank) -> None:
    """An id that is not in the bank is refused with the one that was meant."""
    with pytest.raises(BankError) as caught:
        select_scenarios(bank, Split.public, ids=["eating-01"])
    assert caught.value.hint == "did you mean 'eating-001'?"


def test_a_task(tmp_path: Path) -> None:
    """The arguments of a task select, given as lists, as one text or not at all."""
    folder = write_bank(tmp_path, IDS)
    chosen = selection_of({"bank": str(folder), "scenario": "eating-001, dressing-001"})
    assert [scenario.id for scenario in chosen.scenarios] == ["dressing-001", "eating-001"]
    assert (chosen.asked, chosen.rubric) == (chosen.scenarios, Rubric.actions)
    task = {"bank": str(folder), "split": None, "adl": None, "limit": 3, "rubric": "ladder"}
    chosen = selection_of(task | {"part": ["eating-001"], "max_tokens": 5})
    assert [scenario.id for scenario in chosen.scenarios] == [IDS[0], IDS[1], IDS[4]]
    assert [scenario.id for scenario in chosen.asked] == ["eating-001"]
    assert chosen.rubric == Rubric.ladder
    with pytest.raises(ProtocolError, match="'part' names 'eating-002', which is not among"):
        selection_of(task | {"part": ["eating-002"]})
    with pytest.raises(ProtocolError, match="split 'secret' is not known"):
        selection_of(task | {"split": "secret"})


def test_rubrics() -> None:
    """Both rubrics go by one name, each by its own, and no other name is one."""
    assert rubrics_named("both") == [Rubric.ladder, Rubric.actions]
    assert rubrics_named("ladder") == [Rubric.ladder]
    assert rubrics_named("actions") == [Rubric.actions]
    with pytest.raises(ProtocolError, match="rubric 'rungs' is not known"):
        rubrics_named("rungs")


def test_a_grading_judges_the_actions_unless_there_are_none(tmp_path: Path) -> None:
    """Without a rubric named, actions; the ladder where no scenario has actions."""
    both = load_bank(write_bank(tmp_path / "both")).scenarios
    rungs = [scenario.model_copy(update={"actions": ()}) for scenario in both]
    acts = [scenario.model_copy(update={"ladder": ()}) for scenario in both]
    assert rubric_graded(None, both, RESPONSE) == Rubric.actions
    assert rubric_graded("ladder", both, RESPONSE) == Rubric.ladder
    assert rubric_graded(None, rungs, RESPONSE) == Rubric.ladder
    assert rubric_graded(None, [rungs[0], both[1]], RESPONSE) == Rubric.actions
    bare = [scenario.model_copy(update={"actions": ()}) for scenario in acts]
    # responses may be stored ungraded
    assert rubric_graded(None, bare, RESPONSE) == Rubric.ladder
    with pytest.raises(ProtocolError, match="has the rubric actions") as caught:
        rubric_graded("actions", rungs, RESPONSE)
    assert caught.value.hint == "use --rubric ladder"
    with pytest.raises(ProtocolError, match="has the rubric ladder"):
        rubric_graded("ladder", acts, RESPONSE)


def test_a_grading_judges_one_rubric(tmp_path: Path) -> None:
    """Both rubrics in a grading are refused, with the way to get them."""
    scenarios = load_bank(write_bank(tmp_path)).scenarios
    with pytest.raises(ProtocolError, match="judges one rubric, not both") as caught:
        rubric_graded("both", scenarios, RESPONSE)
    assert "careeval grade RUN --rubric ladder" in caught.value.hint


def written(folder: Path, text: str) -> Path:
    """A roster file."""
    path = folder / "mine.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_worked_example(tmp_path: Path) -> None:
    """Blank lines and comments are passed over, and the rest comes back in its order."""
    path = written(
        tmp_path, "# two models\n\n  openai/gpt-5.1  # hosted\nvllm/acme/house-7b\r\n#a/b"
    )
    assert read_roster(str(path)) == ["openai/gpt-5.1", "vllm/acme/house-7b"]


def test_the_paper_has_nine() -> None:
    """The shipped roster names each of the nine models that the paper evaluates, once."""
    families = [
        *("gpt-5.1", "claude-opus-4-5", "gemini-2.5", "gpt-oss-120b", "gpt-oss-20b", "llama-4"),
        *("deepseek-chat-v3.1", "kimi-k2-thinking", "qwen3-next-80b"),
    ]
    models = read_roster("paper")
    assert len(models) == 9
    for family in families:
        assert sum(family in model for model in models) == 1, family


@pytest.mark.parametrize("model", read_roster("paper"))
def test_every_model_of_the_paper_has_a_price(model: str) -> None:
    """The plan of the paper's roster has no unknown: each name is in the price list."""
    assert price_of(model, day=date(2026, 11, 20)) is not None


def test_three_providers_serve_the_paper() -> None:
    """Four keys run the paper's roster: three of the makers and one of the open-weight host."""
    providers = {model.partition("/")[0] for model in read_roster("paper")}
    assert providers == {"openai", "anthropic", "google", "openrouter"}


def test_a_shipped_name_comes_before_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that happens to be called as a shipped roster is read by its path alone."""
    (tmp_path / "paper").write_text("acme/house", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert len(read_roster("paper")) == 9
    assert read_roster("./paper") == ["acme/house"]


@pytest.mark.parametrize("name", ["papr", "", "no/such/file.txt", "../paper"])
def test_an_unknown_roster_says_which_there_are(name: str) -> None:
    """A name that is neither a shipped roster nor a file is refused with those that ship."""
    with pytest.raises(ProtocolError, match="no roster or file is named") as refused:
        read_roster(name)
    assert all(shipped in refused.value.hint for shipped in rosters())


def test_a_near_name_is_offered() -> None:
    """A slip in a shipped roster's name is answered with the name."""
    with pytest.raises(ProtocolError) as refused:
        read_roster("papers")
    assert "did you mean 'paper'?" in refused.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a/b\ngpt-5.1\n", ":2: 'gpt-5.1' is not a model name of the form PROVIDER/MODEL"),
        ("/b", ":1: '/b' is not"),
        ("a/", ":1: 'a/' is not"),
        ("a/b c/d", ":1: 'a/b c/d' is not"),
        ("a/b, c/d", ":1: 'a/b, c/d' is not"),
        ("a/b\x1b[2J", ":1: 'a/b\\x1b[2J' is not"),
        ("a/b\n\n# again\na/b # twice\n", ":4: 'a/b' is a duplicate of line 1"),
        ("", "names no model"),
        ("# a/b\n\n", "names no model"),
    ],
)
def test_what_is_wrong_is_named(text: str, said: str, tmp_path: Path) -> None:
    """A line that is not one model's name is refused with its place and what stands there."""
    path = written(tmp_path, text)
    with pytest.raises(ProtocolError) as refused:
        read_roster(str(path))
    assert str(refused.value).startswith(str(path))
    assert said in str(refused.value)
    assert refused.value.hint


def test_every_fault_is_named(tmp_path: Path) -> None:
    """All lines that are wrong are listed, not the first."""
    with pytest.raises(ProtocolError) as refused:
        read_roster(str(written(tmp_path, "a\nb/c\nb/c\nd\n")))
    assert len(str(refused.value).splitlines()) == 3


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    """A roster that is not UTF-8 is the user's to mend."""
    (tmp_path / "mine.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(ProtocolError, match="is not UTF-8"):
        read_roster(str(tmp_path / "mine.txt"))


NAMES = st.from_regex(r"[a-z]{1,5}(/[A-Za-z0-9._:@-]{1,6}){1,3}", fullmatch=True)


@given(st.lists(NAMES, min_size=1, unique=True), st.sampled_from(["\n", "\r\n", "\n\n", " # x\n"]))
def test_names_come_back_in_order(models: list[str], between: str) -> None:
    """Any list of names, each on its line, is read as it was written."""
    with tempfile.TemporaryDirectory() as folder:
        assert read_roster(str(written(Path(folder), between.join(models)))) == models
