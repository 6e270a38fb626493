"""`Posterior.save`: a run folder without the states of the chains."""

from __future__ import annotations

import os

from mixwood.posterior.posterior import Posterior
from mixwood.run_spec import draw_vectors
from mixwood.store.draw_store import DrawArrays
from mixwood.store.folders import ARRAYS, new_run
from mixwood.store.kept_estimates import write_estimates
from mixwood.store.manifest import Manifest, write_manifest

__all__ = ["save"]


def save(
    posterior: Posterior,
    path: str | os.PathLike[str],
    *,
    include_data: bool = True,
    overwrite: bool = False,
) -> None:
    """Write `posterior` to the folder `path`; see `Posterior.save`."""
    manifest = Manifest.of_posterior(posterior, include_data=include_data)
    shape = (posterior.n_chains, posterior.n_draws, posterior.n_items)
    scalars = {"log_joint": posterior.log_joint, "log_u": posterior.log_u, **posterior.parameters}
    vectors = draw_vectors(posterior.model, posterior.resolved, manifest.data, posterior.groups)
    rows = {
        "base": posterior.bases, "latent": posterior.latents, "groups": posterior.group_values
    }  # fmt: skip
    scalars |= {name: values for name in vectors if (values := rows[name]) is not None}
    with new_run(path, overwrite) as folder:
        # Labels dominate the size of a run, and most runs have few clusters.
        clusters = int(posterior.n_clusters.max())
        prior = posterior.model.prior
        arrays = DrawArrays.create(folder / ARRAYS, prior, vectors, shape, clusters)
        arrays.write(posterior.labels, scalars)
        if posterior.found_estimates:
            write_estimates(posterior, folder, posterior.found_estimates)
        write_manifest(folder, manifest)
