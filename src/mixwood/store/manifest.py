"""`mixwood.json`, what a run is, and the data next to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

import mixwood
from mixwood._support.checks import shown, whole_number
from mixwood._support.types import Data, IntArray
from mixwood.core import MoveStatistics
from mixwood.input.groups import Groups
from mixwood.likelihoods import Likelihood
from mixwood.likelihoods.known_labels import checked_known
from mixwood.likelihoods.weighted_leaves import WeightedLeaves
from mixwood.model import Mixture
from mixwood.posterior.draws import Draws
from mixwood.run_spec import MOST_CHAINS, RunInformation, RunSpec, draw_vectors
from mixwood.samplers import Sampler
from mixwood.store.atomic_files import read_json, write_json
from mixwood.store.draw_store import DrawArrays
from mixwood.store.folders import ARRAYS, FORMAT, MANIFEST
from mixwood.store.json_codec import ARRAY_TYPES, decode, encode
from mixwood.store.leaf_format import as_matrix, as_wrapped, from_matrix, unwrapped
from mixwood.store.zarr_array import Expected, read_group, write_group

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = [
    "FAULTS",
    "Manifest",
    "change_draws",
    "check_resumable",
    "read_manifest",
    "write_manifest",
]

FORMAT_VERSION = 1

#: What a description that is not as we write it can raise while it is taken apart.
FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)


class Plan(TypedDict):
    """What a run that can be resumed has besides what a saved posterior has too."""

    sampler: Sampler
    init: Any
    seed: np.random.SeedSequence
    warmup: int
    thin: int
    ways: tuple[tuple[bool, int, int], ...]


#: What they have in common, by its name in `RunSpec`.
SHARED = ("chains", "draws", "items", "names", "model", "resolved", "data", "known", "groups")

#: The parts of groups, those of leaves last.
GROUP_ARRAYS = ("codes", "counts", "ends")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What `mixwood.json` says: a `RunSpec` encoded, or what is left of one in a saved posterior.

    `plan` is None for a posterior that was saved; `draws` is how many were asked for; `of_leaves`
    tells whether the items are weighted leaves, also where there are no data.
    """

    chains: int
    draws: int
    items: int
    names: tuple[str, ...] | None
    model: Mixture
    resolved: Likelihood
    data: Data | WeightedLeaves | None
    known: IntArray | None = None
    groups: Groups | None = None
    of_leaves: bool
    settings: RunInformation
    stats: list[dict[str, MoveStatistics]]
    plan: Plan | None

    @classmethod
    def of_run(cls, spec: RunSpec, settings: RunInformation) -> Manifest:
        """Return that of a run about to begin."""
        return cls(
            **{key: getattr(spec, key) for key in SHARED},
            of_leaves=isinstance(spec.data, WeightedLeaves),
            settings=settings,
            stats=[],
            plan=Plan(
                sampler=spec.sampler,
                init=spec.init,
                seed=spec.seed,
                warmup=spec.warmup,
                thin=spec.thin,
                ways=spec.ways,
            ),
        )

    @classmethod
    def of_posterior(cls, draws: Draws, *, include_data: bool) -> Manifest:
        """Return that of a posterior to be saved."""
        return cls(
            chains=draws.n_chains,
            draws=draws.n_draws,
            items=draws.n_items,
            names=draws.columns,
            model=draws.model,
            resolved=draws.resolved,
            data=draws.X if include_data else None,
            known=draws.known,
            groups=draws.groups,
            of_leaves=draws.of_leaves,
            settings=draws.settings,
            stats=draws.stats,
            plan=None,
        )

    def spec(self) -> RunSpec:
        """Return what the run is, if it is one that can be resumed."""
        if self.plan is None or self.data is None:
            raise ValueError(
                "it is a posterior that was saved, without the states of its chains. "
                "mixwood.sample(..., store=path) writes runs that can be resumed"
            )
        fields = {key: getattr(self, key) for key in SHARED if key != "items"}
        return RunSpec(**fields, **self.plan)

    def open_draws(self, folder: Path) -> DrawArrays:
        """Return the arrays of the draws in the run's folder."""
        vectors = draw_vectors(self.model, self.resolved, self.data, self.groups)
        shape = self.chains, self.items
        return DrawArrays.open(folder / ARRAYS, self.model.prior, vectors, *shape)

    def with_draws(self, draws: int) -> Manifest:
        """Return the same with another number of draws asked for."""
        return replace(self, draws=draws, settings={**self.settings, "draws": draws})


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, the data and the large arrays among the rest."""
    arrays = folder / ARRAYS
    apart: list[NDArray[Any]] = []
    values = {key: getattr(manifest, key) for key in ("model", "resolved", "settings", "stats")}
    X = as_matrix(manifest.data) if isinstance(manifest.data, WeightedLeaves) else manifest.data
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "mixwood_version": mixwood.__version__,
        "chains": manifest.chains,
        "draws": manifest.draws,
        "items": manifest.items,
        "columns": encode(manifest.names, apart, "columns"),
        "known": encode(manifest.known, apart, "known"),
        "groups": _encoded_groups(manifest.groups, apart),
        **{key: encode(value, apart, key) for key, value in values.items()},
        "plan": None if manifest.plan is None else encode(manifest.plan, apart, "plan"),
        "data": None if X is None else _data_description(X),
    }
    if manifest.of_leaves:
        content["resolved"] = as_wrapped(content["resolved"])
    if X is not None:
        _write_data(X, arrays)
    if apart:
        write_group(arrays, "arrays", {f"array{k}": _with_axes(a) for k, a in enumerate(apart)})
    content["arrays"] = [{"dtype": a.dtype.name, "shape": list(a.shape)} for a in apart]
    write_json(folder / MANIFEST, content)


def change_draws(folder: Path, draws: int) -> None:
    """Say that this many draws are asked for."""
    content = read_json(folder / MANIFEST)
    content["draws"] = content["settings"]["draws"] = draws
    write_json(folder / MANIFEST, content)


def check_resumable(folder: Path) -> None:
    """Raise a ValueError that names the folder if it holds no run that can be resumed."""
    if _ours(folder / MANIFEST).get("plan") is None:
        raise ValueError(
            f"{folder} cannot be resumed: it is a posterior that was saved, without the states "
            "of its chains. mixwood.sample(..., store=path) writes runs that can be"
        )


def _with_axes(array: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return an array with a name for each axis: its length, since xarray wants one per name."""
    return tuple(f"axis{i}_{length}" for i, length in enumerate(array.shape)), array


