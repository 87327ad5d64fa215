"""Audits: people label a sample of a grader's judgments."""
