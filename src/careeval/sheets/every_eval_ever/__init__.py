"""Export in the form of Every Eval Ever."""
