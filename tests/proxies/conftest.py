"""One thread: two test runs side by side would fight for cores."""

import torch

torch.set_num_threads(1)
