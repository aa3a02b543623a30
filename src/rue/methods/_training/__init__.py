"""Networks, training loop, checkpoints: what the methods share."""
