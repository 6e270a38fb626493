"""Python values as JSON and back, exactly, and without running anything that a file names.

Plain values are themselves. What JSON has no word for is an object with the key
``"$type"``: tuples, non-finite floats, arrays, seed sequences, and the small classes of
mixwood by name and parameters. Names are looked up in a fixed table, never imported.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mixwood._support.checks import shown
from mixwood.likelihoods import LIKELIHOODS
from mixwood.priors import PRIORS
from mixwood.samplers import SAMPLERS

__all__ = ["ARRAY_TYPES", "decode", "encode"]

#: An array becomes a list in the JSON up to this many entries, and is stored apart beyond.
LARGEST_LIST = 256

#: The types that an array in a file may have.
ARRAY_TYPES = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    "float32",
    "float64",
)

#: The classes that a file may name, by the module of mixwood that they are in.
CLASSES = {
    "hyper": ("Beta", "Gamma", "LogNormal"),
    "priors": tuple(prior.__name__ for prior in PRIORS),
    "likelihoods": tuple(kind.__name__ for kind in LIKELIHOODS),
    "likelihoods.auto_gaussian": ("AutoGaussian",),
    "likelihoods.learned": ("KeptColumns", "LearnedScale", "TiedRate"),
    "likelihoods.table_layout": ("TableLayout",),
    "model": ("Mixture",),
    "samplers": tuple(kind.__name__ for kind in SAMPLERS),
}

#: Large arrays, stored apart from the JSON, which refers to them by their place here.
Apart: TypeAlias = list[NDArray[Any]]


def _class_named(name: str) -> Any:
    """Return a class of the table, or None."""
    for module, names in CLASSES.items():
        if name in names:
            return getattr(importlib.import_module(f"mixwood.{module}"), name)
    return None


def encode(value: Any, apart: Apart, where: str = "value") -> Any:
    """Return `value` in terms that `json.dump` writes and `decode` reads back.

    Parameters
    ----------
    value : object
        Plain values, nested in lists, tuples and dicts; numpy scalars and arrays; seed
        sequences; likelihoods, priors, samplers.
    apart : list of arrays
        Where large arrays go.
    where : str
        What `value` is, for the message if it cannot be written.

    Examples
    --------
    >>> encode({"beta": (1, float("inf"))}, apart=[])
    {'beta': {'$type': 'tuple', 'items': [1, {'$type': 'float', 'value': 'inf'}]}}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$type": "float", "value": repr(value)}
    if isinstance(value, (list, tuple)):
        items = [encode(v, apart, f"{where}[{i}]") for i, v in enumerate(value)]
        return items if isinstance(value, list) else {"$type": "tuple", "items": items}
    if isinstance(value, Mapping):
        return _encode_mapping(value, apart, where)
    if isinstance(value, np.ndarray):
        return _encode_array(value, apart, where)
    if isinstance(value, np.random.SeedSequence):
        state = encode(dict(value.state), apart, where)
        return {"$type": "SeedSequence", "state": state}
    if is_dataclass(value) and type(value) is _class_named(type(value).__name__):
        parameters = {f.name: getattr(value, f.name) for f in fields(value)}
        return {
            "$type": type(value).__name__,
            "parameters": _encode_mapping(parameters, apart, where),
        }
    raise TypeError(
        f"{where} cannot be saved: {shown(value)} is not a plain value, an array, or one of "
        "mixwood's own likelihoods, priors and samplers (a family of yours is made of functions, "
        "for which a file that holds only data has no place)"
    )


def _encode_mapping(value: Mapping[Any, Any], apart: Apart, where: str) -> Any:
    pairs = [(k, encode(v, apart, f"{where}.{k}")) for k, v in value.items()]
    if all(type(k) is str for k in value) and "$type" not in value:
        return dict(pairs)
    # JSON's keys are strings; and a user's own "$type" must not be taken for ours.
    return {"$type": "dict", "pairs": [[encode(k, apart, f"{where} key"), v] for k, v in pairs]}


