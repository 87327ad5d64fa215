"""The commands of `careeval bank`."""
