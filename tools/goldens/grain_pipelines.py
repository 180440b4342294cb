#!/usr/bin/env python3
"""Writes strata/data/pipeline/testdata/pipelines.jsonl: random pipelines of Grain 0.2.18; behind
COUNT of any kind REPEATED with an interleave below a repeat.

    python -m venv V && V/bin/pip install grain==0.2.18
    V/bin/python tools/goldens/grain_pipelines.py [--seed N] [--count N] [--rereads N] [--out FILE]

One pipeline a line: its graph, how many elements it gives (at most MOST), the FNV-1a 64 of the
canonical text of each, that text of the first one, the state before element `at` as
json.dumps(state, indent=4) and the FNV-1a 64 of that text before every element. A restore at `at`
gave the rest of the elements in Grain, but where "upstream_restore" says that it did not. Below a
repeat, Grain's interleave says of datasets what ended in the epoch before: "flagless" are the
hashes of the states without its flags.
Seed 20261128. Manifest: grain 0.2.18, numpy as installed with it; JAX must not be installed.
"""
import argparse
import json
import pathlib
import random
import signal

import grain
import numpy as np
from grain._src.python.dataset.transformations.batch import make_batch

OUT = pathlib.Path(__file__).resolve().parents[2] / "strata/data/pipeline/testdata/pipelines.jsonl"
COUNT, REPEATED, MOST, SEED = 300, 30, 24, 20261128
E = grain.experimental


