"""The command line: one file per command, without logic. Only here protocol meets report."""
