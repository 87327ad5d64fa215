"""The task for one response: ask the system, then grade what it said."""
