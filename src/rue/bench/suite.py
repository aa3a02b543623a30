"""A suite: which data sets, methods, losses and seeds, as a small TOML file.

::

    name = "mine"
    datasets = ["sentiment-movies", "random-rbf"]
    methods = ["ensemble", "ddu"]
    losses = ["log", "squared"]
    seeds = 5                     # 0..4; or a list of whole numbers
    features = "sentence-encoder" # of texts; tfidf is the default
    network = "probe"
    regime = "tuned"              # or paper, the default
    convention = "published"      # or definition, the default
    active_learning = "openml-6"  # or a table: start, step, rounds, runs

    [training]                    # overrides of the network's, for all
    epochs = 20
    [method.ensemble]             # overrides of a method's own settings
    n_members = 10
    [dataset.emobank-valence]
    ratings = true                # counts on a scale as real-valued answers

    [dataset.random-rbf]          # its options; its own network, regime, methods, losses,
    n_points = 2000               # criteria, active_learning and training
    n_train_max = 1000            # train on that many points, drawn by the seed
    n_validation_min = 500        # validate on so many, drawn from training points if need be
    losses = ["log"]

A data set of your own is the TOML file that ``rue data check`` wrote, ``datasets = ["mine.toml"]``,
beside the suite or in a data root; it is called by the file's name, ``mine``. A key that is not
known is an error that names the nearest one that is.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from rue._schema import Constraint, Count, Different, build, nearest, require_fields, require_known
from rue.beliefs import Convention
from rue.data.dataset import DataSet
from rue.data.entry import options_of
from rue.data.features import Encoder
from rue.data.own.description import NAME_RULE, load_own, valid_name
from rue.data.registry import ENTRIES
from rue.errors import FileError, InputError
from rue.losses import get_loss
from rue.methods import METHODS
from rue.methods._training.settings import Network, Regime
from rue.proxies.active_learning import Budget, get_budget

PAPER_METHODS = ("dropout", "evidential", "ensemble", "ddu", "laplace")
_FOLDER = Path(__file__).parent / "suites"
_FEATURES = {
    "features": str,
    "n_components": int,
    "ratings": bool,
    "n_train_max": int,
    "n_validation_min": int,
}
TEXT_FEATURES: dict[str, Encoder] = {"tfidf": "tfidf", "sentence-encoder": "sentence"}
_MOST_SEEDS = 1_000

_FEW = Constraint(f"a list of at most {_MOST_SEEDS:,}", lambda seeds: len(seeds) <= _MOST_SEEDS)
Names = Annotated[tuple[str, ...], Different]
Criterion = Literal["regret", "ood", "selective", "active_learning"]
Criteria = Annotated[tuple[Criterion, ...], Different]


@dataclass(frozen=True)
class OwnKeys:
    """What a suite may set for one data set, besides the options of its loader and features."""

    network: Network | None = None
    regime: Regime | None = None
    methods: Names | None = None
    losses: Names | None = None
    criteria: Criteria | None = None
    active_learning: str | Mapping[str, object] | None = None
    training: Mapping[str, object] = field(default_factory=dict)


OWN_KEYS = tuple(field.name for field in fields(OwnKeys))


@dataclass(frozen=True, kw_only=True)
class Suite:
    """What to run. ``training``, ``method`` and ``dataset`` hold what differs from the defaults.

    Attributes
    ----------
    name, description
        The name is hashed into every seed.
    datasets, methods, losses, seeds
        A cell is one data set x method x seed; each is evaluated under every loss.
    features
        What texts become, ``tfidf`` or ``sentence-encoder``; a data set may say otherwise.
    network
        What is trained, and with which settings (:class:`rue.methods.Training`): ``probe``,
        ``cifar``, ``fine_tuning``, ``small_images`` or ``resnet9``.
    regime
        ``paper`` trains with those settings; ``tuned`` keeps each network's best validation epoch
        and chooses among eight settings by validation log loss.
    convention
        ``definition`` for Definition 1, ``published`` for what the authors' own code computes.
    criteria
        What is computed of each cell (:mod:`rue.bench.tasks`).
    active_learning
        The budget of labels, by name or as a table (:class:`rue.proxies.Budget`); None sizes it by
        the training split. Its ``runs`` are the number of seeds, if ``seeds`` are not given.
    share_networks
        Whether methods have equal seeds, so that those that differ in their predictions alone
        train a ``resnet9`` once and share it.
    own
        The TOML files of data sets of your own, by name.
    folder
        Where the file is: the first place its paths are looked for.
    text
        The file, as it was read.
    """

    name: str
    description: str = ""
    datasets: Names
    methods: Names = PAPER_METHODS
    losses: Names = ("log", "zero_one")
    seeds: Annotated[tuple[Count, ...], Different, _FEW] = (0, 1, 2, 3, 4)
    features: Literal["tfidf", "sentence-encoder"] = "tfidf"
    network: Network = "probe"
    regime: Regime = "paper"
    convention: Convention = "definition"
    criteria: Criteria = ("regret",)
    active_learning: str | Mapping[str, object] | None = None
    share_networks: bool = False
    training: Mapping[str, object] = field(default_factory=dict)
    method: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    dataset: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    text: str = ""

    def __post_init__(self) -> None:
        require_fields(self, but=("own", "folder", "text"))
        if not valid_name(self.name):
            raise InputError(f"name must be {NAME_RULE}, got {self.name!r}")
        for name, file in self.own.items():
            if name in ENTRIES or not valid_name(name):
                why = "a data set of rue has that name" if name in ENTRIES else NAME_RULE
                raise InputError(f"datasets: rename {file}: {why}")
        named = [name for name in self.datasets if name not in self.own]
        require_known("datasets", named, ENTRIES)
        require_known("methods", self.methods, METHODS)
        require_known("method", self.method, self.methods)
        require_known("dataset", self.dataset, self.datasets)
        for name in self.datasets:
            if "seed" in self.dataset.get(name, ()):
                raise InputError(f"dataset.{name}: the seed is the cell's own")
            loader = load_own if name in self.own else ENTRIES[name].load
            _require_options(name, loader, self.dataset.get(name, {}))
            require_known(f"dataset.{name}.methods", self.methods_of(name), self.methods)
            for loss in self.losses_of(name):
                get_loss(loss)
            self._require_budget(name)

    def _own(self, dataset: str) -> OwnKeys:
        """Return what the suite sets for a data set."""
        table = self.dataset.get(dataset, {})
        return build(OwnKeys, table, where=f"dataset.{dataset}", unknown="ignore", table="a table")

    @property
    def n_cells(self) -> int:
        """The number of cells: the methods of each data set x seeds."""
        return sum(len(self.methods_of(name)) for name in self.datasets) * len(self.seeds)

    def methods_of(self, dataset: str) -> tuple[str, ...]:
        """Return the methods that are run on a data set."""
        return self._own(dataset).methods or self.methods

    def losses_of(self, dataset: str) -> tuple[str, ...]:
        """Return the losses under which a data set is evaluated."""
        return self._own(dataset).losses or self.losses

    def criteria_of(self, dataset: str) -> tuple[str, ...]:
        """Return what is computed for the cells of a data set."""
        return self._own(dataset).criteria or self.criteria

    def network_of(self, dataset: str) -> Network:
        """Return what is trained on a data set."""
        return self._own(dataset).network or self.network

    def regime_of(self, dataset: str) -> Regime:
        """Return how settings and epochs are chosen on a data set."""
        return self._own(dataset).regime or self.regime

    def budget_of(self, dataset: str) -> Budget | None:
        """Return the budget of active learning on a data set; None sizes it by its training split.

        Examples
        --------
        >>> from rue.bench import Suite
        >>> suite = Suite(name="s", datasets=("letter",), active_learning="openml-6")
        >>> suite.budget_of("letter").step
        1000
        """
        budget = self._own(dataset).active_learning or self.active_learning
        return None if budget is None else get_budget(budget, "active_learning")

    def _require_budget(self, dataset: str) -> None:
        own = self._own(dataset).active_learning
        if own is not None:
            get_budget(own, f"dataset.{dataset}.active_learning")
            if not isinstance(own, str) and "runs" in own:
                raise InputError(
                    f"dataset.{dataset}.active_learning: runs are the suite's seeds; remove runs"
                )
        budget = self.budget_of(dataset)
        runs = None if budget is None else budget.runs
        if isinstance(self.active_learning, Mapping) and runs not in (None, len(self.seeds)):
            raise InputError(
                f"active_learning.runs must be the number of seeds, {len(self.seeds)}, got {runs}"
            )

    def training_of(self, dataset: str) -> dict[str, object]:
        """Return the training settings that differ from the network's defaults."""
        return {**self.training, **self._own(dataset).training}


