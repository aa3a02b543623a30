# %% [markdown]
# # Your first row
#
# A model that reports its uncertainty, inputs that several annotators labelled, and one question:
# does its epistemic uncertainty find the errors that could have been avoided?

# %%
import numpy as np
from sklearn.ensemble import RandomForestClassifier

import rue
from rue.adapters import sklearn as adapter
from rue.plots import plot_curves, save

rng = np.random.default_rng(0)

# %% [markdown]
# ## The data
#
# Two features and three classes. Near the boundaries of the classes annotators disagree, so the
# right answer is a distribution. Of each training input you have one label; of each test input the
# answers of 20 annotators.


# %%
def answer_probabilities(x):
    scores = np.stack([np.sin(2 * x[:, 0]), np.cos(2 * x[:, 1]), x[:, 0] * x[:, 1]], axis=1)
    odds = np.exp(2.5 * scores)
    return odds / odds.sum(axis=1, keepdims=True)


x_train, x_test = rng.normal(size=(300, 2)), rng.normal(size=(400, 2))
labels = np.array([rng.choice(3, p=p) for p in answer_probabilities(x_train)])
counts = np.array([rng.multinomial(20, p) for p in answer_probabilities(x_test)])

# %% [markdown]
# ## The model
#
# The trees of a random forest are an ensemble: where they disagree, the model does not know. An
# adapter turns them into draws.

# %%
forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=0).fit(x_train, labels)
belief = adapter.draws(forest, x_test)
print(belief)

# %% [markdown]
# ## The row
#
# n-AuReC is the result: 0 if the epistemic uncertainty ranks the inputs by their regret perfectly,
# 1 if it ranks them at random.

# %%
annotations = rue.Annotations(counts)
row = rue.evaluate(annotations, belief, "log", method="forest")
print(row)

# %% [markdown]
# ## The curve
#
# If you reject the inputs with the highest epistemic uncertainty first, the regret of the accepted
# inputs falls faster than with a random ranking, and slower than with a perfect one.

# %%
run = rue.Run.from_belief(annotations, belief, "log", method="forest")
save(plot_curves([run]), "first_row.png")