def fnv(text):
    h = 0xCBF29CE484222325
    for b in text.encode():
        h = ((h ^ b) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def canonical(x):
    """The same text as the test's `canonical`: kinds, dtypes, shapes and values."""
    if x is None:
        return "none"
    if isinstance(x, dict):
        return "{" + ",".join(f"{k}:{canonical(v)}" for k, v in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        text = ",".join(map(canonical, x))
        return f"[{text}]" if isinstance(x, list) else f"({text})"
    if isinstance(x, np.ndarray) and x.ndim > 0:
        assert not x.dtype.hasobject, "an array of nothing"
        if x.dtype.kind in "SU":
            return f"s{list(x.shape)}" + ",".join(
                (v if isinstance(v, bytes) else v.encode()).hex() for v in x.reshape(-1).tolist())
        return f"{x.dtype.name}{list(x.shape)}" + x.tobytes().hex()
    if isinstance(x, (bool, np.bool_)):
        return f"b{int(x)}"
    if isinstance(x, (int, np.integer)):
        return f"i{int(x)}"
    if isinstance(x, (float, np.floating)):
        return "f" + np.float64(x).tobytes().hex()
    return ("x" if isinstance(x, bytes) else "t") + (x if isinstance(x, bytes) else x.encode()).hex()


def number(e):
    """A number that tells elements apart: the sum of all integer leaves."""
    if isinstance(e, dict):
        return sum(number(v) for v in e.values())
    if isinstance(e, (list, tuple)):
        return sum(number(v) for v in e)
    if isinstance(e, np.ndarray):
        return int(e.astype(np.int64).sum()) if e.dtype.kind in "iu" else 0
    return int(e) if isinstance(e, (int, np.integer)) else 0


def sequences(e):
    n = number(e)
    k = n % 5 + 1
    return {"a": np.arange(k, dtype=np.int32) + 10 * n,
            "b": np.arange((n * 7) % 4 + 1, dtype=np.int64) + 1000 * n}


def leaves(f, e):
    if isinstance(e, dict):
        return {k: leaves(f, v) for k, v in e.items()}
    if isinstance(e, tuple):
        return tuple(leaves(f, v) for v in e)
    return f(e)


def add(e, k):
    return leaves(lambda x: x + x.dtype.type(k) if isinstance(x, np.ndarray) and x.dtype.kind == "i" else
                  x + k if isinstance(x, (int, np.integer)) and not isinstance(x, bool) else x, e)


def to_dict(e):
    n = number(e)
    return {"id": n, "text": f"n{n}", "x": np.array([n, n * n], np.float32)}


MAPS = {"add": lambda e: add(e, 1000), "sequences": sequences, "to_dict": to_dict,
        "raw": lambda e: b"r%d" % number(e), "half": lambda e: number(e) / 2}


def build(g):
    op, parents = g["op"], [build(p) for p in g.get("in", [])]
    p = parents[0] if parents else None
    is_map = isinstance(p, grain.MapDataset)
    a = {k: v for k, v in g.items() if k not in ("op", "in")}
    if op == "range":
        return grain.MapDataset.range(a["start"], a["stop"], a["step"])
    if op == "seed":
        return p.seed(a["seed"])
    if op == "shuffle":
        return p.shuffle(a.get("seed"))
    if op == "window_shuffle":
        c = E.WindowShuffleMapDataset if is_map else E.WindowShuffleIterDataset
        return c(p, window_size=a["window"], seed=a["seed"])
    if op == "map":
        return p.map(MAPS[a["f"]])
    if op == "map_with_index":
        class F(grain.transforms.MapWithIndex):
            def map_with_index(self, i, e):
                return add(e, 7 * i)
        return p.apply(F()) if is_map else p.map_with_index(lambda i, e: add(e, 7 * i))
    if op == "random_map":
        f = lambda e, rng: (add(e, int(rng.integers(0, 100000))), rng.random())
        return p.random_map(f, seed=a.get("seed"))
    if op == "filter":
        return p.filter(lambda e: number(e) % a["m"] != 0)
    if op == "flat_map":
        class F(grain.transforms.FlatMap):
            max_fan_out = 3
            def flat_map(self, e):
                return [add(e, 100 * i) for i in range(number(e) % 4 if not is_map else number(e) % 3 + 1)]
        return p.apply(F())
    if op == "batch":
        return p.batch(a["size"], drop_remainder=a["drop"], batch_fn=stacked)
    if op == "batch_and_pad":
        return p.batch(a["size"], batch_fn=lambda e: E.batch_and_pad(alike(e, True), batch_size=a["size"], pad_value=3))
    if op == "repeat":
        if is_map:
            return p.repeat(a.get("epochs"), reseed_each_epoch=a["reseed"])
        return E.RepeatIterDataset(p, a.get("epochs"))
    if op == "slice":
        return p.slice(slice(a.get("start"), a.get("stop"), a["step"]))
    if op == "mix":
        return (grain.MapDataset if is_map else grain.IterDataset).mix(parents, a.get("weights"))
    if op == "concatenate":
        return grain.MapDataset.concatenate(parents)
    if op == "zip":
        return E.ZipMapDataset(parents) if is_map else E.ZipIterDataset(parents, strict=False)
    if op == "to_iter":
        return p.to_iter_dataset(grain.ReadOptions(num_threads=a["threads"], prefetch_buffer_size=a["buffer"]))
    if op == "rebatch":
        return E.RebatchIterDataset(p, a["size"], drop_remainder=a["drop"])
    if op == "limit":
        return E.LimitIterDataset(p, a["count"])
    if op == "cache":
        return E.CacheIterDataset(p)
    if op == "prefetch":
        return E.ThreadPrefetchIterDataset(p, prefetch_buffer_size=a["buffer"])
    if op == "interleave":
        return E.InterleaveIterDataset(parents, cycle_length=a["cycle"], iter_buffer_size=a["buffer"])
    if op in ("first_fit", "best_fit"):
        c = E.FirstFitPackIterDataset if op == "first_fit" else E.BestFitPackIterDataset
        return c(p, length_struct={"a": a["a"], "b": a["b"]}, num_packing_bins=a["bins"], seed=a["seed"],
                 shuffle_bins=a["shuffle"], max_sequences_per_bin=a.get("most"),
                 pack_alignment_struct={"a": a["align"], "b": 1},
                 shuffle_bins_group_by_feature="a" if a["group"] else None)
    if op == "concat_then_split":
        return E.ConcatThenSplitIterDataset(p, length_struct={"a": a["a"], "b": a["b"]},
                                            split_full_length_features=a["split"])
    raise ValueError(op)


def leaf_types(e):
    if isinstance(e, (dict, list, tuple)):
        items = sorted(e.items()) if isinstance(e, dict) else enumerate(e)
        return [type(e).__name__] + [(k, leaf_types(v)) for k, v in items]
    kind = np.asarray(e).dtype
    return (kind.kind if kind.kind in "SU" else kind.name, np.shape(e))


def alike(elements, pad):
    """numpy makes texts of what has several types; Strata refuses it, so no pipeline has it."""
    types = [leaf_types(e) for e in elements]
    assert all(t == types[0] for t in types) and "object" not in str(types) and not (pad and "'U'" in str(types) or pad and "'S'" in str(types))
    return elements


def stacked(elements):
    return make_batch(alike(elements, False))


class Graphs:
    def __init__(self, rng):
        self.r = rng

    def seed(self):
        return self.r.randrange(1 << 20)

    def source(self, least=1):
        start = self.r.randrange(0, 50)
        return {"op": "range", "start": start, "stop": start + self.r.randrange(least, 25), "step": self.r.choice([1, 1, 1, 2, 3])}

    def of_map(self, depth, batched=True):
        """A map data set; `plain` numbers until a map makes trees of them."""
        r = self.r
        if depth == 0:
            return {"op": "seed", "seed": self.seed(), "in": [self.source()]}
        kind = r.choice("shuffle shuffle window_shuffle map map_with_index random_map repeat slice mix concatenate seed zip "
                        "filter flat_map batch".split())
        if kind == "mix":
            n = r.randrange(1, 4)
            g = {"op": kind, "in": [self.of_map(max(depth - 2, 0), False) for _ in range(n)]}
            if r.random() < 0.7:
                g["weights"] = [round(r.uniform(0.1, 3), 2) for _ in range(n)]
            return g
        if kind == "concatenate":
            return {"op": kind, "in": [self.of_map(max(depth - 2, 0), False) for _ in range(r.randrange(1, 4))]}
        p = self.of_map(depth - 1, batched and kind in ("map", "shuffle", "seed", "slice"))
        if kind == "zip":
            return {"op": kind, "in": [p, p]}
        g = {"op": kind, "in": [p]}
        if kind == "shuffle" and r.random() < 0.5 or kind == "random_map" and r.random() < 0.4 or kind in ("seed", "window_shuffle"):
            g["seed"] = self.seed()
        if kind == "window_shuffle":
            g["window"] = r.randrange(1, 7)
        if kind == "map":
            g["f"] = r.choice(["add", "to_dict", "sequences", "raw", "half"])
        if kind == "repeat":
            g["reseed"] = r.random() < 0.8
            if r.random() < 0.7:
                g["epochs"] = r.randrange(1, 4)
        if kind == "slice":
            g.update(r.choice([{"start": r.randrange(3), "step": r.randrange(1, 4)}, {"step": -1}, {"stop": -1, "step": 1},
                               {"start": 1, "stop": 9, "step": 2}]))
        if kind == "filter":
            g["m"] = r.randrange(2, 5)
        if kind == "batch":
            g["size"], g["drop"] = r.randrange(1, 5), r.random() < 0.3
        return g

    def of_iter(self, depth):
        r = self.r
        if depth == 0:
            threads = r.choice([0, 0, 2])
            return {"op": "to_iter", "threads": threads, "buffer": 4 * threads, "in": [self.of_map(r.randrange(0, 4))]}
        kind = r.choice("map filter random_map map_with_index batch batch_and_pad mix zip interleave window_shuffle repeat "
                        "limit rebatch cache prefetch flat_map first_fit best_fit concat_then_split seed".split())
        if kind in ("mix", "zip", "interleave"):
            n = r.randrange(1, 4)
            g = {"op": kind, "in": [self.of_iter(max(depth - 2, 0)) for _ in range(n)]}
            if kind == "mix" and r.random() < 0.7:
                g["weights"] = [round(r.uniform(0.1, 3), 2) for _ in range(n)]
            if kind == "interleave":
                g["cycle"], g["buffer"] = r.randrange(1, 4), r.randrange(0, 2)
            return g
        p = self.of_iter(depth - 1)
        if kind in ("first_fit", "best_fit", "concat_then_split"):
            p = {"op": "map", "f": "sequences", "in": [p]}
        g = {"op": kind, "in": [p]}
        if kind == "rebatch":
            g["in"] = [{"op": "batch", "size": r.randrange(1, 5), "drop": False, "in": [p]}]
            g["size"], g["drop"] = r.randrange(1, 6), r.random() < 0.3
        if kind in ("batch", "batch_and_pad"):
            g["size"], g["drop"] = r.randrange(1, 5), r.random() < 0.3
        if kind in ("window_shuffle", "seed") or kind == "random_map" and r.random() < 0.4:
            g["seed"] = self.seed()
        if kind == "window_shuffle":
            g["window"] = r.randrange(1, 7)
        if kind == "map":
            g["f"] = r.choice(["add", "to_dict", "sequences", "raw", "half"])
        if kind == "filter":
            g["m"] = r.randrange(2, 5)
        if kind == "repeat" and r.random() < 0.8:
            g["epochs"] = r.randrange(1, 4)
        if kind == "limit":
            g["count"] = r.randrange(1, 20)
        if kind == "prefetch":
            g["buffer"] = r.randrange(0, 4)
        if kind in ("first_fit", "best_fit"):
            g.update(a=r.randrange(5, 13), b=r.randrange(4, 10), bins=r.randrange(1, 5), seed=self.seed(),
                     shuffle=r.random() < 0.6, align=r.choice([1, 1, 2]), group=r.random() < 0.2)
            if r.random() < 0.3:
                g["most"] = r.randrange(1, 4)
        if kind == "concat_then_split":
            g.update(a=r.randrange(3, 12), b=r.randrange(3, 12), split=r.random() < 0.7)
        return g


    def repeated_interleave(self):
        """An interleave that is read in several epochs, with an operation on either side or none."""
        r = self.r
        parents = [self.of_iter(0) for _ in range(r.randrange(2, 5))]
        g = {"op": "interleave", "in": parents, "cycle": r.randrange(1, 4), "buffer": r.randrange(0, 2)}
        if r.random() < 0.4:
            g = {"op": "filter", "m": r.randrange(2, 5), "in": [g]}
        g = {"op": "repeat", "epochs": r.randrange(2, 4), "in": [g]}
        return {"op": "batch", "size": r.randrange(1, 4), "drop": False, "in": [g]} if r.random() < 0.3 else g


def read(ds, state=None):
    it = iter(ds)
    if state is not None:
        it.set_state(json.loads(state))
    elements, states = [], []
    for _ in range(MOST):
        states.append(json.dumps(it.get_state(), indent=4))
        try:
            elements.append(canonical(next(it)))
        except StopIteration:
            break
    it.close()
    return elements, states


def interleave_repeated(g, repeated=False):
    repeated = repeated or g["op"] == "repeat" and "reseed" not in g
    return g["op"] == "interleave" and repeated or any(interleave_repeated(p, repeated) for p in g.get("in", []))


def flagless(state):
    """A state without what its interleaves say of ended datasets."""
    if isinstance(state, dict):
        return {k: [] if k == "exhausted" else flagless(v) for k, v in state.items()}
    return [flagless(v) for v in state] if isinstance(state, list) else state


def ops(g):
    return [g["op"]] + [o for p in g.get("in", []) for o in ops(p)]


def record(graph, r, rereads=2):
    signal.alarm(60)  # an endless repeat of what gives nothing never returns
    try:
        elements, states = read(build(graph))
    except Exception:
        return None
    finally:
        signal.alarm(0)
    if not elements:
        return None
    # Grain's interleave without buffers gives now these elements, now others, where iterators are made by a thread meanwhile.
    try:
        if any(read(build(graph)) != (elements, states) for _ in range(rereads)):
            return None
    except Exception:
        return None
    at = r.randrange(len(elements) + (len(elements) < MOST))
    out = {"graph": graph, "ended": len(elements) < MOST, "elements": [fnv(e) for e in elements], "first": elements[0],
           "at": at, "state": json.loads(states[at]), "states": [fnv(s) for s in states]}
    if interleave_repeated(graph):
        out["flagless"] = [fnv(json.dumps(flagless(json.loads(s)), indent=4)) for s in states]
    try:
        again = read(build(graph), states[at])[0]
        right = again[:len(elements) - at] == elements[at:]
    except Exception:
        right = False
    if not right:
        out["upstream_restore"] = "differs"
    return out


def give_up(*_):
    raise TimeoutError


def main():
    signal.signal(signal.SIGALRM, give_up)
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--rereads", type=int, default=2, help="how often Grain must give the same again")
    parser.add_argument("--out", type=pathlib.Path, default=OUT)
    args = parser.parse_args()
    r = random.Random(args.seed)
    graphs, lines, seen = Graphs(r), [], {}
    repeated = args.count * REPEATED // COUNT
    while len(lines) < args.count + repeated:
        graph = graphs.of_iter(r.randrange(0, 5)) if len(lines) < args.count else graphs.repeated_interleave()
        line = record(graph, r, args.rereads)
        if line is None or len(json.dumps(line)) > 4000:
            continue
        o = ops(graph)
        for name in o:
            seen[name] = seen.get(name, 0) + 1
        lines.append(line)
    args.out.write_text("".join(json.dumps(l) + "\n" for l in lines))
    print(f"{len(lines)} pipelines, {args.out.stat().st_size} bytes, "
          f"{sum('upstream_restore' in l for l in lines)} that upstream restores wrongly")
    print(dict(sorted(seen.items())))


if __name__ == "__main__":
    main()
