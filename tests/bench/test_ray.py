"""The same suite on a real cluster of two nodes, one of which is killed. Needs rue[ray]."""

import hashlib
import json
import warnings

import pytest

from rue.bench.cells import cells
from rue.bench.run import run_suite
from rue.bench.store import Store
from rue.bench.tables import read_results, table_rows
from rue.errors import InputError

ray = pytest.importorskip("ray", reason="the extra ray is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def bits(store, suite):
    found = [hashlib.sha256(store.predictions(c).read_bytes()).hexdigest() for c in cells(suite)]
    return found, json.dumps(table_rows(read_results(store).rows))


@pytest.fixture
def cluster():
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        yield made
        ray.shutdown()
        made.shutdown()


def test_a_node_dies_and_the_table_is_the_same(finished, suite, cluster, tmp_path):
    from rue.bench.engine import RayCluster

    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    killed = []

    def kill_once(progress):
        # With the first cells stored, the other node is at work on the next task.
        if progress.done and not killed:
            killed.append(len(progress.done))
            cluster.remove_node(node, allow_graceful=False)

    report = run_suite(
        suite, tmp_path / "ray", engine=RayCluster(address=cluster.address), on_change=kill_once
    )
    assert killed
    assert killed[0] < 6
    assert not report.failed
    assert len(report.done) == 6
    assert bits(Store(tmp_path / "ray"), suite) == bits(finished, suite)


def test_a_task_that_fails_on_ray_stops_no_other(suite, cluster, tmp_path):
    from rue.bench.engine import RayCluster
    from rue.bench.suite import parse_suite

    text = suite.text.replace('["random-rbf"]', '["random-rbf", "appa-real"]')
    mixed = parse_suite(text.replace('["dropout", "ensemble", "ddu"]', '["dropout"]'))
    report = run_suite(mixed, tmp_path, engine=RayCluster(address=cluster.address, workers=1))
    assert len(report.done) == 2
    assert all("appa-real" in error for error in report.failed.values())
    assert len(report.failed) == 2


def test_no_cluster_at_an_address_is_told(suite, tmp_path):
    from rue.bench.engine import RayCluster

    with pytest.raises(InputError, match=r"no Ray cluster at '127\.0\.0\.1:1'"):
        run_suite(suite, tmp_path, engine=RayCluster(address="127.0.0.1:1"))
