"""Calls to models: sent, repeated, stored and paid for."""
