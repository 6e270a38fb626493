"""Bayesian hierarchical clustering: trees, `Hierarchy`, streams into weighted leaves."""