def _stored_type(dtype: str) -> str:
    """Return as what an array is stored apart; xarray's versions differ over bool."""
    return "uint8" if dtype == "bool" else dtype


def _encode_array(array: NDArray[Any], apart: Apart, where: str) -> dict[str, Any]:
    if array.dtype.name not in ARRAY_TYPES:
        raise TypeError(f"{where} cannot be saved: arrays of {array.dtype} have no place in a file")
    described = {"$type": "array", "dtype": array.dtype.name, "shape": list(array.shape)}
    if array.size > LARGEST_LIST:
        apart.append(array.astype(_stored_type(array.dtype.name), copy=False))
        return {**described, "stored": len(apart) - 1}
    return {**described, "values": encode(array.ravel().tolist(), apart, where)}


def decode(value: Any, apart: Apart) -> Any:
    """Return what `encode` was given, from what `json.load` gives back.

    Parameters
    ----------
    value : object
        Of lists, dicts and plain values.
    apart : list of arrays
        What `encode` put there.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        If `encode` does not write such a thing, or a class refuses its parameters.

    Examples
    --------
    >>> decode({"$type": "Gamma", "parameters": {"shape": 2, "rate": 1}}, apart=[])
    Gamma(shape=2.0, rate=1.0)
    """
    if isinstance(value, list):
        return [decode(v, apart) for v in value]
    if not isinstance(value, dict):
        return value
    if "$type" not in value:
        return {k: decode(v, apart) for k, v in value.items()}
    kind = value["$type"]
    if kind == "float":
        return float(_entry(value, "value", str))
    if kind == "tuple":
        return tuple(decode(v, apart) for v in _entry(value, "items", list))
    if kind == "dict":
        return {decode(k, apart): decode(v, apart) for k, v in _entry(value, "pairs", list)}
    if kind == "array":
        return _decode_array(value, apart)
    if kind == "SeedSequence":
        return _decode_seed(decode(_entry(value, "state", dict), apart))
    made = _class_named(kind) if isinstance(kind, str) else None
    if made is None:
        raise ValueError(f"{shown(kind)} is not a type that mixwood writes")
    parameters = decode(_entry(value, "parameters", dict), apart)
    return made(**{**getattr(made, "absent_means", {}), **parameters})


def _decode_seed(state: dict[str, Any]) -> np.random.SeedSequence:
    if state.get("pool_size") not in range(4, 65):  # its cost is quadratic: a file could stall us
        raise ValueError(f"a seed sequence with a pool of {shown(state.get('pool_size'))} words")
    return np.random.SeedSequence(**state)


def _entry(value: dict[str, Any], key: str, kind: type) -> Any:
    if not isinstance(value.get(key), kind):
        raise ValueError(f"a {shown(value['$type'])} without its {key}")
    return value[key]


def _decode_array(value: dict[str, Any], apart: Apart) -> NDArray[Any]:
    dtype, shape = _entry(value, "dtype", str), tuple(_entry(value, "shape", list))
    if dtype not in ARRAY_TYPES:
        raise ValueError(f"{shown(dtype)} is not a type of array that mixwood writes")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"{shown(shape)} is not a shape of an array")
    if "stored" in value:
        place = _entry(value, "stored", int)
        if not 0 <= place < len(apart):
            raise ValueError(f"an array that refers to number {place} of {len(apart)} stored ones")
        stored = apart[place]
        if stored.dtype.name != _stored_type(dtype) or stored.shape != shape:
            raise ValueError(f"an array of shape {shape} that refers to one of {stored.shape}")
        return np.asarray(stored, dtype=dtype)
    values = decode(_entry(value, "values", list), apart)
    if len(values) != math.prod(shape):
        raise ValueError(f"an array of shape {shape} with {len(values)} values")
    array: NDArray[Any] = np.array(values, dtype=dtype)
    return array.reshape(shape)
