"""Torch modules are asked as they should be, and left as they were."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    RandomSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

import rue
from rue.adapters.torch import draws
from rue.errors import InputError, ShapeError


@pytest.fixture
def inputs():
    return torch.randn(10, 4, generator=torch.Generator().manual_seed(0))


def network(seed, dropout=0.5):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(dropout), nn.Linear(16, 3)
    )


def test_a_list_of_modules_is_its_outputs(inputs):
    models = [network(seed) for seed in range(3)]
    belief = draws(models, DataLoader(TensorDataset(inputs, torch.zeros(10)), batch_size=4))
    for i, model in enumerate(models):
        wanted = torch.softmax(model.eval()(inputs), -1).detach().numpy()
        np.testing.assert_allclose(belief.probs[:, i], wanted, rtol=1e-6)


def test_a_module_list_is_a_list(inputs):
    models = [network(seed) for seed in range(3)]
    wanted = draws(models, [inputs]).probs
    np.testing.assert_array_equal(draws(nn.ModuleList(models), [inputs]).probs, wanted)


def test_batches_do_not_matter_for_a_list(inputs):
    models = [network(seed) for seed in range(2)]
    wanted = draws(models, [inputs]).probs
    for size in (1, 3, 10):
        np.testing.assert_allclose(draws(models, inputs.split(size)).probs, wanted, rtol=1e-5)


def test_dropout_by_hand():
    """y = mask * 2 * 1 for p = 1/2: the logit of class 0 is 0 or 2, so p_0 is 1/2 or 0.880797."""
    linear = nn.Linear(1, 2, bias=False)
    linear.weight.data = torch.tensor([[1.0], [0.0]])
    belief = draws(nn.Sequential(nn.Dropout(0.5), linear), [torch.ones(200, 1)], n_draws=50)
    first = belief.probs[..., 0].ravel()
    kept = np.isclose(first, 0.880797, atol=1e-6)
    assert (kept | (first == 0.5)).all()
    # 10,000 coins: five standard deviations are 0.025.
    assert abs(kept.mean() - 0.5) < 0.025


def test_only_dropout_is_in_training_mode(inputs):
    """Batch norm would use the batch's own mean, and change its running one."""
    model = network(0)
    model[1].running_mean += 3.0
    before = model[1].running_mean.clone()
    draws(model, [inputs])
    assert torch.equal(model[1].running_mean, before)
    # With dropout all but off the passes are those of eval mode.
    almost = network(0, 1e-9)
    almost[1].running_mean += 3.0
    wanted = torch.softmax(almost.eval()(inputs), -1).detach().numpy()
    belief = draws(almost, inputs.split(3), n_draws=2)
    np.testing.assert_allclose(belief.probs[:, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize("fails", [False, True])
def test_modes_are_restored_whatever_happens(inputs, fails):
    model = network(0).train()
    model[1].eval()
    before = [part.training for part in model.modules()]
    if fails:
        with pytest.raises(RuntimeError):
            draws(model, [inputs[:, :2]])
    else:
        draws([model, network(1)], [inputs])
        draws(model, [inputs])
    assert [part.training for part in model.modules()] == before
    assert torch.backends.mha.get_fastpath_enabled()


def test_the_seed_decides_and_torchs_own_state_is_left(inputs):
    model = network(0)
    before = torch.get_rng_state()
    one, two = (draws(model, [inputs], 5, seed=s).probs for s in (0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert np.array_equal(draws(model, [inputs], 5).probs, one)
    assert not np.array_equal(one, two)
    assert one.std(axis=1).max() > 0


def test_torch_keeps_its_threads(inputs):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        draws(network(0), [inputs])
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


class Attending(nn.Module):
    """A transformer layer, whose fast path in eval mode knows no dropout."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.5, batch_first=True)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.layer(x[:, None]).squeeze(1))


class Recurring(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 3, num_layers=2, dropout=0.5, batch_first=True)

    def forward(self, x):
        return self.rnn(x[:, None])[0][:, 0]


@pytest.mark.parametrize("kind", [Attending, Recurring])
def test_dropout_within_a_layer_counts(inputs, kind):
    torch.manual_seed(0)
    assert draws(kind(), [inputs]).probs.std(axis=1).min() > 0


def test_probabilities_and_other_precisions(inputs):
    model = nn.Sequential(network(0), nn.Softmax(-1))
    np.testing.assert_allclose(
        draws([model], [inputs], logits=False).probs, draws([model[0]], [inputs]).probs, rtol=1e-6
    )
    assert draws([network(0).double()], [inputs.double()]).probs.dtype == np.float64
    half = draws([network(0).bfloat16()], [inputs.bfloat16()])
    np.testing.assert_allclose(half.mean(), draws([network(0)], [inputs]).mean(), atol=0.05)
    with pytest.raises(InputError, match="must"):
        draws([model[0]], [inputs], logits=False)
    with pytest.raises(InputError, match="must be logits, got probabilities: pass logits=False"):
        draws([model], [inputs])


def test_rows_are_in_the_order_of_the_loader(inputs):
    dataset = TensorDataset(inputs)
    shuffling = [
        {"shuffle": True},
        {"sampler": SubsetRandomSampler(range(10))},
        {"sampler": WeightedRandomSampler(torch.ones(10), 10)},
        {"sampler": DistributedSampler(dataset, 1, 0)},
        {"batch_sampler": BatchSampler(RandomSampler(dataset), 4, False)},
    ]
    for options in shuffling:
        with pytest.raises(InputError, match=r"shuffle=False.*got one with a \w+Sampler"):
            draws(network(0), DataLoader(dataset, **options))
    draws(network(0), DataLoader(dataset, sampler=range(10)))
    people = rue.Annotations(np.ones((10, 3)))
    belief = draws(network(0), DataLoader(dataset, batch_size=4))
    assert rue.evaluate(people, belief, gap=False).n_points == 10


BAD = [
    ([], [torch.ones(2, 4)], {}, InputError, "empty list"),
    (["a"], [torch.ones(2, 4)], {}, InputError, "model 0 must be a torch module, got str"),
    (network(0, 0.0), [torch.ones(2, 4)], {}, InputError, "dropout above 0.*Sequential has none"),
    (network(0), [torch.ones(2, 4)], {"n_draws": 0}, InputError, "n_draws.*at least 1, got 0"),
    (network(0), [torch.ones(2, 4)], {"n_draws": 2.5}, InputError, "n_draws.*whole.*got 2.5"),
    (network(0), [torch.ones(2, 4)], {"seed": None}, InputError, "seed.*whole.*got None"),
    (None, [torch.ones(2, 4)], {}, InputError, "a module or a list of them, got NoneType"),
    (torch.relu, [torch.ones(2, 4)], {}, InputError, "a module or a list of them, got builtin"),
    (network(0), torch.ones(2, 4), {}, InputError, "loader must yield batches.*got Tensor"),
    (network(0), TensorDataset(torch.ones(2, 4)), {}, InputError, "batches.*got TensorDataset"),
    (network(0), None, {}, InputError, "loader must yield batches.*got NoneType"),
    (
        [nn.Linear(4, 3), nn.Linear(4, 2)],
        [torch.ones(2, 4)],
        {},
        ShapeError,
        r"same number of classes, got \(2, 3\), \(2, 2\)",
    ),
    (network(0), [], {}, InputError, "at least one batch"),
    (network(0), [{"x": 1}], {}, InputError, "one length, got none"),
    ([nn.Flatten(0)], [torch.ones(2, 4)], {}, ShapeError, r"\(2, n_classes\).*got \(8,\)"),
    (
        [nn.LSTM(4, 4)],
        [torch.ones(2, 4)],
        {},
        InputError,
        "must return a tensor, or logits by name, got tuple",
    ),
]


@pytest.mark.parametrize(("model", "loader", "options", "error", "message"), BAD)
def test_bad_input(model, loader, options, error, message):
    with pytest.raises(error, match=message):
        draws(model, loader, **options)


class Output:
    """What a Hugging Face model gives: an object with its logits."""

    def __init__(self, logits):
        self.logits = logits


class Classifier(nn.Module):
    """Takes its inputs by name, as Hugging Face models do."""

    def __init__(self, seed, wrap=Output):
        super().__init__()
        self.inner, self.wrap = network(seed), wrap

    def forward(self, input_ids, attention_mask=None):
        return self.wrap(self.inner(input_ids * attention_mask))


@pytest.mark.parametrize("wrap", [Output, lambda logits: {"logits": logits, "loss": None}])
def test_models_that_take_and_give_names(inputs, wrap):
    ones = torch.ones(10, 1)
    batches = [
        {"input_ids": x, "attention_mask": m, "labels": torch.zeros(len(x)), "text": ["a"] * len(x)}
        for x, m in zip(inputs.split(4), ones.split(4), strict=True)
    ]
    found = draws([Classifier(seed, wrap) for seed in range(3)], batches)
    wanted = draws([network(seed) for seed in range(3)], inputs.split(4))
    np.testing.assert_array_equal(found.probs, wanted.probs)


def test_probabilities_by_name(inputs):
    models = [Classifier(0, lambda out: {"probs": torch.softmax(out, -1)})]
    batch = {"input_ids": inputs, "attention_mask": torch.ones(10, 1)}
    found = draws(models, [batch], logits=False)
    np.testing.assert_allclose(found.probs, draws([network(0)], [inputs]).probs, rtol=1e-6)
    with pytest.raises(InputError, match="or logits by name, got dict"):
        draws(models, [batch])


def test_broken_batches_of_names(inputs):
    with pytest.raises(ShapeError, match=r"one length, got a \(10, 4\), b \(3,\)"):
        draws([network(0)], [{"a": inputs, "b": torch.ones(3)}])
    with pytest.raises(ShapeError, match="one length, got none"):
        draws([network(0)], [{"labels": inputs}])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_renormalised_within_its_own(dtype):
    logits = torch.randn(500, 3, 40, generator=torch.Generator().manual_seed(1))
    exact = torch.softmax(logits, -1)
    belief = rue.Draws(exact.to(dtype))
    np.testing.assert_allclose(belief.mean().sum(axis=1), 1, rtol=1e-12)
    assert np.abs(belief.mean() - exact.double().mean(1).numpy()).max() < 1e-2
    scored = rue.Scored(exact[:, 0].to(dtype), torch.ones(500))
    np.testing.assert_allclose(scored.mean().sum(axis=1), 1, rtol=1e-12)
    with pytest.raises(InputError, match="must sum to 1"):
        rue.Draws((exact * 1.05).to(dtype))
