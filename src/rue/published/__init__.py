"""The paper's tables 1 to 13 as it prints them: one CSV a table, and their reader."""

from rue.published.reader import COLUMNS, TABLES, Published, PublishedTable, read_published

__all__ = ["COLUMNS", "TABLES", "Published", "PublishedTable", "read_published"]
