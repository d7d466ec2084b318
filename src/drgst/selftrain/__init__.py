"""The loop: beliefs, parts, learners, views, engine."""
