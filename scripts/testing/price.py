"""The price of a capability: seconds of building and testing, and megabytes of goldens, for each room."""
import collections
import re

from testing.cases import ROOT

LIMIT = "at most 60 s of building, 60 s of testing and 5 MB of goldens more for a new one"


def room_of(output, rooms):
    """The room that pays for a file of the build; "programs" for what stands behind all rooms."""
    match = re.search(r"strata/(\w+)/", output) or re.search(r"(?:strata_|bin/|lib/libstrata_|headers_of_)(\w+?)(?:_test|_tests|_samples)?(?:\.\w+|/|$)", output)
    return match.group(1) if match and match.group(1) in rooms else "programs"


def build_seconds(build, rooms):
    """Room -> seconds that its files took, one core each (scripts/build.sh), when they were last built."""
    last = {}
    log = build / ".ninja_log"
    for line in log.read_text().splitlines() if log.exists() else ():
        parts = line.split("\t")
        if len(parts) >= 5 and parts[3].split("/")[-1] != "build.ninja":
            last[parts[3]] = (int(parts[1]) - int(parts[0])) / 1000
    out = collections.Counter()
    for output, seconds in last.items():
        out[room_of(output, rooms)] += seconds
    return out


def golden_bytes(rooms):
    out = collections.Counter()
    for room in rooms:
        for folder in (ROOT / "strata" / room).rglob("testdata"):
            out[room] += sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    out["programs"] = sum(p.stat().st_size for p in (ROOT / "conformance").rglob("*") if p.is_file())
    return out


def print_prices(build, rooms, tested):
    """`tested`: room -> seconds of its tests in this run."""
    built, goldens = build_seconds(build, rooms), golden_bytes(rooms)
    print(f"\nprice, {LIMIT}\n{'room':12} {'build s':>8} {'test s':>8} {'goldens MB':>11}")
    for room in [*rooms, "programs"]:
        if built[room] or tested.get(room) or goldens[room]:
            print(f"{room:12} {built[room]:8.0f} {tested.get(room, 0):8.0f} {goldens[room] / 1e6:11.1f}")
    print(f"{'all':12} {sum(built.values()):8.0f} {sum(tested.values()):8.0f} {sum(goldens.values()) / 1e6:11.1f}")
