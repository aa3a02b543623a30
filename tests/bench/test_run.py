"""Runs that are cut short, damaged, doubled or full, and what is left of them."""

import hashlib
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rue.bench.cells import cells, configuration
from rue.bench.engine import Event, Local
from rue.bench.run import run_suite, select
from rue.bench.store import Store
from rue.bench.suite import parse_suite
from rue.bench.tables import read_results, table_rows
from rue.bench.tasks import Result
from rue.errors import FileError, InputError
from rue.io.runs import read_run
from rue.metrics.evaluation import evaluate_run
from rue.report.collect import from_folder


def table(store):
    return json.dumps(table_rows(read_results(store).rows))


def contents(store):
    """The checksum of every prediction file."""
    return {
        str(path.relative_to(store.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(store.folder.rglob("predictions.npz"))
    }


def test_a_cell_holds_all_that_is_needed_to_trust_it(finished, suite):
    assert len(read_results(finished).rows) == 6 * 2
    for cell in cells(suite):
        assert finished.state(cell) == "done"
        row = finished.row(cell)
        assert row.cell.seed == cell.seed
        assert row.config["hashed_seed"] == cell.hashed_seed
        assert {"rue", "torch", "numpy", "numba", "python"} <= set(row.versions)
        assert row.peak_memory_mb > 50
        assert row.seconds["train"] > 0
        assert row.trained_with == (0, 1)
        assert row.data.n_test == 80
        for one in row.rows:
            read = read_run(finished.predictions(cell), None, one["loss"])
            again = evaluate_run(replace(read, method=cell.method))
            numbers = again.to_dict() | {"notes": []}  # a file adds its own
            assert numbers.keys() == one.keys()
            for key, value in numbers.items():
                stored = [] if key == "notes" else one[key]
                # A cell runs on one thread, and the last bit of sums depends on their number.
                tolerant = isinstance(value, float)
                assert value == (pytest.approx(stored, rel=1e-12) if tolerant else stored), key


def test_running_again_does_nothing_and_force_gives_the_same_bits(store, suite, here):
    before, bits = table(store), contents(store)
    report = run_suite(suite, store.folder, engine=Local(1))
    assert (len(report.kept), len(report.done)) == (6, 0)
    one = {"method": ["ddu"], "seed": ["1"]}
    report = run_suite(suite, store.folder, engine=here, only=one, force=True)
    assert [str(cell) for cell in report.done] == ["random-rbf/ddu/1"]
    assert table(store) == before
    assert contents(store) == bits


def test_a_damaged_cell_is_noticed_and_done_again(store, suite, here):
    before, bits = table(store), contents(store)
    one, two, three, *_ = cells(suite)
    store.predictions(one).write_bytes(store.predictions(one).read_bytes()[:-100])
    row = store.path(two) / "row.json"
    row.write_text(row.read_text()[:50])
    row = store.path(three) / "row.json"
    row.write_text(row.read_text().replace('"aurec": 0.', '"aurec": 1.', 1))
    assert [store.state(cell) for cell in (one, two, three)] == ["corrupt"] * 3
    assert len(read_results(store).damaged) == 2
    report = run_suite(suite, store.folder, engine=here)
    assert report.redone == dict.fromkeys((one, two, three), "corrupt")
    assert len(report.done) == 3
    assert table(store) == before
    assert contents(store) == bits


def test_a_cell_of_other_settings_is_stale(store, suite, here):
    row = cells(suite)[0]
    assert store.state(row, "another hash") == "stale"
    changed = parse_suite(suite.text.replace('losses = ["log", "zero_one"]', 'losses = ["brier"]'))
    report = run_suite(changed, store.folder, engine=here, only={"method": ["dropout"]})
    assert set(report.redone.values()) == {"stale"}
    assert len(report.done) == 2
    assert {one["loss"] for one in store.row(row).rows} == {"brier"}
    assert store.suite().losses == ("brier",)


def test_tables_leave_out_cells_of_other_settings_and_say_so(store, suite):
    """The suite was changed and only ddu run again: no table may mix the two."""
    others = [cell for cell in cells(suite) if cell.method != "ddu"]
    changes = {
        "epochs = 3": "epochs = 4",
        "n_points = 400": "n_points = 300",
        '"log", "zero_one"': '"log"',
        "[training]": "[method.dropout]\nn_draws = 7\n[method.ensemble]\nn_members = 3\n[training]",
    }
    for then, now in changes.items():
        changed = parse_suite(suite.text.replace(then, now))
        store.keep_suite(changed)
        for cell in set(cells(suite)) - set(others):
            row = replace(store.row(cell), config=configuration(changed, cell))
            store.write(Result(cell, row, store.predictions(cell).read_bytes()))
        results = read_results(store)
        assert list(results.stale) == others
        assert {row["method"] for row in results.rows} == {"ddu"}
        assert results.notes()[0] == (
            "4 cells are of other settings and left out, first random-rbf/dropout/0"
        )


def test_a_row_of_another_cell_is_noticed(store, suite):
    """Copied in by hand, whole and with a checksum that fits."""
    one, two, *_ = cells(suite)
    for name in ("row.json", "predictions.npz"):
        (store.path(one) / name).write_bytes((store.path(two) / name).read_bytes())
    assert store.state(one) == "corrupt"
    assert read_results(store).damaged == (one,)


def test_a_folder_belongs_to_one_suite(store, suite):
    other = parse_suite(suite.text.replace('"small"', '"other"'))
    with pytest.raises(InputError, match="holds results of the suite small, not other"):
        run_suite(other, store.folder)


def test_a_second_run_on_one_folder_is_refused(store, suite):
    with store.lock(), pytest.raises(InputError, match=rf"another run \(process {os.getpid()}\)"):
        run_suite(suite, store.folder)
    assert run_suite(suite, store.folder).kept  # and free again


def test_a_failed_cell_stops_no_other(suite, tmp_path, here):
    text = suite.text.replace('["random-rbf"]', '["random-rbf", "appa-real"]')
    mixed = parse_suite(text.replace('["dropout", "ensemble", "ddu"]', '["dropout"]'))
    told = []
    report = run_suite(mixed, tmp_path, engine=here, on_change=lambda p: told.append(len(p.failed)))
    assert len(report.done) == 2
    assert [str(cell) for cell in report.failed] == ["appa-real/dropout/0", "appa-real/dropout/1"]
    assert told[-1] == 2
    store = Store(tmp_path)
    assert "appa-real" in store.error(next(iter(report.failed)))
    assert len(read_results(store).missing) == 2


def test_a_process_that_dies_fails_alone(suite):
    events = list(Local(1).run(suite, [Unreadable()]))
    assert [event.kind for event in events] == ["started", "failed"]
    assert "its process died (code 1)" in events[-1].error


class Unreadable:
    """Pickles well, and cannot be unpickled."""

    def __reduce__(self):
        return (_raise, ())


def _raise():
    raise RuntimeError("cannot be unpacked")


def test_a_process_that_dies_while_it_tells_its_results_fails_alone(suite, monkeypatch):
    monkeypatch.setattr("rue.bench.engine._child", _tell_half)
    events = list(Local(1).run(suite, [None]))
    assert [event.kind for event in events] == ["started", "failed"]
    assert "its process died (signal 9)" in events[-1].error


def _tell_half(connection, suite, task, slot):
    """Send the head of a message of 100 bytes and be killed, as when memory runs out."""
    os.write(connection.fileno(), struct.pack("!i", 100) + b"half")
    os.kill(os.getpid(), signal.SIGKILL)


def test_two_workers_are_two_processes_at_once(suite, tmp_path, monkeypatch):
    monkeypatch.setattr("rue.bench.engine._child", _meet)
    events = list(Local(2).run(suite, [str(tmp_path / name) for name in "ab"]))
    assert sorted(event.kind for event in events) == ["done", "done", "started", "started"]
    pids = {path.read_text() for path in tmp_path.iterdir()}
    assert len(pids | {str(os.getpid())}) == 3


def _meet(connection, suite, task, slot):
    """Say who is here, and wait at most a minute for the other."""
    path = Path(task)
    path.write_text(str(os.getpid()))
    for _ in range(6000):
        if len(list(path.parent.iterdir())) == 2:
            connection.send(Event(task, "done"))
            break
        time.sleep(0.01)


def start(command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_after_a_cell(command, out):
    """Run the command and kill -9 it as soon as the cells of one method are there."""
    process = start(command)
    while process.poll() is None and not list(out.rglob("row.json")):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 1 <= len(list(out.rglob("row.json"))) < 4


def kill_at_random_moments(command, _):
    moments = random.Random(7)
    n_killed = 0
    for _ in range(10):
        process = start(command)
        try:
            process.wait(timeout=moments.uniform(0.5, 8.0))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            n_killed += 1
    assert n_killed >= 1


@pytest.mark.parametrize(
    "kill", [kill_after_a_cell, pytest.param(kill_at_random_moments, marks=pytest.mark.slow)]
)
def test_the_table_is_the_same_after_kills(kill, finished, suite, tmp_path):
    """After kill -9 and a last run: bit for bit the undisturbed result, of two of the methods."""
    path = tmp_path / "small.toml"
    path.write_text(suite.text)
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "rue", "bench", "run", str(path), "--out", str(out)]
    command += ["--workers", "1", "--only", "method=dropout,ddu"]
    kill(command, out)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "0 failed" in done.stdout
    store = Store(out)
    meant = [row for row in read_results(finished).rows if row["method"] != "ensemble"]
    assert table(store) == json.dumps(table_rows(meant))
    bits = contents(finished)
    assert contents(store) == {name: bits[name] for name in bits if "ensemble" not in name}


def test_a_killed_drivers_processes_end_with_it(suite, tmp_path):
    path = tmp_path / "long.toml"
    path.write_text(suite.text.replace("epochs = 3", "epochs = 100000"))
    command = [sys.executable, "-m", "rue", "bench", "run", str(path), "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    children = []
    for _ in range(600):
        time.sleep(0.1)
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True
        )
        children = [int(pid) for pid in listed.stdout.split()]
        if len(children) >= 2:
            break
    assert children
    time.sleep(3)  # until they have begun
    process.kill()
    process.wait()
    for _ in range(200):
        alive = [pid for pid in children if os.path.exists(f"/proc/{pid}")]  # noqa: PTH110
        if not alive:
            break
        time.sleep(0.1)
    assert not alive


def test_a_full_disk_is_told_and_loses_nothing(finished, suite, tmp_path):
    mount = ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here")
    full = Store(tmp_path)
    stored = []
    try:
        with pytest.raises(FileError, match="no space left on the disk; finished cells are kept"):
            _copy(finished, full, cells(suite), stored)
        assert stored
        assert [cell for cell in cells(suite) if full.state(cell) == "done"] == stored
        assert not list(tmp_path.rglob("*.tmp"))
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def _copy(source, target, found, stored):
    for cell in found:
        content = source.predictions(cell).read_bytes()
        target.write(Result(cell, source.row(cell), content))
        stored.append(cell)


class Moving:
    """Give the results of a finished run, and move the folder of this one after the first."""

    def __init__(self, finished, folder, kind):
        self.finished, self.folder, self.kind = finished, folder, kind

    def run(self, suite, tasks):
        for i, task in enumerate(tasks):
            yield Event(task, "started")
            results = tuple(
                Result(c, self.finished.row(c), self.finished.predictions(c).read_bytes())
                for c in task.cells
            )
            if i == 1 and self.folder:
                self.folder.rename(self.folder.with_name("moved"))
            yield Event(task, self.kind, results if self.kind == "done" else (), "it failed")


@pytest.mark.parametrize("kind", ["done", "failed"])
def test_a_run_whose_folder_is_moved_says_so_and_makes_no_other(finished, suite, tmp_path, kind):
    out = tmp_path / "out"
    with pytest.raises(
        FileError, match=r"out was moved or removed during the run: .* where it was moved to"
    ):
        run_suite(suite, out, engine=Moving(finished, out, kind))
    assert not out.exists()
    moved = Store(tmp_path / "moved")
    assert sum(moved.state(cell) == "done" for cell in cells(suite)) == 2 * (kind == "done")
    report = run_suite(suite, moved.folder, engine=Moving(finished, None, "done"))
    assert len(report.kept) == 2 * (kind == "done")


@pytest.mark.parametrize(
    "key", ["config_hash", "config", "rows", "data", "versions", "predictions_sha256", "seconds"]
)
def test_a_row_without_a_key_is_damaged(store, suite, key):
    cell = cells(suite)[0]
    path = store.path(cell) / "row.json"
    row = json.loads(path.read_text())
    del row["checksum"], row[key]
    row["checksum"] = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(row))
    assert store.state(cell, "0") == "corrupt"
    assert read_results(store).damaged == (cell,)
    with pytest.raises(
        FileError, match=f"row.json: is not a row of a cell: the field {key} is missing"
    ):
        store.row(cell)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda row: [row], "it must hold an object, got list"),
        (lambda row: row | {"rows": [{"method": "a"}]}, r"rows\[0\] must be one"),
        (lambda row: row | {"rows": [{**row["rows"][0], "aurec": "a"}]}, r"rows\[0\] must be one"),
        (
            lambda row: row | {"rows": [{**row["rows"][0], "aurec": 10**400}]},
            r"rows\[0\].aurec must",
        ),
        (
            lambda row: row | {"rows": [{**row["rows"][0], "aurec": math.nan}]},
            r"rows\[0\].aurec must",
        ),
        (lambda row: row | {"proxies": {"auac": "a"}}, "proxies.auac must be a number"),
        (lambda row: row | {"seconds": {"load": None}}, "seconds.load must be a finite"),
        (lambda row: row | {"data": {}}, "the field data.checksums is missing"),
        (lambda row: row | {"config": {"settings": 3}}, "config.settings must be an object"),
    ],
)
def test_a_row_of_other_kinds_is_damaged(store, suite, change, why):
    cell = cells(suite)[0]
    path = store.path(cell) / "row.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    assert store.state(cell) == "corrupt"
    with pytest.raises(FileError, match=f"row.json: is not a row of a cell: {why}"):
        store.row(cell)


