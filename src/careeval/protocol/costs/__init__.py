"""Prices, tokens and the cost log of calls."""
