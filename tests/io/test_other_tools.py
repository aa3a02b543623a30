"""Files of other tools, in the layouts that they write: the numbers are those of plain arrays."""

import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rue
from rue.errors import AlignmentError, FileError, InputError
from rue.io import read_predictions, read_run, read_truth
from rue.io.names import Matching
from rue.io.predictions import read_file

LABELS = ("True", "Neither", "False")


def softmax(rows):
    rows = np.exp(np.asarray(rows, float))
    return rows / rows.sum(axis=1, keepdims=True)


def harness_line(doc_id, numbers, choices=LABELS, **changes):
    record = {
        "doc_id": doc_id,
        "doc": {"uid": f"u{doc_id}", "label": 0},
        "target": "0",
        "arguments": {
            f"gen_args_{i}": {"arg_0": "context", "arg_1": f" {choice}"}
            for i, choice in enumerate(choices)
        },
        "resps": [[[str(x), "False"]] for x in numbers],
        "filtered_resps": [[str(x), "False"] for x in numbers],
        "filter": "none",
    }
    return json.dumps(record | changes)


def written(tmp_path, name, *lines):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_log_of_the_harness_holds_logits_by_choice(tmp_path):
    numbers = [[-1.5, -2.0, -0.5], [-3.0, -0.1, -4.0]]
    path = written(tmp_path, "s.jsonl", *(harness_line(i, x) for i, x in enumerate(numbers)))
    read = read_predictions(path)
    assert read.ids.tolist() == ["0", "1"]
    assert read.outcomes.names == LABELS
    np.testing.assert_allclose(read.mean(), softmax(numbers))
    assert "lm-evaluation-harness, log likelihoods as logits" in read.notes[0]


def test_the_choices_of_the_harness_are_matched_by_name(tmp_path):
    # The second item lists its choices in another order.
    path = written(
        tmp_path,
        "s.jsonl",
        harness_line(0, [-1.0, -2.0, -3.0]),
        harness_line(1, [-2.0, -3.0, -1.0], choices=("Neither", "False", "True")),
    )
    probs = read_predictions(path).mean()
    np.testing.assert_allclose(probs[0], probs[1])


def test_an_id_inside_of_the_document(tmp_path):
    path = written(tmp_path, "s.jsonl", harness_line(7, [-1.0, -2.0, -3.0]))
    assert read_predictions(path, matching=Matching(id_name="doc.uid")).ids.tolist() == ["u7"]


def test_older_arguments_are_lists_and_one_filter_is_read(tmp_path):
    old = {"arguments": [["context", f" {choice}"] for choice in LABELS]}
    path = written(
        tmp_path,
        "s.jsonl",
        harness_line(0, [-1.0, -2.0, -3.0], **old),
        harness_line(0, [-9.0, -9.0, -9.0], filter="strict", **old),
    )
    read = read_predictions(path)
    np.testing.assert_allclose(read.mean(), softmax([[-1.0, -2.0, -3.0]]))
    assert "filter none of none, strict" in read.notes[0]


def test_generated_texts_are_sampled_labels(tmp_path):
    texts = [["True", "True ", "False"], ["False", "False", "False"]]
    path = written(
        tmp_path,
        "s.jsonl",
        *(harness_line(i, [0.0] * 3, filtered_resps=x) for i, x in enumerate(texts)),
    )
    read = read_predictions(path)
    order = [read.outcomes.names.index("True"), read.outcomes.names.index("False")]
    np.testing.assert_allclose(read.mean()[:, order], [[2 / 3, 1 / 3], [0, 1]])
    assert "lm-evaluation-harness, generated texts as sampled labels" in read.notes[0]


