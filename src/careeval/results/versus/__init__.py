"""Comparisons of two entries, and rankings of many."""
