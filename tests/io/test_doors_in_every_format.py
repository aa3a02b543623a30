"""The same content in every format gives the same row, the same note or the same error."""

import gzip
import itertools
import json

import numpy as np
import pandas as pd
import pytest

import rue
from rue.cli import main
from rue.errors import AlignmentError, FileError
from rue.io.answers import read_truth
from rue.io.arrays import save_npz
from rue.io.names import BY_NAME, BY_POSITION, Matching
from rue.io.predictions import read_method, read_predictions
from rue.io.runs import in_one_order, make_run
from rue.metrics.evaluation import evaluate_run

N, D = 12, 2
IDS = [f"p{i}" for i in range(N)]
POINTS = ("1", "2", "3", "5", "8", "13", "21")  # story points: numbers that are no 0, 1, 2, ...
PREDICTIONS = ("csv", "tsv", "semicolon.csv", "csv.gz", "jsonl", "json", "parquet", "arrow", "npz")
TRUTHS = ("long.csv", "long.tsv", "long.jsonl", "long.parquet", "wide.csv", "wide.parquet", "npz")
TRUTHS += ("lists.jsonl", "counter.jsonl", "utf16.csv")


def world(classes=POINTS, n_answers=6):
    rng = np.random.default_rng(0)
    k = len(classes)
    counts = rng.multinomial(n_answers, rng.dirichlet(np.ones(k), N)).astype(int)
    counts[0], counts[1] = np.eye(k, dtype=int)[[0, -1]] * n_answers  # each end was chosen
    probs = rng.multinomial(16, rng.dirichlet(np.ones(k), (N, D))) / 16
    return counts, probs


def save_frame(frame, path):
    """Write a table in the format that a path says."""
    name = path.name
    if name.endswith("semicolon.csv"):
        frame.to_csv(path, sep=";", decimal=",", index=False)
    elif name.endswith("utf16.csv"):
        frame.to_csv(path, index=False, encoding="utf-16")
    elif name.endswith(".csv.gz"):
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif name.endswith((".csv", ".tsv")):
        frame.to_csv(path, index=False, sep="," if name.endswith(".csv") else "\t")
    elif name.endswith(".jsonl"):
        frame.to_json(path, orient="records", lines=True)
    elif name.endswith(".json"):
        frame.to_json(path, orient="records")
    elif name.endswith(".parquet"):
        frame.to_parquet(path, index=False)
    else:
        frame.to_feather(path)


def save_predictions(folder, kind, probs, classes=POINTS, ids=IDS, **columns):
    path = folder / f"m.{kind}"
    n, d, _ = probs.shape
    names = {} if ids is None else {"ids": np.array(ids)}
    if kind == "npz":
        more = {name: np.array(column) for name, column in columns.items()}
        save_npz(path, {"probs": probs, "classes": np.array(classes), **names, **more})
        return path
    frame = pd.DataFrame(probs.reshape(n * d, -1), columns=list(classes))
    if ids is not None:
        frame.insert(0, "id", np.repeat(ids, d))
    if d > 1:
        frame.insert(1, "draw", np.tile(np.arange(d), n))
    for name, column in columns.items():
        frame[name] = np.repeat(column, d)
    if kind.startswith("json"):  # an object from class to number
        by_class = [dict(zip(classes, row, strict=True)) for row in probs.reshape(n * d, -1)]
        frame = frame.drop(columns=list(classes)).assign(probs=by_class)
    save_frame(frame, path)
    return path


def save_truth(folder, kind, counts, classes=POINTS, ids=IDS, order=None):
    path = folder / f"t.{kind}"
    order = np.random.default_rng(1).permutation(N) if order is None else order
    words = [int(c) if c.isdigit() else c for c in classes]
    if kind == "npz":
        arrays = {"counts": counts[order], "classes": np.array(classes)}
        save_npz(path, arrays | ({} if ids is None else {"ids": np.array(ids)[order]}))
    elif kind.startswith("wide"):
        frame = pd.DataFrame(counts[order], columns=list(classes))
        if ids is not None:
            frame.insert(0, "id", np.array(ids)[order])
        save_frame(frame, path)
    elif kind == "counter.jsonl":
        lines = [
            {
                "id": ids[i],
                "label_counter": {c: int(n) for c, n in zip(classes, counts[i], strict=True) if n},
            }
            for i in order
        ]
        path.write_text("\n".join(map(json.dumps, lines)))
    else:
        lists = [[words[k] for k in np.repeat(np.arange(len(classes)), counts[i])] for i in order]
        frame = pd.DataFrame({"id": np.array(ids)[order], "labels": lists})
        if kind != "lists.jsonl":
            frame = frame.explode("labels").rename(columns={"labels": "label"}).infer_objects()
            frame = frame.sample(frac=1, random_state=2).reset_index(drop=True)
        save_frame(frame, path)
    return path


