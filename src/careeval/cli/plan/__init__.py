"""The commands of `careeval plan`."""