def test_a_submission_of_a_label_and_probabilities(tmp_path):
    path = written(tmp_path, "s.tsv", "0\t0.75\t0.25", "1\t0.4\t0.6", "1\t0.5\t0.5")
    read = read_predictions(path)
    np.testing.assert_array_equal(read.mean(), [[0.75, 0.25], [0.4, 0.6], [0.5, 0.5]])
    assert any("submission to LeWiDi: a label, which was not used" in note for note in read.notes)
    named = rue.Annotations([[3, 1], [0, 4], [2, 2]], ids=["a", "b", "c"])
    with pytest.raises(AlignmentError, match="ids"):
        read_run(path, named, "brier")  # it has none, so only the user can say that rows match
    run = read_run(path, named, "brier", matching=Matching(by_position=True))
    assert run.star.epistemic[0] == 0
    # Lines that may be probabilities of three classes are no such submission.
    three = written(tmp_path, "three.tsv", "0\t0.75\t0.25", "0\t0.4\t0.6")
    assert read_predictions(three).n_classes == 3


def test_the_column_of_ids_of_the_other_side_is_advised(tmp_path):
    (tmp_path / "t.csv").write_text("id,label\na,no\na,yes\n")
    with pytest.raises(FileError, match=r"has no column 'doc\.uid' to name its rows") as refused:
        read_truth(tmp_path / "t.csv", matching=Matching("doc.uid"))
    assert "--truth-id" in refused.value.advice


TEXTS = [
    ["The answer is: True.", "true", "I cannot say"],
    ["Neither true nor... False", "False", "It is FALSE"],
]
CHOICES = Matching(choices=LABELS)


def test_texts_are_read_as_the_choice_that_they_name(tmp_path):
    lines = [harness_line(i, [0.0] * 3, filtered_resps=x) for i, x in enumerate(TEXTS)]
    path = written(tmp_path, "s.jsonl", *lines)
    with pytest.raises(AlignmentError, match=r"a log of lm-evaluation-harness of generated text"):
        read_run(path, rue.Annotations([[1, 1]] * 2, ids=[0, 1], classes=["True", "False"]), "log")
    read = read_predictions(path, matching=CHOICES)
    assert read.outcomes.names == LABELS
    np.testing.assert_array_equal(read.mean(), [[1, 0, 0], [0, 0, 1]])
    assert "2 of 6 name none or several and were left out" in " ".join(read.notes)
    # The same texts in a table, and in an array file.
    rows = "".join(f'{i},"{text}"\n' for i, texts in enumerate(TEXTS) for text in texts)
    (tmp_path / "s.csv").write_text("id,answer\n" + rows)
    np.savez(tmp_path / "s.npz", sampled_labels=TEXTS, ids=["0", "1"])
    for name in ("s.csv", "s.npz"):
        again = read_predictions(tmp_path / name, matching=CHOICES)
        np.testing.assert_array_equal(again.probs, read.probs)


def test_a_single_letter_is_a_choice_only_as_it_is_written(tmp_path):
    texts = [["It is a trap, so B"], ["a"]]
    lines = [harness_line(i, [0.0] * 3, filtered_resps=x) for i, x in enumerate(texts)]
    read = read_predictions(
        written(tmp_path, "s.jsonl", *lines), matching=Matching(choices=("A", "B"))
    )
    np.testing.assert_array_equal(read.mean(), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("text", "choices", "expected"),
    [
        *((text, "12345", None) for text in ("-1", "\u22121", "0.5", ".5", "Rating: 3.7", "1,5")),
        *((text, "12345", "3") for text in ("Rating: 3.", "3, yes", "of 1-5: 3", "Not sure: 3")),
        ("I say -1.", ("-1", "0", "1"), "-1"),
        *((text, ("hateful", "fine"), None) for text in ("non-hateful", "hateful-ish")),
        *((text, ("hateful", "fine"), None) for text in ("It isn't hateful", "not really hateful")),
        ("not really hateful", ("hateful", "not hateful"), None),
        ("It is not  hateful.", ("hateful", "not hateful"), "not hateful"),
        *((text, ("agree", "strongly agree"), None) for text in ("dis-agree", "I do not agree")),
        ("I strongly\n agree", ("agree", "strongly agree"), "strongly agree"),
        ("not True", LABELS, None),
        ("It is not. True", LABELS, "True"),
    ],
)
def test_parts_of_numbers_and_words_and_what_is_negated_name_no_choice(
    tmp_path, text, choices, expected
):
    # The last text keeps every point with an answer.
    texts = [text, choices[0]] if expected is None else [text]
    np.savez(tmp_path / "s.npz", sampled_labels=[texts])
    read = read_predictions(tmp_path / "s.npz", matching=Matching(choices=tuple(choices)))
    wanted = [name == (expected or choices[0]) for name in choices]
    np.testing.assert_array_equal(read.mean(), [wanted])
    assert ("1 of 2 name none" in " ".join(read.notes)) == (expected is None)


