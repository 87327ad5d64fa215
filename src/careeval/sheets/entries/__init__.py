"""Sheets of entries: numbers, numbers by parts of the scenarios, and the summary."""
