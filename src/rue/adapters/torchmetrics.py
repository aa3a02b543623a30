"""torchmetrics: one column of the evaluation as a metric that is synchronised over processes."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from rue._arrays import FloatArray, IntArray, require_one_of
from rue.adapters.accumulator import (
    PARTS,
    Accumulator,
    BatchKind,
    Columns,
    require_same,
    run_of,
)
from rue.beliefs import Belief
from rue.errors import InputError, missing_extra
from rue.losses import Loss, get_loss
from rue.metrics.columns import EVALUATED
from rue.metrics.evaluation import Evaluation, evaluate_run
from rue.truth.base import Truth

try:
    import torch
    from torchmetrics import Metric
except ImportError:
    needed = "rue.adapters.torchmetrics needs torch and torchmetrics"
    raise missing_extra(needed, "torch", " torchmetrics") from None

__all__ = ["RegretMetric"]

_GAP = ("pareto_gap",)


class RegretMetric(Metric):
    """One column of :func:`rue.evaluate` as a metric of torchmetrics.

    It works wherever torchmetrics does: in Lightning's ``self.log``, in a ``MetricCollection``, and
    with several processes, which each see a part of the points. The result is that of
    :func:`rue.evaluate` on all points. Only the components of each point and the few numbers that
    columns read are kept; under log loss also the counts.

    Parameters
    ----------
    loss, values
        As in :func:`rue.evaluate`.
    column : str
        The result to return, for example ``"n_aurec"`` or ``"regret"``; the keys of
        :class:`rue.Evaluation`.
    **options
        Options of :class:`torchmetrics.Metric`.

    Examples
    --------
    >>> import torch
    >>> metric = RegretMetric("brier", column="regret")
    >>> counts = torch.tensor([[9, 1], [5, 5]])
    >>> probs = torch.tensor([[[0.9, 0.1], [0.9, 0.1]], [[0.9, 0.1], [0.3, 0.7]]])
    >>> metric.update(counts, probs)
    >>> round(float(metric.compute()), 6)
    0.01
    """

    full_state_update = False
    is_differentiable = False
    components: list[torch.Tensor]
    counts: list[torch.Tensor]
    ids: list[torch.Tensor]

    def __init__(
        self,
        loss: str | Loss = "log",
        *,
        column: str = "n_aurec",
        values: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        require_one_of("column", column, EVALUATED)
        get_loss(loss, values=values)  # raises if it is invalid
        self.loss, self.values, self.column = loss, values, column
        self._kind: BatchKind | None = None
        self._notes: tuple[str, ...] = ()
        self.add_state("components", default=[], dist_reduce_fx="cat")
        self.add_state("counts", default=[], dist_reduce_fx="cat")
        self.add_state("ids", default=[], dist_reduce_fx="cat")

    def update(
        self,
        counts: torch.Tensor | Truth,
        probs: torch.Tensor | Belief,
        ids: Sequence[object] | torch.Tensor | None = None,
    ) -> None:
        """Add a batch, the truth first.

        With ``ids`` (names or numbers of the rows), a point that a sampler repeats, as those of
        several processes do to give each the same number, is counted once. Rows of one id must
        have the same components; other answers with the same components, as 0/1 loss can have
        them, are not noticed, and the first row counts.
        """
        names = ids.tolist() if isinstance(ids, torch.Tensor) else ids
        if names is not None and len(names) != len(counts):
            raise InputError(f"ids must have one entry per row, got {len(names)} for {len(counts)}")
        if len(self.components) and (names is None) == bool(len(self.ids)):
            raise InputError("ids must be given with every batch or with none")
        if names is not None and (isinstance(counts, Truth) or isinstance(probs, Belief)):
            raise InputError("ids are for tensors: a truth and a belief have their own")
        truth = counts if isinstance(counts, Truth) else counts.detach().cpu().numpy()
        belief = probs if isinstance(probs, Belief) else probs.detach().cpu()
        if isinstance(belief, torch.Tensor) and belief.ndim == 2:
            belief = belief[:, None]
        batch = Accumulator(self.loss, values=self.values)
        batch.update(truth, belief)
        assert batch.kind is not None
        require_same(self._kind or batch.kind, batch.kind)
        self._kind = batch.kind
        self._notes = tuple(dict.fromkeys((*self._notes, *batch.notes)))
        table = _stacked(batch.batches[0], len(batch))
        self.components.append(torch.from_numpy(table).to(self.device))
        for answers in batch.counts:
            self.counts.append(torch.tensor(answers, device=self.device))
        if names is not None:
            numbers = [_number(name) for name in names]
            self.ids.append(torch.tensor(numbers, dtype=torch.int64, device=self.device))

    def compute(self) -> torch.Tensor:
        """Return the column as a scalar; over all processes, if there are several."""
        number = getattr(self._evaluate(gap=self.column in _GAP), self.column)
        return torch.tensor(float("nan") if number is None else number, device=self.device)

    def evaluation(self, *, gap: bool = True) -> Evaluation:
        """Return all columns, over all processes; ``to_dict()`` of it is what loggers take."""
        with self.sync_context(should_sync=self._to_sync, should_unsync=True):
            return self._evaluate(gap=gap)

    def _evaluate(self, *, gap: bool) -> Evaluation:
        if not len(self.components):
            raise InputError("there are no batches yet: call update first")
        loss = self._kind[0] if self._kind else get_loss(self.loss, values=self.values)
        table = _joined(self.components)
        rows = _first_of_each(_joined(self.ids), table) if len(self.ids) else slice(None)
        counts = _joined(self.counts)[rows] if len(self.counts) else None
        outside = bool(self._kind and self._kind[-1])
        run = run_of(_columns(table[rows]), counts, loss, outside, notes=self._notes)
        return evaluate_run(run, gap=gap)


def _number(name: object) -> int:
    """Return a number of 64 bits for a name, since only tensors are synchronised."""
    return int.from_bytes(blake2b(str(name).encode(), digest_size=8).digest(), signed=True)


def _first_of_each(ids: FloatArray, table: FloatArray) -> IntArray:
    """Return the first row of each id; raise if another row of the same id has other numbers."""
    _, first, place = np.unique(ids, return_index=True, return_inverse=True)
    parts = [PARTS.index(name) for name in ("total", "aleatoric", "epistemic")]
    parts += [len(PARTS) + part for part in parts]  # of both; a bracket depends on its batch
    if not np.allclose(table[:, parts], table[first[place]][:, parts], rtol=1e-3, atol=1e-6):
        raise InputError("points with the same id must have the same answers and predictions")
    return np.sort(first)


def _stacked(columns: Columns, n_points: int) -> FloatArray:
    """Return arrays as the columns of a table; one that is None is NaN."""
    none = np.full(n_points, np.nan)
    return np.stack([none if c is None else np.asarray(c, np.float64) for c in columns], axis=1)


def _columns(table: FloatArray) -> Columns:
    """Return the arrays that :func:`_stacked` stacked."""
    columns: Any = [None if np.isnan(c).any() else np.ascontiguousarray(c) for c in table.T]
    for i in (PARTS.index("floored"), len(PARTS) + PARTS.index("floored")):
        columns[i] = None if columns[i] is None else columns[i].astype(bool)
    return cast(Columns, columns)


def _joined(state: Any) -> FloatArray:
    """Return a state as one array: a list of batches, or one tensor after synchronisation."""
    whole = torch.cat(list(state)) if isinstance(state, list) else state
    return np.asarray(whole.cpu().numpy())
