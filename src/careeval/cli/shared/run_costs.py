"""The cost of runs: the plan that the user agrees to before, and the amount spent after."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from math import isfinite
from pathlib import Path
from shlex import quote
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from careeval.cli.app import OK, say
from careeval.cli.shared.options import Flag, Repeated, is_confirmed
from careeval.core.text import dollars
from careeval.errors import UsageError
from careeval.protocol.ledger import PaidCall, TotalCost, open_reservations, read_paid_calls
from careeval.protocol.prices import Price, read_prices
from careeval.protocol.providers import missing_keys
from careeval.protocol.run import Run


@Parameter(name="*")
@dataclass(frozen=True)
class SpendingOptions:
    """Options for what may be sent and spent."""

    dry_run: Flag = False
    """Show what would be sent and what it would cost, and send nothing."""
    yes: Annotated[bool, Parameter(name=("--yes", "-y"), negative=())] = False
    """Do not ask before money is spent."""
    max_cost: Annotated[float | None, Parameter(validator=Number(gt=0))] = None
    """Budget in dollars for everything this command begins; it stops when the budget is spent."""
    prices: Path | None = None
    """TOML file with prices of your own, for models whose price is not known."""
    allow_address: Repeated | None = None
    """Agree to an address that a run's folder or a sweep's file names, or to a provider's argument
    as NAME=VALUE; it is remembered."""

    def own_prices(self) -> dict[str, Price]:
        """Return the prices in the user's file; empty if none is given."""
        return read_prices(self.prices) if self.prices else {}

    def with_prices(self, run: Run) -> Run:
        """Return the run with prices for its models and with the budget added."""
        from careeval.protocol.estimate import priced

        return replace(priced(run, self.own_prices()), max_cost=self._limit())

    def with_changes(self, run: Run) -> Run:
        """Return a run to resume, with prices and budget typed now in place of its own."""
        prices = run.prices | self.own_prices()
        limit = run.max_cost if self.max_cost is None else self._limit()
        return replace(run, prices=prices, max_cost=limit)

    def _limit(self) -> float | None:
        """Return the budget in dollars; `None` if not given or `inf`."""
        return self.max_cost if self.max_cost is not None and isfinite(self.max_cost) else None

    def confirm(
        self,
        runs: Sequence[Run],
        on_disk: Sequence[tuple[int, int]] = (),
        *,
        json_plan: bool = False,
        agreed: bool = False,
        here: bool = True,
        typed: Sequence[str] = (),
    ) -> int | None:
        """Show what runs will send and cost, and ask the user whether to go on.

        Return `None` to go on; otherwise the exit status with which the command ends.

        Args:
            runs: The runs, with their prices.
            on_disk: For each run, how many responses are asked and graded already.
            json_plan: Print the plan of a dry run as JSON.
            agreed: The user agreed when the runs were begun: do not ask again.
            here: The runs are carried out on this machine, which must have their keys.
            typed: Addresses of servers that the user has typed.

        Raises:
            UsageError: A key is missing; there is a budget and a price is not known; the calls
                cost money and there is no terminal to ask on; or as `agree_to_addresses`.
            ProtocolError: Another model answers under the name of one that was withdrawn.
        """
        from careeval.cli.shared.plan_table import print_plan
        from careeval.protocol.estimate import Plan, plan_json, plan_run
        from careeval.protocol.retirements import (
            at_their_providers,
            check_not_rerouted,
            retirement_notes,
        )

        lines = (
            plan_run(run, n_asked=n_asked, n_graded=n_graded)
            for run, (n_asked, n_graded) in zip(runs, on_disk or [(0, 0)] * len(runs), strict=True)
        )
        whole = Plan(tuple(chain.from_iterable(lines)))
        if self.dry_run:
            if json_plan:
                print(json.dumps(plan_json(whole), indent=1))
            else:
                print_plan(whole)
            say("Nothing was sent.")
            return OK
        self.agree_to_addresses(runs, typed)
        models = (run.model for run in runs if "api_key" not in run.model_args)
        if here and (
            missing := list(missing_keys(models, (run.grader for run in runs), os.environ))
        ):
            raise UsageError(
                "\n".join(missing),
                hint="set the variable to the key; without a key, use --grader careeval/lexical",
            )
        endpoints = [endpoint for run in runs for endpoint in run.endpoints]
        check_not_rerouted(endpoints, datetime.now(UTC).date())
        for note in retirement_notes(at_their_providers(endpoints)):
            say(note)
        if self._limit() is not None and whole.unknown:
            raise UsageError(
                f"a budget cannot be kept: the price of {', '.join(whole.unknown)} is not known",
                hint="give --prices a TOML file with dollars per million tokens:\n"
                f'["{whole.unknown[0]}"]\ninput = 1.25\noutput = 10.0',
            )
        if agreed or (whole.worst_usd == 0 and not whole.unknown):
            return None
        print_plan(whole, to_stderr=True)
        if self.max_cost is not None and (whole.expected_usd or 0) > self.max_cost:
            say(f"The budget of {dollars(self.max_cost)} will end the run before it is complete.")
        if self.yes or self.max_cost is not None:
            return None
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UsageError(
                "this costs money, and there is no terminal to ask on",
                hint="see the cost with --dry-run, then add --yes, or a limit: --max-cost USD",
            )
        if is_confirmed("Send this?"):
            return None
        say("Nothing was sent.")
        return OK

    def agree_to_addresses(self, runs: Sequence[Run], typed: Sequence[str] = ()) -> None:
        """Check that the user has agreed to where the calls of runs go; on a terminal, ask.

        What the user has typed is agreed to, and remembered. `--yes` agrees to no address.

        Raises:
            UsageError: The user has not agreed to an address, or to a provider's argument.
            ProtocolError: An address is not valid.
        """
        from careeval.protocol.allowed_addresses import not_agreed, remember, settings_file

        agreed = [*typed, *(self.allow_address or ())]
        if not remember(agreed) and self.allow_address:
            say("The address could not be remembered; give it again next time.")
        if not (open_questions := not_agreed(runs, agreed)):
            return
        for each in open_questions:
            say(f"{each}.")
        if is_confirmed("You have not agreed to this yet. Agree, now and in future?"):
            remember([each.text for each in open_questions])
            return
        options = " ".join(f"--allow-address {quote(each.text)}" for each in open_questions)
        raise UsageError(
            "you have not agreed to this, so nothing was sent",
            hint=f"if you trust it, add {options}, once: it is kept in {settings_file()}; "
            "if it is not yours, ask where the folder or the file came from",
        )


