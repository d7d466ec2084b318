"""The page of a run, its figures, and the workbench."""
