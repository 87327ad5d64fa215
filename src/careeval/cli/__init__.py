"""The command line: one file a command, no logic; the only place that joins protocol to report."""
