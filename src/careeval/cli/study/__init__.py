"""The commands of `careeval study`."""
