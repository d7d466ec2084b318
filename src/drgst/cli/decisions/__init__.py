"""Commands that read a finished run."""
