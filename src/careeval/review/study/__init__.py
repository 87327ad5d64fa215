"""Studies in which experts rate scenarios: plans, questions and what came in."""
