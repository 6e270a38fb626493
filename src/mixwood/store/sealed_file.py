"""A header and bytes in one file, with a checksum over all of it.

A magic word, the length of the header, the header (JSON, which has a version), the bytes, and the
checksum, which finds damage.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from mixwood.store.atomic_files import sync_folder, write_bytes

__all__ = ["unsealed", "write_sealed"]

_SUM_SIZE = hashlib.sha256().digest_size


def write_sealed(path: Path, magic: bytes, header: Any, *parts: bytes) -> None:
    """Write the file in one step, and flush it to the disk."""
    text = json.dumps(header, allow_nan=False).encode()
    start = magic + len(text).to_bytes(8, "little") + text
    check = hashlib.sha256(start)
    for part in parts:
        check.update(part)
    write_bytes(path, start, *parts, check.digest())
    sync_folder(path.parent)


def unsealed(content: bytes, magic: bytes, version: int) -> tuple[dict[str, Any], bytes]:
    """Return the header and the bytes, or raise a ValueError that says what is wrong."""
    if not content.startswith(magic):
        raise ValueError("it does not begin like one")
    body, check = content[:-_SUM_SIZE], content[-_SUM_SIZE:]
    if hashlib.sha256(body).digest() != check:
        raise ValueError("its checksum is wrong")
    start = len(magic) + 8
    length = int.from_bytes(body[len(magic) : start], "little")
    if length > len(body) - start:
        raise ValueError("its header is longer than the file")
    header = json.loads(body[start : start + length].decode("utf-8"))
    if not isinstance(header, dict) or type(header.get("version")) is not int:
        raise ValueError("its header has no version")
    if header["version"] != version:
        raise ValueError(
            f"it has version {header['version']}, and this mixwood knows version {version}: "
            "install a newer one"
        )
    return header, body[start + length :]
