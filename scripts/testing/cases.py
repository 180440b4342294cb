"""Runs one thing and returns its cases: a command, a checker, a GoogleTest program, a script."""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT_S = 1200  # of one program


@dataclasses.dataclass
class Case:
    suite: str
    name: str
    status: str  # passed, failed, skipped
    detail: str = ""
    shows: tuple = ()  # upstream names that the test is of (strata/api/golden.h)


def command(suite, name, argv, **options):
    """One case: passes when the command exits with 0, is skipped on 77 (the last line says why)."""
    return printing(suite, name, argv, **options)[0]


def printing(suite, name, argv, **options):
    """The same, and what the command prints."""
    try:
        done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, **options)
    except subprocess.TimeoutExpired:
        return Case(suite, name, "failed", f"no end after {LIMIT_S} s"), ""
    output = (done.stdout + done.stderr).strip()
    if done.returncode == 77:
        return Case(suite, name, "skipped", output.splitlines()[-1] if output else ""), done.stdout
    failed = done.returncode != 0
    return Case(suite, name, "failed" if failed else "passed", f"exit {done.returncode}\n{output[-4000:]}" if failed else ""), done.stdout


def lines_of(suite, argv, **more):
    """A checker that prints `ok NAME` or `FAIL NAME: reason` for each of its cases."""
    done = subprocess.run(argv, cwd=ROOT, env={**os.environ, **more}, capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode == 77:
        return [Case(suite, "all", "skipped", done.stdout.strip().splitlines()[-1])]
    cases = []
    for line in done.stdout.splitlines():
        if line.startswith("ok "):
            cases.append(Case(suite, line[3:], "passed"))
        elif line.startswith("FAIL "):
            name, _, reason = line[5:].partition(": ")
            cases.append(Case(suite, name, "failed", reason))
        elif cases and cases[-1].status == "failed":
            cases[-1].detail += "\n" + line
    if not cases or (done.returncode != 0 and all(c.status == "passed" for c in cases)):
        cases.append(Case(suite, "run", "failed", f"exit {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}"))
    return cases


def gtest(suite, program, filter_="*", shard=(0, 1), **more):
    """The tests of one GoogleTest program that a filter takes, or of those one shard of several.

    `more` is added to the environment.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        argv = [str(program), f"--gtest_output=json:{report}", f"--gtest_filter={filter_}", "--gtest_color=no"]
        # A folder of its own: the same test runs beside itself, for another processor.
        env = {**os.environ, "GTEST_SHARD_INDEX": str(shard[0]), "GTEST_TOTAL_SHARDS": str(shard[1]), "TEST_TMPDIR": folder, **more}
        try:
            # From where they were compiled: a compiler cache may have made the names of their sources relative to it.
            done = subprocess.run(argv, cwd=program.parents[1], env=env, capture_output=True, text=True, timeout=LIMIT_S, errors="replace", stdin=subprocess.DEVNULL)
            output, code = done.stdout + done.stderr, done.returncode
        except subprocess.TimeoutExpired as e:
            output, code = (e.stdout or b"").decode(errors="replace"), f"none: no end after {LIMIT_S} s"
        if not report.exists():
            started = re.findall(r"^\[ RUN      \] (.*)$", output, re.M)
            return [Case(suite, started[-1] if started else "start", "failed", f"the program ended early (exit {code})\n{output[-4000:]}")]
        cases = []
        for group in json.loads(report.read_text())["testsuites"]:
            for test in group["testsuite"]:
                cases.append(gtest_case(suite, f"{group['name']}.{test['name']}", test, output))
        if code != 0 and all(c.status != "failed" for c in cases):
            cases.append(Case(suite, "exit", "failed", f"exit {code} though every test passed\n{output[-2000:]}"))
        return cases


def gtest_case(suite, name, test, output):
    shows = tuple(test.get("api", "").split())
    if test.get("failures"):
        return Case(suite, name, "failed", "\n".join(f["failure"] for f in test["failures"])[:4000], shows)
    if test.get("result") == "SKIPPED" or test.get("status") == "NOTRUN":
        said = re.search(r"\[ RUN      \] " + re.escape(name) + r"\n(.*?)\[  SKIPPED \]", output, re.S)
        return Case(suite, name, "skipped", " ".join(said.group(1).split()) if said else "disabled", shows)
    return Case(suite, name, "passed", shows=shows)


def script(suite, path, build, python=sys.executable, **more):
    name = path.stem
    argv = [str(python) if path.suffix == ".py" else "sh", str(path), str(build / "bin")]
    env = {**os.environ, "STRATA_BUILD": str(build), "PATH": f"{build}/bin:{os.environ['PATH']}", **more}
    try:
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return [Case(suite, name, "failed", f"no end after {LIMIT_S} s")]
    cases = []
    for line in done.stdout.splitlines():
        if match := re.match(r"(ok|FAILED|FAIL)\s+(.*)", line):
            cases.append(Case(suite, f"{name}: {match.group(2)}", "passed" if match.group(1) == "ok" else "failed"))
        elif cases and cases[-1].status == "failed":
            cases[-1].detail += line + "\n"
    if done.returncode == 77:
        return [Case(suite, name, "skipped", done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "")]
    if not cases or (done.returncode != 0 and all(c.status == "passed" for c in cases)):
        cases.append(Case(suite, name, "passed" if done.returncode == 0 else "failed", f"exit {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}"))
    return cases
