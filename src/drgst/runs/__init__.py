"""One run: config, run, result, folder."""
