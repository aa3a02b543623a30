"""A user's rows among those of a study that comes with rue: ``rue evaluate --against``."""

from collections.abc import Sequence

from rue._text import JsonObject
from rue.bench.baselines import RANKED, Baselines, among, read_baselines
from rue.data.registry import ENTRIES
from rue.errors import InputError
from rue.metrics.columns import title
from rue.metrics.evaluation import Evaluation


def baselines_for(
    study: str, truth: str | None, losses: Sequence[str], *, by: str | None, convention: str
) -> Baselines:
    """Return a study, after checking that it has rows to compare with."""
    baselines = read_baselines(study)
    if truth is None or truth not in ENTRIES:
        raise InputError(f"--against {study} needs the name of a data set: --truth NAME")
    if by is not None:
        raise InputError(f"--against {study} has no groups, so it cannot be used with --by")
    if convention != "definition":
        raise InputError(f"the rows of {study} follow Definition 1: omit --convention {convention}")
    for loss in losses:
        baselines.of(truth, loss)
    return baselines


def beside_baselines(
    rows: Sequence[Evaluation], study: Baselines, dataset: str
) -> tuple[list[JsonObject], list[str]]:
    """Return all rows, the lowest AuReC first under each loss, and a sentence about each user's."""
    shown, lines = [], []
    for loss in dict.fromkeys(row.loss for row in rows):
        theirs = study.of(dataset, loss)
        race: list[JsonObject] = []
        for row in theirs:
            named = {**row, "method": f"{row['method']} ({study.study})", "group": ""}
            del named["dataset"]
            race.append(named)
        for mine in (row.to_dict() for row in rows if row.loss == loss):
            ranks = among(mine, theirs)
            words = [
                f"{rank} by {title(key)}"
                for key, rank in ((key, ranks[key]) for key in RANKED)
                if rank is not None
            ]
            n_theirs = theirs[0]["n_points"]
            sentences = [
                f"{mine['method']}: under {loss} loss rank {' and '.join(words) or 'undefined'} "
                f"among {len(theirs) + 1}, with the {len(theirs)} methods of {study.study} "
                f"({study.regime}, means over {theirs[0]['n_seeds']} seeds), if yours are its "
                f"{n_theirs:,} test points: the study has no ids to check that"
            ]
            if mine["n_points"] != n_theirs:
                sentences.append(
                    f"{mine['method']}: evaluated on {mine['n_points']:,} points, the study on "
                    f"{n_theirs:,} test points, so the ranks compare different points"
                )
            lines += sentences
            places = {f"rank_{key}": ranks[key] for key in RANKED}
            race.append({**mine, **places, "notes": [*mine["notes"], *sentences]})
        race.sort(key=lambda row: (row["aurec"] is None, row["aurec"]))
        shown += race
    return shown, lines
