#!/usr/bin/env python3
"""Where the outputs of commands go: stdout that takes nothing is a failure; links are followed, pipes and devices written through.

    strata/cli/outputs_test.py BIN      BIN: the folder of the programs (default build/bin)

Prints one line for each fact and ends with "N passed, N failed".
"""
import os
import pathlib
import random
import stat
import subprocess
import sys
import tempfile

BIN = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/bin").resolve()
MODEL = ("base_emb_dim=16 base_num_query_heads=2 base_num_kv_heads=1 head_dim=8 base_mlp_dim=24 base_num_decoder_layers=1 "
         "max_target_length=16 per_device_batch_size=2").split()
PROGRAM = """func.func @main() -> tensor<2xf32> {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %x : tensor<2xf32>
}
"""
PRINTS = """func.func @main() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  interpreter.print %x : tensor<2xf32>
  return
}
"""
counts = [0, 0]


def fact(name, holds, seen=""):
    counts[not holds] += 1
    print(f"{'ok     ' if holds else 'FAILED '} {name}", *([] if holds else str(seen).splitlines()), sep="\n        ", flush=True)


def run(command, stdout=subprocess.PIPE):
    return subprocess.run([BIN / command[0], *command[1:]], stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", timeout=100)


# Commands that write a file, with its place left out: what writes, and whether the same command gives the same bytes.
WRITERS = {
    "compile -o": ["strata", "compile", "program.mlir", "--header", "program.h", "-o"],
    "compile --header": ["strata", "compile", "program.mlir", "-o", "program.o", "--header"],
    "plot --png": ["strata", "plot", "run", "--png"],
    "data tokenize --output": ["strata", "data", "tokenize", "text.txt", "--output"],
    "data train-tokenizer --output": ["strata", "data", "train-tokenizer", "--files", "text.txt", "--vocab_size", "512", "--output"],
    "strata-run --out": ["strata-run", "program.mlir", "--out"],
}


def places(name, command):
    done = run([*command, "plain"])
    fact(f"{name}: a file", done.returncode == 0, done.stderr)
    bytes_ = pathlib.Path("plain").read_bytes()
    target, link = pathlib.Path("target"), pathlib.Path("link")
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to("target")
    done = run([*command, "link"])
    fact(f"{name}: a link is followed", done.returncode == 0 and link.is_symlink() and target.read_bytes() == bytes_, done.stderr)
    fact(f"{name}: its file keeps its permissions", stat.S_IMODE(target.stat().st_mode) == 0o600)
    os.mkfifo("pipe")
    reader = subprocess.Popen(["timeout", "30", "cat", "pipe"], stdout=subprocess.PIPE)
    done = run([*command, "pipe"])
    is_pipe = stat.S_ISFIFO(os.stat("pipe").st_mode)
    if not is_pipe or done.returncode != 0:
        reader.terminate()
    read = reader.communicate()[0]
    fact(f"{name}: through a pipe", done.returncode == 0 and is_pipe and read == bytes_, done.stderr)
    done = run([*command, "/dev/full"])
    fact(f"{name}: a device that is full", done.returncode != 0 and "/dev/full: cannot write: No space left on device" in done.stderr, done.stderr)
    fact(f"{name}: and is a device still", stat.S_ISCHR(os.stat("/dev/full").st_mode))
    done = run([*command, "/dev/null"])
    fact(f"{name}: a device that takes all", done.returncode == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), done.stderr)
    for path in ("plain", "target", "link", "pipe"):
        os.unlink(path)