def row_of(prediction, truth, loss, matching=BY_NAME):
    run = make_run(
        read_predictions(prediction, matching=matching),
        read_truth(truth, matching=matching),
        loss,
        matching=matching,
    )
    return evaluate_run(run, gap=False, references=False)


def numbers(row):
    return {key: value for key, value in row.numbers.items() if value == value}


@pytest.mark.parametrize("loss", ["squared", "absolute", "rps", "pinball:0.8", "log"])
def test_numbers_are_their_own_scale(tmp_path, loss):
    counts, probs = world()
    values = [float(name) for name in POINTS]
    truth = rue.Annotations(counts, classes=rue.Classes(POINTS, values))
    belief = rue.Draws(probs, classes=rue.Classes(POINTS, values))
    expected = numbers(rue.evaluate(truth, belief, loss=loss, gap=False, references=False))
    predictions = [save_predictions(tmp_path, kind, probs) for kind in PREDICTIONS]
    truths = [save_truth(tmp_path, kind, counts) for kind in TRUTHS]
    pairs = [(p, truths[0]) for p in predictions] + [(predictions[0], t) for t in truths]
    for prediction, answers in pairs:
        row = numbers(row_of(prediction, answers, loss))
        assert row == pytest.approx(expected, rel=1e-12, abs=1e-12), (prediction, answers)
    # The columns in another order are the same scale.
    columns = np.random.default_rng(3).permutation(len(POINTS))
    names = [POINTS[k] for k in columns]
    for kind in PREDICTIONS:
        moved = save_predictions(tmp_path, kind, probs[..., columns], names)
        row = numbers(row_of(moved, truths[0], loss))
        assert row == pytest.approx(expected, rel=1e-12, abs=1e-12), kind


LEVELS = ("low", "medium", "high", "extreme")


@pytest.mark.parametrize("loss", ["squared", "rps"])
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_words_have_the_order_that_a_file_states_or_there_is_an_error(tmp_path, kind, loss):
    counts, probs = world(LEVELS)
    truth = rue.Annotations(counts, ids=IDS, classes=rue.Classes(LEVELS, order="scale"))
    belief = rue.Draws(probs, ids=IDS, classes=LEVELS)
    expected = numbers(rue.evaluate(truth, belief, loss, gap=False, references=False))
    in_order = save_predictions(tmp_path, kind, probs, LEVELS)
    columns = np.argsort(LEVELS)
    (tmp_path / "turned").mkdir()
    names = [LEVELS[k] for k in columns]
    turned = save_predictions(tmp_path / "turned", kind, probs[..., columns], names)
    stated = Matching(classes=LEVELS)
    for other in TRUTHS:
        by_name = other.startswith(("long", "lists", "counter", "utf16"))
        answers = save_truth(tmp_path, other, counts, LEVELS)
        for prediction, is_stated in ((in_order, True), (turned, not by_name)):
            if is_stated:
                row = numbers(row_of(prediction, answers, loss))
                assert row == pytest.approx(expected, rel=1e-12, abs=1e-12), (prediction, other)
            else:
                with pytest.raises(AlignmentError, match="none but the alphabet's"):
                    row_of(prediction, answers, loss)
            row = numbers(row_of(prediction, answers, loss, stated))
            assert row == pytest.approx(expected, rel=1e-12, abs=1e-12), (prediction, other)


@pytest.mark.parametrize("kind", PREDICTIONS)
@pytest.mark.parametrize("other", ["long.csv", "long.parquet", "wide.csv", "npz", "lists.jsonl"])
def test_positions_that_contradict_ids_are_refused(tmp_path, kind, other):
    counts, probs = world()
    prediction = save_predictions(tmp_path, kind, probs)
    with pytest.raises(AlignmentError, match="12 of their ids in another order"):
        row_of(prediction, save_truth(tmp_path, other, counts), "brier", BY_POSITION)
    in_order = save_truth(tmp_path, other, counts, order=np.arange(N))
    if other.startswith("long"):  # whose rows are in another order; they were shuffled
        return
    by_position = row_of(prediction, in_order, "brier", BY_POSITION)
    assert numbers(by_position) == numbers(row_of(prediction, in_order, "brier"))
    strange = save_truth(
        tmp_path, other, counts, ids=[f"q{i}" for i in range(N)], order=np.arange(N)
    )
    row = row_of(prediction, strange, "brier", BY_POSITION)
    assert numbers(row) == numbers(by_position)
    assert any("by position" in note for note in row.notes)


