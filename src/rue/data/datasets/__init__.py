"""One file per data set or family of data sets."""