def _data_description(X: Data) -> dict[str, Any]:
    if isinstance(X, np.ndarray):
        return {"kind": "dense", "columns": int(X.shape[1])}
    return {"kind": "csr", "columns": int(X.shape[1]), "entries": int(X.nnz)}


def _write_data(X: Data, arrays: Path) -> None:
    if isinstance(X, np.ndarray):
        write_group(arrays, "data", {"X": (("item", "column"), X)})
        return
    parts = {
        "entries": (("entry",), X.data),
        "columns": (("entry",), X.indices.astype(np.int64)),
        "starts": (("start",), X.indptr.astype(np.int64)),
    }
    write_group(arrays, "data", parts)


def read_manifest(folder: Path) -> Manifest:
    """Return what a run is, with its data, or raise a ValueError that names the file."""
    path = folder / MANIFEST
    content = _ours(path)
    try:
        return _decoded(folder, content)
    except FAULTS as error:
        reason = f"no entry {error}" if isinstance(error, KeyError) else str(error)
        if str(folder) in reason:  # it names the file already
            raise ValueError(reason) from error
        raise ValueError(f"{path} is not valid: {reason}") from error


def _ours(path: Path) -> dict[str, Any]:
    """Return the description as it is written, or raise if it is not ours or too new."""
    content = read_json(path)
    if content.get("format") != FORMAT:
        raise ValueError(
            f"{path} is not the description of a mixwood run: its format is "
            f"{shown(content.get('format'))}, not {FORMAT!r}"
        )
    version = content.get("format_version")
    if type(version) is not int or version < 1:
        raise ValueError(
            f"{path} must have a format version of 1 or more, a whole number, got {shown(version)}"
        )
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}, written by mixwood "
            f"{shown(content.get('mixwood_version'))}; this mixwood reads versions up to "
            f"{FORMAT_VERSION}: install a newer one"
        )
    return content


