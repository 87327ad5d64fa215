"""Forms on paper, and ratings and labels that somebody types for others."""
