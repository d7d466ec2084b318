"""The explorer page: one self-contained HTML file that shows a run or a bench."""
