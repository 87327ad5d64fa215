"""The commands of `careeval audit`."""
