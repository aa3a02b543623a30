"""Reading and writing files: predictions, truth, tables; atomic writes."""
