# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files of one run directory: they are written under temporary names and then renamed, so that many workers can
write at once and a reader never sees half a file."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from .files import SUFFIX, compress, is_compressed, read_either, write_file
from .names import CERTIFICATE, MANIFEST, SIGNATURE, STATEMENT, SUMMARY, VERDICT
from .shapes import check_schema

SCHEMA_VERSION = 1
"""The version of the formats of the JSON files of a run directory. Raise it whenever one of them changes: a run
directory of another version is refused."""

SEAL = "sha256"
"""The key of the SHA-256 of a JSON file's other content."""
MAX_JSON_BYTES = 16 << 20
"""The largest size of a JSON file about one volume."""
MAX_RUN_BYTES = 64 << 20
"""The largest size of a JSON file about the whole run."""
MAX_TABLE_BYTES = 64 << 20


class RunDirectoryError(OSError):
    """A run directory cannot be created, read or written. The message is one sentence with the path."""


class ChangedError(RunDirectoryError):
    """A JSON file of a run is not as it was written."""


class RunFiles:
    """Files and folders by their names relative to the run directory, whose absolute path is ``root``. Which files are
    stored compressed is known only here; it depends on the size of the run.

    JSON files contain the version of their format, and the SHA-256 of their other content, so that a file that was
    edited later is recognized. Only a signature protects a run from somebody who also changes the SHA-256.
    """

    def __init__(self, root: str, of_large_run: bool) -> None:
        self.root = root
        self._of_large_run = of_large_run

    def path(self, *names: str) -> str:
        return os.path.join(self.root, *names)

    def has(self, *names: str) -> bool:
        path = self.path(*names)
        return os.path.lexists(path) or os.path.lexists(path + SUFFIX)

    def write(self, folder: str, name: str, content: bytes) -> None:
        """Write a file into a folder, which is created if needed. Raises OSError."""
        self.make_folder(folder)
        path = self.path(folder, name)
        if is_compressed(name, self._of_large_run):
            write_file(path + SUFFIX, compress(content))
            _remove(path)
        else:
            write_file(path, content)
            _remove(path + SUFFIX)

    def write_json(self, folder: str, name: str, data: Mapping[str, Any]) -> None:
        """Write plain data into a file in a folder, which is created if needed. Raises OSError."""
        self.write(folder, name, encode(with_seal(data)))

    def read_json(self, *names: str, most: int = MAX_JSON_BYTES) -> dict[str, Any]:
        """Return the JSON object in a file. Raises RunDirectoryError, in particular ChangedError."""
        data = read_json(self.path(*names), most)
        seal = data.pop(SEAL, None)
        refuse_other_schema(data, self.path(*names))
        if seal != _seal_of(data):
            raise ChangedError(f"{self.path(*names)} changed since it was written.")
        return {key: value for key, value in data.items() if key != "schema"}

    def remove(self, *names: str) -> None:
        """Remove the files that exist. Raises OSError."""
        for name in names:
            _remove(self.path(name))
            _remove(self.path(name + SUFFIX))

    def outdate(self, folder: str) -> None:
        """Remove everything that was derived from the record in a folder: its certificate, the verdict, the report and
        the signature. Raises OSError."""
        self.remove(VERDICT, SUMMARY, os.path.join(folder, CERTIFICATE))
        self.remove_signature()

    def remove_signature(self) -> None:
        """Remove the signature of the earlier content. Raises OSError."""
        self.remove(SIGNATURE, MANIFEST, STATEMENT)

    def make_folder(self, folder: str) -> None:
        """Create a folder part by part. Raises OSError if a part is a link, or if it is not a directory."""
        path = self.root
        for part in filter(None, folder.split(os.sep)):
            path = os.path.join(path, part)
            try:
                os.mkdir(path)
            except FileExistsError:
                if os.path.islink(path) or not os.path.isdir(path):
                    raise

    def folders_in(self, folder: str) -> list[str]:
        """Return the sorted names of the directories (without links) in a folder; empty if the folder does not exist.
        Raises RunDirectoryError."""
        path = self.path(folder)
        try:
            with os.scandir(path) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise RunDirectoryError(f"{path} cannot be read: {error.strerror or error}.") from None

    @contextlib.contextmanager
    def writing(self, what: str, *names: str) -> Iterator[None]:
        """Turn an OSError of the block into a RunDirectoryError that says what cannot be written, and to which path.
        Without ``names``, this is the path of the run directory."""
        try:
            yield
        except OSError as error:
            raise RunDirectoryError(
                f"{what} cannot be written to {self.path(*names)}: {error.strerror or error}."
            ) from None

    def read(self, what: str, most: int, *names: str) -> bytes | None:
        """Return the content of a file, or None if it does not exist. Raises RunDirectoryError."""
        path = self.path(*names)
        try:
            return read_either(path, most)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunDirectoryError(
                f"{f'{what} ' if what else ''}{path} cannot be read: {error.strerror or error}."
            ) from None


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def encode(data: Mapping[str, Any]) -> bytes:
    """Return plain data as JSON in ASCII."""
    return (json.dumps(_finite(data), indent=1, default=str) + "\n").encode("ascii")


def with_seal(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain data with the version of its format and the SHA-256 of its content. Raises ValueError if the data
    already uses the key of the SHA-256."""
    if SEAL in data:
        raise ValueError(f"the key {SEAL} is reserved for the hash of the content")
    plain = _finite({"schema": SCHEMA_VERSION, **data})
    return {**plain, SEAL: _seal_of(plain)}


def _seal_of(data: Mapping[str, Any]) -> str:
    # Keys need not be sorted, because a file keeps their order; plain data has no cycles to look for.
    text = json.dumps(data, check_circular=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _finite(data: Any) -> Any:
    """Return data with None in place of figures that JSON cannot represent."""
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    if isinstance(data, float) and not -float("inf") < data < float("inf"):
        return None
    return data


def read_json(path: str, most: int) -> dict[str, Any]:
    """Return the JSON object in a file with at most the given number of bytes. Raises RunDirectoryError."""
    try:
        data = json.loads(read_either(path, most), parse_constant=_refuse_constant)
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        raise RunDirectoryError(f"{path} is not valid JSON.") from None
    if not isinstance(data, dict):
        raise RunDirectoryError(f"{path} does not contain an object.")
    return data


def refuse_other_schema(data: Mapping[str, Any], path: str) -> None:
    """Raise RunDirectoryError if the content of a file has another version of its format."""
    check_schema(data, SCHEMA_VERSION, lambda words: RunDirectoryError(f"{path} {words}."))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
