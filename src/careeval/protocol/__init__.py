"""The protocol: ask a system, grade what it says, read the logs. The only package that knows Inspect.

Nothing is imported here, so that reading logs stays free of Inspect.
"""
