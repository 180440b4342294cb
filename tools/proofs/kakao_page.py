"""docs/kakao.md, of what tools/proofs/kakao.py found."""
import statistics

GONE_ON = "after going on"


def mean(values):
    values = list(values)
    spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{spread}"


def change(values):
    """A mean difference with its sign."""
    values = list(values)
    spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):+.3f}{spread}"


def table(head, rows):
    return ["| " + " | ".join(head) + " |", "|---|" + "---|" * (len(head) - 1), *("| " + " | ".join(map(str, r)) + " |" for r in rows), ""]


def divergence(first, second):
    """Half the sum of differences of two lists of shares, each of which adds up to one: 0 alike, 1 apart."""
    total = [sum(first), sum(second)]
    return sum(abs(a / total[0] - b / total[1]) for a, b in zip(first, second)) / 2


def pairs(items):
    return [(a, b) for i, a in enumerate(items) for b in items[i + 1:]]


def routed_layers(sources):
    """The layers that have experts: number, and the shares of each source."""
    layers = [(layer, [s["layers"][layer] for s in sources]) for layer in range(len(sources[0]["layers"]))]
    return [(layer, shares) for layer, shares in layers if shares[0]]


class Page:
    def __init__(self, results, models, windows, domains, schedules):
        self.schedules = schedules
        self.results, self.models, self.windows, self.domains = results, models, windows, domains
        self.seeds = list(results["seeds"].values())
        self.pretrain, self.on = results["steps"]

    def each(self, name):
        return [seed["models"][name] for seed in self.seeds]

    def beside_dense(self, name):
        return [a["last"]["all"] - b["last"]["all"] for a, b in zip(self.each(name), self.each("dense"))]

    def head(self):
        r = self.results
        return [
            "# Kakao's recipe, in small", "",
            f"Written by [tools/proofs/kakao.py](../tools/proofs/kakao.py) from one run of {r['date']}, which took {r['cpu_minutes']:.0f} minutes of "
            f"processor time, and {r['minutes']:.0f} of the clock on two cores that others used too. A dense Llama on bytes (4 layers of width 64) is trained "
            f"for {self.pretrain} steps of 1024 tokens on three texts: the King James Bible, the Python standard library, Metamath's set.mm. Of it are "
            "made, by `strata model`, deeper models and models of experts; each goes on for "
            f"{self.on} steps by `strata train --init`, on the same tokens. Losses are nats a byte of held-out text, mean and deviation of "
            f"{len(self.seeds)} seeds (weights, order, routers).", "",
            "Every stage is a line of configuration or a command:", "", "```",
            "strata data tokenize --output kjv.tokens kjv.jsonl && strata data convert kjv.tokens kjv.bin",
            "strata train train_files='kjv.bin,0.5;python.bin,0.3;metamath.bin,0.2' \\",
            f"    train_files_weights='0: 0.5, 0.3, 0.2; {self.pretrain // 2}: 0.4, 0.4, 0.2' \\",
            f"    lr_pieces='{self.schedules[0]}' run_name=pretrain …",
            "strata convert runs/pretrain start",
            "strata model upscale start deeper --to_layers 6 --check",
            "strata model upcycle start experts --experts 64 --active 8 --granularity 8 --check",
            "strata model upcycle start shared --experts 56 --active 7 --granularity 8 --shared 1 --dense_layers 1 --check",
            "strata train --init experts load_balance_loss_weight=0.01 \\",
            f"    lr_pieces='{self.schedules[1]}' …",
            "strata model routes runs/experts_on/model --files 'kjv.bin;python.bin;metamath.bin'", "```", "",
            "The schedules join where they meet: pretraining ends at the rate at which going on begins. The blend changes in the middle of pretraining, each "
            "text going on where it stood.", "",
        ]

    def losses(self):
        rows = []
        for name, model in self.models.items():
            each = self.each(name)
            told = each[0]["told"]
            apart = max((e["told"]["check"]["relative"] for e in each if e["told"]), default=None)
            dense = self.each("experts")[0]["told"]["weights_before"]
            weights, active = (told["weights_after"], model.active(told)) if told else (dense, dense)
            rows.append([model.what, f"{weights:,}", f"{active:,}", "" if apart is None else f"{apart:.0e} of their range",
                         mean(e["first"]["all"] for e in each), mean(e["last"]["all"] for e in each),
                         "" if name == "dense" else change(self.beside_dense(name))])
        pretrained = mean(seed["pretrain"][-1]["all"] for seed in self.seeds)
        best = min(self.models, key=lambda n: statistics.mean(e["last"]["all"] for e in self.each(n)))
        clear = [m.what for n, m in self.models.items() if n != "dense" and self.is_clear(n)]
        return ["## Losses at equal tokens", "",
                *table(["model", "weights", "of a token", "logits beside the model it is made of", "first loss", "last loss", "last loss beside the dense model's"], rows),
                f"The dense model ended pretraining at {pretrained}. Where the function is kept the first loss is that one; the script fails where it is not. "
                f"The lowest mean at the end is that of {self.models[best].what}. Differences from the dense model are taken seed by seed; larger than two of "
                f"their deviations are {'those of ' + '; '.join(clear) if clear else 'none of them'}.", "",
                "![training losses of what goes on, first seed](kakao/going_on.png)", "",
                "![held-out losses of what goes on, first seed](kakao/held_out.png)", ""]

    def is_clear(self, name):
        """Whether the mean difference from the dense model is more than two deviations of the seeds' differences."""
        d = self.beside_dense(name)
        return len(d) > 1 and abs(statistics.mean(d)) > 2 * statistics.stdev(d)

    def by_domain(self):
        rows = []
        for step in range(len(self.seeds[0]["pretrain"])):
            evaluations = [seed["pretrain"][step] for seed in self.seeds]
            rows.append([f"pretraining, step {evaluations[0]['step']}", *(mean(e[d] for e in evaluations) for d in self.domains)])
        for name, model in self.models.items():
            rows.append([model.what, *(f"{mean(e['first'][d] for e in self.each(name))} → {mean(e['last'][d] for e in self.each(name))}" for d in self.domains)])
        return ["## By domain, before and after each stage", "", *table(["stage", *self.domains], rows),
                "![training losses of the dense model, all seeds](kakao/pretraining.png)", ""]

    def balance(self):
        rows = [[self.models[n].what, mean(e["load"][0] for e in self.each(n)), f"{100 * statistics.mean(e['load'][1] for e in self.each(n)):.0f} %"]
                for n in self.models if self.models[n].routed()]
        return ["## The load-balancing loss", "",
                "All experts take the sparse path: tokens are sorted by expert and multiplied as groups of rows. The loss (`load_balance_loss_weight=0.01`) is over each sequence. "
                "The largest load is the busiest expert's share of the tokens times the number of experts, 1 where all are even; means of the last 20 steps.", "",
                *table(["model", "largest load", "experts of no token in a step"], rows),
                "![the largest load, first seed](kakao/largest_load.png)", ""]

    def routing(self):
        lines = ["## Which experts serve which domain", "",
                 f"By `strata model routes` {GONE_ON}, of the first seed: the experts that most tokens of a domain go through, and how far apart the domains' "
                 "shares are (half the sum of differences: 0 alike, 1 nothing in common).", ""]
        for name in ("experts_free", "experts", "shared"):
            lines += self.routing_of(name)
        return lines

    def routing_of(self, name):
        layers = routed_layers(self.each(name)[0]["routes"])
        rows = []
        for layer, shares in layers:
            busiest = [", ".join(f"{e} ({100 * s[e]:.0f} %)" for e in sorted(range(len(s)), key=lambda e: -s[e])[:3]) for s in shares]
            apart = [f"{divergence(a, b):.2f}" for a, b in pairs(shares)]
            rows.append([layer, *busiest, *apart, sum(not any(s[e] for s in shares) for e in range(len(shares[0])))])
        head = ["layer", *(f"busiest of {d}" for d in self.domains), *(f"{a} beside {b}" for a, b in pairs(self.domains)), "experts of no token"]
        lines = [f"{self.models[name].what.capitalize()}:", "", *table(head, rows)]
        if name == "experts_free":
            return lines
        layer, shares = max(layers, key=lambda each: sum(divergence(a, b) for a, b in pairs(each[1])))
        return lines + [f"Its layer {layer}, where the domains are furthest apart: the share of each domain's tokens that go through each expert, in per cent.", "",
                        *self.experts_by_domain(shares)]

    def experts_by_domain(self, shares, beside=4):
        """Every expert and its share of each domain, several experts in a row."""
        count = len(shares[0])
        lines = -(-count // beside)
        def cells(e):
            return [f"**{e}**", *(f"{100 * s[e]:.0f}" for s in shares)] if e < count else [""] * (1 + len(shares))
        return table(["expert", *self.domains] * beside, [[c for b in range(beside) for c in cells(b * lines + row)] for row in range(lines)])

    def window_modes(self):
        w = self.results["windows"]
        native = w["native"]
        def starts(name):
            return [tuple(row[:3]) for row in w[name]["rows"]]
        def same(name):
            return sum(a == b for a, b in zip(starts(name), starts("native")))
        rows = [[what, w[n]["rows"][0][3], f"{w[n]['targets']:.0f}", f"{same(n)} of {len(starts(n))}", f"{w[n]['losses'][0]:.4f}",
                 f"{statistics.mean(w[n]['losses'][-20:]):.3f}", *(f"{w[n]['held'][d]:.3f}" for d in self.domains)] for n, (what, _) in self.windows.items()]
        apart = max(abs(w["megatron"]["held"][d] - native["held"][d]) for d in self.domains)
        gaps = {n: statistics.mean(abs(a - b) for a, b in zip(w[n]["losses"], native["losses"])) for n in ("disjoint", "megatron")}
        return [
            "## The two window modes, and Megatron's order", "",
            f"The same dense model from the same weights, {self.on} steps, by three readings of the same `.bin/.idx` with the same seed and blend; last columns: the same held-out texts, "
            "which none of them saw, cut for all alike.", "",
            *table(["reading", "tokens of a window", "targets of a step", "rows of the first steps that begin where overlapping ones do", "loss of step 1", "mean of the last 20",
                    *self.domains], rows),
            "![training losses by window mode](kakao/windows.png)", "",
            "Where the data differ:", "",
            f"- Disjoint windows begin at the same tokens in the same order, since a text of T tokens has ⌊T/L⌋ of them and ⌊(T-1)/L⌋ overlapping ones, the same number unless L divides T. "
            f"But their last position has no target, which lies in the next window: {native['targets'] - w['disjoint']['targets']:.0f} of {native['targets']:.0f} targets of a step are lost. "
            f"That alone parts the curves, by {gaps['disjoint']:.3f} nats on average.",
            f"- Megatron's order reads other windows: it shuffles documents, joins them, cuts, and shuffles the samples, and blends by the largest deficit; natively a text's windows are cut "
            f"in the order of its file and permuted, and Grain's mix blends. Its curve is {gaps['megatron']:.3f} nats away on average, mostly the noise of other batches: on "
            f"the held-out texts the two models differ by at most {apart:.3f} nats.", ""]

    def end(self):
        dense = self.each("experts")[0]["told"]["weights_before"]
        return ["## What this does not show", "",
                "Whether experts are better at equal compute or equal memory: tokens alone are equal here, and one schedule serves all. Anything about sizes at which people use them: "
                f"{dense:,} weights that saw {(self.pretrain + self.on) * 1024 // 1000:,} thousand bytes still learn fast, and an expert gets the gradients of an eighth of the tokens that a dense branch gets. "
                f"And the deviation of {len(self.seeds)} seeds is itself uncertain.", ""]

    def text(self):
        sections = (self.head, self.losses, self.by_domain, self.balance, self.routing, self.window_modes, self.end)
        return "\n".join(line for section in sections for line in section()).rstrip() + "\n"


def page(results, models, windows, domains, schedules):
    """The page; `schedules` are the texts of lr_pieces of pretraining and of going on."""
    return Page(results, models, windows, domains, schedules).text()
