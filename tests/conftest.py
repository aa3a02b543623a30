"""What tests share."""

import gc
import os
import re
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl
from hypothesis import settings

import rue
from rue.errors import FileError

# Threads that wait for work spin, and take the core from the tests beside them. OpenMP's shall
# sleep, which it reads when it is loaded; BLAS shall have none, here and in processes of tests.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ["OPENBLAS_NUM_THREADS"] = "1"
threadpoolctl.threadpool_limits(1, user_api="blas")

# No deadline: a kernel's first call compiles it. The same examples in every run.
settings.register_profile("rue", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("rue")


def pytest_collection_finish():
    """Let collections of garbage pass over all that is imported: it stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def rng():
    return np.random.default_rng(20260731)


@pytest.fixture(scope="session")
def data_root():
    """Real data: RUE_DATA, or ../shared/data beside the checkout."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    root = Path(os.environ.get("RUE_DATA") or beside)
    if not root.is_dir():
        pytest.skip(f"no real data: neither RUE_DATA nor {beside.relative_to(beside.parents[2])}")
    return root


@pytest.fixture(scope="session")
def cifar10h(data_root):
    path = data_root / "cifar-10h" / "cifar10h-counts.npy"
    if not path.is_file():
        pytest.skip("no CIFAR-10H counts in the data root")
    return path


@pytest.fixture(scope="session")
def paper():
    """The paper's source without its comments, beside the real data."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("RUE_DATA") or beside).parent / "paper"
    files = sorted(folder.glob("*.tex"))
    if not files:
        pytest.skip("the paper is not beside this checkout")
    return re.sub(r"(?<!\\)%.*", "", files[0].read_text())


@pytest.fixture(scope="session")
def sentiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fetch the sentiment sets once for all processes of the run; their lock does the rest."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sentiment-root"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RUE_DATA", raising=False)
        try:
            rue.data.fetch("sentiment-movies", root)
        except FileError as error:
            pytest.skip(f"the sentiment sets cannot be fetched here: {error}")
    return root