def say_spent(folders: Sequence[Path], max_cost: float | None) -> None:
    """Print what all calls of runs have cost so far, by model; nothing if nothing was paid."""
    paid = [call for folder in folders for call in read_paid_calls(folder)]
    by_model: dict[str, list[PaidCall]] = {}
    for call in paid:
        by_model.setdefault(call.model, []).append(call)
    spent = TotalCost.of(paid)
    if spent.usd == 0 and not any(map(open_reservations, folders)):
        return
    parts = (f"{model} {_amount(TotalCost.of(calls))}" for model, calls in by_model.items())
    say(f"Spent: {_amount(spent)} on {spent.n_calls:,} calls ({'; '.join(parts)}).")
    if max_cost is not None and spent.known_usd > max_cost:
        over = spent.known_usd - max_cost
        say(
            f"That is {dollars(over)} more than the budget of {dollars(max_cost)}: "
            "calls in flight cost more than expected."
        )
    if set_aside := [usd for folder in folders for usd in open_reservations(folder)]:
        calls = "1 call that was" if len(set_aside) == 1 else f"{len(set_aside):,} calls that were"
        say(
            f"Up to {dollars(sum(set_aside))} more may have been charged for {calls} interrupted; "
            "the budget counts it as spent."
        )


def _amount(spent: TotalCost) -> str:
    if spent.n_unknown == 0:
        return dollars(spent.known_usd)
    if spent.n_unknown == spent.n_calls:
        return "an unknown amount"
    return f"{dollars(spent.known_usd)} and an unknown amount for {spent.n_unknown:,} of its calls"
