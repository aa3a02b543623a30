# %% [markdown]
# # Four losses, one model
#
# Uncertainty is about a decision, and the loss says what a wrong decision costs. The same model
# can rank avoidable errors well under one loss and badly under another.

# %%
import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression

import rue
from rue.adapters import sklearn as adapter
from rue.plots import look, save

rng = np.random.default_rng(1)
LOSSES = ("log", "brier", "zero_one", "squared")

# %% [markdown]
# ## Stars
#
# Reviews get one to five stars. The classes are numbers, so squared loss has a meaning: two stars
# instead of five is worse than four.


# %%
def star_probabilities(x):
    mean = 3 + 1.5 * np.tanh(x[:, 0]) + 0.8 * np.sin(2 * x[:, 1])
    width = 0.4 + 0.6 / (1 + np.exp(-2 * x[:, 2]))
    odds = np.exp(-0.5 * ((np.arange(1, 6) - mean[:, None]) / width[:, None]) ** 2)
    return odds / odds.sum(axis=1, keepdims=True)


x_train, x_test = rng.normal(size=(250, 3)), rng.normal(size=(500, 3))
stars = np.array([rng.choice(5, p=p) for p in star_probabilities(x_train)])
counts = np.array([rng.multinomial(30, p) for p in star_probabilities(x_test)])
annotations = rue.Annotations(counts, values=[1, 2, 3, 4, 5])

# %% [markdown]
# ## One model
#
# Eight logistic regressions, each trained on a bootstrap sample of the reviews.

# %%
members = []
for _ in range(8):
    rows = rng.integers(0, len(x_train), len(x_train))
    members.append(LogisticRegression(max_iter=500).fit(x_train[rows], stars[rows]))
belief = adapter.draws(members, x_test, classes=range(5))

# %% [markdown]
# ## Four rows

# %%
rows = [rue.evaluate(annotations, belief, loss, method="ensemble") for loss in LOSSES]
for row in rows:
    print(
        f"{row.loss:9} risk {row.risk:.3f}  regret {row.regret:.3f}  "
        f"n-AuReC {row.n_aurec:.3f}  by the total {row.n_aurec_total:.3f}"
    )

# %% [markdown]
# Compare the last two numbers of each row. Under every loss the epistemic part finds avoidable
# errors better than the total uncertainty, whose ranking is worse than a random one (1). How much
# better it is depends on the loss.

# %%
with look():
    figure = Figure(figsize=(5.6, 2.4), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(rows))
    by_epistemic, by_total = [row.n_aurec for row in rows], [row.n_aurec_total for row in rows]
    axes.bar(places - 0.2, by_epistemic, 0.38, color="#005f9e", label="by epistemic uncertainty")
    axes.bar(places + 0.2, by_total, 0.38, color="#e69f00", label="by total uncertainty")
    axes.axhline(1, color="grey", linestyle=":")
    axes.set_axisbelow(True)
    axes.set_xticks(places, ["log loss", "Brier", "0/1", "squared"])
    axes.set_ylabel("n-AuReC")
    axes.set_ylim(0, 1.6)
    axes.legend(ncols=2, loc="upper center")
save(figure, "four_losses.png")
