"""The loop: beliefs, select, weigh, correct, stop, engine and recipes."""
