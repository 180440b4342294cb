#!/usr/bin/env python3
"""Nothing is lost: a run that meets a failing disk, or its own end, at any moment goes on with the bits of an unbroken one.

    strata/cli/nothing_is_lost_test.py BIN      BIN: the folder of the programs (default build/bin)

One step and its save are repeated with a fault at each operation that changes the disk, from the first to the last (tests/faults):
the process is killed there (a write is then torn: half of it was done), or the operation fails once with ENOSPC or EIO, or it and all
later ones fail. The same where the save replaces a damaged checkpoint, on a file system that can exchange two folders and on one that
cannot; and of a run that saves as Orbax, which is killed at every operation but writes in the middle of a file (STRATA_ALL_FAULTS=1, as in `make soak`: fails in every
other way too, and in both of Orbax's formats; train_test has these faults within one process). Then, STRATA_KILLS times
(default 5; `make soak` says 30), a run is killed at a random moment. Each time what is left must be whole, and the same command must
end with the same parameters, optimizer, state of the data and metrics. Prints `ok NAME` or `FAILED NAME` for each fact.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()
FAULTS = BIN.parent / "lib" / "libstrata_faults.so"
KILLS = int(os.environ.get("STRATA_KILLS", "5"))
MODEL = ("base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=1 "
         "max_target_length=16 per_device_batch_size=2").split()
TIMES = {"seconds", "tokens_per_second"}
failed = 0


def fact(name, problem):
    """Prints one fact; `problem` is empty when it holds."""
    global failed
    failed += bool(problem)
    print(f"{'FAILED' if problem else 'ok     '} {name}", *problem.splitlines(), sep="\n        ", flush=True)


def strata(folder, *arguments, env=None):
    return subprocess.run([BIN / "strata", *arguments], cwd=folder, env={**os.environ, **(env or {})}, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)


def train_arguments(*keys):
    return ["train", "train_files=../text.txt", "base_output_directory=.", "run_name=run", *MODEL, *keys]


def train(folder, *keys, env=None):
    return strata(folder, *train_arguments(*keys), env=env)


def metrics(folder):
    """What was recorded, without times."""
    lines = []
    for file in sorted((folder / "run/metrics").glob("*.jsonl")):
        for line in file.read_text().splitlines():
            lines.append({k: v for k, v in json.loads(line).items() if k not in TIMES and not k.startswith("perf/")})
    return lines


def differences(folder, whole):
    """How a finished run differs from the unbroken one; empty when it does not."""
    diff = strata(folder, "checkpoint", "diff", "run", whole / "run")
    if diff.returncode != 0:
        return f"checkpoint diff: {diff.returncode}\n{diff.stdout}{diff.stderr}"
    return "" if metrics(folder) == metrics(whole) else f"metrics differ: {metrics(folder)} and {metrics(whole)}"


def resume(folder, whole, keys, damaged=False):
    """The same command once more; what is wrong with how it went. `damaged`: whether it has to pass over a checkpoint."""
    again = train(folder, *keys)
    if again.returncode != 0 or ("damaged" in again.stderr) != damaged:
        return f"resumed: exit {again.returncode}\n{again.stderr}"
    return differences(folder, whole)


KEYS = ["steps=4", "checkpoint_period=1", "max_num_checkpoints_to_keep=2", "log_period=100"]
ONE_STEP = [*KEYS, "max_seconds=1e-9"]


def format_keys(before):
    """The format that the run of a folder saves in: its name."""
    return [f"checkpoint_format={before.name}"] if before.name.startswith("orbax") else []


def under_faults(folder, before, **faults):
    """One step of a copy of `before`, saved on a disk that fails."""
    shutil.copytree(before, folder)
    env = {"LD_PRELOAD": str(FAULTS), "FAULTS_UNDER": str(folder / "run"), **{f"FAULTS_{k}": str(v) for k, v in faults.items()}}
    return train(folder, *ONE_STEP, *format_keys(before), env=env)


def after_fault(before, k, mode, **faults):
    """What goes wrong when operation k fails in this way; empty when nothing does."""
    base = before.parent
    folder = base / f"{before.name}{k}{mode.replace(' ', '')}{len(faults)}"
    what, _, rest = mode.partition(" ")
    done = under_faults(folder, before, AT=k, DO=what, FROM=rest, **faults)
    if what == "kill" and done.returncode != -signal.SIGKILL:
        return f"{mode}: exit {done.returncode} instead of its end\n{done.stderr}"
    if what != "kill" and (done.returncode not in (0, 1, 2) or (done.returncode != 0 and "strata: " not in done.stderr)):
        return f"{mode}: exit {done.returncode}, no message\n{done.stderr}"
    verified = strata(folder, "checkpoint", "verify", "run")
    damaged = [line for line in verified.stdout.splitlines() if line.endswith(": damaged")]
    if verified.returncode != 0 and (before.name != "damaged" or damaged != ["run/checkpoints/3: damaged"]):
        return f"{mode}: something is damaged\n{verified.stdout}{verified.stderr}"
    problem = resume(folder, base / "whole", [*KEYS, *format_keys(before)], bool(damaged))
    shutil.rmtree(folder)
    return problem and f"{mode}: {problem}"


def is_below(path, folder):
    return path.startswith(folder + "/")


def order_problem(operations):
    """Whether everything is synced before it counts: an unsynced byte may be lost with the power."""
    dirty, renamed = set(), False
    for name, path, *to in operations:
        if name in ("write", "create", "mkdir"):
            dirty.add(path)
        if name in ("create", "mkdir"):
            dirty.add(os.path.dirname(path))
        if name == "sync":
            dirty.discard(path)
        if name == "rename" and re.search(r"/checkpoints/\d+$", to[0]):
            unsynced = [p for p in dirty if is_below(p, path) or p == path or p.endswith(".jsonl")]
            if unsynced:
                return f"{to[0]} gets its name while {unsynced} are not synced"
            renamed = True
            dirty.add(os.path.dirname(to[0]))
        if name == "rename" and re.search(r"/checkpoints/\d+$", path) and (not renamed or os.path.dirname(path) in dirty):
            return f"{path} goes before the new one is durable"
    return "" if renamed and not any(p.endswith("/checkpoints") for p in dirty) else "the folder of the checkpoints is not synced at the end"


def every_operation(base):
    (base / "whole").mkdir()
    first = train(base / "whole", *KEYS)
    fact("the unbroken run", first.stderr if first.returncode else "")
    before = base / "before"
    before.mkdir()
    for _ in range(2):
        train(before, *ONE_STEP)
    operations = count(before, "a save")
    fact("what gets its name is synced before, and the old ones go last", order_problem(operations))
    fail_each(before, operations, ["kill", "ENOSPC", "EIO", "EIO from there on"])
    damaged = base / "damaged"
    shutil.copytree(before, damaged)
    train(damaged, *ONE_STEP)
    os.truncate(damaged / "run/checkpoints/3/params.safetensors", 1000)
    fail_each(damaged, count(damaged, "a save that replaces a damaged one"), ["kill", "EIO"])
    fail_each(damaged, count(damaged, "the same where folders cannot be exchanged", NO_EXCHANGE=1), ["kill", "EIO"], NO_EXCHANGE=1)


def every_operation_of_orbax(base):
    everything = bool(os.environ.get("STRATA_ALL_FAULTS"))
    for name in ["orbax", "orbax-v1"] if everything else ["orbax"]:
        before = base / name
        before.mkdir()
        for _ in range(2):
            train(before, *ONE_STEP, *format_keys(before))
        operations = count(before, f"a save as {name}")
        fact(f"{name}: what gets its name is synced before, and the old ones go last", order_problem(operations))
        ends = None if everything else ends_of_writes(operations)
        fail_each(before, operations, ["kill", "ENOSPC", "EIO", "EIO from there on"] if everything else ["kill"], only=ends)


def ends_of_writes(operations):
    """Numbers of all operations but writes between two of the same file, of which Orbax's data has one for each small array."""
    same = lambda i, j: 0 <= j < len(operations) and operations[i][0] == "write" and operations[i] == operations[j]
    return [i + 1 for i in range(len(operations)) if not (same(i, i - 1) and same(i, i + 1))]


