"""Tables 1 to 13 as printed in the paper: one CSV per table, and their reader."""

from rue.published.reader import (
    PUBLISHED_COLUMNS,
    TABLES,
    Published,
    PublishedTable,
    read_published,
)

__all__ = ["PUBLISHED_COLUMNS", "TABLES", "Published", "PublishedTable", "read_published"]
