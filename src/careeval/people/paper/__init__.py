"""Forms on paper, and ratings and labels that are typed for other people."""
