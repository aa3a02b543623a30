"""Suites: what a file may say, and what it is told when it says something else."""

from dataclasses import replace

import numpy as np
import pytest

import rue.data
from rue.bench import tasks as tasks_module
from rue.bench.cells import cells, configuration, json_checksum, loader_options
from rue.bench.suite import parse_suite, read_suite, shipped
from rue.bench.tasks import _load, tasks
from rue.errors import FileError, InputError

MINE = 'name = "mine"\ndatasets = ["random-rbf"]\n'


def test_the_shipped_suites_are_those_of_the_design_and_can_be_read():
    names = {"demo", "sentiment", "cifar10h-probe", "cifar10h", "appa-real", "dcic", "paper"}
    names |= {"ferplus-probe", "ferplus", "ferplus-small"}
    names |= {"emobank", "emobank-ratings", "nli-variation"}
    names |= {"atlas", "atlas-paper", "atlas-active", "atlas-images", "openml-6", "openml-156"}
    names |= {
        "cifar10h-images",
        "ferplus-images",
        "openml-156-generated",
        "atlas-single-tuned",
        "atlas-single-paper",
        *("atlas-baselines", "atlas-twenty", "atlas-temperature"),
        *("atlas-baselines-paper", "atlas-twenty-paper"),
    }
    assert set(shipped()) == names
    for name in names:
        suite = read_suite(name)
        assert suite.name == name
        assert suite.description
        assert {config["method"] for config in (configuration(suite, c) for c in cells(suite))}
    assert read_suite("demo").n_cells == 12
    assert (
        read_suite("atlas").n_cells == (8 * 12 + 3 * 8) * 5
    )  # eight have replicates to learn from
    assert read_suite("sentiment").n_cells == 100
    assert read_suite("paper").n_cells == 12 * 4 * 5


def test_the_paper_suite_has_the_papers_networks_and_losses():
    paper = read_suite("paper")
    assert paper.network_of("cifar10h") == "cifar"
    assert paper.network_of("appa-real") == "probe"
    assert paper.network_of("dcic-pig") == "fine_tuning"
    assert paper.losses_of("appa-real") == ("squared", "absolute")
    assert paper.losses_of("cifar10h") == ("log", "zero_one")
    assert paper.criteria_of("letter") == ("active_learning",)
    settings = {c.dataset: configuration(paper, c)["settings"] for c in cells(paper)}
    assert settings["cifar10h"]["training"]["epochs"] == 200
    assert settings["dcic-pig"]["training"]["epochs"] == 100
    assert settings["dcic-pig"]["training"]["weights"] == "resnet18-f37072fd.pth"
    assert settings["appa-real"]["training"]["optimizer"] == "adamw"


def test_the_two_atlases_differ_in_their_regime_alone():
    lines = [shipped()[name].read_text().splitlines() for name in ("atlas", "atlas-paper")]
    names, regimes = ("name", "description"), ('regime = "tuned"', 'regime = "paper"')
    tuning = ("", "[training]", 'tuned_on = "three_seeds"')
    both = [
        [line for line in each if line not in (*regimes, *tuning) and not line.startswith(names)]
        for each in lines
    ]
    assert both[0] == both[1]
    assert [regime in each for regime, each in zip(regimes, lines, strict=True)] == [True, True]


def test_a_data_set_may_have_methods_of_its_own():
    text = 'name = "mine"\ndatasets = ["random-rbf", "letter"]\nmethods = ["ensemble", "pairs"]\n'
    suite = parse_suite(text + 'seeds = 2\n[dataset.random-rbf]\nmethods = ["ensemble"]\n')
    assert suite.n_cells == len(cells(suite)) == 6
    assert [str(cell) for cell in cells(suite)][:3] == [
        "random-rbf/ensemble/0",
        "random-rbf/ensemble/1",
        "letter/ensemble/0",
    ]


