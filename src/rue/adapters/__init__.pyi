from rue.adapters import accumulator as accumulator
from rue.adapters import hf as hf
from rue.adapters import pandas as pandas
from rue.adapters import sklearn as sklearn
from rue.adapters import torch as torch
from rue.adapters import torchmetrics as torchmetrics
from rue.beliefs.sampled_labels import sampled_labels as sampled_labels
