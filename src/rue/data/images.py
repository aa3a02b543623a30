"""Images that are decoded on access, from a folder or a zip file."""

import hashlib
import io
import os
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from rue._arrays import require_whole
from rue.data.files import ZIP_ERRORS
from rue.errors import FileError, RueError
from rue.io.memory import require_memory

if TYPE_CHECKING:
    from PIL import Image

ImageArray = NDArray[np.uint8]


class LazyImages(Sequence[ImageArray]):
    """A sequence of RGB images that are read and decoded on every access.

    Parameters
    ----------
    source
        A folder or a zip file; it is never unpacked.
    names
        The images' paths inside ``source``.
    size
        Resize every image to (size, size); None leaves them as they are.

    Notes
    -----
    An integer index gives one image, uint8 of shape (height, width, 3); a slice or an index
    array gives another ``LazyImages``. It may be pickled and used in several processes.
    """

    def __init__(self, source: Path, names: Sequence[str], *, size: int | None = None) -> None:
        if size is not None:
            require_whole("size", size, least=1)
        self.source = Path(source)
        self.names = np.asarray(names, dtype=np.str_)
        self.size = size
        self._zip: tuple[int, zipfile.ZipFile] | None = None

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> ImageArray: ...
    @overload
    def __getitem__(self, index: slice | NDArray[Any]) -> "LazyImages": ...
    def __getitem__(self, index: int | slice | NDArray[Any]) -> "ImageArray | LazyImages":
        if isinstance(index, int | np.integer):
            name = str(self.names[index])
            return decode_image(self._read(name), f"{self.source}: {name}", size=self.size)
        return LazyImages(self.source, self.names[index].tolist(), size=self.size)

    def digest(self, row: int) -> str:
        """Return the SHA-256 of one image's file, read piece by piece."""
        name = str(self.names[row])
        with self._reading(name):
            path = self.source / name
            opened: Any = path.open("rb") if self.source.is_dir() else self._archive().open(name)
            with opened as file:
                return hashlib.file_digest(file, "sha256").hexdigest()

    def n_bytes(self, row: int) -> int:
        """Return how many bytes one image's file has, without reading it."""
        name = str(self.names[row])
        with self._reading(name):
            if self.source.is_dir():
                return (self.source / name).stat().st_size
            return self._archive().getinfo(name).file_size

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_zip": None}

    def _read(self, name: str) -> bytes:
        with self._reading(name):
            if self.source.is_dir():
                return (self.source / name).read_bytes()
            archive = self._archive()
            require_memory(name, 2 * archive.getinfo(name).file_size, self.source.stat().st_size)
            return archive.read(name)

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Raise a FileError for whatever goes wrong with the file or its archive."""
        try:
            yield
        except RueError:
            raise
        except (OSError, KeyError, *ZIP_ERRORS) as error:
            raise FileError(f"{self.source}: cannot read {name}: {error}") from None

    def _archive(self) -> zipfile.ZipFile:
        # A handle that is shared with a parent process would share its file position.
        if self._zip is None or self._zip[0] != os.getpid():
            self._zip = os.getpid(), zipfile.ZipFile(self.source)
        return self._zip[1]


def decode_image(
    data: bytes, name: str, *, size: int | None = None, crop: bool = False
) -> ImageArray:
    """Decode one image to RGB, resized to (size, size)."""
    from PIL import Image, ImageOps

    try:
        image = _to_rgb(Image.open(io.BytesIO(data)))
    except Exception as error:  # what a damaged image raises depends on the byte that is wrong
        raise FileError(f"{name} is not an image: {error}") from None
    if size is not None and crop:
        image = ImageOps.fit(image, (size, size), Image.Resampling.BILINEAR)
    elif size is not None and image.size != (size, size):
        image = image.resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(image)


def _to_rgb(image: "Image.Image") -> "Image.Image":
    """Convert to RGB; of 16-bit channels the upper byte is used, where convert would clip."""
    if image.mode.startswith("I"):
        from PIL import Image

        grey = np.rint(np.asarray(image, dtype=np.float64) / 257.0).clip(0, 255)
        return Image.fromarray(grey.astype(np.uint8)).convert("RGB")
    return image.convert("RGB")
