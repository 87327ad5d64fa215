"""Costs on the command line: the plan before, the budget, and the amount spent."""

from __future__ import annotations

import io
import json
from datetime import date
from pathlib import Path

import pytest

from careeval.cli.app import BUDGET_REACHED, OK, USAGE, run
from careeval.cli.shared.run_costs import SpendingOptions
from careeval.protocol import retirements
from careeval.protocol.ledger import read_paid_calls
from careeval.protocol.retirements import Retirement
from careeval.protocol.run import Run
from careeval.protocol.run_folder import read_run_file
from support import fake_server
from support.command_line import CommandLine
from support.fake_server import Completion, FakeServer, Request
from support.fakes import write_bank

MODEL, GRADER = "openai-api/fake/a", "openai-api/fake/grader"


@pytest.fixture(autouse=True)
def address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address of openai-api/fake/…, where nobody listens."""
    monkeypatch.setenv("FAKE_BASE_URL", "http://127.0.0.1:9/v1")


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A run of two scenarios by three samples with made-up prices, into the folder `runs/a`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAKE_API_KEY", "planted")
    write_bank(tmp_path / "bank")
    prices = "".join(f'["{name}"]\ninput = 20\noutput = 100\n' for name in (MODEL, GRADER))
    (tmp_path / "prices.toml").write_text(prices, encoding="utf-8")
    return [
        *("run", "-m", MODEL, "--grader", GRADER, "--bank", "bank", "--samples", "3"),
        *("--prices", "prices.toml", "-o", "runs/a"),
    ]


class Terminal(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def test_a_dry_run_says_what_it_would_cost_and_does_nothing(
    line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """`--dry-run` prints six responses and six gradings with their cost, and makes no folder."""
    assert run([*line, "--dry-run"]) == OK
    printed = capsys.readouterr()
    assert "Plan: 6 responses" in printed.out
    assert "then 6 gradings" in printed.out
    assert "$" in printed.out
    assert "Nothing was sent." in printed.err
    assert not Path("runs").exists()


def test_a_model_without_a_price_is_unknown(line: list[str], cli: CommandLine) -> None:
    """The cost of a model that no list has is unknown in the plan, and is not in the total."""
    without = [word for word in line if word not in {"--prices", "prices.toml"}]
    printed = cli.ok(*without, "--dry-run")
    assert printed.count("no price: --prices FILE") == 2
    assert "total (known)" in printed


@pytest.mark.parametrize("command", ["grade", "audit"])
def test_grading_again_and_the_audit_have_a_plan_too(
    command: str, line: list[str], cli: CommandLine
) -> None:
    """Grading again and the audit have a dry run too, which leaves nothing behind."""
    answers = [{"scenario": name, "response": "I wait."} for name in ("dressing-001", "eating-001")]
    text = "".join(json.dumps(answer) + "\n" for answer in answers)
    Path("answers.jsonl").write_text(text, encoding="utf-8")
    lexical = ["--grader", "careeval/lexical", "-o", "runs/a"]
    assert run(["run", "--responses", "answers.jsonl", "--bank", "bank", *lexical]) == OK
    before = sorted(Path("runs").rglob("*"))
    words = {"grade": ["grade", "runs/a"], "audit": ["audit", "probes", "-o", "runs/audit"]}
    dry = ["--grader", GRADER, "--bank", "bank", "--prices", "prices.toml", "--dry-run"]
    assert {"grade": "2 gradings", "audit": "4 gradings"}[command] in cli.ok(*words[command], *dry)
    assert sorted(Path("runs").rglob("*")) == before


def test_nothing_is_sent_before_somebody_says_yes(
    line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal the plan is shown and a yes is waited for; anything else sends nothing."""
    for said in ("n\n", "\n", ""):
        stdin, stderr = Terminal(said), Terminal()
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr("sys.stderr", stderr)
        assert run(line) == OK
        assert "Plan: 6 responses" in stderr.getvalue()
        assert stderr.getvalue().endswith("Nothing was sent.\n")
        assert not Path("runs").exists()