TRAIN = ["train", "train_files=text.txt", "base_output_directory=.", "steps=4", "checkpoint_period=2", *MODEL]
# Every command that prints, and what it is after when it ends well.
PRINTERS = [
    ["strata", *TRAIN, "run_name=run"],
    ["strata", *TRAIN, "run_name=run", "--json"],
    ["strata", *TRAIN, "--print-config"],
    ["strata", "data", "describe", *TRAIN[1:]],
    ["strata", "data", "describe", *TRAIN[1:], "--step", "1", "--json"],
    ["strata", "data", "tokenize", "text.txt", "--output", "text.tokens"],
    ["strata", "data", "tokenize", "text.txt", "--output", "text.tokens", "--json"],
    ["strata", "data", "train-tokenizer", "--files", "text.txt", "--vocab_size", "512", "--output", "t.model"],
    ["strata", "data", "train-tokenizer", "--files", "text.txt", "--vocab_size", "512", "--output", "t.model", "--json"],
    ["strata", "evaluate", "--checkpoint", "run"],
    ["strata", "evaluate", "--checkpoint", "run", "--json"],
    ["strata", "plot", "run"],
    ["strata", "generate", "--checkpoint", "run", "--max_tokens", "4"],
    ["strata", "generate", "--checkpoint", "run", "--max_tokens", "4", "--json"],
    *(["strata", "checkpoint", verb, "run", *json] for verb in ("list", "show", "verify") for json in ([], ["--json"])),
    *(["strata", "checkpoint", "diff", "run", "run", *json] for json in ([], ["--json"])),
    ["strata", "compile", "program.mlir"],
    ["strata", "info"],
    ["strata", "info", "--json"],
    ["strata-run", "program.mlir", "--json"],
    ["strata-run", "prints.mlir", "--mode=reference"],
    ["strata-opt", "program.mlir"],
    ["strata-opt", "program.mlir", "--emit-bytecode"],
    ["strata-conformance", "programs"],
    ["strata-ops", "--counts"],
    *([*command, "--help"] for command in (
        ["strata"], ["strata-run"], ["strata-opt"], ["strata-conformance"], ["strata-ops"],
        *(["strata", name] for name in ("train", "data", "evaluate", "plot", "generate", "checkpoint", "compile", "info")),
        *(["strata", "data", name] for name in ("describe", "tokenize", "train-tokenizer")),
        *(["strata", "checkpoint", name] for name in ("list", "show", "verify", "diff")))),
]


def closed():
    """A command without a standard output: its descriptor is free for the next file that it opens."""
    return {"close": True}, "it is closed"


def full():
    return {"stdout": os.open("/dev/full", os.O_WRONLY)}, "No space left on device"


def unread():
    reads, writes = os.pipe()
    os.close(reads)
    return {"stdout": writes}, "Broken pipe"


def without_output(command):
    """Each way to lose what a command prints: its exit status is not 0, and its last words say why."""
    for lose in (full, closed, unread):
        how, why = lose()
        preexec = (lambda: os.close(1)) if how.get("close") else None
        done = subprocess.run([BIN / command[0], *command[1:]], stdout=how.get("stdout"), stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                              text=True, preexec_fn=preexec, timeout=100)
        if "stdout" in how:
            os.close(how["stdout"])
        words = " ".join(w for w in command if "=" not in w)
        said = f"{command[0]}: standard output: cannot write: {why}"
        fact(f"{words}: stdout is {lose.__name__}", done.returncode in (1, 4) and said == done.stderr.splitlines()[-1],
             f"exit {done.returncode}\n{done.stderr}")


def long_text_ends():
    """A reader who has enough ends the writing, long before its tokens are drawn."""
    writer = subprocess.Popen([BIN / "strata", "generate", "--checkpoint", "run", "--max_tokens", "1000000000", "--ignore_eos"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    writer.stdout.read(1)
    writer.stdout.close()
    try:
        status = writer.wait(timeout=100)
    except subprocess.TimeoutExpired:
        writer.kill()
        status = "none after 100 s"
    said = writer.stderr.read().decode()
    fact("generate: a reader who leaves ends it", status == 1 and "Broken pipe" in said, f"exit {status}\n{said}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        draw = random.Random(0)
        word = lambda: "".join(draw.choice("bcdfglmnprst") + draw.choice("aeiou") for _ in range(3))
        pathlib.Path("text.txt").write_text("".join(f"Verse {i}: {' '.join(word() for _ in range(8))}.\n" for i in range(400)))
        pathlib.Path("program.mlir").write_text(PROGRAM)
        pathlib.Path("prints.mlir").write_text(PRINTS)
        pathlib.Path("programs").mkdir()
        pathlib.Path("programs/one.mlir").write_text(PROGRAM)
        for command in PRINTERS:
            done = run(command)
            fact(f"{' '.join(w for w in command if '=' not in w)}: prints", done.returncode == 0 and done.stdout, done.stderr)
            without_output(command)
        fact("what stdout lost is in no file", run(["strata", "checkpoint", "verify", "run"]).returncode == 0)
        long_text_ends()
        for name, command in WRITERS.items():
            places(name, command)
    print(f"{counts[0]} passed, {counts[1]} failed")
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())
