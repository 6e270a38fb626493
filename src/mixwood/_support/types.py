"""The names of the array types that everything here speaks of."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Data", "FloatArray", "IntArray", "Sizes"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
#: Rows as the core reads them, dense or sparse.
Data: TypeAlias = "FloatArray | csr_array"
#: How many rows items stand for: whole numbers, unless one of them is not.
Sizes: TypeAlias = "IntArray | FloatArray"
