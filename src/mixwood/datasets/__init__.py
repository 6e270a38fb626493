"""Data sets that the package makes or reads."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mixwood._support.types import FloatArray, IntArray

if TYPE_CHECKING:
    import pandas
    from scipy.sparse import csr_array

__all__ = ["nips", "penguins", "tenk", "toy"]

#: Documents, words and nonzero counts of the NIPS corpus.
NIPS_SIZES = (1500, 12419, 746316)


def toy(seed: int = 1) -> tuple[FloatArray, IntArray]:
    """Return 1,300 points in the plane from 13 Gaussian clusters of 100 each, and their clusters.

    The means are at least 3 apart in a square of side 20, the covariances random about
    0.5 times the identity: clearly separated for the eye, with some overlap.

    Parameters
    ----------
    seed : int
        Of the random generator; each seed gives another data set.

    Returns
    -------
    X : array of shape (1300, 2)
    labels : int array of shape (1300,)

    Examples
    --------
    >>> X, labels = toy()
    >>> X.shape, labels.max() + 1
    ((1300, 2), np.int64(13))
    """
    rng = np.random.default_rng(seed)
    clusters, size, d = 13, 100, 2
    means: list[FloatArray] = []
    while len(means) < clusters:
        candidate = rng.uniform(-10, 10, d)
        if all(np.linalg.norm(candidate - other) > 3 for other in means):
            means.append(candidate)
    rows = []
    for mean in means:
        wishart = rng.standard_normal((d + 6, d))
        covariance = 2.5 * np.linalg.inv(wishart.T @ wishart)
        rows.append(rng.multivariate_normal(mean, covariance, size))
    order = rng.permutation(clusters * size)
    labels = np.repeat(np.arange(clusters), size)
    return np.concatenate(rows)[order], labels[order]


def penguins() -> pandas.DataFrame:
    """Return a table of 344 penguins of three species, as it was taken down in the field.

    Adult penguins on three islands near Palmer Station, Antarctica, 2007 to 2009: length and
    depth of the bill, length of a flipper, body mass, and sex. Two penguins were not measured,
    and the sex of eleven is not known.

    Returns
    -------
    pandas.DataFrame
        The columns ``species``, ``island``, ``bill_length_mm``, ``bill_depth_mm``,
        ``flipper_length_mm``, ``body_mass_g``, ``sex``.

    Notes
    -----
    Collected by Kristen Gorman and the Palmer Station Long Term Ecological Research program, who
    have dedicated the data to the public domain (CC0); known in this form from the R package
    palmerpenguins. See Gorman, Williams and Fraser (2014), Ecological sexual dimorphism and
    environmental variability within a community of Antarctic penguins (genus Pygoscelis),
    PLoS ONE 9(3): e90081.

    Examples
    --------
    >>> table = penguins()
    >>> table.shape
    (344, 7)
    >>> table["species"].value_counts().to_dict()
    {'Adelie': 152, 'Gentoo': 124, 'Chinstrap': 68}
    """
    import pandas as pd

    file = files("mixwood.datasets") / "penguins.csv"
    with file.open(encoding="utf-8") as text:
        return pd.read_csv(text)


def tenk(seed: int = 1) -> tuple[FloatArray, IntArray]:
    """Return 10,000 points in six dimensions with labels from PY(3, 0.8), and these labels.

    Most clusters are tiny, a few are large. Each is Gaussian, its mean and covariance drawn
    from ``Gaussian(r=0.1, nu=12, mean=0, scale=I)``: means about three standard deviations
    from the origin in each direction, so that there is much overlap.

    Parameters
    ----------
    seed : int
        Of the random generator; each seed gives another data set.

    Returns
    -------
    X : array of shape (10000, 6)
    labels : int array of shape (10000,)

    Examples
    --------
    >>> X, labels = tenk()
    >>> X.shape, labels.max() > 1000
    ((10000, 6), np.True_)
    """
    from mixwood.likelihoods import Gaussian
    from mixwood.model import Mixture
    from mixwood.priors import PitmanYor
    from mixwood.simulation import simulate

    likelihood = Gaussian(r=0.1, nu=12, mean=np.zeros(6), scale=np.eye(6))
    X, labels = simulate(Mixture(likelihood, PitmanYor(3.0, 0.8)), 10_000, seed)
    return np.asarray(X), labels


def nips(path: str | os.PathLike[str] | None = None) -> tuple[csr_array, list[str]]:
    """Return the word counts of the NIPS corpus, 1,500 papers by 12,419 words, and the words.

    Parameters
    ----------
    path : path, optional
        The folder with ``docword.nips.txt`` (or ``.gz``) and ``vocab.nips.txt``; by
        default ``nips`` in the folder that the variable ``MIXWOOD_DATA`` names.

    Returns
    -------
    X : csr_array of shape (1500, 12419)
    words : list of str

    Notes
    -----
    The corpus is not part of the package. It is the set "Bag of Words" of the UCI
    Machine Learning Repository.
    """
    from mixwood.readers import ReadError, read

    folder = _data_folder(path, "nips")
    opened = folder / "docword.nips.txt.gz"
    opened = opened if opened.exists() else folder / "docword.nips.txt"
    vocabulary = folder / "vocab.nips.txt"
    for file in (opened, vocabulary):
        if not file.exists():
            raise FileNotFoundError(
                f"{file} is missing; get docword.nips.txt.gz and vocab.nips.txt of the set "
                "'Bag of Words' from the UCI Machine Learning Repository"
            )
    corpus = read(str(opened), "docword", words=str(vocabulary))
    sizes = (*corpus.values.shape, corpus.values.nnz)
    if sizes != NIPS_SIZES:
        raise ReadError(f"{opened} must have the sizes {NIPS_SIZES}, it says {sizes}")
    assert corpus.words is not None
    return corpus.values, list(corpus.words)


def _data_folder(path: str | os.PathLike[str] | None, name: str) -> Path:
    """Return the folder given, or the one that the environment names, or say what is missing."""
    if path is not None:
        return Path(path)
    root = os.environ.get("MIXWOOD_DATA")
    if not root:
        raise FileNotFoundError(
            f"give path, the folder of the {name} files, or set the variable MIXWOOD_DATA to "
            f"the folder that holds {name}/"
        )
    return Path(root) / name