def test_a_row_of_settings_unknown_to_it_is_stale(store, suite):
    cell = cells(suite)[0]
    path = store.path(cell) / "row.json"
    row = json.loads(path.read_text())
    del row["checksum"]
    row["config"] = {"settings": {"training": 3}}
    row["checksum"] = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(row))
    assert read_results(store).stale == (cell,)


def test_a_suite_file_that_is_not_utf_8_is_one_line(store):
    (store.folder / "suite.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(FileError, match=r"suite.toml: not a TOML file: .*utf-8"):
        store.suite()


def test_what_only_takes(suite):
    found = cells(suite)
    assert len(select(found, {"seed": ["1"]})) == 3
    assert len(select(found, {"seed": ["0"], "method": ["ddu", "dropout"]})) == 2
    for only, message in (
        ({"methods": ["x"]}, "are chosen by dataset=, method= or seed="),
        ({"method": ["dd"]}, "must be of dropout, ensemble, ddu, got 'dd'"),
    ):
        with pytest.raises(InputError, match=message):
            select(found, only)


def test_local_places_for_gpus():
    assert Local(3).slots() == [None] * 3
    assert Local(8, gpus_per_run=1, gpus=("0", "1", "2")).slots() == ["0", "1", "2"]
    assert Local(8, gpus_per_run=2, gpus=("0", "1", "2")).slots() == ["0,1"]
    assert Local(3, gpus_per_run=0.5, gpus=("0", "1")).slots() == ["0", "1", "0"]
    with pytest.raises(InputError, match="there are 0 GPUs"):
        Local(1, gpus_per_run=1)
    with pytest.raises(InputError, match="workers must be a whole number of at least 1"):
        Local(0)


def test_checkpoints_of_a_run_have_a_place_that_no_worker_makes(store, suite):
    # A worker creates its own folder only, so that a run that was moved is not made again.
    cell = cells(suite)[0]
    store.make_checkpoints(cell)
    assert (store.checkpoints / str(cell)).parent.is_dir()
    assert not (store.checkpoints / str(cell)).exists()
    gone = Store(store.folder.with_name("gone"))
    with pytest.raises(FileNotFoundError):
        gone.make_checkpoints(cell)
    assert not gone.folder.exists()


def test_a_table_of_another_convention_needs_no_training(finished, suite):
    """Rows computed again from the predictions are what evaluate gives; no mean mixes them."""
    import rue
    from rue.bench.resampling import draw
    from rue.bench.store import with_convention
    from rue.io.predictions import read_predictions

    rows = read_results(finished).rows
    made = with_convention(finished, rows, "published")
    assert [r["convention"] for r in made] == ["published"] * len(rows)
    assert [(r["method"], r["seed"], r["loss"]) for r in made] == [
        (r["method"], r["seed"], r["loss"]) for r in rows
    ]
    cell = next(c for c in cells(suite) if (c.method, c.seed) == ("ensemble", 1))
    read = read_predictions(finished.predictions(cell))
    expected = rue.evaluate(read.truth, read, "zero_one", convention="published").to_dict()
    keys = ("method", "seed", "loss")
    mine = next(r for r in made if [r[k] for k in keys] == ["ensemble", 1, "zero_one"])
    for key in ("aurec", "n_aurec", "aurc", "pareto_gap", "spearman_hat", "aurec_total"):
        assert mine[key] == expected[key]
    assert with_convention(finished, rows, "definition") == [dict(r) for r in rows]
    with pytest.raises(InputError, match="intervals and tests are those of Definition 1"):
        draw(finished, table_rows(made))


def test_a_suite_of_the_published_convention(suite, store, here):
    """Its rows carry the convention, and a folder never mixes two."""
    published = parse_suite('convention = "published"\n' + suite.text)
    only = {"method": ["dropout"], "seed": ["0"]}
    report = run_suite(published, store.folder, engine=here, only=only)
    assert report.redone == {report.done[0]: "stale"}
    row = store.row(report.done[0])
    assert {each["convention"] for each in row.rows} == {"published"}
    assert row.config["convention"] == "published"
    found = read_results(store)
    assert {each["convention"] for each in found.rows} == {"published"}
    assert len(found.stale) == 5
    report = from_folder(store.folder)
    note = "the suite follows the published convention; this report is by Definition 1"
    assert note in report.provenance.notes
    assert {entry.row["convention"] for entry in report.entries} == {"definition"}
    assert all(entry.row["n_aurec_total"] is not None for entry in report.entries)


def test_tables_print_the_notes_of_their_rows_once(store, suite):
    """Seeds repeat what a method's rows note."""
    for cell in cells(suite):
        row = store.row(cell)
        noted = tuple({**each, "notes": ("every draw is one-hot",)} for each in row.rows)
        row = replace(row, rows=noted)
        store.write(Result(cell, row, store.predictions(cell).read_bytes()))
    found = [note for note in read_results(store).notes() if "one-hot" in note]
    pairs = {(cell.dataset, cell.method) for cell in cells(suite)}
    assert sorted(found) == sorted(
        f"{dataset} {method} {loss}: every draw is one-hot"
        for dataset, method in pairs
        for loss in suite.losses
    )