def test_budgets_of_active_learning():
    """A budget is a name or a table; its runs are the seeds, and only its users are keyed by it."""
    letter = read_suite("openml-6")
    assert letter.seeds == tuple(range(10))
    assert configuration(letter, cells(letter)[0])["active_learning"] == {
        "start": 1000,
        "step": 1000,
        "rounds": 10,
    }
    assert read_suite("openml-156").budget_of("openml-156").n_labelled == 1_100
    assert read_suite("openml-156").n_cells == 4 * 10
    table = "[active_learning]\nstart = 20\nstep = 10\nrounds = 3\nruns = 4"
    mine = parse_suite(MINE + table)
    assert mine.seeds == (0, 1, 2, 3)
    assert mine.budget_of("random-rbf").n_labelled == 50
    plain = parse_suite(MINE + "seeds = 4")
    hashes = [json_checksum(configuration(s, cells(s)[0])) for s in (mine, plain)]
    assert hashes[0] == hashes[1]  # it does not run active learning
    paper = read_suite("paper")
    assert paper.budget_of("letter").step == 1_000
    assert paper.budget_of("random-rbf").step == 100
    assert paper.budget_of("cifar10h") is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('loses = ["log"]', r"loses is no known .* did you mean 'losses'\?"),
        ('methods = ["ensembel"]', r"'ensembel': did you mean 'ensemble'\?"),
        ('network = "prob"', r"did you mean 'probe'\?"),
        ('regime = "probe"', "regime must be one of paper, tuned, got 'probe'"),
        ('regime = "tune"', r"did you mean 'tuned'\?"),
        ('convention = "publishd"', r"did you mean 'published'\?"),
        ("convention = 3", "convention must be one of definition, published, got 3"),
        ('active_learning = "openml"', "active_learning must be of openml-6, openml-156"),
        ("active_learning = 3", "active_learning must be a name"),
        ("[active_learning]\nstart = 5", "the field active_learning.step is missing"),
        (
            "seeds = 3\n[active_learning]\nstart = 5\nstep = 5\nruns = 4",
            r"active_learning\.runs must be the number of seeds, 3, got 4",
        ),
        (
            "[dataset.random-rbf]\nactive_learning = {start = 5, step = 5, runs = 4}",
            r"dataset\.random-rbf\.active_learning: runs are the suite's seeds",
        ),
        (
            "[dataset.random-rbf]\nactive_learning = {start = 0, step = 5}",
            r"dataset\.random-rbf\.active_learning\.start must be",
        ),
        ('criteria = ["regrets"]', r"did you mean 'regret'\?"),
        ('losses = ["logg"]', "logg"),
        ("losses = []", "losses must be a non-empty list"),
        ('losses = "log"', "losses must be a non-empty list without repetitions, got 'log'"),
        ("seeds = 0", "seeds must be"),
        ("seeds = [1, 1]", "seeds must be a non-empty list without"),
        ("seeds = [-1]", r"seeds\[0\] must be a whole number of at least 0, got -1"),
        ("seeds = true", "seeds must be"),
        ("training = 3", r"training must be a table"),
        ("[method.ddu]\n[method.ddv]", r"did you mean 'ddu'\?"),
        ("[dataset.random-rbf]\nn_point = 3", r"did you mean 'n_points'\?"),
        ("[dataset.random-rbf]\nseed = 3", "the seed is the cell's own"),
        ('[dataset.random-rbf]\nregime = "x"', "regime must be one of"),
        (
            '[dataset.random-rbf]\nmethods = ["pairs"]',
            "dataset.random-rbf.methods must be one of dropout, .*, got 'pairs'",
        ),
        ("[dataset.random-rbf]\nmethods = []", "methods must be a non-empty list"),
        ("[dataset.random-rbf]\nn_train_max = 1.5", "n_train_max must be a whole number, got 1.5"),
        ('[dataset.random-rbf]\ncriteria = ["odd"]', r"did you mean 'ood'\?"),
        ("[dataset.letter]\nn_points = 3", "dataset must be one of random-rbf, got 'letter'"),
        ("x = [", "not a TOML file"),
        ("seeds = [[1]]", r"seeds\[0\] must be a whole number of at least 0, got \[1\]"),
        ("seeds = 1000000000", "seeds must be how many there are, 1 to 1,000"),
        (
            "[dataset.random-rbf]\nlosses = []",
            r"dataset\.random-rbf\.losses must be a non-empty list",
        ),
        (
            '[dataset.random-rbf]\ncriteria = ["ood", "ood"]',
            "criteria must be a non-empty list without",
        ),
        ("[dataset.random-rbf]\nfeatures = 3", "features must be text, got 3"),
        (
            "[dataset.random-rbf]\nn_components = nan",
            "n_components must be a whole number, got nan",
        ),
        ('[dataset.random-rbf]\nfeatures = "tfidf"', "random-rbf holds no texts to encode"),
        (
            '[dataset.random-rbf]\nfeatures = "sentence"',
            "must be tfidf, sentence-encoder or an .npz file, got 'sentence': did you mean "
            "'sentence-encoder'?",
        ),
        ('[dataset.random-rbf]\nn_points = "x"', "n_points must be a whole number, got 'x'"),
        (
            "[dataset.random-rbf]\nn_points = 1979-05-27",
            "n_points must be a whole number, got datetime",
        ),
    ],
)
def test_what_is_not_known_is_refused_with_the_nearest_that_is(line, message):
    with pytest.raises(InputError, match=message):
        parse_suite(MINE + line)


