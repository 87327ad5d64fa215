"""Worlds: a system plans for a robot beside a person, and a simulation judges the plan."""
