"""Runs as tables, and the numbers computed from them."""
