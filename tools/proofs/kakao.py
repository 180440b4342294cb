#!/usr/bin/env python3
"""Kakao's recipe in small: pretrain a dense model on blended texts, make deeper ones and models of experts of it, go on.

    tools/proofs/kakao.py                 # three seeds, some ten minutes; writes docs/kakao.md and its pictures
    tools/proofs/kakao.py --short         # one seed, a minute; writes nothing but below --work

Every step is a command: strata train, convert, model upscale, model upcycle, train --init. The texts are this
repository's: pages, C++ and Python, blended by weights. All models see the same tokens: the dense one's pretraining,
then the same number of steps each. What is claimed is checked: an upcycled model's first held-out loss is the dense
model's, an up-scaled one's is what it is.
"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "kakao.md"
BLEND = (f"{ROOT}/docs/*.md,{ROOT}/tutorial/*.md,0.4;{ROOT}/strata/*/*.cc,0.4;"
         f"{ROOT}/tools/*.py,{ROOT}/bench/*.py,0.2")
MODEL = ("base_emb_dim=64 base_num_decoder_layers=4 base_num_query_heads=4 base_num_kv_heads=2 head_dim=16 "
         "base_mlp_dim=256").split()
DATA = "max_target_length=128 per_device_batch_size=8 eval_steps=16".split()
# name -> (what it is, the command that makes it of `dense`)
MODELS = {
    "dense": ("the dense model, trained on", None),
    "deeper": ("up-scaled, 4 to 6 layers", ["upscale", "--to_layers", "6"]),
    "deeper_zero": ("up-scaled, repeats add zero", ["upscale", "--layers", "0-3,2-3", "--zero_repeats"]),
    "experts": ("64 experts, 8 active", ["upcycle", "--experts", "64", "--active", "8", "--granularity", "8"]),
    "shared": ("56 experts, 7 active, one shared, the first layer dense",
               ["upcycle", "--experts", "56", "--active", "7", "--granularity", "8", "--shared", "1",
                "--dense_layers", "1"]),
}
KEEPS = {"deeper_zero", "experts", "shared"}


def command(strata, *words):
    done = subprocess.run([strata, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"strata {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def held_out(text):
    """The last evaluation's loss over all texts, and by domain."""
    loss = float(re.findall(r"eval after step: \d+, loss: ([\d.]+)", text)[-1])
    table = text[text.rindex("nats/token"):]
    domains = dict((name, float(nats)) for name, nats in re.findall(r"^(\w+) +\d+ +([\d.]+)", table, re.M)[:3])
    return loss, domains


def run(strata, work, seed, pretrain, steps):
    folder = work / f"seed{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    common = [f"train_files={BLEND}", f"base_output_directory={folder}", f"data_shuffle_seed={seed}",
              f"init_weights_seed={seed}", *DATA]
    text = command(strata, "train", *common, *MODEL, "run_name=pretrain", f"steps={pretrain}", "learning_rate=3e-3",
                   f"eval_interval={pretrain}")
    before, _ = held_out(text)
    command(strata, "convert", folder / "pretrain", folder / "start")
    out = {"pretrained": before}
    for name, (_, how) in MODELS.items():
        made = folder / "start"
        report = {}
        if how:
            made = folder / name
            verb, *options = how
            report = json.loads(command(strata, "model", verb, folder / "start", made, *options, "--seed", seed, "--check",
                                        "--json") if verb == "upcycle" else
                                command(strata, "model", verb, folder / "start", made, *options, "--check", "--json"))
        text = command(strata, "train", *common, "--init", made, f"run_name={name}_on", f"steps={steps}",
                       "learning_rate=1e-3", f"eval_interval={steps}")
        first, last = map(float, re.findall(r"held-out loss ([\d.]+) -> ([\d.]+)", text)[-1])
        if name in KEEPS:
            assert report["same_function"] and report["check"]["relative"] <= 1e-5, report
            assert abs(first - before) < 2e-3, (name, first, before)
        out[name] = {"first": first, "last": last, "domains": held_out(text)[1],
                     "weights": report.get("weights_after"), "relative": report.get("check", {}).get("relative"),
                     "loss": str(folder / f"{name}_on" / "loss.png")}
        if name in ("experts", "shared"):
            told = command(strata, "model", "routes", folder / f"{name}_on" / "model", "--files", BLEND, "--json")
            out[name]["routes"] = json.loads(told)["sources"]
        print(f"seed {seed}: {name}: {first:.4f} -> {last:.4f}", flush=True)
    return out


def mean(values):
    values = list(values)
    spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{spread}"


def divergence(first, second):
    """Half the sum of differences of two lists of shares, each of which adds up to one: 0 alike, 1 apart."""
    total = [sum(first), sum(second)]
    return sum(abs(a / total[0] - b / total[1]) for a, b in zip(first, second)) / 2


