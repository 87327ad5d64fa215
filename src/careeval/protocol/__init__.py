"""The protocol: asking a system, grading its responses, and reading the logs.

No other package uses Inspect. Nothing is imported here, so that reading logs does not load Inspect.
"""
