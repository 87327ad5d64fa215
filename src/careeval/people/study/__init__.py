"""Studies in which experts rate scenarios: plans, questions and answers."""
