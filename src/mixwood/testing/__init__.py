"""The oracles that judge samplers and families; use them to test your own."""

from mixwood.testing.enumeration import ExactPosterior, all_partitions, enumerate_posterior
from mixwood.testing.family_check import FamilyReport, check_family
from mixwood.testing.goodness import FitTest, LongChainTest, goodness_of_fit, long_chain_test
from mixwood.testing.joint import JointTest, base_update_test, joint_distribution_test
from mixwood.testing.seeds import seed_of

__all__ = [
    "ExactPosterior",
    "FamilyReport",
    "FitTest",
    "JointTest",
    "LongChainTest",
    "all_partitions",
    "base_update_test",
    "check_family",
    "enumerate_posterior",
    "goodness_of_fit",
    "joint_distribution_test",
    "long_chain_test",
    "seed_of",
]
