"""The command line: one file a command group, no logic, and the only place that joins protocol to report."""
