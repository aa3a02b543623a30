"""The paper's tables 1 to 13 as it prints them: one CSV a table, and their reader."""

from rue.published.reader import (
    PUBLISHED_COLUMNS,
    TABLES,
    Published,
    PublishedTable,
    read_published,
)

__all__ = ["PUBLISHED_COLUMNS", "TABLES", "Published", "PublishedTable", "read_published"]