def test_settings_of_training_and_methods_are_checked_before_anything_runs():
    for text, message in (
        ("[training]\nepoch = 3", "training must be one of .*'epoch': did you mean 'epochs'"),
        ('[training]\nregime = "tuned"', "training must be one of network, width"),
        ("[method.ensemble]\nmembers = 3", "did you mean 'n_members'"),
        ("[method.ensemble]\nn_members = 0", "n_members must be a whole number of at least 1"),
        (
            '[training]\nepochs = "x"',
            "epochs must be a whole number of at least 1, got",
        ),
        ("[training]\nlr = nan", r"training\.lr must be above 0 and finite, got nan"),
        ("[training]\nlr = true", r"training\.lr must be above 0 and finite, got True"),
        ("[training]\nweights = 3", r"training\.weights must be text, got 3"),
    ):
        suite = parse_suite(MINE + text)
        with pytest.raises(InputError, match=message):
            configuration(suite, next(c for c in cells(suite) if c.method == "ensemble"))


def test_a_suite_that_is_not_there():
    with pytest.raises(InputError, match="did you mean 'demo'"):
        read_suite("dem")
    with pytest.raises(FileError, match=r"no file nowhere\.toml"):
        read_suite("nowhere.toml")
    with pytest.raises(InputError, match="the field datasets is missing"):
        parse_suite('name = "x"')
    with pytest.raises(InputError, match="datasets must be one of"):
        parse_suite('name = "x"\ndatasets = ["imagenet"]')
    with pytest.raises(InputError, match="letters, digits"):
        parse_suite('name = "../x"\ndatasets = ["random-rbf"]')


@pytest.mark.parametrize("name", ["..", ".", "-x", "a/b", ""])
def test_a_name_that_is_no_folder_of_its_own_is_refused(name):
    with pytest.raises(InputError, match="name must be letters"):
        parse_suite(MINE.replace("mine", name))


