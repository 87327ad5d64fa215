"""Rules on the content of a bank."""