@pytest.mark.parametrize("command", [["select"], ["rule", "fit"]])
@pytest.mark.parametrize(("loss", "bound"), [("zero_one", "1"), ("brier", "2")])
def test_budgets_above_the_largest_loss_are_refused(tmp_path, capsys, command, loss, bound):
    counts, probs = world()
    truths = itertools.cycle([save_truth(tmp_path, kind, counts) for kind in TRUTHS])
    for kind, truth in zip(PREDICTIONS, truths, strict=False):
        files = [str(save_predictions(tmp_path, kind, probs)), "--truth", str(truth)]
        budgets = ["--maximize", "coverage", "--risk-max", "5"]
        with pytest.raises(SystemExit, match="2"):
            main([*command, *files, "--loss", loss, *budgets])
        error = capsys.readouterr().err
        assert f"at most the largest possible loss under {loss} loss, {bound}, got 5" in error
        assert ("0.05 is 5 %" in error) == (loss == "zero_one")
    assert not list(tmp_path.glob("*rule*"))


@pytest.mark.parametrize("kind", PREDICTIONS)
def test_identical_draws_and_methods_are_noted(tmp_path, kind):
    _, probs = world()
    twice = np.repeat(probs[:, :1], D, axis=1)
    note = "predictions of draw 2 and draw 1 are identical"
    read = read_method([save_predictions(tmp_path, kind, twice)])
    assert any(note in own for own in read.notes), read.notes
    read = read_method([save_predictions(tmp_path, kind, probs)])
    assert not any("are identical" in own for own in read.notes)
    # The same predictions under another name, in another format, order of rows and columns.
    (tmp_path / "other").mkdir()
    order, columns = np.random.default_rng(4).permutation(N), [*range(1, len(POINTS)), 0]
    other = save_predictions(
        tmp_path / "other",
        "npz" if kind != "npz" else "csv",
        probs[order][..., columns],
        [POINTS[k] for k in columns],
        [IDS[i] for i in order],
    )
    _, twin = in_one_order([read, read_method([other])])
    assert any("identical to those of" in own for own in twin.notes), twin.notes


@pytest.mark.parametrize("kind", PREDICTIONS)
def test_what_a_file_holds_and_nobody_uses_is_noted(tmp_path, kind):
    _, probs = world()
    score = np.linspace(0, 1, N)
    read = read_predictions(save_predictions(tmp_path, kind, probs, ["x" + p for p in POINTS]))
    assert not any("not used" in note for note in read.notes)
    if kind in ("npz", "json", "jsonl"):  # in a wide table a column of numbers may be a class
        read = read_predictions(save_predictions(tmp_path, kind, probs, uncertainty=score))
        assert any("uncertainty was not used; a score of" in note for note in read.notes)
    else:
        with pytest.raises(FileError, match="taken for classes are 1, 2, 3, 5, 8, 13, 21, uncert"):
            read_predictions(save_predictions(tmp_path, kind, probs, uncertainty=score))


@pytest.mark.parametrize("kind", ["wide.csv", "wide.parquet", "npz", "counter.jsonl"])
def test_percentages_are_noted(tmp_path, kind):
    counts, _ = world(("no", "yes"), 100)
    truth = read_truth(save_truth(tmp_path, kind, counts, ("no", "yes")))
    assert any("sum to 100: if they are percentages" in note for note in truth.notes)


