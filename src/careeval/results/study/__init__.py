"""Results of studies in which experts rate scenarios."""
