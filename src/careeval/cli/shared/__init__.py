"""Options, prompts and printing that several commands share."""
