"""Your own data sets: read files of answers, check them, and describe them in a TOML file."""
