#!/usr/bin/env python3
"""Prints which of Orbax's manager options and methods checkpoint::Manager has, from strata/checkpoint/manager/names/options.tsv.

    tools/orbax_options.py      a table for docs/checkpoints.md; manager_test.cc checks each name and each test that it cites
"""
import collections
import pathlib

rows = [line.split("\t") for line in (pathlib.Path(__file__).resolve().parents[1] / "strata/checkpoint/manager/names/options.tsv").read_text().splitlines()[1:]]
counts = collections.Counter(state for _, state, _, _ in rows)
print(", ".join(f"{n} {state}" for state, n in counts.most_common()) + ".\n")
print("| Orbax | here | how | test |\n|---|---|---|---|")
for name, state, how, test in rows:
    print(f"| `{name}` | {state} | {how} | {'' if test == '-' else f'`{test}`'} |")
