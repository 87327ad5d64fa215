"""Runs carried out, each in a process of its own."""
