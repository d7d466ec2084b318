"""The workbench: a local server that labels, refits and shows a run in the browser."""
