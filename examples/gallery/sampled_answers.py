# %% [markdown]
# # Answers sampled from a language model
#
# A language model has no ensemble, but you can ask it again: with another prompt, at a temperature
# above 0. Prompts that lead to different answers show what the model does not know; a prompt whose
# answers differ shows what is uncertain in itself.

# %%
import numpy as np

import rue
from rue.adapters import sampled_labels
from rue.plots import plot_curves, save

rng = np.random.default_rng(4)
CLASSES = ("contradiction", "entailment", "neutral")

# %% [markdown]
# ## What was asked
#
# 300 pairs of sentences. 40 annotators said whether the second follows from the first, and the
# model answered 10 times with each of 4 prompts. Here both are simulated: each prompt leans
# towards a class of its own, more on some pairs than on others. With a real model, `answers` is
# the array of strings that it returned.

# %%
people = rng.dirichlet(np.full(3, 0.5), 300)
lean = rng.beta(1, 2, 300)[:, None, None]
prompts = (1 - lean) * people[:, None] + lean * rng.dirichlet(np.full(3, 0.4), (300, 4))
answers = np.array([[rng.choice(CLASSES, 10, p=p) for p in each] for each in prompts])
counts = np.array([rng.multinomial(40, p) for p in people])
print(answers[0])

# %% [markdown]
# ## As a belief
#
# Each prompt becomes one draw: the frequencies of its ten answers.

# %%
belief = sampled_labels(answers, CLASSES)
annotations = rue.Annotations(counts)
several = rue.Run.from_belief(annotations, belief, "brier", method="4 prompts")
print(rue.evaluate(annotations, belief, "brier", method="4 prompts"))

# %% [markdown]
# ## One prompt is not enough
#
# Spend the same 40 answers on one prompt, and there is nothing left that could be epistemic: one
# draw has no spread. The ranking is then a random one.

# %%
longer = np.array([rng.choice(CLASSES, 40, p=p) for p in prompts[:, 0]])
single = sampled_labels(longer, CLASSES)
one = rue.Run.from_belief(annotations, single, "brier", method="1 prompt")
print(f"n-AuReC with one prompt: {rue.evaluate(annotations, single, 'brier').n_aurec:.3f}")
save(plot_curves([several, one]), "sampled_answers.png")
