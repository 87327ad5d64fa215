"""Statistics of a grader that people audit."""
