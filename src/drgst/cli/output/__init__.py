"""Tables, progress displays and bars of the command line."""
