"""Tables with columns of any type as graphs: reading, faults, column types, encoders, edge tables and the schema."""
