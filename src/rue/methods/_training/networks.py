"""Networks: features, and one linear layer on top of them.

A network may be a stack of several that share nothing; its first axis is the member. Dropout
multiplies the features, so those of a point are the same in every pass.
"""

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, final

import threadpoolctl
import torch
from torch import Tensor, nn
from torch.nn import functional

from rue._kernels.threads import use_threads as use_kernel_threads
from rue.data.splits import hashed
from rue.errors import InputError
from rue.methods._training.settings import Device, Training

LANES = 32  # numbers that a member's share of an array is a multiple of: two threads' vectors


class NetworkStack(nn.Module, ABC):
    """``n_members`` networks, each giving features and, linearly from them, K logits."""

    n_members: int = 1

    @abstractmethod
    def features(self, x: Tensor) -> Tensor:
        """Pre-logit features (n_members, n, n_features) of inputs (n_members, n, ...)."""

    @abstractmethod
    def head(self) -> tuple[Tensor, Tensor]:
        """Return the last layer: weights (n_members, K, n_features), biases (n_members, 1, K)."""

    @abstractmethod
    def hidden(self) -> list[Tensor]:
        """Return views of the hidden layers' weights as matrices, each (n_members, out, in)."""

    def take(self, members: Sequence[int]) -> "NetworkStack":
        """Copy some of the members; a network that is no stack has only itself."""
        if list(members) != list(range(self.n_members)):
            raise NotImplementedError(f"{type(self).__name__} is not a stack")
        return self

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Logits (n_members, n, K), features multiplied by a mask where there is one."""
        z = self.features(x).float()
        with torch.autocast(z.device.type, enabled=False):
            weight, bias = self.head()
            return torch.baddbmm(bias, z if mask is None else z * mask, weight.mT)


@final
class Probe(NetworkStack):
    """A stack of Linear(d, width) - ReLU - Linear(width, K); one bmm per layer."""

    def __init__(self, parameters: Sequence[Tensor], *, slope: float = 0.0) -> None:
        super().__init__()
        self.weight1, self.bias1, self.weight2, self.bias2 = map(nn.Parameter, parameters)
        self.n_members = len(self.weight1)
        self.slope = slope

    @classmethod
    def initial(
        cls, n_features: int, n_classes: int, seeds: Sequence[int], *, width: int, slope: float
    ) -> "Probe":
        """Draw each member's parameters from its own seed."""
        layers = [
            seeded(seed, lambda: (nn.Linear(n_features, width), nn.Linear(width, n_classes)))
            for seed in seeds
        ]
        stacked = [
            torch.stack([getattr(pair[layer], kind).detach() for pair in layers])
            for layer in (0, 1)
            for kind in ("weight", "bias")
        ]
        shaped = [t if t.ndim == 3 else t[:, None] for t in stacked]
        shaped[3] = functional.pad(shaped[3], (0, -n_classes % LANES))
        return cls(shaped, slope=slope)

    def take(self, members: Sequence[int]) -> "Probe":
        """Copy some of the members."""
        return Probe([p.detach()[list(members)] for p in self.parameters()], slope=self.slope)

    def features(self, x: Tensor) -> Tensor:
        """First layer and activation."""
        return activate(torch.baddbmm(self.bias1, x, self.weight1.mT), self.slope)

    def head(self) -> tuple[Tensor, Tensor]:
        """Return the second layer."""
        return self.weight2, self.bias2[..., : self.weight2.shape[1]]

    def hidden(self) -> list[Tensor]:
        """Return the first layer."""
        return [self.weight1.detach()]

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Logits, with a gradient that is faster than autograd's."""
        logits: Tensor = _TwoLayers.apply(  # type: ignore[no-untyped-call]
            x, mask, self.slope, self.weight1, self.bias1, *self.head()
        )
        return logits


