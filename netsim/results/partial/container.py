"""A tree of numbers, texts and arrays as one file: the state of a run.

A first line, the length of a description, the description (JSON, arrays replaced by their type and shape), the bytes of
the arrays, a SHA-256 of all that. Nothing in it is code. A file appears whole or not at all: it is written under
another name, brought to the disk, and renamed.
"""

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

HEAD = b"netsim state 2\n"
LENGTH = 8
"""Bytes of the length of the description."""
DIGEST = 32
"""Bytes of a SHA-256."""
ARRAY = "array"
KINDS = ("float64", "complex128", "int64", "int32", "uint8", "bool")
"""Types of arrays that a file may have."""


def packed(tree: Any) -> bytes:
    """The bytes of a file; raises `TypeError` for what is neither a number, a text, an array, nor a list or dict of
    such."""
    arrays: list[np.ndarray] = []

    def described(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            if str(part.dtype) not in KINDS:
                raise TypeError(f"an array of {part.dtype} cannot be written")
            arrays.append(np.ascontiguousarray(part))
            return {ARRAY: [len(arrays) - 1, str(part.dtype), list(part.shape)]}
        if isinstance(part, dict):
            return {name: described(value) for name, value in part.items()}
        return [described(each) for each in part] if isinstance(part, list | tuple) else part

    text = json.dumps(described(tree)).encode()
    body = b"".join([HEAD, len(text).to_bytes(LENGTH, "little"), text, *(array.tobytes() for array in arrays)])
    return body + sha256(body).digest()


def unpacked(content: bytes) -> Any:
    """The tree in the bytes of a file; raises `ValueError` where they are damaged or something else."""
    body, digest = content[:-DIGEST], content[-DIGEST:]
    if not body.startswith(HEAD):
        raise ValueError("it is no state of a run, or one of another version")
    if sha256(body).digest() != digest:
        raise ValueError("it is damaged: its checksum is wrong")
    begin = len(HEAD) + LENGTH
    end = begin + int.from_bytes(body[len(HEAD) : begin], "little")
    tree, sizes = json.loads(body[begin:end]), dict[int, tuple[str, list[int]]]()

    def look(part: Any) -> None:
        if isinstance(part, dict) and set(part) == {ARRAY}:
            sizes[part[ARRAY][0]] = part[ARRAY][1], part[ARRAY][2]
        else:
            for each in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
                look(each)

    look(tree)
    arrays = []
    for k in range(len(sizes)):
        kind, shape = sizes[k]
        count = int(np.prod(shape, dtype=np.int64))
        arrays.append(np.frombuffer(body, np.dtype(kind), count, end).reshape(shape).copy())
        end += arrays[-1].nbytes

    def filled(part: Any) -> Any:
        if isinstance(part, dict):
            return arrays[part[ARRAY][0]] if set(part) == {ARRAY} else {n: filled(value) for n, value in part.items()}
        return [filled(each) for each in part] if isinstance(part, list) else part

    return filled(tree)


def write_tree(path: Path, tree: Any) -> None:
    """Write or replace a file; raises `OSError` and leaves what was there."""
    temporary = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        with temporary.open("wb") as stream:
            stream.write(packed(tree))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    settle_folder(path.parent)


def read_tree(path: Path) -> Any:
    """The tree of a file; raises `OSError` where there is none, `ValueError` where it is damaged."""
    return unpacked(path.read_bytes())


def settle_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system knows how."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
