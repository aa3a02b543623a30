"""``python -m rue`` is ``rue``."""

from rue.cli import main

main()
