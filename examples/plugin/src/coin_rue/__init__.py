"""A method and a data set for rue: copy this folder and replace both."""