def test_a_budget_holds_and_can_be_raised(
    server: FakeServer, line: list[str], cli: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run ends with status 4 when no call fits its budget any more, and is finished later.

    Every call that the server answered is kept, and none is asked for again.
    """
    budget = ["--max-cost", "0.05", "--max-connections", "1"]
    assert run([*line, *budget]) == BUDGET_REACHED
    said = capsys.readouterr().err
    folder = Path("runs/a/openai-api-fake-a")
    calls = read_paid_calls(folder)
    spent = sum(call.cost_usd or 0 for call in calls)
    assert 0 < spent <= 0.05
    assert "The budget of $0.050 is reached: $0.0" in said
    assert "of it is left, and the next call, " in said
    assert "careeval run --resume -o runs/a --max-cost MORE" in said
    assert sum(server.answered.values()) == len(calls)

    assert "On disk, and not asked for again" in cli.ok(
        "run", "--resume", "-o", "runs/a", "--dry-run"
    )
    assert read_run_file(folder).max_cost == 0.05
    # a call of another kind may fit still
    assert run(["run", "--resume", "-o", "runs/a"]) == BUDGET_REACHED
    assert sum(call.cost_usd or 0 for call in read_paid_calls(folder)) <= 0.05
    assert run(["run", "--resume", "--max-cost", "inf"]) == OK
    assert read_run_file(folder).max_cost is None
    assert set(server.answered.values()) == {1}
    assert len(read_paid_calls(folder)) == 6 + 6


USAGES = {
    "none": None,
    "zero": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "negative": {"prompt_tokens": -5, "completion_tokens": -7, "total_tokens": -12},
    "empty": {},
    "no output": {"prompt_tokens": 50},
    "nulls": {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
}


@pytest.mark.parametrize("usage", USAGES.values(), ids=USAGES)
def test_answers_without_a_token_count(
    usage: object,
    server: FakeServer,
    line: list[str],
    monkeypatch: pytest.MonkeyPatch,
    cli: CommandLine,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Answers without a token count are kept at unknown cost, and a budget ends the run."""
    completion = fake_server.completion

    def said(request: Request, said: Completion) -> str:
        return json.dumps({**json.loads(completion(request, said)), "usage": usage})

    monkeypatch.setattr(fake_server, "completion", said)
    budget = ["--max-cost", "1", "--max-connections", "1"]
    assert run([*line, *budget]) == BUDGET_REACHED
    assert "its cost is not known" in capsys.readouterr().err
    folder = Path("runs/a/openai-api-fake-a")
    assert [call.cost_usd for call in read_paid_calls(folder)] == [None] * sum(
        server.answered.values()
    )
    assert run(["run", "--resume", "-o", "runs/a", "--max-cost", "inf"]) == OK
    assert set(server.answered.values()) == {1}
    capsys.readouterr()
    for command in (["summary", "runs/a"], ["status", "runs/a"]):
        assert "unknown" in cli.ok(*command)


def test_a_cost_log_with_negative_numbers(
    server: FakeServer, line: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A run whose cost log has impossible lines ends because of its budget, and can be read."""
    assert run([*line, "--yes"]) == OK
    ledger = Path("runs/a/openai-api-fake-a/spent.jsonl")
    rows = [json.loads(each) for each in ledger.read_text(encoding="utf-8").splitlines()]
    past = [{**row, "input_tokens": -5, "output_tokens": -7, "cost_usd": -0.5} for row in rows]
    ledger.write_text("".join(f"{json.dumps(row)}\n" for row in past), encoding="utf-8")
    for command in ("summary", "status"):
        assert run([command, "runs/a"]) == OK
    assert "unknown" in capsys.readouterr().out


def test_an_infinite_budget_is_none(line: list[str]) -> None:
    """`--max-cost inf` means no budget, and is not stored as one."""
    given = SpendingOptions(max_cost=float("inf"), prices=Path("prices.toml"))
    assert given.with_prices(Run("a", MODEL, GRADER, 1)).max_cost is None


def test_another_address_has_no_list_price(
    line: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list price is not taken for a server of one's own, nor for one name at two addresses."""
    gpt = "openai/gpt-4o-2024-08-06"
    hosted = SpendingOptions().with_prices(Run("a", gpt, gpt, 1))
    assert set(hosted.prices) == {gpt}
    elsewhere = Run("a", gpt, gpt, 1, base_url="http://localhost:8000/v1")
    assert SpendingOptions().with_prices(elsewhere).prices == {}
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:8000/v1")
    assert SpendingOptions().with_prices(Run("a", gpt, gpt, 1)).prices == {}


def test_a_budget_needs_every_price(line: list[str], cli: CommandLine) -> None:
    """With a price that is not known a budget is refused before anything is set up."""
    without = [word for word in line if word not in {"--prices", "prices.toml"}]
    assert f"the price of {MODEL}, {GRADER} is not known" in cli.refused(
        *without, "--max-cost", "1"
    )
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("models", "said", "unsaid"),
    [
        (
            ["-m", "openai/gpt-5.1", "--grader", GRADER],
            "asking openai/gpt-5.1 needs a key: OPENAI_API_KEY is not set",
            "grading",
        ),
        (
            ["-m", MODEL],
            "grading with openai/gpt-4o-2024-08-06 needs a key: OPENAI_API_KEY is not set",
            "asking",
        ),
        (
            ["-m", "google/gemini-3-pro", "-m", MODEL],
            "asking google/gemini-3-pro needs a key: GOOGLE_API_KEY or GEMINI_API_KEY is not set\n"
            "grading with openai/gpt-4o-2024-08-06 needs a key: OPENAI_API_KEY is not set",
            MODEL,
        ),
    ],
)
@pytest.mark.parametrize("agreed", [[], ["--yes"], ["--max-cost", "5"]])
def test_a_missing_key_is_told_before_anything_is_agreed_to(
    agreed: list[str],
    models: list[str],
    said: str,
    unsaid: str,
    line: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A missing key is reported with its variable before the question, and nothing is written."""
    for name in ("OPENAI", "GOOGLE", "GEMINI"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    stdin, stderr = Terminal("y\n"), Terminal()
    monkeypatch.setattr("sys.stdin", stdin)
    monkeypatch.setattr("sys.stderr", stderr)
    assert run(["run", *models, "--bank", "bank", "-o", "runs/a", *agreed]) == USAGE
    assert said in stderr.getvalue()
    assert unsaid not in stderr.getvalue()
    assert "Send this?" not in stderr.getvalue()
    assert not Path("runs").exists()
    dry = ["run", *models, "--bank", "bank", "-o", "runs/a", "--dry-run"]
    assert run(dry) == OK


OLD = "openai/old"
"""A model that is withdrawn, of a provider whose address is its own."""


@pytest.fixture
def planted_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key of the provider of `OLD`; nothing is sent with it."""
    monkeypatch.setenv("OPENAI_API_KEY", "planted")


def retired(*, rerouted: bool) -> tuple[Retirement, ...]:
    """The retirement of `OLD`."""
    return (Retirement((OLD,), date(2026, 1, 1), "acme/next", "", date(2026, 1, 1), rerouted),)


@pytest.mark.usefixtures("planted_key")
def test_another_model_does_not_answer_unnoticed(
    line: list[str], cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of a model whose successor answers under its name is refused; a dry run is not."""
    monkeypatch.setattr(retirements, "RETIREMENTS", retired(rerouted=True))
    line[line.index(MODEL)] = OLD
    cli.ok(*line, "--dry-run")
    assert "acme/next answers under its name" in cli.refused(*line, "--yes")


@pytest.mark.usefixtures("planted_key")
def test_the_end_of_a_model_is_said(
    line: list[str], cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a grader is said before anything is sent."""
    monkeypatch.setattr(retirements, "RETIREMENTS", retired(rerouted=False))
    line[line.index(GRADER)] = OLD
    assert f"{OLD} is served until 2026-01-01" in cli.refused(*line)  # no terminal to ask on
