#!/usr/bin/env python3
"""Breaks one rule at a time and shows which test catches it; prints `caught MUTANT: TEST` or `SURVIVED MUTANT`.

    tools/mutate.py [--build FOLDER] [--jobs N] [--only PATTERN] [--limit N] [--minutes M] [--again] [--own] [--tests "PROGRAM FILTER"]
                    [--check] [--table]

The mutants stand in tools/mutants.txt, one behind the other:
    @ FILE: what is wrong with it      FILE below strata/
    ^ TEXT                             (optional) the place is the first one after this text
    - TEXT                             what stands there: several lines, or part of one
    + TEXT                             what stands there instead
FOLDER is an ordinary build folder with the tests built (default: build). Nothing in it and nothing in the checkout is
changed: the tree is copied to FOLDER/mutate/tree, each mutant is compiled there as its own objects and linked in front of
the libraries of the build, and the test programs of the rooms that can see it run until one fails, those first that stand in files named after it. A run that takes five
times as long as without the mutant counts as a failure: the mutant does not end. What does not compile is no mutant and
has to leave the list.

Results are kept in FOLDER/mutate/results.json, so that a run goes on where the last one ended, and the table
docs/mutants.md is written from them; where they lack a mutant, what the table says of it stands. The exit status is 0 when at least 98 % of the mutants that ran were caught.
  --only     mutants whose file or phrase matches the regular expression
  --own      run only tests in files named after it; mutants that they do not catch have no verdict yet
  --tests    run only those tests of one program, where it is known which can see a mutant; the same holds
  --check    only look whether each place exists once
  --table    only write the table
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tools" / "mutants.txt"
TABLE = ROOT / "docs" / "mutants.md"
BOUND = 0.98
OWN_S = 60  # of the tests in files named after a mutant's
# The test programs that can see a room, nearest first.
SEEN_BY = {
    "loop": ["loop_test", "op_test", "compile_test"],
    "op": ["op_test", "transform_test", "compile_test", "api_test"],
    "transform": ["transform_test", "compile_test", "api_test"],
    "compile": ["compile_test", "api_test"],
    "engine": ["engine_test", "train_test"],
    "nn": ["nn_test", "api_test", "model_test", "train_test"],
    "optim": ["optim_test", "train_test"],
    "train": ["train_test"],
}


def without_precompiled(words):
    """The command that reads each header itself: a mutant may stand in one that was compiled before. Without its launcher too."""
    while pathlib.Path(words[0]).name in ("compile", "ccache"):
        words = words[1:]
    out, i = [], 0
    while i < len(words):
        if words[i] == "-Xclang":  # its argument, and that argument's
            i += 2 if i + 1 < len(words) and words[i + 1] not in ("-include", "-include-pch") else 4
        elif words[i] == "-include" and words[i + 1].endswith("cmake_pch.hxx"):
            i += 2
        else:
            if words[i] not in ("-Winvalid-pch", "-fpch-preprocess") and not words[i].endswith("cmake_pch.hxx"):
                out.append(words[i])
            i += 1
    return out


class Mutant:
    def __init__(self, file, phrase):
        self.file, self.phrase = file, phrase
        self.after, self.old, self.new = [], [], []

    @property
    def key(self):
        text = "\n".join([self.file, *self.after, "-", *self.old, "+", *self.new])
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def room(self):
        return self.file.split("/")[0]

    @property
    def name(self):
        return f"{self.file}: {self.phrase}"

    def applied(self, text):
        """The broken text; ValueError where the place is not there, or there twice."""
        old, start = "\n".join(self.old), 0
        if self.after:
            anchor = "\n".join(self.after)
            if text.count(anchor) != 1:
                raise ValueError(f"its ^ text stands {text.count(anchor)} times in the file")
            start = text.index(anchor) + len(anchor)
            if old not in text[start:]:
                raise ValueError("its - text does not stand after its ^ text")
        elif text.count(old) != 1:
            raise ValueError(f"its - text stands {text.count(old)} times in the file")
        at = text.index(old, start)
        return text[:at] + "\n".join(self.new) + text[at + len(old) :]


def read_list():
    mutants = []
    for number, line in enumerate(LIST.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        kind, text = line[:1], line[2:]
        if kind == "@":
            mutants.append(Mutant(*text.split(": ", 1)))
        elif kind in "^-+" and mutants:
            {"^": mutants[-1].after, "-": mutants[-1].old, "+": mutants[-1].new}[kind].append(text)
        else:
            sys.exit(f"{LIST.name}:{number}: expected @, ^, - or +, got {line!r}")
    return mutants


def check(mutants):
    """Whether each place exists once."""
    wrong, seen = 0, set()
    for m in mutants:
        try:
            if m.key in seen:
                raise ValueError("it stands twice in the list")
            seen.add(m.key)
            if not m.old or m.old == m.new:
                raise ValueError("it changes nothing")
            m.applied((ROOT / "strata" / m.file).read_text())
        except (ValueError, OSError) as e:
            print(f"FAIL {m.name}: {e}")
            wrong += 1
    return wrong


def output(*command, cwd):
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


class Bench:
    """The copied tree, the build's commands, and how long each test program takes without a mutant."""

    def __init__(self, build):
        self.build, self.home = build, build / "mutate"
        self.tree = self.home / "tree"
        self.home.mkdir(exist_ok=True)
        self.copy_tree()
        self.compiles, self.precompiled = {}, {}
        for entry in json.loads((build / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            made = words[words.index("-o") + 1]
            self.precompiled[made] = [os.path.relpath(w, build).removesuffix(".pch") + end for w in words
                                      if w.endswith(("cmake_pch.hxx", "cmake_pch.hxx.pch")) for end in (".gch", ".pch")]
            self.compiles[made] = without_precompiled(words)
        self.dependents = self.read_dependents()
        self.links, self.seconds, self.broken = {}, {}, {}
        self.measuring = threading.Lock()

    def copy_tree(self):
        shutil.rmtree(self.tree, ignore_errors=True)
        for name in output("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines():
            source, target = ROOT / name, self.tree / name
            if source.is_file() and name.split("/")[0] != "bench":
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def read_dependents(self):
        """From a file of ours to the objects made from it, where a precompiled header stands for those in it."""
        reads, current = {}, None
        for line in output("ninja", "-t", "deps", cwd=self.build).splitlines():
            if line and not line.startswith(" "):
                current = line.split(":")[0]
            elif current and line:
                reads.setdefault(current, []).append(os.path.normpath(self.build / line.strip()))  # relative where a compiler cache made it
        out = {}
        for made in (name for name in reads if name in self.compiles and name.endswith(".o")):
            precompiled = [f for header in self.precompiled[made] for f in reads.get(header, [])]
            for name in dict.fromkeys([*reads[made], *precompiled]):
                if name.startswith(f"{ROOT}/strata/"):
                    out.setdefault(name[len(f"{ROOT}/strata/") :], []).append(made)
        return out

    def link_of(self, test):
        if test not in self.links:
            self.links[test] = None
            if (self.build / "bin" / test).exists():
                command = output("ninja", "-t", "commands", f"bin/{test}", cwd=self.build).splitlines()[-1]
                self.links[test] = shlex.split(command.removeprefix(": && ").removesuffix(" && :"))
        return self.links[test]

    def tests_of(self, room):
        return [t for t in SEEN_BY[room] if self.link_of(t)]

    def measure(self, test):
        """Runs the test program as it is, the first time that a mutant asks for it; what fails already is left out of the judgement."""
        with self.measuring:
            if test in self.seconds:
                return
            begin = time.monotonic()
            failed = []
            text, _ = self.run(self.build / "bin" / test, [], 600, self.home / "cache")
            failed = sorted(set(re.findall(r"^\[  FAILED  \] ([\w./]+)", text, re.M)))
            self.seconds[test], self.broken[test] = time.monotonic() - begin, failed
            print(f"{test} takes {self.seconds[test]:.1f} s" + (f", fails in {', '.join(failed)}" if failed else ""), flush=True)

    def passes(self, test, filter):
        """Whether tests pass as they are: those that are not measured may fail already."""
        return self.run(self.build / "bin" / test, [f"--gtest_filter={filter}"], 600, self.home / "cache")[1] == "ok"

    def run(self, program, arguments, limit, cache):
        """What the program prints, and how it ended: ok, failed, or a word for the way it died."""
        temporary = self.home / "tmp" / program.parent.name  # runs side by side do not meet in files of equal names
        temporary.mkdir(parents=True, exist_ok=True)
        environment = dict(os.environ, STRATA_CACHE_DIR=str(cache), TMPDIR=str(temporary), TEST_TMPDIR=str(temporary))
        process = subprocess.Popen([program, "--gtest_brief=1", *arguments], cwd=self.tree, env=environment, text=True, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            text, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "", "does not end"
        if process.returncode < 0:
            return text, "ended by " + signal.Signals(-process.returncode).name
        return text, "ok" if process.returncode == 0 else "failed"

    def compile(self, objects, folder, flags):
        """The objects with the overlay in `folder`, or None where the compiler refuses."""
        out = {}
        for number, name in enumerate(objects):
            words = [f"-I{self.tree}" if w == f"-I{ROOT}" else w for w in self.compiles[name]]
            made, source = folder / f"{number}.o", words[-1]
            relative = pathlib.Path(source).relative_to(ROOT)
            words[-1] = str(folder / relative if (folder / relative).exists() else self.tree / relative)
            words[words.index("-o") + 1] = str(made)
            words.insert(1, f"-I{folder}")
            words = [w for w in words if not re.fullmatch(r"-O\d", w)] + flags + ["-w"]
            if subprocess.run(words, cwd=self.build, capture_output=True).returncode != 0:
                return None
            out[name] = made
        return out

    def link(self, test, objects, program):
        words = list(self.link_of(test))
        archives = {pathlib.Path(w).name for w in words if w.endswith(".a")}
        for name, made in objects.items():
            if name in words:
                words[words.index(name)] = str(made)
            elif re.sub(r".*CMakeFiles/(\w+)\.dir/.*", r"lib\1.a", name) in archives:
                words.insert(words.index("-o"), str(made))
        words[words.index("-o") + 1] = str(program)
        done = subprocess.run(words, cwd=self.build, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{test} does not link:\n{done.stderr[-2000:]}")

    def objects_of(self, m, test):
        """The objects that contain the file and that the test program can be linked with."""
        link = self.link_of(test)
        libraries = {pathlib.Path(w).name[3:-2] for w in link if "libstrata_" in w}
        owner = lambda o: re.sub(r".*CMakeFiles/(\w+)\.dir/.*", r"\1", o)
        return [o for o in self.dependents.get(m.file, []) if o in link or owner(o) in libraries]

    def own_suites(self, m, test):
        """The suites of a test program that stand in files named after the mutant's: of transforms some are tested by compiled programs."""
        found = set()
        for file in (self.tree / "strata" / test.removesuffix("_test")).rglob(f"{pathlib.Path(m.file).stem}*_test.cc"):
            found.update(re.findall(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\((\w+),", file.read_text(), re.M))
        return sorted(found)

    def own_filter(self, m, test):
        """Names these suites, and the laws of the operation that the mutant's file is named after."""
        named = ":".join(f"{suite}.*:*/{suite}.*" for suite in self.own_suites(m, test))
        laws = f"Op/*/*_{pathlib.Path(m.file).stem}" if test == "op_test" == f"{m.room}_test" else ""
        return ":".join(part for part in (named, laws) if part)

    def judge(self, m, flags, own_alone, named):
        folder = self.home / m.key
        shutil.rmtree(folder, ignore_errors=True)
        target = folder / "strata" / m.file
        target.parent.mkdir(parents=True)
        target.write_text(m.applied((self.tree / "strata" / m.file).read_text()))
        done, seen = {}, False
        # Broken kernels and broken machine code are nobody else's.
        cache = folder / "cache" if m.room in ("loop", "compile") else self.home / "cache"
        own = [named] if named else [(test, self.own_filter(m, test)) for test in self.tests_of(m.room)]
        everything = [] if own_alone or named else [(test, "*") for test in self.tests_of(m.room)]
        try:
            for test, tests in [trial for trial in own if trial[1]] + everything:
                needed = self.objects_of(m, test)
                if not needed:
                    continue
                seen, program = True, folder / test
                self.measure(test)
                if not program.exists():
                    made = self.compile([o for o in needed if o not in done], folder, flags)
                    if made is None:
                        return {"verdict": "does not compile"}
                    done.update(made)
                    self.link(test, {o: done[o] for o in needed}, program)
                filter = tests + ("-" + ":".join(self.broken[test]) if self.broken[test] else "")
                text, end = self.run(program, ["--gtest_fail_fast", f"--gtest_filter={filter}"], 20 + 5 * self.seconds[test], cache)
                if end != "ok":
                    found = re.search(r"^\[  FAILED  \] ([\w./]+)", text, re.M)
                    if (own_alone or named) and not self.passes(test, found.group(1) if found else filter):
                        raise RuntimeError(f"{m.name}: {test} {found.group(1) if found else filter} fails without it too")
                    return {"verdict": "caught", "by": f"{test} {found.group(1)}" if found else f"{test} {end}"}
            return {"verdict": "not caught by these tests" if own_alone or named else "survived" if seen else "not seen by any test program that is built"}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(self.home / "tmp" / m.key, ignore_errors=True)


def read_table(mutants):
    """The verdicts in the table, by the mutants' keys: of those that have not run here they stand."""
    by_name = {m.name.replace("|", "&#124;"): m.key for m in mutants}
    out = {}
    for line in TABLE.read_text().splitlines() if TABLE.exists() else ():
        if match := re.match(r"\| (\S+) \| (.*) \| (?:`(.*)`|\*\*(.*)\*\*) \|$", line):
            file, phrase, by, verdict = match.groups()
            if key := by_name.get(f"{file}: {phrase}"):
                out[key] = {"verdict": "caught", "by": by} if by else {"verdict": verdict}
    return out


def write_table(mutants, results):
    ran = [(m, results[m.key]) for m in mutants if m.key in results and results[m.key]["verdict"] in ("caught", "survived")]
    caught = [m for m, r in ran if r["verdict"] == "caught"]
    survived = [m for m, r in ran if r["verdict"] == "survived"]
    share = f" ({100 * len(caught) / len(ran):.1f} %)" if ran else ""
    lines = ["# Mutants: rules broken one at a time", "",
             "Printed by `tools/mutate.py` from its last run; the rules stand in [tools/mutants.txt](../tools/mutants.txt).", "",
             f"Of {len(mutants)} mutants {len(ran)} ran: {len(caught)} caught, {len(survived)} survived{share}.", "",
             "| room | in the list | ran | caught |", "| --- | --- | --- | --- |"]
    for room in sorted({m.room for m in mutants}):
        in_room = [m for m, _ in ran if m.room == room]
        lines.append(f"| {room} | {sum(m.room == room for m in mutants)} | {len(in_room)} | {sum(m.room == room for m in caught)} |")
    if survived:
        lines += ["", "## Survivors", "", *[f"- `{m.file}`: {m.phrase}" for m in survived]]
    lines += ["", "## All", "", "| file | what is wrong | seen by |", "| --- | --- | --- |"]
    for m in mutants:
        r = results.get(m.key)
        seen = "not run" if r is None else f"`{r['by']}`" if r["verdict"] == "caught" else f"**{r['verdict']}**"
        lines.append(f"| {m.file} | {m.phrase.replace('|', '&#124;')} | {seen} |")
    TABLE.write_text("\n".join(lines) + "\n")
    return caught, survived


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) // 2))
    parser.add_argument("--only", type=re.compile)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--tests", metavar="PROGRAM FILTER", type=lambda text: tuple(text.split(" ", 1)))
    parser.add_argument("--flags", default="-O1", help="of the broken objects (default: -O1)")
    for flag in ("--again", "--own", "--check", "--table"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    everything = read_list()
    wrong = check(everything)
    if wrong or options.check:
        print(f"{len(everything)} mutants, {wrong} without their place" if wrong else f"ok each of {len(everything)} mutants has its place")
        return 1 if wrong else 0
    store = options.build.resolve() / "mutate" / "results.json"
    results = read_table(everything) | (json.loads(store.read_text()) if store.exists() else {})
    if not options.table:
        run(options, everything, results, store)
    caught, survived = write_table(everything, results)
    share = len(caught) / max(1, len(caught) + len(survived))
    print(f"{len(caught)} caught, {len(survived)} survived ({100 * share:.1f} %)")
    return 0 if share >= BOUND else 1


def run(options, everything, results, store):
    chosen = [m for m in everything if (not options.only or options.only.search(m.name)) and (options.again or m.key not in results)]
    chosen = chosen[: options.limit]
    if not chosen:
        return
    bench = Bench(options.build.resolve())
    if options.own or options.tests:  # a few tests of each program: no need to know how long all of them take
        tests = sorted({t for m in chosen for t in bench.tests_of(m.room)})
        bench.seconds, bench.broken = dict.fromkeys(tests, OWN_S), dict.fromkeys(tests, [])
    lock, end = threading.Lock(), time.monotonic() + 60 * (options.minutes or 1e9)

    def one(m):
        if time.monotonic() > end:
            return
        verdict = bench.judge(m, options.flags.split(), options.own, options.tests)
        with lock:
            if verdict["verdict"] == "caught" or not (options.own or options.tests):
                results[m.key] = verdict
            fresh = store.with_suffix(".new")
            fresh.write_text(json.dumps(results, indent=1, sort_keys=True))
            fresh.replace(store)
            word = "SURVIVED" if verdict["verdict"] == "survived" else verdict["verdict"]
            print(f"{word} {m.name}" + (f": {verdict['by']}" if "by" in verdict else ""), flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(one, m) for m in chosen]:
            future.result()


if __name__ == "__main__":
    sys.exit(main())
