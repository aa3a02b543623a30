"""OpenOOD's image lists: out-of-distribution sets for CIFAR-10."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

import numpy as np

from rue._arrays import require_whole
from rue.data.dataset import DataSet
from rue.data.entry import Entry, entries, make_data_set
from rue.data.files import Reader
from rue.data.images import decode_image
from rue.errors import FileError

NEAR = ("cifar100", "tin")
FAR = ("mnist", "svhn", "texture", "places365")
OPENOOD_GROUPS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "cifar10": MappingProxyType({"near": NEAR, "far": FAR}),
        "imagenet": MappingProxyType(
            {"near": ("ssb_hard", "ninco"), "far": ("inaturalist", "textures", "openimage_o")}
        ),
    }
)
"""OpenOOD v1.5's near and far sets of CIFAR-10 and ImageNet, by the names of its lists."""


def load(reader: Reader, entry: Entry, *, seed: int, size: int = 32) -> DataSet:
    """Load the images of ``test_<set>.txt``, ``path label`` a line, cut to size x size."""
    del seed
    require_whole("size", size, least=1)
    path = _list(entry.name.removeprefix("openood-"))
    names = _names(reader, path)
    if not names:
        raise FileError(f"{path} lists no image")
    outside = [name for name in names if name.startswith("/") or ".." in PurePosixPath(name).parts]
    if outside:
        raise FileError(f"{path}: paths must stay in images_classic, got {outside[0]!r}")
    images = []
    for name in names:
        file = reader.find(f"openood/images_classic/{name}")
        images.append(decode_image(file.read_bytes(), str(file), size=size, crop=True))
    return make_data_set(
        entry,
        reader,
        inputs=np.stack(images),
        ids=np.array(names, dtype=np.str_),
        class_names=(),
        test=np.arange(len(images)),
        notes=(
            (f"{len(names):,} of the {entry.n_points:,} images of the official list",)
            if len(names) != entry.n_points
            else ()
        ),
    )


def _names(reader: Reader, path: str) -> list[str]:
    try:
        lines = reader.read(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise FileError(f"{path} must be UTF-8: {error}") from None
    return [line.rsplit(maxsplit=1)[0] for line in lines if line.strip()]


def _is_whole(reader: Reader, entry: Entry) -> bool:
    return len(_names(reader, _list(entry.name.removeprefix("openood-")))) == entry.n_points


def _list(name: str) -> str:
    return f"openood/benchmark_imglist/cifar10/test_{name}.txt"


ENTRIES = entries(
    "openood",
    {
        f"openood-{name}": {"checksums": {_list(name): None}, "needs": ((_list(name),),)}
        for name in (*NEAR, *FAR)
    },
    load=load,
    whole=_is_whole,
)
