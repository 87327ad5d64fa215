"""Audits in which people label a grader's judgments: plans, questions and labels."""