def count(before, what, **faults):
    """The operations of one step and its save: name and paths of each."""
    counted, log = before.parent / "counted", before.parent / "log"
    done = under_faults(counted, before, LOG=log, **faults)
    operations = [line.replace(str(counted), "").split()[1:] for line in log.read_text().splitlines()] if log.exists() else []
    names = {o[0] for o in operations}
    fact(f"{what} writes, syncs, renames, and removes what is old",
         "" if done.returncode == 0 and {"write", "sync", "rename", "remove"} <= names else f"{done.stderr}{names}")
    shutil.rmtree(counted)
    log.unlink(missing_ok=True)
    return operations


def fail_each(before, operations, modes, only=None, **faults):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        numbers = only or range(1, len(operations) + 1)
        cases = [[pool.submit(after_fault, before, k, mode, **faults) for mode in modes] for k in numbers]
        for k, case in zip(numbers, cases):
            name, *paths = operations[k - 1]
            fact(f"{before.name}{''.join(f', {f}' for f in faults)}: {name} {paths[-1]} ({k} of {len(operations)}): {', '.join(modes)}",
                 "\n".join(filter(None, (c.result() for c in case))))


def any_moment(base):
    keys = ["steps=1500", "checkpoint_period=40", "max_num_checkpoints_to_keep=2", "keep_period=400", "log_period=1000"]
    whole = base / "long"
    whole.mkdir()
    start = time.monotonic()
    first = train(whole, *keys)
    seconds = time.monotonic() - start
    fact("the unbroken longer run", first.stderr if first.returncode else "")
    seed = int(os.environ.get("STRATA_SEED", "1"))
    moments = random.Random(seed)
    for i in range(1, KILLS + 1):
        folder = base / f"killed{i}"
        folder.mkdir()
        moment = moments.uniform(0, seconds)
        child = subprocess.Popen([BIN / "strata", *train_arguments(*keys)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moment)
        child.kill()
        ended = "killed" if child.wait() == -signal.SIGKILL else "over"
        fact(f"kill -9 at moment {i} of {KILLS}", (problem := resume(folder, whole, keys)) and f"{ended} after {moment:.3f} of {seconds:.3f} s\n{problem}")
        shutil.rmtree(folder)


def main():
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name).resolve()
        (base / "text.txt").write_text("".join(f"Verse {i} of a little book, where {i * i % 97} follows.\n" for i in range(600)))
        every_operation(base)
        every_operation_of_orbax(base)
        any_moment(base)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
