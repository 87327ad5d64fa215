"""Scores and errors of one entry: one system, one grader, one rubric."""
