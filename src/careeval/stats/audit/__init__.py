"""Statistics for the audit of a grader by people."""
