"""Sheets of comparisons and rankings."""
