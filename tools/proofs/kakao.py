#!/usr/bin/env python3
"""Kakao's recipe in small: pretrain a dense model on blended texts, make deeper ones and models of experts of it, go on.

    tools/proofs/kakao.py                 # three seeds; writes docs/kakao.md and its pictures; under 30 minutes on two cores
    tools/proofs/kakao.py --short         # one seed, some seconds; writes nothing but below --work
    tools/proofs/kakao.py --page          # the page once more, of what an earlier run left below --work

Every step is a command: data tokenize and convert, train, convert, model upscale, model upcycle, train --init, model routes, plot. The
texts are the King James Bible, the Python standard library and Metamath's set.mm (scripts/prepare_corpora.sh takes them from Debian's
packages), as Megatron's .bin/.idx. All models see the same tokens: the dense one's pretraining, then the same steps each. What is
claimed is checked: an upcycled model's first held-out loss is the dense model's.

A run may be killed at any moment: the same command goes on where it was, and ends with the same bits (strata/cli/kakao_test.py).
"""
import argparse
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import kakao_page  # noqa: E402

DOMAINS = ("kjv", "python", "metamath")
WIDTH, MLP, LAYERS, GRANULARITY, LENGTH, ROWS = 64, 256, 4, 8, 128, 8
MODEL = (f"base_emb_dim={WIDTH} base_num_decoder_layers={LAYERS} base_num_query_heads=4 base_num_kv_heads=2 head_dim=16 "
         f"base_mlp_dim={MLP}").split()
DATA = f"max_target_length={LENGTH} per_device_batch_size={ROWS}".split()
BALANCED = ["load_balance_loss_weight=0.01"]
EXPERTS = ["upcycle", "--experts", "64", "--active", "8", "--granularity", GRANULARITY]
SHARED = ["upcycle", "--experts", "56", "--active", "7", "--granularity", GRANULARITY, "--shared", "1", "--dense_layers", "1"]
ZERO_REPEATS = ["upscale", "--layers", "0-3,2-3", "--zero_repeats"]


