"""Pictures of a posterior, one per file. Nothing is shown by itself: axes are returned."""

from mixwood.plots.clusters import plot_clusters
from mixwood.plots.dendrogram import plot_dendrogram
from mixwood.plots.fit import plot_fit
from mixwood.plots.groups import plot_groups
from mixwood.plots.n_clusters import plot_n_clusters
from mixwood.plots.overview import overview
from mixwood.plots.profile import plot_profile
from mixwood.plots.similarity import plot_similarity
from mixwood.plots.trace import plot_trace

__all__ = [
    "overview",
    "plot_clusters",
    "plot_dendrogram",
    "plot_fit",
    "plot_groups",
    "plot_n_clusters",
    "plot_profile",
    "plot_similarity",
    "plot_trace",
]
