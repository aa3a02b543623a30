"""All of numba, one file a concept; imported only by the function that needs it."""
