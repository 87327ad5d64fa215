"""Sheets of entries: their numbers, their parts and their summary."""
