"""Run folders: a posterior on disk, in a format that holds only data.

A run folder has two entries. ``mixwood.json`` says what it is (format and version) and
holds the model, the settings and the statistics of the moves. ``arrays.zarr`` is a Zarr v3
store with the groups ``draws``, ``data`` (unless left out) and, if any, ``arrays``: large
arrays among settings and parameters. There is no pickle anywhere, so a folder from
elsewhere cannot run code; whatever is not as `save` writes it is refused.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import mixwood
from mixwood.array_store import Expected, read_group, read_json, write_group
from mixwood.checks import shown, whole_number
from mixwood.draws import chain_parameter, random_parameters
from mixwood.encoding import ARRAY_TYPES, decode, encode
from mixwood.families import Likelihood
from mixwood.model import Mixture
from mixwood.posterior import Posterior

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from mixwood.families.base import Data

__all__ = ["COMPANIONS", "FORMAT", "FORMAT_VERSION", "check_destination", "load", "save"]

FORMAT = "mixwood run"
FORMAT_VERSION = 1
DESCRIPTION = "mixwood.json"
ARRAYS = "arrays.zarr"
#: What commands keep beside a run, perhaps before it begins: the input, a log, the report.
COMPANIONS = ("input.json", "run.log", "report.html")

#: What a description that is not as `save` writes it can raise while it is taken apart.
_FAULTS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)

#: How many labels are checked at once, which bounds the memory of the check.
_LABELS_AT_ONCE = 2**22


def save(
    posterior: Posterior,
    path: str | os.PathLike[str],
    *,
    include_data: bool = True,
    overwrite: bool = False,
) -> None:
    """Write `posterior` to the folder `path`; see `Posterior.save`.

    All is written to a new folder beside `path`, which then takes its name: a failure
    leaves what was there as it was.
    """
    target = _resolved(path)
    replaced = check_destination(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{uuid.uuid4().hex}.unfinished")
    try:
        unfinished.mkdir()
        _write(posterior, unfinished, include_data)
        if replaced or target.exists():
            _replace(target, unfinished)
        else:
            unfinished.rename(target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def load(path: str | os.PathLike[str]) -> Posterior:
    """Read a posterior that was saved to the folder `path`.

    Parameters
    ----------
    path : str or path
        The folder.

    Returns
    -------
    Posterior

    Raises
    ------
    FileNotFoundError
        If there is nothing at `path`.
    ValueError
        If what is there was not written by mixwood, is damaged, or is of a newer format.
    """
    folder = Path(path).expanduser()
    if not folder.exists():
        raise FileNotFoundError(f"{folder} does not exist")
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file, but a mixwood run is a folder with {DESCRIPTION}")
    if not (folder / DESCRIPTION).is_file():
        raise ValueError(f"{folder} is not a mixwood run: it has no {DESCRIPTION}")
    description = _read_description(folder / DESCRIPTION)
    try:
        return _posterior(folder, description)
    except _FAULTS as error:
        reason = f"no entry {error}" if isinstance(error, KeyError) else str(error)
        if str(folder) in reason:  # it names the file already
            raise ValueError(reason) from error
        raise ValueError(f"{folder / DESCRIPTION} is not valid: {reason}") from error


# --- writing -------------------------------------------------------------------------


def _resolved(path: str | os.PathLike[str]) -> Path:
    """Return where a path leads, links followed: what is renamed is then the folder itself."""
    return Path(os.path.realpath(Path(path).expanduser()))


def check_destination(path: str | os.PathLike[str], overwrite: bool = False) -> bool:
    """Raise FileExistsError unless `save` may write to `path`.

    For callers that run long before they save. Returns whether `save` replaces a run.
    """
    target = _resolved(path)
    if not target.exists():
        return False
    if not target.is_dir():
        raise FileExistsError(f"{target} is a file; give the name of a folder")
    if all(entry.name in COMPANIONS for entry in target.iterdir()):
        return False
    try:
        ours = read_json(target / DESCRIPTION).get("format") == FORMAT
    except ValueError:
        ours = False
    if not ours:
        raise FileExistsError(
            f"{target} holds other files, which are left alone; give a new folder or an empty one"
        )
    if not overwrite:
        raise FileExistsError(
            f"{target} holds a mixwood run already; give another folder, or overwrite=True"
        )
    return True


def _replace(target: Path, finished: Path) -> None:
    """Put `finished` in the place of `target`, keeping files there that are not ours."""
    old = target.with_name(f".{target.name}.{uuid.uuid4().hex}.old")
    try:
        target.rename(old)
        finished.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    for entry in old.iterdir():
        if entry.name not in (DESCRIPTION, ARRAYS):
            entry.rename(target / entry.name)
    shutil.rmtree(old)


def _write(posterior: Posterior, folder: Path, include_data: bool) -> None:
    arrays = folder / ARRAYS
    apart: list[NDArray[Any]] = []
    X = posterior.X if include_data else None
    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "mixwood_version": mixwood.__version__,
        "chains": posterior.n_chains,
        "draws": posterior.n_draws,
        "items": posterior.n_items,
        "columns": encode(posterior.columns, apart, "columns"),
        "model": encode(posterior.model, apart, "model"),
        "resolved": encode(posterior.resolved, apart, "resolved"),
        "settings": encode(posterior.settings, apart, "settings"),
        "stats": encode(posterior.stats, apart, "stats"),
        "data": None if X is None else _data_description(X),
    }
    _write_draws(posterior, arrays)
    if X is not None:
        _write_data(X, arrays)
    if apart:
        write_group(arrays, "arrays", {f"array{k}": _with_axes(a) for k, a in enumerate(apart)})
    description["arrays"] = [{"dtype": a.dtype.name, "shape": list(a.shape)} for a in apart]
    text = json.dumps(description, indent=1, allow_nan=False)
    (folder / DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def _with_axes(array: NDArray[Any]) -> tuple[tuple[str, ...], NDArray[Any]]:
    """Return an array with a name for each axis: its length, as xarray wants one length a name."""
    return tuple(f"axis{i}_{length}" for i, length in enumerate(array.shape)), array


def _write_draws(posterior: Posterior, arrays: Path) -> None:
    axes = ("chain", "draw")
    # Labels dominate the size of a run, and most runs have few clusters.
    smallest = np.min_scalar_type(int(posterior.n_clusters.max()) - 1)
    labels = posterior.labels.astype(smallest if smallest.itemsize < 4 else np.int32)
    scalars = {"log_joint": posterior.log_joint, "log_u": posterior.log_u, **posterior.parameters}
    write_group(
        arrays,
        "draws",
        {"labels": ((*axes, "item"), labels), **{k: (axes, v) for k, v in scalars.items()}},
    )


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


# --- reading -------------------------------------------------------------------------


def _read_description(path: Path) -> dict[str, Any]:
    """Return the description of a run, or raise if it is not ours or too new."""
    description = read_json(path)
    if description.get("format") != FORMAT:
        raise ValueError(
            f"{path} is not the description of a mixwood run: its format is "
            f"{shown(description.get('format'))}, not {FORMAT!r}"
        )
    version = description.get("format_version")
    if type(version) is not int or version < 1:
        raise ValueError(f"{path} has the format version {shown(version)}, which is none")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{path} has format version {version}, written by mixwood "
            f"{shown(description.get('mixwood_version'))}; this mixwood reads versions up to "
            f"{FORMAT_VERSION}: install a newer one"
        )
    return description


def _posterior(folder: Path, description: dict[str, Any]) -> Posterior:
    """Return the posterior in a folder whose description is ours."""
    arrays = folder / ARRAYS
    shape = tuple(
        whole_number(description[axis], axis, at_least=1) for axis in ("chains", "draws", "items")
    )
    apart = _read_apart(arrays, description["arrays"])
    model, resolved, settings, stats = _decoded(description, apart)
    X = _read_data(arrays, description["data"], resolved, shape[2])
    draws = _read_draws(arrays, model, shape)
    labels = draws.pop("labels").astype(np.int32)
    _check_labels(labels, arrays / "draws" / "labels")
    log_joint, log_u = draws.pop("log_joint"), draws.pop("log_u")
    columns = decode(description.get("columns"), apart)
    return Posterior(labels, log_joint, log_u, draws, model, resolved, X, stats, settings, columns)


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


def _decoded(
    description: dict[str, Any], apart: list[NDArray[Any]]
) -> tuple[Mixture, Likelihood, dict[str, Any], list[Any]]:
    """Return model, resolved likelihood, settings and statistics."""
    model, resolved, settings, stats = (
        decode(description[key], apart) for key in ("model", "resolved", "settings", "stats")
    )
    if not isinstance(model, Mixture):
        raise ValueError(f"model must be a Mixture, got {shown(model)}")
    if not isinstance(resolved, Likelihood) or type(resolved) is not type(model.likelihood):
        raise ValueError(f"resolved must be a likelihood like the model's, got {shown(resolved)}")
    if not isinstance(settings, dict) or not isinstance(stats, list):
        raise ValueError("settings must be a dict and stats a list")
    return model, resolved, settings, stats


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


def _read_draws(arrays: Path, model: Mixture, shape: tuple[int, ...]) -> dict[str, NDArray[Any]]:
    parameters = (chain_parameter(name) for name in random_parameters(model.prior))
    expected = {name: Expected(("float64",), shape[:2]) for name in parameters}
    for name in ("log_joint", "log_u"):
        expected[name] = Expected(("float64",), shape[:2])
    expected["labels"] = Expected(("uint8", "uint16", "int32"), shape)
    return read_group(arrays, "draws", expected)


def _check_labels(labels: NDArray[np.int32], place: Path) -> None:
    """Raise unless every draw's labels are 0, 1, 2, ... in order of appearance."""
    chains, draws, items = labels.shape
    step = max(1, _LABELS_AT_ONCE // items)
    for chain in range(chains):
        for start in range(0, draws, step):
            some = labels[chain, start : start + step]
            # The largest label so far; a label is one of those seen, or the next one.
            seen = np.maximum.accumulate(some, axis=1)
            wrong = (some[:, 0] != 0) | (some < 0).any(axis=1)
            wrong |= (some[:, 1:] - 1 > seen[:, :-1]).any(axis=1)
            if wrong.any():
                raise ValueError(
                    f"{place}: chain {chain}, draw {start + int(np.argmax(wrong))} is not numbered "
                    "in order of appearance, 0, 1, 2, ..."
                )
