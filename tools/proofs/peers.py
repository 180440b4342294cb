"""What the proofs of this folder share: the originals' packages, the strata command, and their page of results."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "published-models.md"
SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1.gguf"


def need(modules, packages):
    """Goes on in an environment that has `modules`: this one, or build/peers-torch, into which `packages` are installed."""
    try:
        for module in modules:
            __import__(module)
        return
    except ImportError:
        folder = ROOT / "build" / "peers-torch"
        if pathlib.Path(sys.prefix) == folder:
            raise
    environment = dict(os.environ, STRATA_PEERS=str(folder))
    subprocess.run([ROOT / "scripts" / "peers.sh", *packages], env=environment, check=True)
    os.execv(folder / "bin" / "python", [folder / "bin" / "python", *sys.argv])


def smollm2():
    """The GGUF file that `make chat` fetches; ends the program where it is not there."""
    path = ROOT / "build" / "chat" / SMOLLM2
    if not path.exists():
        raise SystemExit(f"{path} is not there: make chat fetches it")
    return path


def strata(build, *arguments):
    """Standard output of `strata ARGUMENTS`; ends the program where it fails."""
    command = [str(build / "bin" / "strata"), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:3])}: exit status {done.returncode}")
    return done.stdout


def table(header, rows):
    """Rows as a table of Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def report(name, text, write):
    """Prints a result; with `write` it also takes its place on the page, between the marks of that name."""
    print(text, end="", flush=True)
    if write:
        page = PAGE.read_text()
        marks = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.S)
        if not marks.search(page):
            raise SystemExit(f"{PAGE} has no place for {name}")
        PAGE.write_text(marks.sub(lambda m: m[1] + text + m[2], page))
