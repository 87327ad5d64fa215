"""The bank of a study, as the study's commands load it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from careeval.bank import Bank, bank_folder, load_bank
from careeval.bank.sealed import key_for_bank

BankFolder = Annotated[Path | None, Parameter(name="--bank")]
"""Folder of the bank; careeval's own if not given."""


def rated_bank(folder: Path | None) -> Bank:
    """Load the bank in a folder, held-out scenarios too if the key is set, without its probes."""
    return load_bank(folder, key_for_bank(bank_folder(folder)), probes=False)
