"""Tables of models as data: columns, rows, counts and sizes, without upstream's layout."""
import re

import jax.numpy as jnp
from flax import nnx
from flax.nnx import summary

from .models import MODELS, TEXT, Block, Net
from .record import path_text


class Tied(nnx.Module):
    """Calls one layer twice with equal inputs, another with two different ones, a third not."""

    def __init__(self, rngs):
        self.a = nnx.Linear(3, 3, rngs=rngs)
        self.b = nnx.Linear(3, 3, use_bias=False, param_dtype="bfloat16", rngs=rngs)
        self.unused = nnx.Linear(3, 5, rngs=rngs)

    def __call__(self, x):
        return self.b(self.a(self.a(x))).sum() + self.b(x[0]).sum()

    def encode(self, x, scale):
        return {"encoded": self.a(x) * scale, "x": x}


TIED = "Tied(Rngs(0)): a = Linear(3, 3), b = Linear(3, 3, no bias, param_dtype bf16), unused = Linear(3, 5)." \
    " Call: sum of b(a(a(x))) + sum of b(x[0]). encode(x, scale): {encoded: a(x) * scale, x: x}"


def plain(text):
    """Upstream's cell without its marks for dim letters."""
    return re.sub(r"\[/?dim\]", "", text)


def leaves(x):
    if isinstance(x, dict):
        return [leaf for v in x.values() for leaf in leaves(v)]
    return [leaf for v in x for leaf in leaves(v)] if isinstance(x, (list, tuple)) else [plain(str(x))]


def sizes(stats):
    return {kind.__name__: [s.size, s.bytes] for kind, s in sorted(stats.items(), key=lambda i: i[0].__name__)}


def table(name, text, model, *inputs, **options):
    rows, held = [], {}
    collect, columns = summary._collect_stats, []
    add = summary.rich.table.Table.add_column

    def keep_stats(path, node, stats, types):
        held["stats"] = stats if path == () else held["stats"]
        return collect(path, node, stats, types)

    def keep_column(self, header, *args, **kwargs):
        columns.append(header)
        return add(self, header, *args, **kwargs)

    def keep(call):
        shown = summary.filter_rng_streams(call)
        if shown:
            info = held["stats"][call.object_id]
            own = {k.__name__: {str(n): f"{v.dtype}[{','.join(map(str, v.shape))}]" for n, v in group.items()}
                   for k, group in info.variable_groups.items() if group}
            rows.append({"path": path_text(call.path), "type": call.type.__name__,
                         "inputs": plain(call.inputs_repr), "outputs": leaves(call.outputs),
                         "variables": own, "subtree": sizes(info.stats)})
        return shown

    summary._collect_stats, summary.rich.table.Table.add_column = keep_stats, keep_column
    try:
        nnx.tabulate(model, *inputs, row_filter=keep, **options)
    finally:
        summary._collect_stats, summary.rich.table.Table.add_column = collect, add
    whole = next(i for i in held["stats"].values() if i is not None and i.path == ())
    total = sum(s.size for s in whole.stats.values()), sum(s.bytes for s in whole.stats.values())
    said = {k: v for k, v in options.items()}
    return {"name": name, "model": text, "inputs": [f"{x.dtype}{list(x.shape)}" for x in inputs], "options": said,
            "columns": columns, "rows": rows, "totals": sizes(whole.stats), "total": list(total)}


def cases():
    x = jnp.ones((2, 3))
    yield table("linear", TEXT["linear"], MODELS["linear"](), jnp.ones((4, 2)))
    yield table("block", "Block(3, Rngs(0)), see the first model of `net`", Block(3, nnx.Rngs(0)), x)
    yield table("net", TEXT["net"], Net(nnx.Rngs(params=0, dropout=1)), x)
    yield table("net_depth_0", TEXT["net"], Net(nnx.Rngs(params=0, dropout=1)), x, depth=0)
    yield table("net_depth_2", TEXT["net"], Net(nnx.Rngs(params=0, dropout=1)), x, depth=2)
    yield table("tied", TIED, Tied(nnx.Rngs(0)), x)
    yield table("tied_method", TIED, Tied(nnx.Rngs(0)), x, jnp.ones(()), method="encode")
    attention = nnx.MultiHeadAttention(2, 4, decode=False, rngs=nnx.Rngs(0))
    yield table("attention", "MultiHeadAttention(2, 4, decode=False, Rngs(0))", attention, jnp.ones((1, 3, 4)))
