"""The protocol: ask a system, grade what it says, read the logs.

No other package knows Inspect. Nothing is imported here, so that reading logs stays free of it too.
"""
