"""The probe's gradient, which is by hand, against autograd's."""

import pytest
import torch

from rue.methods._training.networks import Probe


def gradients(logits, probe):
    slopes = torch.linspace(-1, 2, logits.numel(), dtype=logits.dtype).view(logits.shape)
    return torch.autograd.grad((torch.log_softmax(logits, -1) * slopes).sum(), probe.parameters())


@pytest.mark.parametrize("slope", [0.0, 0.01])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_gradient_is_autograds(slope, dropout):
    """Three probes in float64, 6 - 5 - 4, and seven points for each."""
    generator = torch.Generator().manual_seed(0)
    probe = Probe.initial(6, 4, [1, 2, 3], width=5, slope=slope).double()
    x = torch.randn(3, 7, 6, dtype=torch.float64, generator=generator)
    mask = None
    kept = torch.ones(3, 7, 5, dtype=torch.float64)
    if dropout:
        kept = (torch.rand(3, 7, 5, generator=generator).double() > dropout) / (1 - dropout)
        mask = kept
    ours = probe(x, mask)
    weight, bias = probe.head()
    theirs = (probe.features(x) * kept) @ weight.mT + bias
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    for a, b in zip(gradients(ours, probe), gradients(theirs, probe), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
        assert a.abs().max() > 0.1
