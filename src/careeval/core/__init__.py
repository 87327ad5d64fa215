"""Frozen value types: what a scenario, a response, a judgment and a run are. No I/O, no clock."""
