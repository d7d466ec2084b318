"""Tables, figures, pages and claims, made from finished runs."""
