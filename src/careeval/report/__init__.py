"""Pages and figures that show results. Nothing here computes a result."""
