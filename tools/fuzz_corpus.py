#!/usr/bin/env python3
"""Chooses a small corpus from what fuzz targets have gathered: the inputs that reach the most for their size.

    tools/fuzz_corpus.py strata/ir/text/parser_fuzz.cc build/fuzz/parser_fuzz.corpus strata/ir/text/testdata/corpus [--bytes N]
    tools/fuzz_corpus.py strata/ir/text/parser_fuzz.cc POOL strata/ir/text/testdata/corpus --also strata/op/evaluate_fuzz.cc --edges

The target, built by tools/fuzz.sh, runs each input of CORPUS once; the notes of libFuzzer's merge tell what each reaches (its
features: an edge, and about how often). Into FOLDER, emptied before, goes always the input that reaches the most features not
reached yet for each of its bytes, until nothing is left to reach or N bytes (default 200 000) are full. Prints how many of all
features the chosen ones reach.
  --also   what these targets reach counts too
  --edges  edges alone, however often, of the files that tools/fuzz_coverage.py last counted, in the programs that it built
"""
import argparse
import collections
import functools
import hashlib
import heapq
import operator
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST = 1 << 20  # features of one target


def features_of(program, corpus, edges):
    """From each input to what it reaches, a bit each."""
    step = 8 if edges else 1  # libFuzzer numbers eight features to an edge
    with tempfile.TemporaryDirectory() as folder:
        notes, merged = pathlib.Path(folder) / "notes", pathlib.Path(folder) / "merged"
        merged.mkdir()
        done = subprocess.run([program, "-set_cover_merge=1", f"-merge_control_file={notes}", merged, corpus], cwd=ROOT, capture_output=True,
                              text=True, errors="replace")
        if done.returncode != 0:
            sys.exit(f"the merge failed:\n{done.stderr[-2000:]}")
        lines = notes.read_text().splitlines()
    # How many inputs, how many of them stood in the first folder, a path for each; then `FT NUMBER FEATURE...` among other lines.
    count, out = int(lines[0]), {}
    files = [pathlib.Path(line) for line in lines[2 : 2 + count]]
    for line in lines[2 + count :]:
        kind, number, *rest = line.split()
        if kind == "FT":
            out[files[int(number)]] = functools.reduce(operator.or_, (1 << int(f) // step for f in rest), 0)
    return out


def chosen_of(features, most):
    """Greedy: what an input adds only falls, so one whose worth is up to date and still the highest is the best."""
    reached, chosen, room = 0, [], most
    size = {f: max(1, f.stat().st_size) for f in features}
    queue = [(-reaches.bit_count() / size[f], f) for f, reaches in features.items()]
    heapq.heapify(queue)
    while queue:
        _, f = heapq.heappop(queue)
        worth = (features[f] & ~reached).bit_count() / size[f]
        if worth == 0 or size[f] > room:
            continue
        if queue and worth < -queue[0][0]:
            heapq.heappush(queue, (-worth, f))
            continue
        chosen.append(f)
        reached |= features[f]
        room -= size[f]
    return chosen, reached


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--also", type=pathlib.Path, nargs="+", default=[])
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--bytes", type=int, default=200_000)
    options = parser.parse_args()
    programs = ROOT / "build" / "fuzz" / ("coverage" if options.edges else "")
    features = collections.defaultdict(int)
    for i, target in enumerate([options.target, *options.also]):
        for f, reached in features_of(programs / target.stem, options.corpus.resolve(), options.edges).items():
            features[f] |= reached << i * MOST
    chosen, reached = chosen_of(features, options.bytes)
    options.folder.mkdir(parents=True, exist_ok=True)
    for old in options.folder.iterdir():
        old.unlink()
    for f in chosen:
        (options.folder / hashlib.sha1(f.read_bytes()).hexdigest()[:16]).write_bytes(f.read_bytes())
    total = functools.reduce(operator.or_, features.values(), 0).bit_count()
    print(f"{len(chosen)} of {len(features)} inputs, {sum(f.stat().st_size for f in chosen)} bytes: {reached.bit_count()} of {total} features")


if __name__ == "__main__":
    main()
