"""Output formats of sheets: terminal, Markdown, LaTeX, HTML and data files."""