@pytest.mark.parametrize(
    ("texts", "choices", "message"),
    [
        (["Let me think about this for a while. The answer is True."], None, "of generated text"),
        (["True"], ("yes", "no"), "every point needs a text that names one of yes, no, 1 of 1"),
        ([["-1", "False"]] * 3, LABELS, "choices are for generated texts"),
    ],
)
def test_texts_without_choices_are_refused(tmp_path, texts, choices, message):
    path = written(tmp_path, "s.jsonl", harness_line(0, [0.0] * 3, filtered_resps=texts))
    with pytest.raises(FileError, match=message):
        read_predictions(path, matching=Matching(choices=choices))


def test_a_log_that_is_given_as_truth_is_said(tmp_path):
    path = written(tmp_path, "s.jsonl", harness_line(0, [0.0] * 3, filtered_resps=["True"]))
    with pytest.raises(FileError, match="looks like a log of lm-evaluation-harness"):
        read_truth(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"filtered_resps": [["x", "False"]] * 3}, "texts, or log likelihoods"),
        ({"filtered_resps": [["-1", "False"]]}, "a log likelihood for each of its choices"),
        ({"arguments": {"gen_args_0": {"arg_0": "c"}}}, "a context and a continuation"),
        ({"filtered_resps": []}, "has no filtered_resps"),
    ],
)
def test_broken_logs_of_the_harness_are_refused(tmp_path, changes, message):
    path = written(tmp_path, "s.jsonl", harness_line(0, [0.0, 1.0, 2.0], **changes))
    with pytest.raises(FileError, match=message):
        read_predictions(path)


def inspect(tmp_path, samples):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
        for i, sample in enumerate(samples):
            archive.writestr(f"samples/{i}.json", json.dumps(sample))
    return path


def test_first_tokens_of_an_inspect_log_are_logits(tmp_path):
    tokens = [{"token": "B", "logprob": -0.2}, {"token": " A", "logprob": -1.8}]
    output = {"choices": [{"logprobs": {"content": [{"top_logprobs": tokens}]}}]}
    sample = {"id": "q1", "epoch": 1, "choices": ["yes", "no"], "output": output}
    read = read_predictions(inspect(tmp_path, [sample]))
    assert read.outcomes.names == ("yes", "no")
    np.testing.assert_allclose(read.mean(), softmax([[-1.8, -0.2]]))


def test_epochs_of_an_inspect_log_are_sampled_answers(tmp_path):
    samples = [
        {
            "id": key,
            "epoch": epoch,
            "choices": ["yes", "no"],
            "scores": {"match": {"value": "C", "answer": answer}},
        }
        for key, answers in (("a", "ABA"), ("b", "BBB"))
        for epoch, answer in enumerate(answers, 1)
    ]
    read = read_predictions(inspect(tmp_path, samples))
    order = [read.outcomes.names.index("yes"), read.outcomes.names.index("no")]
    np.testing.assert_allclose(read.mean()[:, order], [[2 / 3, 1 / 3], [0, 1]])
    with pytest.raises(FileError, match="neither log probabilities of its choices nor a score"):
        read_predictions(inspect(tmp_path, [{"id": "a"}]))
    with pytest.raises(FileError, match="holds no samples"):
        read_predictions(inspect(tmp_path, []))


