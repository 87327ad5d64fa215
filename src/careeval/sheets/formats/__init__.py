"""Output formats of sheets: terminal, Markdown, LaTeX and data files."""
