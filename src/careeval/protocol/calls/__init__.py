"""Calls to models: sending, retrying, storing and paying for them."""
