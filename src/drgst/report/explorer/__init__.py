"""The explorer: one self-contained HTML page that shows what a run did. Data first, then HTML."""
