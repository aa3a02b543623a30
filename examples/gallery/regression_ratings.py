# %% [markdown]
# # Ratings and regression
#
# Answers need not be classes. Annotators move a slider from 0 to 100, an ensemble predicts a mean
# and a standard deviation, and everything works as before.

# %%
import numpy as np
from matplotlib.figure import Figure

import rue
from rue.plots import look, save

rng = np.random.default_rng(5)

# %% [markdown]
# ## Sliders
#
# 400 texts, 12 annotators each. Annotators disagree more about some texts than about others.

# %%
topic = rng.uniform(-3, 3, 400)
centre = 50 + 30 * np.sin(topic)
disagreement = 4 + 8 * np.abs(np.cos(topic))
ratings = rng.normal(centre[:, None], disagreement[:, None], (400, 12)).clip(0, 100)
answers = rue.Ratings(list(ratings), range=(0, 100))

# %% [markdown]
# ## An ensemble of polynomials
#
# Each member is fitted to 60 texts of its own, most of them with a small topic number: it knows
# less about the others.

# %%
means = []
for _ in range(8):
    x = rng.normal(-1, 1.1, 60).clip(-3, 3)
    y = rng.normal(50 + 30 * np.sin(x), 4 + 8 * np.abs(np.cos(x)))
    means.append(np.polyval(np.polyfit(x, y, 4), topic).clip(0, 100))
means = np.array(means).T
belief = rue.Gaussians(means, np.full(means.shape, 9.0))

# %% [markdown]
# ## Two losses
#
# Squared loss is about the mean, the continuous ranked probability score (`crps`) about the whole
# distribution.

# %%
for loss in ("squared", "crps"):
    row = rue.evaluate(answers, belief, loss, gap=False)
    print(f"{loss:8} risk {row.risk:7.2f}  regret {row.regret:6.2f}  n-AuReC {row.n_aurec:.3f}")

# %% [markdown]
# ## Where it does not know
#
# The members agree where they have data, and spread on the right, where the regret is.

# %%
star = rue.realize(answers, belief, "squared")
hat = rue.decompose(belief, "squared")
with look():
    figure = Figure(figsize=(6.2, 3.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    order = np.argsort(topic)
    above.plot(topic, ratings.mean(axis=1), ".", color="#999999", markersize=3, label="mean rating")
    above.plot(topic[order], means[order], linewidth=0.8)
    above.set_ylabel("rating")
    above.legend()
    below.plot(topic[order], star.epistemic[order] ** 0.5, linewidth=0.8, label="regret")
    below.plot(topic[order], hat.epistemic[order] ** 0.5, label="epistemic uncertainty")
    below.set_ylabel("square root")
    below.set_xlabel("topic")
    below.legend()
save(figure, "regression_ratings.png")
