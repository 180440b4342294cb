#!/usr/bin/env python3
"""Shuffled batches of 100-byte records of an ArrayRecord file by Strata beside Grain, and Strata's reading in order.

    bench/shuffled_batches.py [RECORDS]      (default 300000)

Needs build/bin/shuffled-batches and build/bin/records-speed (ninja -C build bin/shuffled-batches bin/records-speed), and grain==0.2.18 with
array-record in this Python. Both read the same file, which memory holds, in the same order (seed 42, batches of 256), in turn; the numbers are
medians of five. Grain reads for a second each with 0, 1, 2 and 16 threads (16 are its default), and the fastest of these counts; Strata as
ReadOptions say by default, four epochs with the time to begin and to end. Grain's batches are numpy's arrays of bytes, Strata's its StringArray: both own a row for each record.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import grain

ROOT = pathlib.Path(__file__).resolve().parents[1]
BATCH, ROUNDS, SECONDS, THREADS = 256, 5, 1.0, (0, 1, 2, 16)


def ours(file, *options):
    done = subprocess.run([ROOT / "build/bin/shuffled-batches", file, *options], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["records_per_s"] if done.stdout else 0


def grains(file, threads):
    """Records a second."""
    options = grain.ReadOptions(num_threads=threads, prefetch_buffer_size=16 if threads else 0)
    source = grain.sources.ArrayRecordDataSource(str(file))
    batches = iter(grain.MapDataset.source(source).seed(42).shuffle().batch(BATCH).to_iter_dataset(options))
    next(batches)  # opens the file and starts the threads
    begin, count = time.monotonic(), 0
    for batch in batches:
        count += len(batch)
        if time.monotonic() > begin + SECONDS:
            break
    rate = count / (time.monotonic() - begin)
    batches.close()
    return rate


def main():
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 300000
    print(f"| {records} records of 100 bytes, batches of {BATCH} | Strata M records/s | Grain {grain.__version__} M records/s | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, group, compression in (("uncompressed, groups of 1", 1, "none"), ("zstd, groups of 1 (the writer's default)", 1, "zstd")):
            file = pathlib.Path(folder) / "records.array_record"
            ours(file, f"--write={records}", f"--group={group}", f"--compression={compression}")
            fast, slow = [], {n: [] for n in THREADS}
            for _ in range(ROUNDS):
                fast.append(ours(file, "--epochs=4"))
                for n in THREADS:
                    slow[n].append(grains(file, n))
            ours_is = statistics.median(fast)
            grain_is, threads = max((statistics.median(v), n) for n, v in slow.items())
            print(f"| {name} | {ours_is * 1e-6:.2f} | {grain_is * 1e-6:.3f} ({threads} threads) | {ours_is / grain_is:.1f} |", flush=True)
        done = subprocess.run([ROOT / "build/bin/records-speed", folder], check=True, capture_output=True, text=True)
        print(f"\nin order:\n{done.stdout}", end="")


if __name__ == "__main__":
    main()
