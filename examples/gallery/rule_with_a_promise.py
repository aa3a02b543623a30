# %% [markdown]
# # A rule with a promise
#
# You deploy a classifier and may hand doubtful inputs to a person. How many can it decide itself
# if at most 8 % of all decisions may be wrong? A rule that is only fitted to past data breaks its
# budget about half of the time; this one promises to keep it.

# %%
import numpy as np

import rue
from rue import Problem
from rue.plots import plot_outcomes, save

rng = np.random.default_rng(3)
N_CLASSES = 4

# %% [markdown]
# ## Calibration points and new points
#
# 1,500 inputs with the answers of 10 annotators to learn the rule from, and 5,000 new ones to see
# what it does. The ensemble is wrong by a different amount on each input.


# %%
def inputs(n_points):
    truth = rng.dirichlet(np.full(N_CLASSES, 0.25), n_points)
    counts = np.array([rng.multinomial(10, p) for p in truth])
    error = rng.beta(1, 4, n_points)[:, None, None]
    noise = rng.dirichlet(np.ones(N_CLASSES), (n_points, 6))
    belief = rue.Draws((1 - error) * truth[:, None] + error * noise)
    annotations = rue.Annotations(counts)
    return rue.realize(annotations, belief, "zero_one"), rue.decompose(belief, "zero_one")


star_cal, hat_cal = inputs(1_500)
star_new, hat_new = inputs(5_000)
print(f"error rate without a rule: {star_new.total.mean():.3f}")

# %% [markdown]
# ## The rule
#
# It accepts where a weighted sum of the two estimated components is at most a threshold. With
# probability 95 % over the calibration points, it keeps the budget on new points.

# %%
rule = rue.fit_selector(
    star_cal, hat_cal, maximize="coverage", risk_max=0.08, delta=0.05, bound=1.0
)
accept = rule.accept(hat_new)
kept = star_new.total[accept].sum() / len(accept)
print(
    f"accepts {accept.mean():.1%} of the new points, of which errors are {kept:.1%} of all points"
)

# %% [markdown]
# ## Compared with other rules

# %%
problem = Problem(maximize="coverage", risk_max=0.08)
outcomes = rue.compare_rules(star_cal, hat_cal, star_new, hat_new, problem, delta=0.05, bound=1.0)
for outcome in outcomes:
    print(f"{outcome.name:28} coverage {outcome.coverage:.3f}  risk {outcome.risk:.4f}")
save(plot_outcomes(outcomes, problem), "rule_with_a_promise.png")
