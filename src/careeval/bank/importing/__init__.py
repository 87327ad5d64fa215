"""Import of another bank's file: graded options become ladders."""
