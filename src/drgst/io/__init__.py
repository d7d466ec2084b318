"""Reading, writing and conversion of graphs and splits."""