def test_a_submission_to_lewidi_is_matched_by_id(tmp_path):
    truth = {
        key: {
            "text": {"post": "p", "reply": "r"},
            "annotators": "Ann0,Ann1",
            "annotations": {"Ann0": first, "Ann1": second},
            "soft_label": {"0.0": 0.5, "1.0": 0.5, "2.0": 0.0},
            "split": "test",
        }
        for key, first, second in (("7", "0", "1"), ("9", "1", "1"))
    }
    answers = written(tmp_path, "truth.json", json.dumps(truth, indent=1))
    path = written(tmp_path, "soft.tsv", "9\t[0.1, 0.7, 0.2]", "7\t[0.5, 0.5, 0.0]")
    known = read_truth(answers)
    assert known.outcomes.names == ("0", "1", "2")  # nobody chose 2, and the soft labels name it
    read = read_predictions(path)
    assert read.ids.tolist() == ["9", "7"]
    from rue.io.runs import read_run

    run = read_run(path, known, "brier")
    plain = rue.evaluate(
        rue.Annotations([[0, 2, 0], [1, 1, 0]]),
        rue.Draws([[[0.1, 0.7, 0.2]], [[0.5, 0.5, 0.0]]]),
        loss="brier",
    )
    assert run.star.epistemic.mean() == pytest.approx(plain.regret)
    for line, message in (
        ("7\t[[0.5, 0.5], [0.1, 0.9]]", "two probabilities for each of several labels"),
        ("7\t[1, 1, 0]", "lists answers of annotators"),
        ("7\t[0.5, 0.5", "has no list"),
    ):
        with pytest.raises(FileError, match=message):
            read_predictions(written(tmp_path, "bad.tsv", line))


def test_predictions_of_chaosnli_and_of_a_pipeline(tmp_path):
    items = {"u1": {"predicted_probabilities": [0.2, 0.5, 0.3], "predicted_label": "n"}}
    read = read_predictions(written(tmp_path, "c.json", json.dumps({"bert": items})))
    assert (read.method, read.outcomes.names) == ("bert", ("e", "n", "c"))
    np.testing.assert_allclose(read.mean(), [[0.2, 0.5, 0.3]])
    others = {"u1": {"predicted_probabilities": [0.6, 0.1, 0.3]}}
    both = written(tmp_path, "c.json", json.dumps({"a": items, "b": others}))
    methods = read_file(both)
    assert [method.method for method in methods] == ["a", "b"]
    np.testing.assert_allclose(methods[1].mean(), [[0.6, 0.1, 0.3]])
    with pytest.raises(FileError, match="must hold one method, got a, b"):
        read_predictions(both)
    scores = [
        [{"label": "neg", "score": 0.9}, {"label": "pos", "score": 0.1}],
        [{"label": "pos", "score": 0.6}, {"label": "neg", "score": 0.4}],
    ]
    read = read_predictions(written(tmp_path, "p.json", json.dumps(scores)))
    assert read.outcomes.names == ("neg", "pos")
    np.testing.assert_allclose(read.mean(), [[0.9, 0.1], [0.4, 0.6]])


def test_labels_that_models_gave_are_one_method_each(tmp_path):
    people = {"w1": {"a": "no", "b": "yes"}, "w2": {"a": "no", "b": "no"}}
    models = {"gpt": {"a": "no", "b": "yes"}, "gemini": {"a": "yes", "b": "no"}}
    truth = read_truth(written(tmp_path, "people.json", json.dumps(people)))
    assert truth.counts.tolist() == [[2, 0], [1, 1]]
    first, second = read_file(written(tmp_path, "models.json", json.dumps(models)))
    assert (first.method, second.method) == ("gpt", "gemini")
    # gpt is wrong once in four answers, gemini three times (twice about a).
    risks = [rue.evaluate(truth, m, loss="zero_one").risk for m in (first, second)]
    assert risks == [0.25, 0.75]
    with pytest.raises(InputError, match="all sampled labels are 'yes'"):
        read_file(written(tmp_path, "one.json", '{"m": {"a": "yes", "b": "yes"}}'))
    lines = [{"test_case": "E", "id": i, "value": v} for i, v in models["gpt"].items()]
    hard = read_predictions(written(tmp_path, "hard.json", json.dumps(lines)))
    assert rue.evaluate(truth, hard, loss="zero_one").risk == 0.25


