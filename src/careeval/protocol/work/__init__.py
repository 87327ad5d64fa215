"""Carrying out runs, each in a process of its own."""