def routing(each):
    """Lines on which experts serve which domain."""
    names = [source["name"] for source in each]
    lines = ["| layer | " + " | ".join(f"busiest of {name}" for name in names) + " | " +
             " | ".join(f"{a} beside {b}" for i, a in enumerate(names) for b in names[i + 1:]) + " | experts of no token |"]
    lines.append("|---|" + "---|" * (lines[0].count("|") - 2))
    for layer in range(len(each[0]["layers"])):
        shares = [source["layers"][layer] for source in each]
        if not any(shares[0]):
            continue
        busiest = [", ".join(f"{e} ({100 * s[e]:.0f} %)" for e in sorted(range(len(s)), key=lambda e: -s[e])[:3]) for s in shares]
        apart = [f"{divergence(a, b):.2f}" for i, a in enumerate(shares) for b in shares[i + 1:]]
        idle = sum(1 for e in range(len(shares[0])) if not any(s[e] for s in shares))
        lines.append(f"| {layer} | " + " | ".join(busiest) + " | " + " | ".join(apart) + f" | {idle} |")
    return lines


def page(results, pretrain, steps, seconds):
    seeds = list(results)
    lines = ["# Kakao's recipe, in small", "",
             "Written by [tools/proofs/kakao.py](../tools/proofs/kakao.py), in "
             f"{seconds / 60:.0f} minutes on two cores that others used too. A dense Llama on bytes (4 layers of width 64) is trained for "
             f"{pretrain} steps of 1024 tokens on this repository's pages, C++ and Python, blended 0.4 : 0.4 : 0.2. Of it are made, by "
             "`strata model`, deeper models and models of experts; each goes on for "
             f"{steps} steps by `strata train --init`, on the same tokens. Losses are nats a byte of held-out text, mean and deviation "
             f"of {len(seeds)} seeds (weights, order, routers).", "",
             "| model | weights | logits beside the dense model's | first loss | last loss |", "|---|---|---|---|---|"]
    for name, (what, how) in MODELS.items():
        each = [results[s][name] for s in seeds]
        weights = each[0]["weights"]
        apart = max((r["relative"] for r in each if r["relative"] is not None), default=None)
        lines.append(f"| {what} | {'' if weights is None else f'{weights:,}'} | "
                     f"{'' if apart is None else f'{apart:.1e} of their range'} | {mean(r['first'] for r in each)} | "
                     f"{mean(r['last'] for r in each)} |")
    lines += ["", f"The dense model ended pretraining at {mean(results[s]['pretrained'] for s in seeds)}. Where the function is kept "
              "the first loss is that one; the script fails where it is not.", "", "## By domain, after going on", ""]
    domains = list(results[seeds[0]]["dense"]["domains"])
    lines += ["| model | " + " | ".join(domains) + " |", "|---|" + "---|" * len(domains)]
    for name, (what, _) in MODELS.items():
        lines.append(f"| {what} | " + " | ".join(mean(results[s][name]["domains"][d] for s in seeds) for d in domains) + " |")
    lines += ["", "## Which experts serve which domain", "",
              "By `strata model routes` after going on, of the first seed: the experts that most tokens of a domain go through, and how far apart "
              "the domains' shares are (half the sum of differences: 0 alike, 1 nothing in common)."]
    for name in ("experts", "shared"):
        lines += ["", f"{MODELS[name][0].capitalize()}:", "", *routing(results[seeds[0]][name]["routes"])]
    lines += ["", "## Curves of the first seed", ""]
    pictures = PAGE.parent / "kakao"
    pictures.mkdir(exist_ok=True)
    for name, (what, _) in MODELS.items():
        shutil.copy(results[seeds[0]][name]["loss"], pictures / f"{name}.png")
        lines.append(f"![{what}](kakao/{name}.png)")
    lines += ["", "What this does not show: that experts are better at equal compute (every expert is computed for every token here), "
              "what a load-balancing loss would do (there is none here), and anything about sizes at which people use them."]
    PAGE.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="one seed, few steps; no page")
    parser.add_argument("--strata", default=str(ROOT / "build" / "bin" / "strata"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "kakao")
    parser.add_argument("--steps", type=int, nargs=2, default=[150, 50], metavar=("PRETRAIN", "ON"))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    pretrain, steps = (20, 4) if arguments.short else arguments.steps
    begin = time.time()
    results = {seed: run(arguments.strata, arguments.work, seed, pretrain, steps)
               for seed in range(1 if arguments.short else arguments.seeds)}
    if not arguments.short:
        page(results, pretrain, steps, time.time() - begin)
    print(f"done in {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
