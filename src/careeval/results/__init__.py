"""Runs as tables, what they come to, and how that is handed on."""
