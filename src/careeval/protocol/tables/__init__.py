"""Tables of responses and judgments, made of a run's logs."""