@final
class _TwoLayers(torch.autograd.Function):
    """Both layers of a stack of probes."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        mask: Tensor | None,
        slope: float,
        weight1: Tensor,
        bias1: Tensor,
        weight2: Tensor,
        bias2: Tensor,
    ) -> Tensor:
        z = functional.leaky_relu_(torch.baddbmm(bias1, x, weight1.mT), slope)
        if mask is not None:
            z *= mask
        ctx.save_for_backward(x, mask, z, weight2)
        ctx.slope = slope
        return torch.baddbmm(bias2.mT, weight2, z.mT).mT

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, mask, z, weight2 = ctx.saved_tensors
        down = torch.bmm(grad, weight2)
        if mask is not None:
            down *= mask
        # A unit that is left out is 0 in z and in down, so z tells where the activation was.
        down = torch.ops.aten.leaky_relu_backward(down, z, ctx.slope, True)
        first = torch.bmm(down.mT, x), down.sum(1, keepdim=True)
        return None, None, None, *first, torch.bmm(grad.mT, z), grad.sum(1, keepdim=True)


class ImageNetwork(NetworkStack):
    """One network for images, whose last layer is ``fc``."""

    fc: nn.Linear

    def head(self) -> tuple[Tensor, Tensor]:
        """Return the last layer."""
        return self.fc.weight[None], self.fc.bias[None, None]

    def hidden(self) -> list[Tensor]:
        """Return views (1, out, in) of the weights of all layers but the last."""
        layers = (m for m in self.modules() if isinstance(m, nn.Conv2d | nn.Linear))
        return [_matrix(layer.weight.detach()) for layer in layers if layer is not self.fc]


@final
class SmallCNN(ImageNetwork):
    """Two 3x3 convolutions (32, 64) with batch norm and pooling, Linear(128); for 28 x 28."""

    def __init__(self, shape: tuple[int, int, int], n_classes: int, *, slope: float = 0.0) -> None:
        super().__init__()
        height, width, channels = shape
        if min(height, width) < 4:
            raise InputError(f"small_cnn needs at least 4 x 4 pixels, got {height} x {width}")
        self.slope = slope
        self.conv1 = nn.Conv2d(channels, 32, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(64)
        self.linear = nn.Linear(64 * (height // 4) * (width // 4), 128)
        self.fc = nn.Linear(128, n_classes)

    def features(self, x: Tensor) -> Tensor:
        """Everything up to the last layer."""
        x = functional.max_pool2d(activate(self.bn1(self.conv1(x[0])), self.slope), 2)
        x = functional.max_pool2d(activate(self.bn2(self.conv2(x)), self.slope), 2)
        return activate(self.linear(x.flatten(1)), self.slope)[None]


@final
class Fourier(NetworkStack):
    """A stack of networks with random Fourier features on top: nearly a Gaussian process.

    With directions w drawn from N(0, I / l^2) and phases b from U(0, 2 pi), the features

        phi(h) = sqrt(2 / D) cos(W h + b)

    of the network's own features h have E[phi(h) . phi(h')] = exp(-|h - h'|^2 / (2 l^2)), the
    kernel of a Gaussian process (Rahimi and Recht 2007). Directions and phases are not trained; the
    network below and the linear layer above are.
    """

    directions: Tensor
    phases: Tensor

    def __init__(self, inner: NetworkStack, tensors: Sequence[Tensor]) -> None:
        super().__init__()
        directions, phases, weight, bias = tensors
        self.inner = inner
        self.n_members = inner.n_members
        self.register_buffer("directions", directions)
        self.register_buffer("phases", phases)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    @classmethod
    def initial(
        cls,
        inner: NetworkStack,
        seeds: Sequence[int],
        *,
        n_outputs: int,
        n_fourier: int,
        length: float,
    ) -> "Fourier":
        """Draw each member's directions, phases and last layer from its own seed."""
        n_features = inner.head()[0].shape[2]

        def draw() -> tuple[Tensor, ...]:
            directions = torch.randn(n_fourier, n_features) / length
            phases = 2 * math.pi * torch.rand(1, n_fourier)
            layer = nn.Linear(n_fourier, n_outputs)
            bias = functional.pad(layer.bias.detach()[None], (0, -n_outputs % LANES))
            return directions, phases, layer.weight.detach(), bias

        drawn = [seeded(hashed(seed, "fourier"), draw) for seed in seeds]
        return cls(inner, [torch.stack(part) for part in zip(*drawn, strict=True)])

    def take(self, members: Sequence[int]) -> "Fourier":
        """Copy some of the members."""
        inner = self.inner.take(members)
        if inner is self.inner:
            return self
        index = list(members)
        tensors = (self.directions, self.phases, self.weight.detach(), self.bias.detach())
        return Fourier(inner, [tensor[index] for tensor in tensors])

    def features(self, x: Tensor) -> Tensor:
        """Return random Fourier features of the features below."""
        h = self.inner.features(x)
        with torch.autocast(h.device.type, enabled=False):  # a cosine needs its angle's digits
            angles = torch.baddbmm(self.phases, h.float(), self.directions.mT)
            return math.sqrt(2 / angles.shape[-1]) * torch.cos(angles)

    def head(self) -> tuple[Tensor, Tensor]:
        """Return the last layer."""
        return self.weight, self.bias[..., : self.weight.shape[1]]

    def hidden(self) -> list[Tensor]:
        """Return the hidden layers below."""
        return self.inner.hidden()


def on_top(
    n_fourier: int, length_scale: float
) -> Callable[[NetworkStack, Sequence[int], int], Fourier]:
    """Return what puts Fourier features on a network; the scale is in roots of its features."""

    def wrap(inner: NetworkStack, starts: Sequence[int], n_outputs: int) -> Fourier:
        length = length_scale * math.sqrt(inner.head()[0].shape[2])
        return Fourier.initial(
            inner, starts, n_outputs=n_outputs, n_fourier=n_fourier, length=length
        )

    return wrap


def activate(x: Tensor, slope: float) -> Tensor:
    """ReLU, or LeakyReLU where there is a slope."""
    return functional.leaky_relu(x, slope) if slope else functional.relu(x)


def seeded(seed: int, build: Callable[[], Any]) -> Any:
    """Build something that draws from torch's generator, and restore the generator's state."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would queue work for a GPU
        return build()


def _matrix(weight: Tensor) -> Tensor:
    # As it lies in memory: channels_last permutes within a row, which leaves the norm alone.
    n_in = weight[0].numel()
    return weight.as_strided((1, len(weight), n_in), (0, n_in, 1))


_MARGIN = 1 - 1e-6  # rounding in float32 must not lift a norm above the coefficient


def leading(weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the left singular vector of the largest singular value, (n_members, out, 1) each."""
    with torch.no_grad():
        return [
            torch.linalg.eigh((w @ w.mT).cpu())[1][..., -1:].contiguous().to(w.device)
            for w in weights
        ]


def project_members(weights: Sequence[Tensor], vectors: list[Tensor], coefficient: float) -> None:
    """Do one step of power iteration on ``vectors`` and scale ``weights``, both in place."""
    with torch.no_grad():
        for w, u in zip(weights, vectors, strict=True):
            v = _times(w.mT, u)
            v = v / (torch.linalg.vector_norm(v, dim=1, keepdim=True) + 1e-12)
            image = _times(w, v)
            norm = torch.linalg.vector_norm(image, dim=1, keepdim=True)
            u.copy_(image / (norm + 1e-12))
            w *= (coefficient / (norm + 1e-12)).clamp(max=1.0)


def project_exactly(weights: Sequence[Tensor], coefficient: float) -> None:
    """Scale ``weights``, in place, by their exact norm."""
    with torch.no_grad():
        for w, norm in zip(weights, norms(weights), strict=True):
            w *= (coefficient * _MARGIN / norm.clamp(min=1e-12)).clamp(max=1.0)[:, None, None]


def norms(weights: Sequence[Tensor]) -> list[Tensor]:
    """Return the exact norm of each matrix, (n_members,) each."""
    return [torch.linalg.matrix_norm(w.detach().cpu(), ord=2).to(w.device) for w in weights]


def _times(matrices: Tensor, column: Tensor) -> Tensor:
    """Return the product of each matrix and its column, with the same bits in a stack and alone."""
    return (matrices @ column.expand(-1, -1, 2))[..., :1]


def find_precision(training: Training, device: torch.device) -> Literal["float32", "bfloat16"]:
    """Return the precision of the hidden layers in training on a device."""
    if training.precision != "auto":
        return training.precision
    fast = device.type == "cuda" or (
        device.type == "cpu"
        and training.network == "resnet9"
        and torch.cpu._is_avx512_bf16_supported()
    )
    return "bfloat16" if fast and not training.is_probe else "float32"


def find_device(wanted: Device) -> torch.device:
    """Return the device; ``auto`` is the best available one."""
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted == "auto":
        return torch.device(next(name for name in there if there[name]))
    if not there[wanted]:
        raise InputError(f"device {wanted} is not there: use auto or cpu")
    return torch.device(wanted)


def use_torch_threads(n_threads: int) -> None:
    """Set the number of threads of torch, BLAS and the kernels; sums may depend on it."""
    use_kernel_threads(n_threads)
    torch.set_num_threads(n_threads)
    threadpoolctl.threadpool_limits(n_threads)


def gpu_names() -> tuple[str, ...]:
    """Return the GPUs that this process may use, as CUDA_VISIBLE_DEVICES has them."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return tuple(filter(None, visible.split(",")))
    return tuple(str(index) for index in range(torch.cuda.device_count()))
