"""Renderers of sheets: terminal, Markdown, LaTeX and data files."""
