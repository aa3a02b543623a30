"""Fitting: train all networks of a method together, and choose among settings.

Probes of all seeds, members and settings train as one stack; networks for images one after
another.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rue.data.dataset import DataSet
from rue.errors import FileError, InputError
from rue.methods._training.jobs import Job, find_checkpoint, groups, initial, make_member, stack
from rue.methods._training.models import Model, Recipe
from rue.methods._training.networks import NetworkStack, find_device
from rue.methods._training.pools import Pool, make_pool
from rue.methods._training.settings import Training, hold_out, n_tuned, trials, tuning_axes
from rue.methods._training.training import diverged, train
from rue.methods.learner import FitRequest, Trained

_OnStep = Callable[[int, float | None], None]


def fit_models(recipe: Recipe, request: FitRequest, training: Training) -> list[Trained]:
    """Train all members of all seeds and settings; return the best of each seed."""
    sets, seeds = request.data, request.seeds
    # With one_cycle no epoch is chosen, but all methods learn the same points, temperature or not.
    held_out = recipe.held_out or _stops(recipe, training) or training.schedule == "one_cycle"
    pool_of = {
        id(data): _held_out_and_pool(data, recipe, training, held_out)
        for data in {id(data): data for data in sets}.values()
    }
    pools = [pool_of[id(data)][1] for data in sets]
    settings = trials(training, tuning_axes(training, dropout=recipe.dropout))
    n = n_tuned(training, len(seeds))
    models = fit_pools(
        recipe, pools[:n], [[setting] * n for setting in settings], seeds[:n], request
    )
    best = [_choose([trial[s] for trial in models], pools[s], recipe) for s in range(n)]
    if n < len(seeds):
        chosen = [[best[0].training] * (len(seeds) - n)]
        rest = fit_pools(recipe, pools[n:], chosen, seeds[n:], request)[0]
        best += [
            _choose([model], pool, recipe) for model, pool in zip(rest, pools[n:], strict=True)
        ]
    return [
        Trained(pool_of[id(data)][0], model, pool)
        for model, data, pool in zip(best, sets, pools, strict=True)
    ]


def fit_pools(
    recipe: Recipe,
    pools: Sequence[Pool],
    settings: Sequence[Sequence[Training]],
    seeds: Sequence[int],
    request: FitRequest,
) -> list[list[Model]]:
    """Train every member on each seed's pool with each of its settings; return all models."""
    jobs = [
        Job(pool, make_member(recipe, pool, seed, i, setting, _stops(recipe, setting)), t, s)
        for t, trial in enumerate(settings)
        for s, (pool, seed, setting) in enumerate(zip(pools, seeds, trial, strict=True))
        for i in range(recipe.n_members)
    ]
    folder = None if jobs[0].member.training.is_probe else request.checkpoints
    if folder is not None:
        # Without parents: if the folder of a run was moved, it must not be created again here.
        try:
            Path(folder).mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(
                f"{folder}: cannot be created for checkpoints: {error.strerror}"
            ) from None
    parts: dict[tuple[int, int], list[tuple[NetworkStack, list[int], list[int]]]] = {}
    with _bar(jobs, request.progress) as on_step:
        for group in groups(jobs, recipe):
            pool, members = stack(group)
            network = initial(pool, members, recipe).to(pool.inputs.device)
            epochs = train(
                network,
                pool,
                members,
                recipe.objective,
                coefficient=recipe.coefficient,
                on_step=on_step,
                checkpoint=None
                if folder is None
                else find_checkpoint(folder, members[0], pool, recipe),
            )
            for key in dict.fromkeys((job.trial, job.seed) for job in group):
                mine = [i for i, job in enumerate(group) if (job.trial, job.seed) == key]
                indices = [members[i].index for i in mine]
                part = network.take(mine), [epochs[i] for i in mine], indices
                parts.setdefault(key, []).append(part)
    models: list[list[Model]] = []
    for t, trial in enumerate(settings):
        models.append([])
        for s, (pool, seed, setting) in enumerate(zip(pools, seeds, trial, strict=True)):
            networks, of_epochs, of_members = zip(*parts[t, s], strict=True)
            own = (tuple(i for part in each for i in part) for each in (of_epochs, of_members))
            models[-1].append(Model(networks, pool.scaling, seed, setting, *own))
    return models


def _stops(recipe: Recipe, training: Training) -> bool:
    """Return whether networks keep their best epoch."""
    anneals = training.is_probe or training.schedule == "one_cycle"
    return training.regime == "tuned" or not (anneals or recipe.dropout)


def _choose(models: Sequence[Model], pool: Pool, recipe: Recipe) -> Model:
    """Return the model whose mean prediction has the lowest log loss on the points held out."""
    there = [model for model in models if min(model.epochs) > 0]
    if not there:
        raise diverged(models[0].training)
    if len(there) == 1:
        return there[0]
    return min(there, key=lambda model: _log_loss(model, pool, recipe))


def _log_loss(model: Model, pool: Pool, recipe: Recipe) -> float:
    total = 0.0
    rows = pool.held_out
    for first in range(rows.start, rows.stop, model.chunk):
        x, y = pool.points(slice(first, min(first + model.chunk, rows.stop)))
        if recipe.log_loss is not None:
            total += float(recipe.log_loss(model, x, y.double()).sum())
            continue
        probs = recipe.mean(model, x).double().clamp(min=1e-12)
        total -= float((y.double() / y.double().sum(-1, keepdim=True) * probs.log()).sum())
    return total / len(pool.inputs[rows])


def _held_out_and_pool(
    data: DataSet, recipe: Recipe, training: Training, held_out: bool
) -> tuple[DataSet, Pool]:
    data = hold_out(data) if held_out else replace(data, validation=data.validation[:0])
    device = find_device(training.device)
    pool = make_pool(data, device, statistics=training.statistics, kind=recipe.kind)
    if training.is_probe != (pool.inputs.ndim == 2):
        if pool.inputs.ndim == 2:
            kind, way = "a matrix", "probe"
        else:
            kind = "images"
            way = "small_cnn, resnet9, resnet18 or resnet18_imagenet"
            way += " (in a suite: small_images, resnet9, cifar or fine_tuning)"
        raise InputError(f"network {training.network!r} does not take {kind}: set network to {way}")
    if not training.is_probe and pool.n_train == 1:
        raise InputError("a network for images needs at least 2 training points, got 1")
    return data, pool


@contextmanager
def _bar(jobs: Sequence[Job], progress: bool) -> Iterator[_OnStep | None]:
    """Return a progress bar over all points of all epochs, with the loss of the last epoch."""
    if not progress:
        yield None
        return
    from tqdm import tqdm

    members = [job.member for job in jobs]
    n_points = sum(m.training.epochs * len(m.rows) for m in members)
    with tqdm(total=n_points, unit=" points", unit_scale=True, desc=members[0].method) as bar:

        def on_step(n: int, loss: float | None) -> None:
            bar.update(n)
            if loss is not None:
                bar.set_postfix(loss=f"{loss:.4f}")

        yield on_step