def shipped() -> dict[str, Path]:
    """Return the suites that come with rue, by name.

    Returns
    -------
    dict of str to Path
        The TOML file of each suite.

    Examples
    --------
    >>> from rue.bench import shipped
    >>> shipped()["atlas"].name
    'atlas.toml'
    """
    return {path.stem: path for path in sorted(_FOLDER.glob("*.toml"))}


def read_suite(name: str) -> Suite:
    """Return a suite: one that comes with rue by its name, or any by the path of its TOML file.

    Parameters
    ----------
    name : str
        A name of :func:`shipped`, or a path that ends with ``.toml``.

    Returns
    -------
    Suite
        The suite, with its settings checked.

    Raises
    ------
    FileError
        If the file does not exist, or is not a TOML file.
    InputError
        If no suite has this name, or a setting is invalid.

    Examples
    --------
    >>> from rue.bench import read_suite
    >>> read_suite("atlas").regime
    'tuned'
    """
    suites = shipped()
    path = suites.get(name, Path(name))
    if path.suffix != ".toml" or not path.is_file():
        if path.suffix == ".toml":
            raise FileError(f"no file {path}")
        near = nearest(name, suites)
        raise InputError(
            f"suite must be a .toml file or one of {', '.join(suites)}, got {name!r}{near}"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path.name}: not a TOML file: {error}") from None
    try:
        return parse_suite(text, folder=path.parent)
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from None