def test_a_file_that_is_no_text_is_told(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(FileError, match=r"x\.toml: not a TOML file"):
        read_suite(str(tmp_path / "x.toml"))


def test_sizes_and_batches_have_no_default_and_are_numbers():
    text = 'name = "x"\ndatasets = ["dcic-pig", "cifar10h"]\n'
    suite = parse_suite(
        text + "[dataset.dcic-pig]\nsize = 8\n[dataset.cifar10h]\ntrain_batches = [1]"
    )
    assert suite.dataset["cifar10h"]["train_batches"] == [1]
    for line in ('size = "8"', 'size = ["8"]', "size = 8.5"):
        with pytest.raises(InputError, match=r"size.* must be a whole number.*, got"):
            parse_suite(text + "[dataset.dcic-pig]\n" + line)


def test_adding_a_method_or_seed_changes_no_other_cells_seed_or_configuration():
    few = parse_suite(MINE + 'methods = ["ddu"]\nseeds = 2')
    more = parse_suite(MINE + 'methods = ["ensemble", "ddu"]\nseeds = [7, 1, 0]')
    before = {c: (c.hashed_seed, json_checksum(configuration(few, c))) for c in cells(few)}
    after = {c: (c.hashed_seed, json_checksum(configuration(more, c))) for c in cells(more)}
    assert before == {cell: after[cell] for cell in before}
    assert len({seed for seed, _ in after.values()}) == len(after)


def test_another_suite_has_other_seeds():
    one, other = (parse_suite(MINE.replace("mine", name)) for name in ("one", "other"))
    seeds = [{c.hashed_seed for c in cells(suite)} for suite in (one, other)]
    assert not seeds[0] & seeds[1]


def test_whatever_numbers_depend_on_is_in_the_configuration(tmp_path):
    base = MINE + "seeds = 1\n"
    variants = [
        base,
        base + "[training]\nepochs = 3",
        base + "[dataset.random-rbf]\nn_points = 50",
        base + 'losses = ["log"]',
        base + "[method.ensemble]\nn_members = 3",
    ]
    hashes = set()
    for text in variants:
        suite = parse_suite(text)
        cell = next(c for c in cells(suite) if c.method == "ensemble")
        hashes.add(json_checksum(configuration(suite, cell)))
    assert len(hashes) == len(variants)
    # A file by its content.
    suite = parse_suite(base + '[dataset.random-rbf]\nfeatures = "f.npz"', folder=tmp_path)
    cell = cells(suite)[0]
    for content in (None, b"one", b"two"):
        if content is not None:
            (tmp_path / "f.npz").write_bytes(content)
        hashes.add(json_checksum(configuration(suite, cell)))
    assert len(hashes) == len(variants) + 3


def test_seeds_of_a_probe_train_together_and_always_all_of_them():
    suite = parse_suite(MINE + "seeds = 3")
    wanted = [cell for cell in cells(suite) if cell.method == "ddu" and cell.seed == 1]
    (task,) = tasks(suite, wanted, {cell: {} for cell in wanted})
    assert [cell.seed for cell in task.stack] == [0, 1, 2]
    assert task.cells == tuple(wanted)
    images = parse_suite('name = "x"\ndatasets = ["cifar10h"]\nnetwork = "cifar"\nseeds = 3')
    wanted = cells(images)
    assert [t.stack for t in tasks(images, wanted, {cell: {} for cell in wanted})] == [
        (cell,) for cell in wanted
    ]


def test_features_of_texts():
    text = 'name = "s"\ndatasets = ["emobank-valence", "letter", "x.toml"]\n'
    assert loader_options(parse_suite(text), "emobank-valence") == {}
    suite = parse_suite(text + 'features = "sentence-encoder"\n')
    wanted = {"features": "sentence-encoder"}
    assert loader_options(suite, "emobank-valence") == wanted
    assert loader_options(suite, "x") == wanted  # which may hold texts
    assert loader_options(suite, "letter") == {}  # which does not
    text += 'features = "sentence-encoder"\n[dataset.emobank-valence]\nfeatures = "tfidf"\n'
    assert loader_options(parse_suite(text), "emobank-valence") == {"features": "tfidf"}
    with pytest.raises(InputError, match=r"features must be one of tfidf, .*, got 'sentences'"):
        parse_suite(text.replace("sentence-encoder", "sentences"))


def test_a_suite_may_limit_the_training_points_and_project_images(monkeypatch):
    text = MINE + "[dataset.random-rbf]\nn_points = 100\nn_train_max = 20\n"
    limited = _load(parse_suite(text), "random-rbf", [0, 1], None)
    assert [len(data.train) for data in limited.values()] == [20, 20]
    more = _load(parse_suite(text + "n_validation_min = 30\n"), "random-rbf", [0, 1], None)
    assert [len(data.validation) for data in more.values()] == [30, 30]
    assert [len(data.train) for data in more.values()] == [20, 20]

    def load(name, root, **options):
        made = rue.data.load(name, root, **options)
        return replace(made, inputs=np.zeros((100, 4, 4, 1), np.uint8) + made.test[0], task="image")

    monkeypatch.setattr(tasks_module, "load", load)
    monkeypatch.setattr(
        tasks_module,
        "principal_components",
        lambda data, n: data.with_inputs(np.full((100, n), len(data.train))),
    )
    projected = _load(parse_suite(f"{text}n_components = 3\n"), "random-rbf", [1], None)[1]
    np.testing.assert_array_equal(projected.inputs, np.full((100, 3), 20))  # of 20 images
    assert _load(parse_suite(text), "random-rbf", [1], None)[1].task == "image"


def test_methods_that_share_networks_have_one_seed_and_one_folder(tmp_path):
    text = MINE + 'methods = ["single", "laplace"]\nseeds = 1\nshare_networks = '
    for shared in (True, False):
        suite = parse_suite(text + str(shared).lower())
        configs = {cell: configuration(suite, cell) for cell in cells(suite)}
        seeds = {(cell.dataset, config["hashed_seed"]) for cell, config in configs.items()}
        assert len(seeds) == len(configs) // (2 if shared else 1)
