"""Results of earlier runs on this machine: what a change cannot reach is not run again.

A job's key is the hash of the files that decide its outcome (its programs, its data, its own text) and of
the environment (processor, Python, packages of the peers, variables of ours). Only results without a failure
are kept. `FULL=1` and `CI=true` keep results for later runs and take none from earlier ones.
"""
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import sys

from testing.cases import ROOT, Case

DATA = ("conformance", "examples", "configs", "tests", "bench")  # folders that tests read, beside each testdata


@functools.lru_cache(maxsize=None)
def hash_of(path):
    """The hash of a file, or of a folder's files and their names; of what is not there, of nothing."""
    digest = hashlib.sha256()
    if path.is_dir():
        for one in sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts):
            digest.update(f"{one.relative_to(path)} {hash_of(one)}\n".encode())
    elif path.exists():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    return digest.hexdigest()


@functools.lru_cache(maxsize=None)
def data():
    """Everything that tests read besides their programs."""
    folders = [ROOT / name for name in DATA] + sorted(ROOT.glob("strata/**/testdata"))
    return hashlib.sha256("".join(hash_of(f) for f in folders).encode()).hexdigest()


@functools.lru_cache(maxsize=None)
def environment(build):
    """The processor, Python, the peers' packages, and variables that change what tests do."""
    flags = re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    peers = sorted(p.name for folder in ("peers", "peers-newest") for p in (ROOT / "build" / folder).glob("lib/python*/site-packages/*.dist-info"))
    ours = sorted((k, v) for k, v in os.environ.items() if k.startswith("STRATA_") and k not in ("STRATA_BUILD", "STRATA_CACHE_DIR"))
    text = repr([flags and flags.group(1), sys.version, peers, ours, os.cpu_count(), str(build)])
    return hashlib.sha256(text.encode()).hexdigest()


class Kept:
    def __init__(self, build):
        self.build, self.path = build, build / "checks" / "kept.json"
        self.entries = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.reads = os.environ.get("CI") != "true" and os.environ.get("FULL") != "1"

    def key(self, job):
        parts = [job.name, environment(self.build), data(), *(hash_of(path) for path in job.needs)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def find(self, job):
        """The cases of an earlier run, or None."""
        entry = self.entries.get(job.name)
        if not self.reads or not job.needs or not entry or entry["key"] != self.key(job):
            return None
        return [Case(**{**c, "shows": tuple(c["shows"])}) for c in entry["cases"]]

    def seconds(self, job):
        """How long it took the last time, or nothing."""
        return self.entries.get(job.name, {}).get("seconds")

    def add(self, job, cases, seconds):
        fine = job.needs and all(c.status != "failed" for c in cases)
        entry = {"key": self.key(job) if fine else "", "seconds": seconds}
        if fine:
            entry["cases"] = [dataclasses.asdict(c) for c in cases]
        other_day = [name for name in self.entries if name.split(", day ")[0] == job.name.split(", day ")[0]]
        for name in other_day:
            del self.entries[name]
        self.entries[job.name] = entry

    def write(self):
        self.path.parent.mkdir(exist_ok=True)
        aside = self.path.with_suffix(".new")
        aside.write_text(json.dumps(self.entries))
        aside.replace(self.path)