def _decoded(folder: Path, content: dict[str, Any]) -> Manifest:
    arrays = folder / ARRAYS
    chains, draws, items = (
        whole_number(content[axis], axis, at_least=1) for axis in ("chains", "draws", "items")
    )
    if chains > MOST_CHAINS:
        raise ValueError(f"chains must be at most {MOST_CHAINS}, got {chains}")
    apart = _read_apart(arrays, content["arrays"])
    model, settings, stats, columns = (
        decode(content[key], apart) for key in ("model", "settings", "stats", "columns")
    )
    known = _checked_known(decode(content.get("known"), apart), items)
    groups = _checked_groups(decode(content.get("groups"), apart), items)
    of_rows, of_leaves = unwrapped(content["resolved"])
    resolved = decode(of_rows, apart)
    if not isinstance(model, Mixture):
        raise ValueError(f"model must be a Mixture, got {shown(model)}")
    if not isinstance(resolved, Likelihood) or not model.likelihood.stands_for(resolved):
        raise ValueError(f"resolved must be a likelihood like the model's, got {shown(resolved)}")
    if not isinstance(settings, dict) or not isinstance(stats, list):
        raise ValueError("settings must be a dict and stats a list")
    X = _read_data(arrays, content["data"], resolved, items, of_leaves)
    plan = None if content["plan"] is None else decode(content["plan"], apart)
    wanted = Plan.__annotations__
    if isinstance(plan, dict):
        plan.setdefault("ways", ())  # which folders of earlier versions lack
    if plan is not None and (not isinstance(plan, dict) or set(plan) != set(wanted)):
        raise ValueError(f"plan must have the entries {', '.join(wanted)}")
    manifest = Manifest(
        chains=chains,
        draws=draws,
        items=items,
        names=columns,
        model=model,
        resolved=resolved,
        data=X,
        known=known,
        groups=groups,
        of_leaves=of_leaves,
        settings=settings,  # type: ignore[arg-type]
        stats=stats,
        plan=None if plan is None else Plan(**plan),  # type: ignore[typeddict-item]
    )
    if plan is not None:
        manifest.spec()  # or it says what is wrong
    return manifest


def _encoded_groups(groups: Groups | None, apart: list[NDArray[Any]]) -> Any:
    if groups is None:
        return None
    parts = {name: getattr(groups, name) for name in GROUP_ARRAYS}
    given = {name: values for name, values in parts.items() if values is not None}
    return encode({"names": list(groups.names), **given}, apart, "groups")


def _checked_groups(groups: Any, items: int) -> Groups | None:
    """Return the groups of a description; most runs have none, most groups are of rows."""
    if groups is None:
        return None
    whole = isinstance(groups, dict) and {"names", "codes"} <= set(groups)
    if not whole or not set(groups) <= {"names", *GROUP_ARRAYS}:
        raise ValueError(f"groups must have names and codes, got {shown(groups)}")
    found = Groups(tuple(groups.pop("names")), **groups)
    if found.n_items != items:
        raise ValueError(f"groups must be of {items} items, got {found.n_items}")
    return found


def _checked_known(known: Any, items: int) -> IntArray | None:
    """Return the known labels of a description; folders from before there were any have none."""
    return None if known is None else checked_known(known, items)


def _read_apart(arrays: Path, described: list[dict[str, Any]]) -> list[NDArray[Any]]:
    """Return the large arrays that settings and parameters refer to."""
    expected = {
        f"array{k}": Expected((one["dtype"],), tuple(one["shape"]))
        for k, one in enumerate(described)
        if one["dtype"] in ARRAY_TYPES
    }
    if len(expected) < len(described):
        raise ValueError(f"arrays must be of the types {', '.join(ARRAY_TYPES)}")
    return list(read_group(arrays, "arrays", expected).values()) if expected else []


def _read_data(
    arrays: Path, described: Any, resolved: Likelihood, items: int, of_leaves: bool
) -> Data | WeightedLeaves | None:
    """Return the data, checked by the likelihood as if a user had given them."""
    if described is None:
        return None
    columns = whole_number(described["columns"], "columns", at_least=1)
    X: Any
    if described["kind"] == "dense":
        X = read_group(arrays, "data", {"X": Expected(("float64",), (items, columns))})["X"]
    elif described["kind"] == "csr":
        entries = whole_number(described["entries"], "entries", at_least=0)
        X = _read_counts(arrays, (items, columns), entries)
    else:
        raise ValueError(f"data must be dense or csr, got {shown(described['kind'])}")
    name = str(arrays / "data")
    return from_matrix(X, resolved, name) if of_leaves else resolved.check(X, name=name)


def _read_counts(arrays: Path, shape: tuple[int, int], entries: int) -> csr_array:
    from scipy.sparse import csr_array

    expected = {
        "entries": Expected(("float64",), (entries,)),
        "columns": Expected(("int64",), (entries,)),
        "starts": Expected(("int64",), (shape[0] + 1,)),
    }
    parts = read_group(arrays, "data", expected)
    try:
        return csr_array((parts["entries"], parts["columns"], parts["starts"]), shape=shape)
    except ValueError as error:
        raise ValueError(f"{arrays / 'data'} does not hold a sparse matrix: {error}") from error
