"""Reading the files in a run's folder, within limits and without Inspect."""
