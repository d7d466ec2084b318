"""Tables of finished runs, as text, Markdown, LaTeX, HTML and CSV."""
