# %% [markdown]
# # The sandbox
#
# A world in which nothing has to be estimated: the function, the noise, the density of the inputs
# and the posterior are known, so five scores that are each optimal for a task can be compared.

# %%
from rue.plots import plot_sandbox, save
from rue.sandbox import run_sandbox

sandbox = run_sandbox(loss="squared", coverage=0.8)

# %% [markdown]
# ## Which score leaves the least regret?
#
# Each score rejects the fifth of the inputs that it ranks highest. Only the epistemic score is
# optimal for regret; the scores for OOD detection and for active learning are optimal for something
# else.

# %%
for name, areas in sandbox.areas.items():
    print(f"{name:10} AuReC {areas['aurec']:.5f}  AuRC {areas['aurc']:.5f}")

# %% [markdown]
# ## They reject different inputs
#
# The share of what the epistemic score rejects that each other score rejects, too:

# %%
for name, shares in sandbox.overlap.items():
    print(f"{name:10} {shares['epistemic']:.0%}")
save(plot_sandbox(sandbox), "sandbox.png")
