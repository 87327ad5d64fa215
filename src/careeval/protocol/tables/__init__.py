"""Reading a run's logs into tables of responses and judgments."""