def parse_suite(text: str, *, folder: Path | None = None) -> Suite:
    r"""Return the suite that the text of a TOML file describes.

    Parameters
    ----------
    text : str
        The content of the file.
    folder : Path, optional
        The folder of the file, in which data sets of your own are looked up first.

    Returns
    -------
    Suite
        The suite, with its settings checked.

    Raises
    ------
    FileError
        If the text is not TOML.
    InputError
        If a key is missing or unknown, or a setting is invalid.

    Examples
    --------
    >>> from rue.bench import parse_suite
    >>> parse_suite('name = "mine"\ndatasets = ["random-rbf"]').datasets
    ('random-rbf',)
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"not a TOML file: {error}") from None
    datasets = values.get("datasets")
    own: dict[str, str] = {}
    if isinstance(datasets, list):
        files = [name for name in datasets if isinstance(name, str) and name.endswith(".toml")]
        own = {Path(name).stem: name for name in files}
        values["datasets"] = [Path(name).stem if name in files else name for name in datasets]
    runs = None
    if "active_learning" in values:
        runs = get_budget(values["active_learning"]).runs
    seeds = values.get("seeds", 5 if runs is None else runs)
    if not isinstance(seeds, list):
        if type(seeds) is not int or not 1 <= seeds <= _MOST_SEEDS:
            raise InputError(
                f"seeds must be how many there are, 1 to {_MOST_SEEDS:,}, or a list, got {seeds!r}"
            )
        seeds = list(range(seeds))
    context = {"own": own, "folder": folder, "text": text}
    return build(Suite, {**values, "seeds": seeds}, table="a table", given=context)


def _require_options(
    dataset: str, loader: Callable[..., DataSet], stated: Mapping[str, object]
) -> None:
    """Raise on what cannot be set of a data set: training, features, its loader's own options."""
    options, takes_any = options_of(loader)
    if not takes_any:
        require_known(f"dataset.{dataset}", stated, [*OWN_KEYS, *_FEATURES, *options])
    # Those without a default are a whole number or a list of them.
    kinds: dict[str, Any] = {
        name: int | tuple[int, ...] if usual is None else type(usual)
        for name, usual in options.items()
    }
    for name, kind in {**kinds, **_FEATURES}.items():
        if name in stated:
            build(kind, stated[name], where=f"dataset.{dataset}.{name}")
    features = stated.get("features")
    if features in TEXT_FEATURES:
        if dataset in ENTRIES and ENTRIES[dataset].task != "text":
            raise InputError(f"dataset.{dataset}.features: {dataset} holds no texts to encode")
    elif features is not None and not str(features).endswith(".npz"):
        raise InputError(
            f"dataset.{dataset}.features must be {', '.join(TEXT_FEATURES)} or an .npz file, "
            f"got {features!r}{nearest(features, TEXT_FEATURES)}"
        )
