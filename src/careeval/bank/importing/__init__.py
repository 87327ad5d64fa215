"""Import of banks by other authors; their graded options become ladders."""