ORIENTS = ["records", "index", "columns", "split", "table"]


@pytest.mark.parametrize("index", ["none", "ids", "shuffled", "beside"])
@pytest.mark.parametrize("orient", ORIENTS)
def test_every_json_of_pandas(tmp_path, orient, index):
    import pandas as pd

    rng, names = np.random.default_rng(0), ["no", "maybe", "yes"]
    ids = [f"p{i}" for i in range(7)]
    counts = rng.multinomial(5, np.ones(3) / 3, 7)
    for numbers, read in ((counts / 5, read_predictions), (counts, read_truth)):
        table = pd.DataFrame(numbers, columns=names)
        match index:
            case "ids":
                table.index = ids
            case "shuffled":  # the index is the only name of each row
                table = table.iloc[rng.permutation(7)]
            case "beside":
                table = table.assign(id=ids).iloc[rng.permutation(7)]
        own = read(written(tmp_path, "p.json", table.to_json(orient=orient)))
        assert own.outcomes.names == tuple(names)
        rows = own.counts if read is read_truth else own.mean()
        if own.ids is None:  # pandas leaves out the index of records
            assert (orient, index != "beside") == ("records", True)
            np.testing.assert_array_equal(rows, table[names])
        else:
            place = [int(name.removeprefix("p")) for name in own.ids.tolist()]
            np.testing.assert_array_equal(rows, numbers[place])
            assert (index == "beside" and orient != "records") == (
                "Unnamed: 0 was not used" in " ".join(own.notes)
            )


@pytest.mark.parametrize("orient", ORIENTS)
def test_a_long_table_of_pandas_in_every_json(tmp_path, orient):
    import pandas as pd

    long = pd.DataFrame({"id": ["a", "a", "b", "b"], "label": ["no", "yes", "yes", "yes"]})
    for table in (long, long.iloc[[2, 0, 3, 1]]):
        truth = read_truth(written(tmp_path, "t.json", table.to_json(orient=orient)))
        order = np.argsort(truth.ids)
        assert truth.counts[order].tolist() == [[1, 1], [0, 2]]


def test_numbers_of_annotators_are_labels_and_sums_decide(tmp_path):
    people = {"w1": {"a": 1, "b": 3, "c": 2}, "w2": {"a": 1, "b": 2, "c": 2}}
    truth = read_truth(written(tmp_path, "t.json", json.dumps(people)))
    assert truth.outcomes.names == ("1", "2", "3")
    assert truth.counts.tolist() == [[2, 0, 0], [0, 1, 1], [0, 2, 0]]
    assert any("labels by annotator and item" in note for note in truth.notes)
    huge = {"w1": {"a": 10**400}, "w2": {"a": 2}}
    assert read_truth(written(tmp_path, "t.json", json.dumps(huge))).n_classes == 2
    counted = {"no": {"a": 1, "b": 3, "c": 1}, "yes": {"a": 3, "b": 1, "c": 3}}
    truth = read_truth(written(tmp_path, "t.json", json.dumps(counted)))
    assert (truth.outcomes.names, truth.counts.tolist()) == (
        ("no", "yes"),
        [[1, 3], [3, 1], [1, 3]],
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"columns": ["no", "yes"], "index": 3, "data": [[1, 2]]}',
        '{"columns": ["no", "yes"], "index": [0], "data": []}',
        '{"columns": ["no"], "index": [0], "data": [[1, 2]]}',
        '{"schema": {}, "data": []}',
        '{"no": {}, "yes": {}}',
    ],
)
def test_broken_tables_of_pandas_are_one_line(tmp_path, text):
    for read in (read_predictions, read_truth):
        with pytest.raises(InputError) as refused:
            read(written(tmp_path, "t.json", text))
        assert "\n" not in str(refused.value)


REAL = Path(os.environ.get("RUE_DATA", ".")) / "lewidi"


@pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not there")
def test_real_files_of_lewidi_and_of_the_harness():
    for name, n_points, n_classes in (
        ("2023/HS-Brexit_dataset/HS-Brexit_dev.json", 168, 2),
        ("2025/CSC/CSC_dev.json", 704, 6),
        ("2025/Paraphrase/Paraphrase_dev.json", 50, 11),
    ):
        truth = read_truth(REAL / name)
        assert (truth.n_points, truth.n_classes) == (n_points, n_classes)
    soft = read_predictions(REAL / "2025/MP/MP_test_soft.tsv")
    assert soft.n_classes == 2
    assert set(soft.ids) == set(read_truth(REAL / "2025/MP/MP_test.json").ids)
    with pytest.raises(FileError, match="several answers"):
        read_truth(REAL / "2025/VariErrNLI/VariErrNLI_dev.json")
    log = read_predictions(REAL.parent / "logs/lm-eval/samples_cb_llama-3-8b.jsonl")
    assert set(log.outcomes.names) == set(LABELS)


def judge_bench(*properties):
    """Return instances with scores of each property."""
    scores = {"a": ["no", "no", "yes"], "b": ["yes", "no", "yes"]}
    return json.dumps(
        {
            "instances": [
                {
                    "id": key,
                    "instance": "text",
                    "annotations": {
                        name: {"majority_human": "no", "individual_human_scores": answers}
                        for name in properties
                    },
                }
                for key, answers in scores.items()
            ]
        }
    )


def test_the_only_property_of_judge_bench_needs_no_option(tmp_path):
    path = written(tmp_path, "one.json", judge_bench("quality"))
    assert read_truth(path).counts.tolist() == [[2, 1], [1, 2]]
    path = written(tmp_path, "two.json", judge_bench("quality", "style"))
    with pytest.raises(FileError, match="holds answers to several questions") as error:
        read_truth(path)
    label = "annotations.style.individual_human_scores"
    assert label in error.value.advice["--label"]
    chosen = read_truth(path, matching=Matching(label=label))
    assert chosen.counts.tolist() == [[2, 1], [1, 2]]


def test_all_seven_classes_of_a_lewidi_submission(tmp_path):
    """Nobody chose 0 in the truth, and the submission has a column for it."""
    items = {
        key: {
            "annotations": {"Ann0": first, "Ann1": second},
            "soft_label": {str(k): 0.0 for k in range(1, 7)},
        }
        for key, first, second in (("1", "1", "2"), ("2", "6", "6"))
    }
    truth = read_truth(written(tmp_path, "t.json", json.dumps(items)))
    rows = [[0.1, 0.9, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1.0]]
    lines = [f"{key}\t{row}" for key, row in zip(items, rows, strict=True)]
    belief = read_predictions(written(tmp_path, "s.tsv", *lines))
    assert belief.outcomes.names == tuple("0123456")
    # 1 and 2 were said about the first: |0.1 - 0| at 0, |1 - 1/2| at 1; the second is right.
    assert rue.evaluate(truth, belief, loss="rps").regret == pytest.approx((0.01 + 0.25) / 2)


def test_texts_in_a_list_of_their_own_are_sampled_labels(tmp_path):
    for texts in ([["yes", "no", "yes"], ["no"] * 3], [["yes", "no"], ["no"] * 2]):
        lines = [harness_line(i, [0.0], filtered_resps=[x]) for i, x in enumerate(texts)]
        read = read_predictions(written(tmp_path, "s.jsonl", *lines))
        shares = [x.count("yes") / len(x) for x in texts]
        np.testing.assert_allclose(read.mean()[:, read.outcomes.names.index("yes")], shares)


WORDS = [["no", "yes", "no"], ["yes", "yes", ""], ["no", "", "yes"]]


