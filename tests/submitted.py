"""Submissions to a leaderboard, made of small worlds."""

import json

from reported import write_world
from rue.leaderboard import write_submission

LOSSES = ("log", "zero_one")


def write_submissions(folder, n_points=30, n_methods=3, **facts):
    """Write a submission for each method of a world; return their folder."""
    world = folder / "world"
    world.mkdir(parents=True)
    for name, file in write_world(world, n_points, n_methods).items():
        given = {"data": "world", "regime": "paper", "losses": LOSSES} | facts
        write_submission(file, folder / "submissions" / name, **given)
    return folder / "submissions"


def change_row(folder, change):
    """Change the row.json of a submission."""
    path = folder / "row.json"
    row = json.loads(path.read_text())
    change(row)
    path.write_text(json.dumps(row))
