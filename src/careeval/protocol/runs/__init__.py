"""Runs: what each is, the folder that it lies in, and what it may cost."""
