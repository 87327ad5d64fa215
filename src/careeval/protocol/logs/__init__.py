"""Files in a run's folder, read within limits and without Inspect."""
