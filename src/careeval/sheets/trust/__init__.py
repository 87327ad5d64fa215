"""Sheets of graders, probe checks and audits."""
