"""The model and its samplers in plain numpy: nothing compiled, made to be read."""

from mixwood.reference.families import family_of
from mixwood.reference.gibbs import GibbsChain
from mixwood.reference.paper_tree import PaperTreeChain
from mixwood.reference.priors import log_eppf, log_kappa, log_nonempty, psi
from mixwood.reference.random import Stream
from mixwood.reference.slice import SliceChain
from mixwood.reference.split_merge import SplitMergeChain
from mixwood.reference.tree_sampler import TreeChain

__all__ = [
    "GibbsChain",
    "PaperTreeChain",
    "SliceChain",
    "SplitMergeChain",
    "Stream",
    "TreeChain",
    "family_of",
    "log_eppf",
    "log_kappa",
    "log_nonempty",
    "psi",
]
