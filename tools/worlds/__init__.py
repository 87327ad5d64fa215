"""The search for plans that solve a world, or meet one of its dangers; for authors of worlds."""