@pytest.mark.parametrize("missing", [False, True], ids=["", "missing"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet", "arrow"])
def test_booleans_are_false_and_true(tmp_path, kind, missing):
    labels = [True, False, True, True, None if missing else False]
    frame = pd.DataFrame({"id": ["a", "a", "b", "b", "b"], "label": labels})
    save_frame(frame, tmp_path / f"t.{kind}")
    truth = read_truth(tmp_path / f"t.{kind}")
    assert truth.outcomes.names == ("False", "True")
    assert truth.counts.tolist() == [[1, 1], [0 if missing else 1, 2]]
    if missing:
        return
    own = rue.adapters.pandas.annotations(frame, item="id", annotator=None)
    assert (own.outcomes.names, own.counts.tolist()) == (
        truth.outcomes.names,
        truth.counts.tolist(),
    )
    wide = pd.DataFrame({"id": ["a", "b"], "w1": [True, True], "w2": [False, True]})
    save_frame(wide, tmp_path / f"w.{kind}")
    truth = read_truth(tmp_path / f"w.{kind}")
    assert (truth.outcomes.names, truth.counts.tolist()) == (("False", "True"), [[1, 1], [0, 2]])


def test_sampled_booleans_are_false_and_true(tmp_path):
    sampled = [[True, False], [True, True]]
    np.savez(tmp_path / "s.npz", sampled_labels=sampled)
    lines = [json.dumps({"sampled_labels": own}) for own in sampled]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    for name in ("s.npz", "s.jsonl"):
        read = read_predictions(tmp_path / name)
        assert read.outcomes.names == ("False", "True")
        assert read.mean().tolist() == [[0.5, 0.5], [0, 1]]


def run_of(tmp_path, prediction, truth, **options):
    (tmp_path / "m.csv").write_text(prediction)
    (tmp_path / "t.csv").write_text(truth)
    matching = Matching(**options)
    read = read_predictions(tmp_path / "m.csv", matching=matching)
    return make_run(
        read, read_truth(tmp_path / "t.csv", matching=matching), "brier", matching=matching
    )


YES_NO = "id,label\na,no\na,yes\nb,yes\nb,yes\n"
SHARES = "id,no,yes\na,0.25,0.75\nb,0.5,0.5\n"


def test_normalize_takes_no_stray_column_and_no_logits(tmp_path):
    table = "id,no,yes,length\na,25,75,14\nb,50,50,9\n"
    with pytest.raises(AlignmentError, match="'length' was taken as a class, but"):
        run_of(tmp_path, table, YES_NO, normalize=True)
    run = run_of(tmp_path, table, YES_NO, normalize=True, classes=("no", "yes"))
    assert run.star.epistemic.tolist() == [0.125, 0.5]
    assert any("probabilities of no, yes were divided by their sums" in n for n in run.notes)
    for table in ("id,no,yes\na,-0.2,1.2\nb,0,1\n", "id,no,yes\na,3,-1\nb,2,1\n"):
        with pytest.raises(FileError, match="must not be negative, got -"):
            run_of(tmp_path, table, YES_NO, normalize=True)
    with pytest.raises(FileError, match=r"must not be negative, got -0\.2 at row 1;"):
        run_of(tmp_path, "id,no,yes\na,0,1\nb,-0.2,1.2\n", YES_NO, normalize=True)


def test_percentages_of_the_positive_class(tmp_path):
    table = "id,prob\na,75\nb,50\n"
    with pytest.raises(FileError, match="between 0 and 1, got 75 at row 0") as refused:
        run_of(tmp_path, table, YES_NO, positive="yes")
    assert "--normalize" in refused.value.advice
    run = run_of(tmp_path, table, YES_NO, positive="yes", normalize=True)
    assert run.star.epistemic.tolist() == [0.125, 0.5]
    assert any("percentages of 'yes' were divided by 100" in note for note in run.notes)
    plain = run_of(tmp_path, "id,prob\na,0.75\nb,1\n", YES_NO, positive="yes", normalize=True)
    assert plain.star.epistemic.tolist() == [0.125, 0]  # 1 is a probability, not 1 %
    with pytest.raises(FileError, match="between 0 and 1, got 175 at row 0"):
        run_of(tmp_path, "id,prob\na,175\nb,50\n", YES_NO, positive="yes", normalize=True)


def test_shares_say_one_thing_about_p_star(tmp_path):
    notes = " ".join(run_of(tmp_path, SHARES, SHARES).notes)
    assert "p* is taken as exact" in notes
    for options in ({"n_answers": 4}, {"shares": True}):
        notes = " ".join(run_of(tmp_path, SHARES, SHARES, **options).notes)
        assert "p* is taken as exact" not in notes
    percentages = "id,no,yes\na,33.3,66.7\nb,12.5,87.5\n"
    with pytest.raises(FileError, match="sums to 100") as refused:
        run_of(tmp_path, SHARES, percentages)
    assert set(refused.value.advice) >= {"--shares", "--n-answers"}
    run = run_of(tmp_path, SHARES, percentages, shares=True)
    assert run.star.aleatoric[1] == pytest.approx(2 * 0.125 * 0.875)


TABLES = ("csv", "tsv", "semicolon.csv", "utf16.csv", "csv.gz", "jsonl", "json", "parquet", "arrow")
ANNOTATORS = ("Anna", "Ben", "Carla")


@pytest.mark.parametrize("kind", TABLES)
def test_numbers_that_may_be_counts_or_answers_are_never_read_in_silence(tmp_path, kind):
    rng = np.random.default_rng(5)
    answers = rng.integers(1, 4, (N, 3))
    table = pd.DataFrame(answers, columns=ANNOTATORS)
    table.insert(0, "id", IDS)
    save_frame(table, path := tmp_path / f"t.{kind}")
    probs = rng.multinomial(16, np.ones(3) / 3, (N, 1)) / 16
    named = save_predictions(tmp_path, "npz", probs, ("1", "2", "3"))
    with pytest.raises(AlignmentError, match="lacks the class 'Anna'") as refused:
        row_of(named, path, "brier")
    assert refused.value.advice["--annotator"].startswith("Anna,Ben,Carla ")
    stated = Matching(annotator=",".join(ANNOTATORS))
    counts = np.stack([(answers == k).sum(axis=1) for k in (1, 2, 3)], axis=1)
    truth = rue.Annotations(counts, ids=IDS, classes=["1", "2", "3"])
    expected = rue.evaluate(truth, rue.Draws(probs, ids=IDS), "brier", gap=False, references=False)
    assert numbers(row_of(named, path, "brier", stated)) == numbers(expected)
    save_npz(bare := tmp_path / "bare.npz", {"probs": probs, "ids": np.array(IDS)})
    with pytest.raises(AlignmentError, match="may be classes with counts or annotators") as refused:
        row_of(bare, path, "brier")
    assert {"--annotator", "--classes"} <= set(refused.value.advice)
    row_of(bare, path, "brier", Matching(classes=ANNOTATORS))
    # With a 0 it may be counts: they are, with a note, unless predictions name these classes.
    save_frame(table.replace({"Anna": {1: 0}}), path)
    note = "Anna, Ben, Carla were taken as classes with counts; where each holds the answers"
    assert any(note in own for own in row_of(bare, path, "brier").notes)
    same = save_predictions(tmp_path, "npz", probs, ANNOTATORS)
    assert not any(note in own for own in row_of(same, path, "brier").notes)


@pytest.mark.parametrize("kind", TABLES)
def test_counts_of_equally_many_answers_are_counts(tmp_path, kind):
    counts, _ = world(("no", "yes"))
    truth = read_truth(save_truth(tmp_path, f"wide.{kind}", counts, ("no", "yes")))
    assert not any("annotator" in note for note in truth.notes)


BOOLEANS = (("False", "True"), ("false", "true"), ("FALSE", "TRUE"))


@pytest.mark.parametrize("classes", BOOLEANS)
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_true_in_any_case_is_one_class(tmp_path, kind, classes):
    counts, probs = world(("no", "yes"))
    expected = None
    for own, answers in itertools.product(BOOLEANS, TRUTHS):
        if own != classes and answers != "long.csv":
            continue
        truth = save_truth(tmp_path, answers, counts, own)
        row = numbers(row_of(save_predictions(tmp_path, kind, probs, classes), truth, "brier"))
        expected = expected or row
        assert row == expected, (own, answers)
    stated = Matching(classes=classes[::-1])
    assert read_truth(truth, matching=stated).outcomes.names == ("True", "False")


@pytest.mark.parametrize("kind", TABLES)
def test_percent_signs_are_shares_on_both_sides(tmp_path, kind):
    shares = np.array([[24.18, 75.82], [50, 50], [0, 100.0]])
    comma = kind == "semicolon.csv"
    cells = [[f"{x:g}%".replace(".", "," if comma else ".") for x in row] for row in shares]
    table = pd.DataFrame(cells, columns=["no", "yes"])
    table.insert(0, "id", ["a", "b", "c"])
    save_frame(table, path := tmp_path / f"t.{kind}")
    for read in (read_truth(path), read_predictions(path)):
        probs = read.probs if isinstance(read, rue.Annotations) else read.mean()
        assert probs == pytest.approx(shares / 100, abs=1e-15)
        assert any("percentages of no, yes were read as shares" in note for note in read.notes)
    table.insert(0, "total", [10_000, 4, 4])
    save_frame(table, path)
    assert read_truth(path).counts.tolist() == [[2418, 7582], [2, 2], [0, 4]]
    rows = "\n".join(",".join(row) for row in cells if not comma)
    if rows:  # a line of percentages is a row, and no header
        (tmp_path / "bare.csv").write_text(rows)
        assert read_predictions(tmp_path / "bare.csv").mean() == pytest.approx(shares / 100)


@pytest.mark.parametrize("kind", PREDICTIONS)
@pytest.mark.parametrize("other", ["wide.csv", "wide.parquet", "npz", "lists.jsonl"])
def test_one_new_id_does_not_hide_that_positions_contradict(tmp_path, kind, other):
    counts, probs = world()
    prediction = save_predictions(tmp_path, kind, probs)
    moved = ["new", *IDS[:-1]]
    truth = save_truth(tmp_path, other, counts, ids=moved, order=np.arange(N))
    with pytest.raises(AlignmentError, match="11 of their ids in another order"):
        row_of(prediction, truth, "brier", BY_POSITION)


@pytest.mark.parametrize("key", ["soft_label", "probs", "label_counter", "counts"])
def test_words_by_class_are_no_answers_of_annotators(tmp_path, key):
    lines = [json.dumps({"id": i, key: {"no": "24.18%", "yes": "75.82%"}}) for i in "ab"]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    with pytest.raises(FileError, match=f"{key} must hold numbers by class, got .* at line 1"):
        read_truth(tmp_path / "t.jsonl")


def save_class_labels(folder, names, labels):
    """Write a table of `datasets` with a ClassLabel, as a folder and as parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    features = {"label": {"names": list(names), "_type": "ClassLabel"}}
    info = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    place = [names.index(label) for label in labels]
    table = pa.table({"id": ["a", "a", "b"], "label": place})
    stored = table.replace_schema_metadata(info)
    pq.write_table(stored, folder / "t.parquet")
    pd.DataFrame({"id": ["a", "a", "b"], "label": place}).to_feather(folder / "bare.arrow")
    (own := folder / "set").mkdir()
    (own / "dataset_info.json").write_text(json.dumps({"features": features}))
    with (
        pa.OSFile(str(own / "data-00000-of-00001.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    return folder / "t.parquet", own


def test_a_class_label_states_the_order_of_its_classes(tmp_path):
    levels = ("low", "medium", "high")
    probs = np.array([[[0.5, 0.25, 0.25]], [[0.25, 0.5, 0.25]]])
    expected = rue.evaluate(
        rue.Annotations([[1, 0, 1], [0, 1, 0]], ids=["a", "b"]),
        rue.Draws(probs, ids=["a", "b"]),
        "rps",
    )
    columns = [levels.index(level) for level in sorted(levels)]
    belief = rue.Draws(probs[..., columns], ids=["a", "b"], classes=sorted(levels))
    for path in save_class_labels(tmp_path, levels, ["low", "high", "medium"]):
        truth = read_truth(path)
        assert truth.counts.tolist() == [[1, 0, 1], [0, 1, 0]]
        assert rue.evaluate(truth, belief, "rps").risk == expected.risk
        other = rue.Draws(probs, ids=["a", "b"], classes=["medium", "low", "high"])
        with pytest.raises(AlignmentError, match="needs one order of the classes"):
            rue.evaluate(truth, other, "rps")
    (tmp_path / "alphabet").mkdir()
    # class_encode_column sorts the names, so the alphabet is no order.
    for path in save_class_labels(tmp_path / "alphabet", sorted(levels), ["low", "high", "medium"]):
        with pytest.raises(AlignmentError, match="none but the alphabet's"):
            rue.evaluate(read_truth(path), belief, "rps")


@pytest.mark.parametrize("kind", PREDICTIONS)
@pytest.mark.parametrize("other", ["wide.csv", "wide.parquet", "npz"])
def test_rows_named_in_a_column_that_is_no_usual_id(tmp_path, kind, other):
    counts, probs = world()
    order = np.random.default_rng(6).permutation(N)
    table = pd.DataFrame(counts[order], columns=list(POINTS)).assign(image=np.array(IDS)[order])
    truth = tmp_path / f"t.{other}"
    if other == "npz":
        names = {"classes": np.array(POINTS), "image": np.array(IDS)[order]}
        save_npz(truth, {"counts": counts[order], **names})
    else:
        save_frame(table, truth)
    prediction = save_predictions(tmp_path, kind, probs[:, :1], ids=None, image=IDS)
    with pytest.raises(AlignmentError, match="the same image in another order") as refused:
        row_of(prediction, truth, "brier")
    assert refused.value.advice["--id"].startswith("image ")
    matched = row_of(prediction, truth, "brier", Matching(id_name="image"))
    named = save_predictions(tmp_path, "npz", probs[:, :1])
    expected = row_of(named, save_truth(tmp_path, "npz", counts), "brier")
    assert numbers(matched) == numbers(expected)


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("layout", ["long", "lists", "annotators", "wide", "ratings"])
def test_columns_of_points_are_groups_in_every_layout(tmp_path, kind, layout):
    rng = np.random.default_rng(7)
    answers = rng.integers(0, 2, (N, 4))
    words = np.array(["no", "yes"])[answers]
    points = pd.DataFrame({"id": IDS, "topic": [f"t{i % 3}" for i in range(N)], "year": 2000})
    points["year"] += np.arange(N) % 2
    match layout:
        case "lists":
            table = points.assign(labels=words.tolist())
        case "annotators":
            table = points.assign(**{f"annotator_{k}": words[:, k] for k in range(4)})
        case "wide":
            table = points.assign(no=(answers == 0).sum(axis=1), yes=(answers == 1).sum(axis=1))
        case _:
            name = "label" if layout == "long" else "rating"
            cells = words if layout == "long" else answers / 2
            table = points.assign(**{name: list(cells)}).explode(name).infer_objects()
            table["annotator"] = np.tile([f"w{k}" for k in range(4)], N)
            table = table.sample(frac=1, random_state=1)
    if layout == "lists" and "json" not in kind and kind not in ("parquet", "arrow"):
        return  # text has no lists
    save_frame(table.reset_index(drop=True), path := tmp_path / f"t.{kind}")
    truth = read_truth(path, by=["topic", "year"])
    place = np.argsort(truth.ids)
    order = np.argsort(IDS)
    assert truth.groups["topic"][place].tolist() == points["topic"].to_numpy()[order].tolist()
    assert truth.groups["year"][place].tolist() == points["year"].to_numpy()[order].tolist()
    if layout != "ratings":
        assert truth.counts[place, 1].tolist() == answers.sum(axis=1)[order].tolist()


@pytest.mark.parametrize("kind", ["wide.csv", "wide.tsv", "wide.parquet", "npz", "counter.jsonl"])
def test_percentages_are_what_the_user_says_in_every_format(tmp_path, kind):
    classes = ("no", "yes")
    counts, probs = world(classes, 4)
    prediction = save_predictions(tmp_path, "npz", probs, classes)
    path = save_truth(tmp_path, kind, 25 * counts, classes)
    row = row_of(prediction, path, "brier", Matching(n_answers=4))
    truth = rue.Annotations(counts, ids=IDS, classes=classes)
    belief = rue.Draws(probs, ids=IDS, classes=classes)
    expected = rue.evaluate(truth, belief, "brier", gap=False, references=False)
    assert numbers(row) == pytest.approx(numbers(expected), rel=1e-12, abs=1e-12)
    exact = row_of(prediction, path, "brier", Matching(shares=True))
    assert exact.aurec == pytest.approx(row.aurec)
    assert np.isnan(exact.aurec_low) or exact.aurec_low == exact.aurec


@pytest.mark.parametrize("side", ["truth", "predictions"])
def test_a_number_that_names_no_class_of_datasets_is_refused(tmp_path, side):
    import pyarrow as pa
    import pyarrow.parquet as pq

    features = {"class": {"names": ["no", "yes"], "_type": "ClassLabel"}}
    info = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    columns = {"id": ["a", "a", "b", "b"], "class": [0, 1, 0, 7]}
    more = {"prob": [0.5] * 4} if side == "predictions" else {"count": [1, 2, 3, 4]}
    table = pa.table(columns | more).replace_schema_metadata(info)
    pq.write_table(table, path := tmp_path / "t.parquet")
    with pytest.raises(FileError, match="class '7' is none of the classes"):
        (read_predictions if side == "predictions" else read_truth)(path)
