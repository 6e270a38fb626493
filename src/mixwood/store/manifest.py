"""`mixwood.json`, what a run is, and the data beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mixwood
from mixwood._support.checks import shown, whole_number
from mixwood._support.types import Data
from mixwood.likelihoods import Likelihood
from mixwood.likelihoods.weighted_leaves import Leaves
from mixwood.model import Mixture
from mixwood.samplers import Sampler, as_sampler
from mixwood.sampling.sample import MOST_CHAINS
from mixwood.store.atomic_files import read_json, write_json
from mixwood.store.folders import ARRAYS, DESCRIPTION, FORMAT
from mixwood.store.json_codec import ARRAY_TYPES, decode, encode
from mixwood.store.zarr_array import Expected, read_group, write_group

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["FAULTS", "Description", "Plan", "change_draws", "read_description", "write_description"]

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


@dataclass(frozen=True)
class Plan:
    """How the chains of a run are made: what resuming it needs beside model and data."""

    sampler: Sampler
    init: Any
    seed: np.random.SeedSequence
    warmup: int
    thin: int

    def __post_init__(self) -> None:
        as_sampler(self.sampler)
        if not isinstance(self.seed, np.random.SeedSequence):
            raise TypeError(f"seed must be a SeedSequence, got {shown(self.seed)}")
        whole_number(self.warmup, "warmup", at_least=0)
        whole_number(self.thin, "thin", at_least=1)


@dataclass(frozen=True)
class Description:
    """What a run is; `plan` is None for one that cannot be resumed, `draws` what was asked for."""

    chains: int
    draws: int
    items: int
    columns: tuple[str, ...] | None
    model: Mixture
    resolved: Likelihood
    settings: dict[str, Any]
    stats: list[Any]
    X: Data | None
    plan: Plan | None = None


def write_description(folder: Path, about: Description) -> None:
    """Write the description, the data and the large arrays among the rest."""
    arrays = folder / ARRAYS
    apart: list[NDArray[Any]] = []
    values = {key: getattr(about, key) for key in ("model", "resolved", "settings", "stats")}
    content = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "mixwood_version": mixwood.__version__,
        "chains": about.chains,
        "draws": about.draws,
        "items": about.items,
        "columns": encode(about.columns, apart, "columns"),
        **{key: encode(value, apart, key) for key, value in values.items()},
        "plan": None if about.plan is None else encode(vars(about.plan), apart, "plan"),
        "data": None if about.X is None else _data_description(about.X),
    }
    if about.X is not None:
        _write_data(about.X, arrays)
    if apart:
        write_group(arrays, "arrays", {f"array{k}": _with_axes(a) for k, a in enumerate(apart)})
    content["arrays"] = [{"dtype": a.dtype.name, "shape": list(a.shape)} for a in apart]
    write_json(folder / DESCRIPTION, content)


def change_draws(folder: Path, draws: int) -> None:
    """Say that so many draws are asked for."""
    content = read_json(folder / DESCRIPTION)
    content["draws"] = content["settings"]["draws"] = draws
    write_json(folder / DESCRIPTION, content)


def _with_axes(array: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return an array with a name for each axis: its length, as xarray wants one length a name."""
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


def read_description(folder: Path) -> Description:
    """Return what a run is, with its data, or raise a ValueError that names the file."""
    path = folder / DESCRIPTION
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
        raise ValueError(f"{path} has the format version {shown(version)}, which is none")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}, written by mixwood "
            f"{shown(content.get('mixwood_version'))}; this mixwood reads versions up to "
            f"{FORMAT_VERSION}: install a newer one"
        )
    return content


def _decoded(folder: Path, content: dict[str, Any]) -> Description:
    arrays = folder / ARRAYS
    chains, draws, items = (
        whole_number(content[axis], axis, at_least=1) for axis in ("chains", "draws", "items")
    )
    if chains > MOST_CHAINS:
        raise ValueError(f"chains must be at most {MOST_CHAINS}, got {chains}")
    apart = _read_apart(arrays, content["arrays"])
    model, resolved, settings, stats, columns = (
        decode(content[key], apart) for key in ("model", "resolved", "settings", "stats", "columns")
    )
    if not isinstance(model, Mixture):
        raise ValueError(f"model must be a Mixture, got {shown(model)}")
    of_rows = resolved.of if isinstance(resolved, Leaves) else resolved
    if not isinstance(of_rows, Likelihood) or type(of_rows) is not type(model.likelihood):
        raise ValueError(f"resolved must be a likelihood like the model's, got {shown(resolved)}")
    if not isinstance(settings, dict) or not isinstance(stats, list):
        raise ValueError("settings must be a dict and stats a list")
    X = _read_data(arrays, content["data"], resolved, items)
    plan = None if content["plan"] is None else Plan(**decode(content["plan"], apart))
    return Description(chains, draws, items, columns, model, resolved, settings, stats, X, plan)


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


def _read_data(arrays: Path, described: Any, resolved: Likelihood, items: int) -> Data | None:
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
    return resolved.check(X, name=str(arrays / "data"))


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
