"""Sheets of studies in which experts rate scenarios."""
