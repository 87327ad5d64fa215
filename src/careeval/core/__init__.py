"""Frozen types of scenarios, responses, graders, judgments, labels, ratings. No I/O, no clock."""
