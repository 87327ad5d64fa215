"""The numbers of one entry: one system, as one grader judged it on one rubric."""
