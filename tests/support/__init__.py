"""Stand-ins, servers, strategies and folders that tests share."""
