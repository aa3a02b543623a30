# %% [markdown]
# # How many annotators are enough?
#
# Regret is measured against the distribution of the answers, and a few annotators only estimate it.
# Here that distribution is known, so you can see what ten, or three, annotators do to the result.

# %%
import numpy as np

import rue
from rue.plots import plot_brackets, save

rng = np.random.default_rng(2)
ANNOTATORS = (2, 3, 5, 10, 20, 50)
REPEATS = 20

# %% [markdown]
# ## A model and the true answers
#
# 400 inputs with three classes, and an ensemble of five. Its members are wrong in a common
# direction, by a different amount on each input, and differ from each other more where they are
# more wrong.

# %%
truth = rng.dirichlet(np.full(3, 0.7), 400)
error = rng.beta(1, 1.2, 400)[:, None, None]
wrong = rng.dirichlet(np.ones(3), (400, 1)) + 0.5 * rng.dirichlet(np.ones(3), (400, 5))
belief = rue.Draws((1 - error) * truth[:, None] + error * wrong / 1.5)
exact = rue.evaluate(rue.Annotations.from_probs(truth), belief, "brier", gap=False)
print(f"AuReC with the true distributions: {exact.aurec:.4f}")

# %% [markdown]
# ## Fewer and fewer annotators
#
# With few annotators the plug-in AuReC (`aurec`) is too high: part of what looks avoidable is only
# the noise of the answers. Every row has a bracket, `aurec_low` to `aurec_high`, which contains the
# true value in expectation.

# %%
rows = []
for m in ANNOTATORS:
    asked = []
    for _ in range(REPEATS):
        counts = np.array([rng.multinomial(m, p) for p in truth])
        row = rue.evaluate(rue.Annotations(counts), belief, "brier", gap=False)
        asked.append((row.aurec_low, row.aurec_high))
    (low, high), spread = np.mean(asked, axis=0), np.std(asked, axis=0, ddof=1) / REPEATS**0.5
    low_se, high_se = spread
    rows.append(
        {"loss": "brier", "m": m, "low": low, "low_se": low_se, "high": high, "high_se": high_se}
        | {"true": exact.aurec}
    )
    print(f"{m:3} annotators: from {low:.4f} to {high:.4f}")

# %% [markdown]
# Both ends approach the true value as annotators are added. If the bracket is too wide for your
# purpose, ask more annotators about the same inputs.

# %%
save(plot_brackets(rows), "finite_annotators.png")
