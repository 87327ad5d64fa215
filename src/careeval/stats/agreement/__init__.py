"""Agreement of raters: of two, and of a panel."""
