# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""docs/columns.md explains every column and key that the tester writes, by its whole name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[4]
EXPLAINED = set(re.findall(r'`(\w+)`', (PROJECT / 'docs/columns.md').read_text(encoding='utf-8')))
RECORDED = sorted((PROJECT / 'tests/fixtures/tables/measured').glob('*.csv'))


@pytest.mark.parametrize('table', [path for path in RECORDED if path.name != 'run.csv'], ids=lambda path: path.name)
def test_every_column_is_explained(table):
    header = table.read_text(encoding='utf-8').splitlines()[0].split(',')
    assert [column for column in header if column not in EXPLAINED] == []


def test_every_key_of_a_run_is_explained():
    source = (PROJECT / 'src/output/run_csv.c').read_text(encoding='utf-8')
    keys = set(re.findall(r'(?:tables_run_\w+|put_counter|put_list)\([^"(]*"(\w+)"', source)) | set(re.findall(r'\{"(nfs_\w+)"', source))
    keys |= {line.split(',')[0] for line in (PROJECT / 'tests/fixtures/tables/measured/run.csv').read_text(encoding='utf-8').splitlines()[1:]}
    families = ('option_', 'directory_', 'warning_', 'error_')
    assert len(keys) > 80
    assert sorted(key for key in keys if key not in EXPLAINED and not key.startswith(families)) == []
