"""Reading data files: one format a file, each suspicious of what it reads.

Nothing is unpickled. Sizes that a file declares are compared with what it holds before memory
is taken for them, and whatever is wrong raises a `ReadError` that names the file.
"""

from mixwood.readers.formats import FORMATS, read
from mixwood.readers.loaded import Loaded, ReadError

__all__ = ["FORMATS", "Loaded", "ReadError", "read"]
