#!/usr/bin/env python3
"""Writes strata/data/pipeline/testdata/elastic.json: Grain 0.2.18's ElasticIterator and interleaves whose shards were dealt anew.

    python -m venv V && V/bin/pip install grain==0.2.18
    V/bin/python tools/goldens/grain_elastic.py

"elastic": range(n).shuffle(seed) on several numbers of shards and workers, one after the other, each going on from the first state of the one before:
rows of every shard and the state behind them (at the end the first shards may have a batch more). "dealt": interleaves behind set_shard_states, with future_states: the state, the elements behind it
and the state before each. Nothing is random. Manifest: grain 0.2.18, numpy as installed with it.
"""
import json
import multiprocessing
import pathlib

import grain
from grain.experimental import ElasticIterator, InterleaveIterDataset

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/data/pipeline/testdata/elastic.json"


def elastic(n, seed, batch, runs):
    ds, state, out = grain.MapDataset.range(n).shuffle(seed), None, []
    for shards, workers, steps in runs:
        rows, states = [], []
        for index in range(shards):
            options = grain.MultiprocessingOptions(num_workers=workers) if workers else None
            it = iter(ElasticIterator(ds, batch, grain.sharding.ShardOptions(index, shards), multiprocessing_options=options))
            if state is not None:
                it.set_state(state)
            rows.append([])
            for _ in range(steps):
                try:
                    rows[-1].append(next(it).tolist())
                except StopIteration:
                    break
            states.append(it.get_state())
            it.close()
        state = states[0]
        out.append({"shards": shards, "workers": workers, "steps": steps, "rows": rows, "states": states})
    return {"n": n, "seed": seed, "batch": batch, "runs": out}


def dealt(lengths, cycle, read):
    """The shards of an interleave after `read` elements, their active ones in the other order of places."""
    def make():
        return InterleaveIterDataset([grain.MapDataset.range(100 * i, 100 * i + n).to_iter_dataset() for i, n in enumerate(lengths)], cycle_length=cycle)

    it = iter(make())
    for _ in range(read):
        next(it)
    shards = [dict(s) for s in it.get_shard_states()]
    again = iter(make())
    again.set_shard_states(shards)
    begin = json.loads(json.dumps(again.get_state()))
    elements, states = [], []
    while True:
        states.append(json.loads(json.dumps(again.get_state())))
        try:
            elements.append(int(next(again)))
        except StopIteration:
            break
    it.close(), again.close()
    return {"lengths": lengths, "cycle": cycle, "read": read, "state": begin, "elements": elements, "states": states}


def main():
    cases = {"manifest": {"grain": grain.__version__, "script": "tools/goldens/grain_elastic.py"},
             "elastic": [elastic(40, 5, 8, [(2, 0, 2), (1, 0, 1), (4, 0, 9)]),
                         elastic(61, 7, 12, [(1, 2, 3), (3, 0, 1), (2, 3, 9)]),
                         elastic(50, 1, 4, [(1, 3, 9), (4, 0, 9)])],
             "dealt": [dealt([3, 4, 5], 2, 4), dealt([2, 6, 1, 5], 2, 5), dealt([4, 4, 4, 4, 4], 3, 7), dealt([1, 3, 2], 3, 5)]}
    OUT.write_text(json.dumps(cases, separators=(",", ":")) + "\n")
    print(OUT.stat().st_size, "bytes;", [bool(c["state"]["future_states"]) for c in cases["dealt"]])


if __name__ == "__main__":
    multiprocessing.freeze_support()
    main()
