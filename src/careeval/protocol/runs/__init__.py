"""Runs: their descriptions, folders, locks and budgets."""