class Model:
    """What goes on from the dense model's pretraining: the command that makes it `of` another, and keys of its training."""

    def __init__(self, what, how=None, of="start", keys=(), keeps=True):
        self.what, self.how, self.of, self.keys, self.keeps = what, how, of, list(keys), keeps

    def routed(self):
        return bool(self.how) and self.how[0] == "upcycle"

    def option(self, name):
        return int(self.how[self.how.index(name) + 1]) if name in self.how else 0

    def active(self, told):
        """How many weights a token meets."""
        experts = self.option("--experts") if self.routed() else 0
        idle = experts - self.option("--active") if experts else 0
        layers = told["layers_after"] - self.option("--dense_layers") if experts else 0
        return told["weights_after"] - idle * layers * 3 * WIDTH * (MLP // GRANULARITY)


MODELS = {
    "dense": Model("the dense model, trained on"),
    "deeper": Model("up-scaled, 4 to 6 layers", ["upscale", "--to_layers", "6"], keeps=False),
    "deeper_zero": Model("up-scaled, repeats add zero", ZERO_REPEATS),
    "experts_free": Model("64 experts, 8 active, no load-balancing loss", EXPERTS),
    "experts": Model("64 experts, 8 active", EXPERTS, keys=BALANCED),
    "deeper_experts": Model("up-scaled with zeros, then 64 experts, 8 active", EXPERTS, of="deeper_zero", keys=BALANCED),
    "shared": Model("56 experts, 7 active, one shared, the first layer dense", SHARED, keys=BALANCED),
}
WINDOWS = {
    "native": ("overlapping windows", ["window_mode=overlapping"]),
    "disjoint": ("disjoint windows, as MaxText", ["window_mode=disjoint"]),
    "megatron": ("overlapping windows in Megatron's order", ["window_mode=overlapping", "data_order=megatron"]),
}


def pieces(first, high, last, steps):
    """A schedule of three pieces joined: a rise, a plateau, a fall."""
    rise, fall = max(1, steps // 10), max(1, steps // 4)
    return f"linear {first} -> {high} over {rise}, constant {steps - rise - fall}, cosine -> {last} over {fall}"


def schedules(pretrain, on):
    """Of pretraining, and of what goes on from the rate at which that ends."""
    return pieces("0", "3e-3", "3e-4", pretrain), pieces("3e-4", "1e-3", "1e-4", on)


class Recipe:
    def __init__(self, options):
        self.strata, self.work = options.strata, options.work.resolve()
        self.pretrain, self.on = options.steps
        self.first_rates, self.next_rates = (f"lr_pieces={text}" for text in schedules(*options.steps))
        self.limit, self.eval_steps, self.held = (200_000, 4, 2_000) if options.short else (4_000_000, 8, 16_000)
        self.checkpoints = 4 if options.short else 100
        self.seeds = list(range(options.seeds))

    def command(self, *words):
        words = [self.strata, *map(str, words)]
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.work)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def once(self, path, make):
        """`make` writes a folder or file, which gets its name when it is whole."""
        if not path.exists():
            part = path.with_name(path.name + ".part")
            shutil.rmtree(part, ignore_errors=True)
            part.unlink(missing_ok=True)
            make(part)
            os.replace(part, path)

    # Texts

    def documents(self, domain):
        """Chapters of the Bible, files of Python, some four thousand letters of set.mm."""
        if domain == "python":
            files = sorted((self.work / "text/python").rglob("*.py"))
            return [f.read_text() for f in files]
        text = (self.work / f"text/{domain}").joinpath("kjv.txt" if domain == "kjv" else "set.mm").read_text()
        if domain == "kjv":
            return re.split(r"^(?=\d+:1 )", text, flags=re.M)[1:]
        return [t + "$.\n" for t in re.findall(r".{4000,}?(?=\$\.\n)", text, re.S)]

    def make_corpora(self, folder):
        folder.mkdir()
        for domain in DOMAINS:
            documents = self.documents(domain)
            random.Random(1).shuffle(documents)
            held, size, out = "", 0, []
            while len(held) < self.held:
                held += documents.pop()
            for text in documents:
                if size < self.limit:
                    out.append(json.dumps({"text": text}) + "\n")
                    size += len(text)
            (folder / f"{domain}.jsonl").write_text("".join(out))
            (folder / f"{domain}.held.txt").write_bytes(held.encode()[:self.held])
            at = folder.relative_to(self.work) / domain
            self.command("data", "tokenize", "--output", f"{at}.tokens", f"{at}.jsonl")
            self.command("data", "convert", f"{at}.tokens", f"{at}.bin")

    def corpora(self):
        self.work.mkdir(parents=True, exist_ok=True)
        done = subprocess.run([ROOT / "scripts/prepare_corpora.sh", self.work / "text"], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stdout + done.stderr)
        self.once(self.work / "corpora", self.make_corpora)

    @staticmethod
    def blend(*weights):
        return ";".join(f"corpora/{d}.bin,{w}" for d, w in zip(DOMAINS, weights))

    # Training

    def train(self, folder, name, steps, *keys):
        """`strata train`, which goes on from its newest checkpoint after a kill; nothing where it has ended."""
        def run(part):
            self.command("train", f"base_output_directory={folder}", f"run_name={name}", f"steps={steps}", *DATA,
                         f"checkpoint_period={self.checkpoints}", "max_num_checkpoints_to_keep=2", *keys)
            part.write_text("")
        self.once(self.work / folder / f"{name}.done", run)

    def pretrained(self, seed):
        steps, half = self.pretrain, self.pretrain // 2
        self.train(f"seed{seed}", "pretrain", steps, *MODEL, f"train_files={self.blend(0.5, 0.3, 0.2)}",
                   f"train_files_weights=0: 0.5, 0.3, 0.2; {half}: 0.4, 0.4, 0.2", f"data_shuffle_seed={seed}",
                   f"init_weights_seed={seed}", self.first_rates, f"eval_interval={max(1, steps // 5)}",
                   f"eval_steps={self.eval_steps}")
        self.once(self.work / f"seed{seed}/start",
                  lambda part: self.command("convert", f"seed{seed}/pretrain", part))

    def made(self, seed, name):
        """The model that training goes on from, and what the command that made it told."""
        model = MODELS[name]
        folder = self.work / f"seed{seed}"
        if not model.how:
            return folder / "start", {}
        def make(part):
            drawn = ["--seed", seed] if model.routed() else []
            told = self.command("model", model.how[0], folder / model.of, part, *model.how[1:], *drawn, "--check", "--json")
            (folder / f"{name}.json").write_text(told)
        self.once(folder / name, make)
        told = json.loads((folder / f"{name}.json").read_text())
        return folder / name, {key: value for key, value in told.items() if key != "files"}

    def went_on(self, seed, name):
        made, told = self.made(seed, name)
        self.train(f"seed{seed}", f"{name}_on", self.on, "--init", made.relative_to(self.work), *MODELS[name].keys,
                   f"train_files={self.blend(0.4, 0.4, 0.2)}", f"data_shuffle_seed={seed + 100}", self.next_rates,
                   f"eval_interval={max(1, self.on // 3)}", f"eval_steps={self.eval_steps}")
        losses = self.losses(f"seed{seed}/{name}_on")
        out = {"first": losses[0], "last": losses[-1], "told": told}
        before = self.losses(f"seed{seed}/pretrain")[-1]["all"]
        if MODELS[name].keeps:
            assert not told or (told["same_function"] and told["check"]["relative"] <= 1e-5), told
            assert abs(out["first"]["all"] - before) < 2e-3, (name, out, before)
        if MODELS[name].routed():
            routes = self.work / f"seed{seed}/{name}.routes.json"
            files = self.blend(1, 1, 1)
            self.once(routes, lambda part: part.write_text(
                self.command("model", "routes", f"seed{seed}/{name}_on/model", "--files", files, "--json")))
            out["routes"] = json.loads(routes.read_text())["sources"]
            out["load"] = [self.last_steps(f"seed{seed}/{name}_on", f"experts/{what}") for what in ("largest_load", "idle")]
        print(f"seed {seed}: {name}: {out['first']['all']:.4f} -> {out['last']['all']:.4f}", flush=True)
        return out

    # What came of it

    def metrics(self, run):
        return [json.loads(line) for line in (self.work / run / "metrics/metrics.jsonl").read_text().splitlines()]

    def losses(self, run):
        """Held-out losses of each evaluation: of all texts, and by domain."""
        return [{"step": line["step"], "all": line["eval/avg_loss"], **{d: line[f"eval/{d}/loss"] for d in DOMAINS}}
                for line in self.metrics(run) if "eval/avg_loss" in line]

    def last_steps(self, run, name):
        values = [line[name] for line in self.metrics(run) if name in line][-20:]
        return sum(values) / len(values)

    def windows(self):
        """The same model from the same weights by each way to cut and order windows, judged by the same held-out texts."""
        out = {}
        for name, (_, keys) in WINDOWS.items():
            data = [f"train_files={self.blend(0.4, 0.4, 0.2)}", "data_shuffle_seed=1234", *keys]
            self.train("windows", name, self.on, *MODEL, *data, f"lr_pieces={pieces(0, 3e-3, 3e-4, self.on)}", "eval_steps=0")
            self.once(self.work / f"windows/{name}.model",
                      lambda part, name=name: self.command("convert", f"windows/{name}", part))
            judged = self.work / f"windows/{name}.json"
            self.once(judged, lambda part, name=name: part.write_text(json.dumps({
                d: json.loads(self.command("evaluate", "--model", f"windows/{name}.model", "--perplexity", f"corpora/{d}.held.txt",
                                           "--context", LENGTH, "--stride", LENGTH // 2, "--json")) for d in DOMAINS})))
            rows = self.work / f"windows/{name}.rows.json"
            self.once(rows, lambda part, data=data: part.write_text(json.dumps([
                json.loads(self.command("data", "where", *data, *DATA, f"steps={self.on}", "--step", s, "--json"))["rows"]
                for s in range(min(8, self.on))])))
            steps = [line for line in self.metrics(f"windows/{name}") if "learning/lm_loss" in line]
            out[name] = {"losses": [line["learning/lm_loss"] for line in steps], "targets": steps[0]["learning/total_weights"],
                         "held": {d: v["nats"] / v["tokens"] for d, v in json.loads(judged.read_text()).items()},
                         "rows": [[r["source"], r["pieces"][0]["record"], r["pieces"][0]["token"], sum(p["count"] for p in r["pieces"])]
                                  for step in json.loads(rows.read_text()) for r in step]}
        return out

    def run(self):
        self.corpora()
        results = {"steps": [self.pretrain, self.on], "seeds": {}}
        results["windows"] = self.windows()
        for seed in self.seeds:
            self.pretrained(seed)
            results["seeds"][str(seed)] = {"pretrain": self.losses(f"seed{seed}/pretrain"),
                                           "models": {name: self.went_on(seed, name) for name in MODELS}}
        return results

    def picture(self, path, metric, runs, first_step=0):
        self.command("plot", *[f"{name}={run}" for name, run in runs.items()], "--metric", metric, "--png", path,
                     "--first_step", first_step)

    def pictures(self, folder):
        folder.mkdir(exist_ok=True)
        late = min(10, self.on // 2)
        self.picture(folder / "pretraining.png", "learning/lm_loss", {f"seed {s}": f"seed{s}/pretrain" for s in self.seeds}, late)
        models = {m.what: f"seed0/{name}_on" for name, m in MODELS.items()}
        self.picture(folder / "going_on.png", "learning/lm_loss", models)
        self.picture(folder / "held_out.png", "eval/avg_loss", models)
        self.picture(folder / "largest_load.png", "experts/largest_load",
                     {m.what: f"seed0/{name}_on" for name, m in MODELS.items() if m.routed()})
        self.picture(folder / "windows.png", "learning/lm_loss", {what: f"windows/{name}" for name, (what, _) in WINDOWS.items()}, late)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help="one seed, few steps; the page goes below --work")
    parser.add_argument("--page", action="store_true", help="write the page of what is below --work, train nothing")
    parser.add_argument("--strata", default=str(ROOT / "build" / "bin" / "strata"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "kakao")
    parser.add_argument("--steps", type=int, nargs=2, metavar=("PRETRAIN", "ON"))
    parser.add_argument("--seeds", type=int)
    options = parser.parse_args()
    options.steps = options.steps or ([24, 8] if options.short else [300, 120])
    options.seeds = options.seeds or (1 if options.short else 3)
    recipe = Recipe(options)
    file = recipe.work / "results.json"
    if not options.page:
        begin = time.time()
        results = recipe.run()
        if not file.exists():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            file.write_text(json.dumps({**results, "date": time.strftime("%F"), "minutes": (time.time() - begin) / 60,
                                        "cpu_minutes": (used.ru_utime + used.ru_stime) / 60}))
        print(f"done in {time.time() - begin:.0f} s")
    folder = recipe.work if options.short else ROOT / "docs"
    recipe.pictures(folder / "kakao")
    results = json.loads(file.read_text())
    (folder / "kakao.md").write_text(kakao_page.page(results, MODELS, WINDOWS, DOMAINS, schedules(*results["steps"])))


if __name__ == "__main__":
    main()
