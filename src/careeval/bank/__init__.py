"""Loading and checking of banks, which are YAML files; every problem has its place."""

from careeval.bank.evidence import content_hash, rated_hash
from careeval.bank.load import (
    OWN_BANK,
    Bank,
    bank_folder,
    bank_mode,
    bank_reference,
    load_bank,
    load_with_key,
)
from careeval.bank.yaml_nodes import BankProblems, FilePlace, Problem

__all__ = [
    "OWN_BANK",
    "Bank",
    "BankProblems",
    "FilePlace",
    "Problem",
    "bank_folder",
    "bank_mode",
    "bank_reference",
    "content_hash",
    "load_bank",
    "load_with_key",
    "rated_hash",
]
