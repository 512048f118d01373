# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/awx/logdisk.yml as Ansible reads it."""

import re
from typing import Any

import yaml

from fake_awx.project import ROOT

FILE = ROOT / "playbooks/awx/logdisk.yml"


class _Loader(yaml.SafeLoader):
    """A YAML loader that knows Ansible's tag for text that is not a template."""


class Unsafe(str):
    """Text that Ansible does not treat as a template."""


_Loader.add_constructor("!unsafe", lambda loader, node: Unsafe(loader.construct_scalar(node)))


def load() -> dict[str, Any]:
    """Return the lists of objects in the file. Variables are replaced by the values that the file defines."""
    content = yaml.load(FILE.read_text(), _Loader)
    values = {name: value for name, value in content.items() if name.startswith("logdisk_")}
    return {name: _resolved(value, values) for name, value in content.items() if name not in values}


def _resolved(value: Any, values: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _resolved(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item, values) for item in value]
    if isinstance(value, str) and not isinstance(value, Unsafe) and "{" in value:
        (name,) = re.fullmatch(r"\{\{ (\w+) \}\}", value).groups()
        return values[name]
    return value
