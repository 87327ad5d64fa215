"""Measures of how far graders can be trusted."""