@pytest.mark.parametrize("names", [("a0", "a1", "a2"), ("anna", "bob", "carl")])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_one_column_per_annotator_whatever_they_are_called(tmp_path, names, suffix):
    import pandas as pd

    table = pd.DataFrame(WORDS, columns=names).replace("", None).assign(id=["x", "y", "z"])
    path = tmp_path / f"t.{suffix}"
    match suffix:
        case "parquet":
            table.to_parquet(path)
        case "jsonl":
            table.to_json(path, orient="records", lines=True)
        case _:
            table.to_csv(path, index=False, sep="," if suffix == "csv" else "\t")
    truth = read_truth(path)
    assert (truth.ids.tolist(), truth.outcomes.names) == (["x", "y", "z"], ("no", "yes"))
    assert truth.counts.tolist() == [[2, 1], [0, 2], [1, 1]]
    assert "one column per annotator" in truth.notes[0]


@pytest.mark.parametrize("name", ["count", "votes", "n", "freq"])
@pytest.mark.parametrize("label", ["label", "answer"])
def test_a_row_per_class_with_its_count(tmp_path, label, name):
    text = f"id,{label},{name}\na,no,3\na,yes,1\nb,yes,5\n"
    truth = read_truth(written(tmp_path, "t.csv", text))
    assert truth.counts.tolist() == [[3, 1], [0, 5]]


def test_a_gold_label_beside_counts_is_no_answer(tmp_path):
    gold = written(tmp_path, "t.csv", "id,label,no,yes\na,no,3,1\nb,yes,0,4")
    assert read_truth(gold).counts.tolist() == [[3, 1], [0, 4]]
    either = written(tmp_path, "t.csv", "id,label,no,yes\na,0,3,1\nb,1,0,4")
    with pytest.raises(FileError, match="answers may be in label or counted in no, yes"):
        read_truth(either)
    counted = read_truth(either, matching=Matching(classes=("no", "yes")))
    assert counted.counts.tolist() == [[3, 1], [0, 4]]


