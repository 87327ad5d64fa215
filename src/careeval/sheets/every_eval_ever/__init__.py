"""Export to the format of Every Eval Ever."""
