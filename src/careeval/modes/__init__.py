"""The modes: ways to ask and ways to judge."""
