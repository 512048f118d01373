# SPDX-License-Identifier: GPL-3.0-or-later
"""What all integration tests share: hosts to run against."""

import os
from collections.abc import Callable, Iterator

import pytest
from testbed import Bed, HostSpec, Settings, reaper
from testbed.settings import default_prefix


@pytest.fixture(scope="session")
def settings() -> Settings:
    if os.geteuid() != 0:
        pytest.fail("the integration tests make network namespaces and mounts: run them as root")
    return Settings(prefix=default_prefix("t"))


@pytest.fixture(scope="session", autouse=True)
def _nothing_left(settings: Settings) -> Iterator[None]:
    """Whatever an earlier run left goes before the first test; that nothing stays is checked after the last."""
    reaper.reap(settings)
    yield
    left = reaper.leftovers(settings)
    reaper.reap(settings)
    assert not left


@pytest.fixture
def start(settings: Settings) -> Iterator[Callable[..., Bed]]:
    """start(HostSpec, ...) or start("name", ...): hosts that end with the test."""
    with Bed(settings) as bed:
        yield lambda *specs: bed.up(HostSpec(spec) if isinstance(spec, str) else spec for spec in specs)