def test_names_of_classes_that_datasets_stores(tmp_path):
    import pyarrow as pa

    folder = tmp_path / "set"
    folder.mkdir()
    label = {"names": ["no", "yes"], "_type": "ClassLabel"}
    features = {"labels": {"feature": label, "_type": "Sequence"}, "gold": label}
    table = pa.table({"id": ["a", "b"], "labels": [[0, 1, 1], [0, 0, -1]], "gold": [1, 0]})
    info = json.dumps({"info": {"features": features}}).encode()
    table = table.replace_schema_metadata({b"huggingface": info})
    (folder / "dataset_info.json").write_text("{}")
    with (
        pa.OSFile(str(folder / "data.arrow"), "wb") as sink,
        pa.ipc.new_stream(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    for path in (folder, folder / "data.arrow"):
        truth = read_truth(path)
        assert (truth.outcomes.names, truth.counts.tolist()) == (("no", "yes"), [[1, 2], [2, 0]])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_every_encoding_is_the_same_table(tmp_path, encoding):
    path = tmp_path / "t.csv"
    path.write_bytes("id,nein,möglich\nä,3,1\nö,0,4\n".encode(encoding))
    truth = read_truth(path)
    assert (truth.ids.tolist(), truth.outcomes.names) == (["ä", "ö"], ("nein", "möglich"))


def test_a_repeated_answer_is_said_in_words(tmp_path):
    path = written(tmp_path, "t.csv", "id,annotator,label\na,w1,no\na,w1,yes\nb,w1,no")
    with pytest.raises(FileError, match="w1 answered more than once about a"):
        read_truth(path)


@pytest.mark.parametrize(
    ("name", "own"), [("nll", "log"), ("cross_entropy", "log"), ("MSE", "squared")]
)
def test_other_names_of_losses_are_answered(name, own):
    with pytest.raises(InputError, match=f"it is called {own} here"):
        rue.losses.get_loss(name)


ANNOTATED = {  # a: no, no, no, yes; b: four times yes
    "crowd-kit.csv": "task,worker,label\n"
    "a,w1,n\na,w2,n\na,w3,n\na,w4,y\nb,w1,y\nb,w2,y\nb,w3,y\nb,w4,y\n",
    "cleanlab.csv": "id,alice,bob,carol,dan,eve\na,n,n,,n,y\nb,y,,y,y,y\n",
    "koniq.csv": "id,n,y,c_total\na,0.75,0.25,4\nb,0,1,4\n",
    "percent.csv": "id,n,y,total\na,75,25,4\nb,0,100,4\n",
    "pyevall.json": json.dumps(
        [
            {"test_case": "E", "id": "a", "value": ["n", "n", "n", "y"]},
            {"test_case": "E", "id": "b", "value": ["y"] * 4},
        ]
    ),
    "alt-test.json": json.dumps(
        {f"w{k}": {"a": "nnny"[k], "b": "y"} for k in range(4)},
    ),
    "lists.jsonl": '{"id": "a", "labels": ["n", "y", "n", "n"]}\n'
    '{"id": "b", "labels": ["y", "y", "y", "y"]}',
    "counter.jsonl": '{"uid": "a", "label_counter": {"n": 3, "y": 1}}\n'
    '{"uid": "b", "label_counter": {"y": 4}}',
    "lewidi-2023.json": json.dumps(
        {
            key: {"text": "t", "annotators": "A,B,C,D", "annotations": own, "soft_label": {}}
            for key, own in (("a", "n,n,n,y"), ("b", "y,y,y,y"))
        }
    ),
    "lewidi-2025.json": json.dumps(
        {
            key: {"text": {"post": "t"}, "annotations": dict(zip("ABCD", own, strict=True))}
            for key, own in (("a", "nnny"), ("b", "yyyy"))
        }
    ),
    "judge-bench.json": json.dumps(
        {
            "instances": [
                {"id": i, "annotations": {"p": {"individual_human_scores": list(own)}}}
                for i, own in (("a", "nnny"), ("b", "yyyy"))
            ]
        }
    ),
    "pandas.csv": ",n,y\na,3,1\nb,0,4\n",
    "excel.csv": "id;n;y;c_total\na;0,75;0,25;4\nb;0;1;4\n",
}


@pytest.mark.parametrize("name", ANNOTATED)
def test_the_same_answers_in_the_layout_of_each_tool(tmp_path, name):
    (tmp_path / name).write_text(ANNOTATED[name])
    truth = read_truth(tmp_path / name)
    assert (truth.ids.tolist(), truth.outcomes.names) == (["a", "b"], ("n", "y"))
    assert truth.counts.tolist() == [[3, 1], [0, 4]]


def test_three_annotators_and_three_classes_are_no_counts(tmp_path):
    path = written(tmp_path, "t.csv", "id,ann1,ann2,ann3", "a,0,0,1", "b,2,2,2")
    assert read_truth(path).counts.tolist() == [[2, 1, 0], [0, 0, 3]]
    path = written(tmp_path, "t.csv", "id,kim,lee,mo", "a,0,0,1", "b,2,2,2")
    stated = read_truth(path, matching=Matching(annotator="kim,lee,mo"))
    assert stated.counts.tolist() == [[2, 1, 0], [0, 0, 3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\t[0.2, 0.8]\nb\tnone\n", "must have a column of probabilities"),  # one list
        ("0\t0.7\t0.3\n1\t0.2\t0.3\t0.5\n", "line 2 has 4 cells"),  # sums of 1, but two lengths
    ],
)
def test_half_a_submission_to_lewidi_is_none(tmp_path, text, message):
    with pytest.raises(FileError, match=message):
        read_predictions(written(tmp_path, "p.tsv", text))


def test_json_by_row_is_known_by_the_name_of_one_column(tmp_path):
    """One usual name decides, where all cells are words and ``source`` is a name of the user."""
    rows = {"r1": {"label": "no", "source": "web"}, "r2": {"label": "yes", "source": "book"}}
    truth = read_truth(written(tmp_path, "rows.json", json.dumps(rows)))
    assert truth.ids.tolist() == ["r1", "r2"]
    assert truth.outcomes.names == ("no", "yes")
    assert truth.counts.tolist() == [[1, 0], [0, 1]]
