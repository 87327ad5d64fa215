"""Comparisons and rankings of entries."""
