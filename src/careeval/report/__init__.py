"""The page: what the tables and summaries say, drawn and laid out. It computes no result."""
