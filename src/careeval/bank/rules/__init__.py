"""Rules of good writing that a bank is checked by."""
