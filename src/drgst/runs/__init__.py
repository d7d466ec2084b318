"""The one way a run is made: config, run, result, folder."""
