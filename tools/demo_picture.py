#!/usr/bin/env python3
"""Draws docs/demo.svg, the picture of README: the loss of a run of configs/demo.yml, and what its model writes.

    tools/demo_picture.py [--build FOLDER] [--run build/demo/demo] [--prompt TEXT]

Reads the run's metrics, asks `strata generate` for the text (temperature 0.7, seed 1), and writes steps, tokens and date below. `make demo` leaves
such a run behind.
"""
import argparse
import datetime
import html
import json
import math
import pathlib
import re
import subprocess
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 900, 360
PLOT = (56, 34, 400, 260)  # left, top, width, height
LINES, COLUMNS = 13, 52  # of the text


def read_metrics(run):
    rows = [json.loads(line) for line in (run / "metrics" / "metrics.jsonl").read_text().splitlines()]
    learned = [(row["step"], row["learning/loss"]) for row in rows if "learning/loss" in row]
    held_out = [(row["step"], row["eval/avg_loss"]) for row in rows if "eval/avg_loss" in row]
    return learned, held_out, sum(row.get("learning/total_weights", 0) for row in rows)


def sample(build, run, prompt):
    done = subprocess.run([build / "bin" / "strata", "generate", "--checkpoint", run, "--prompt", prompt, "--max_tokens", "160", "--temperature", "0.7", "--seed", "1"],
                          capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout


def wrapped(text):
    lines = [part for line in text.splitlines() for part in (textwrap.wrap(line, COLUMNS) or [""])]
    return lines[:LINES]


def draw(learned, held_out, text, caption):
    left, top, width, height = PLOT
    last = max(step for step, _ in learned)
    high = math.ceil(max(loss for _, loss in learned))
    low = math.floor(min(loss for _, loss in learned + held_out))
    at = lambda step, loss: f"{left + width * step / last:.1f},{top + height * (high - loss) / (high - low):.1f}"
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           f'<text x="{left}" y="20" font-size="14" fill="#333">loss, nats a token</text>']
    for loss in range(low, high + 1):
        y = top + height * (high - loss) / (high - low)
        out += [f'<line x1="{left}" x2="{left + width}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e3e6ea"/>', f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{loss}</text>']
    for i in range(5):
        x = left + width * i / 4
        out.append(f'<text x="{x:.1f}" y="{top + height + 18}" text-anchor="middle" fill="#555">{round(last * i / 4)}</text>')
    out.append(f'<polyline fill="none" stroke="#3b75af" stroke-width="1.4" points="{" ".join(at(*p) for p in learned)}"/>')
    out += [f'<circle cx="{p.split(",")[0]}" cy="{p.split(",")[1]}" r="3.5" fill="#d1493f"/>' for p in (at(*p) for p in held_out)]
    out.append(f'<text x="{left + width - 6}" y="{top + 16}" text-anchor="end" fill="#3b75af">each step</text>')
    if held_out:
        out.append(f'<text x="{left + width - 6}" y="{top + 34}" text-anchor="end" fill="#d1493f">text that was kept from it</text>')
    x = left + width + 34
    out.append(f'<rect x="{x - 12}" y="{top}" width="{WIDTH - x - 4}" height="{height}" rx="6" fill="#f3f5f8"/>')
    out.append(f'<text x="{x - 12}" y="20" font-size="14" fill="#333">what it writes</text>')
    for i, line in enumerate(text):
        out.append(f'<text x="{x}" y="{top + 22 + 18 * i}" font-family="monospace" font-size="12" xml:space="preserve" fill="#222">{html.escape(line)}</text>')
    out += [f'<text x="{left}" y="{HEIGHT - 14}" fill="#555">{html.escape(caption)}</text>', "</svg>"]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--run", type=pathlib.Path, default=ROOT / "build" / "demo" / "demo")
    parser.add_argument("--prompt", default="And the LORD said unto")
    options = parser.parse_args()
    learned, held_out, tokens = read_metrics(options.run)
    steps = re.search(r"^steps: (\d+)", (ROOT / "configs" / "demo.yml").read_text(), re.M)[1]
    text = wrapped(sample(options.build.resolve(), options.run.resolve(), options.prompt))
    caption = f"configs/demo.yml: {learned[-1][0]} of its {steps} steps, {tokens} tokens. Drawn by tools/demo_picture.py, {datetime.datetime.now(datetime.timezone.utc):%d %B %Y}."
    (ROOT / "docs" / "demo.svg").write_text(draw(learned, held_out, text, caption))


if __name__ == "__main__":
    main()
