"""Programs drawn by chance, of each kind that bench/programs.py and bench/more_programs.py have: one operation or a few, of shapes, layouts, axes and types that
nobody would write down one by one. PROGRAMS and KIND as there.

    STRATA_BUILD=build STRATA_SEED=7 STRATA_COUNT=40 bench/perf.py --programs bench/random_programs.py --seconds 0.1 --rounds 1 [NAME...]

STRATA_SEED (1), STRATA_COUNT (20, of each family) and STRATA_FAMILIES (all of them, or names with commas between) choose them; a name says what was drawn, and
is the same in each run of a seed. What is far behind belongs into bench/more_programs.py, with its repair.
"""
import math
import os
import random

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

PROGRAMS, KIND = {}, {}
SEED, COUNT = int(os.environ.get("STRATA_SEED", 1)), int(os.environ.get("STRATA_COUNT", 20))
F32, BF16, F16, I32, I8, U8, BOOL = jnp.float32, jnp.bfloat16, jnp.float16, jnp.int32, jnp.int8, jnp.uint8, jnp.bool_
SHORT = {F32: "f32", BF16: "bf16", F16: "f16", I32: "i32", I8: "i8", U8: "u8", BOOL: "bool", jnp.complex64: "c64"}


def value(shape, kind=F32, seed=0, limit=100):
    """Values of a type: normal, or whole numbers below limit."""
    key = jax.random.key(seed)
    if kind == jnp.complex64:
        return lax.complex(value(shape, F32, seed), value(shape, F32, seed + 1))
    if kind == BOOL:
        return jax.random.bernoulli(key, 0.3, shape)
    if jnp.issubdtype(kind, jnp.floating):
        return jax.random.normal(key, shape).astype(kind)
    return jax.random.randint(key, shape, 0, limit).astype(kind)


SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 33, 48, 64, 65, 96, 100, 128, 197, 256, 300, 384, 512, 577, 768, 1000, 1024, 2048, 4096)


def shape(r, rank, elements):
    """About as many elements, in dimensions of very different sizes."""
    if rank == 1:
        return (elements,)
    while True:
        dims = [r.choice(SIZES) for _ in range(rank)]
        if elements / 2 <= math.prod(dims) <= 2 * elements:
            return tuple(dims)


def some(r, n, least=1):
    return tuple(sorted(r.sample(range(n), r.randint(least, n))))


def said(*parts):
    def one(p):
        if isinstance(p, (tuple, list)):
            return "x".join(map(str, p))
        return SHORT.get(p, str(p)) if not isinstance(p, str) else p
    return "_".join(map(one, parts))


FAMILIES = {}


def family(kind):
    def named(f):
        FAMILIES[f.__name__] = (kind, f)
        return f
    return named


def floats(r):
    return r.choice((F32, F32, F32, BF16))


def elements(r):
    return 1 << r.randint(16, 23)


@family("memory")
def reduction(r):
    s, kind = shape(r, r.randint(2, 5), elements(r)), r.choice((F32, F32, F32, BF16, I32, I8))
    axes = some(r, len(s))
    name = r.choice(("sum", "max", "min", "mean", "any", "prod", "argmax", "logsumexp", "var", "std", "sumsq", "l1"))
    if name in ("mean", "logsumexp", "var", "std", "sumsq", "l1", "prod"):
        kind = floats(r)
    x = value(s, kind)
    if name == "argmax":
        axes = axes[:1]
    f = {"sum": lambda x: x.sum(axes), "max": lambda x: x.max(axes), "min": lambda x: x.min(axes), "mean": lambda x: x.mean(axes), "any": lambda x: (x > 2).any(axes),
         "prod": lambda x: x.prod(axes), "argmax": lambda x: jnp.argmax(x, axes[0]), "logsumexp": lambda x: jax.nn.logsumexp(x, axes), "var": lambda x: x.var(axes),
         "std": lambda x: x.std(axes), "sumsq": lambda x: (x * x).sum(axes), "l1": lambda x: jnp.abs(x).sum(axes)}[name]
    return said(name, s, "over", axes, kind), f, (x,)


@family("memory")
def normalisation(r):
    s, kind = shape(r, r.randint(2, 4), elements(r)), floats(r)
    axes = some(r, len(s))
    name = r.choice(("softmax", "log_softmax", "standardise", "rms", "centre", "unit", "softmax_grad", "standardise_grad"))

    def standardise(x):
        m = x.mean(axes, keepdims=True)
        v = ((x - m) ** 2).mean(axes, keepdims=True)
        return (x - m) * lax.rsqrt(v + 1e-5)
    f = {"softmax": lambda x: jax.nn.softmax(x, axes), "log_softmax": lambda x: jax.nn.log_softmax(x, axes), "standardise": standardise,
         "rms": lambda x: x * lax.rsqrt((x * x).mean(axes, keepdims=True) + 1e-6), "centre": lambda x: x - x.mean(axes, keepdims=True),
         "unit": lambda x: x / jnp.sqrt((x * x).sum(axes, keepdims=True) + 1e-6)}
    x = value(s, kind)
    if name.endswith("_grad"):
        inner = f[name[:-5]]
        return said(name, s, "over", axes, kind), lambda x, t: jax.vjp(inner, x)[1](t)[0], (x, value(s, kind, 1))
    return said(name, s, "over", axes, kind), f[name], (x,)


@family("memory")
def transposition(r):
    s, kind = shape(r, r.randint(2, 5), elements(r)), r.choice((F32, F32, BF16, I8, I32, jnp.complex64))
    order = list(range(len(s)))
    while order == sorted(order):
        r.shuffle(order)
    after = r.choice(("copy", "copy", "add", "cast", "merge"))
    x = value(s, kind)
    f = {"copy": lambda x: x.transpose(order), "add": lambda x: x.transpose(order) + jnp.ones((), kind), "cast": lambda x: x.transpose(order).astype(F32 if kind != F32 else BF16),
         "merge": lambda x: x.transpose(order).reshape(s[order[0]], -1)}[after if kind != jnp.complex64 or after != "cast" else "copy"]
    return said("transpose", s, "by", order, after, kind), f, (x,)


@family("memory")
def across(r):
    """Reductions and normalisations of what was transposed, or taken apart, before."""
    s, kind = shape(r, r.randint(2, 4), elements(r)), r.choice((F32, F32, F32, BF16, I32))
    order = list(range(len(s)))
    while order == sorted(order):
        r.shuffle(order)
    axes = some(r, len(s))
    name = r.choice(("sum", "max", "mean", "var", "softmax", "standardise", "softmax_grad", "scaled_sum", "exp_sum", "groups"))
    if name not in ("sum", "max"):
        kind = floats(r)
    x = value(s, kind)

    def standardise(x):
        m = x.mean(axes, keepdims=True)
        return (x - m) * lax.rsqrt(((x - m) ** 2).mean(axes, keepdims=True) + 1e-5)

    def groups(x):
        """The last dimension in groups of g, each over all of the first ones but one."""
        g = r.choice([d for d in (1, 2, 4, 8, 16) if x.shape[-1] % d == 0])
        return x.reshape(*x.shape[:-1], -1, g).astype(F32).sum((*range(1, len(s) - 1), len(s)))
    f = {"sum": lambda x: x.sum(axes), "max": lambda x: x.max(axes), "mean": lambda x: x.mean(axes), "var": lambda x: x.var(axes), "softmax": lambda x: jax.nn.softmax(x, axes),
         "standardise": standardise, "softmax_grad": lambda x: jax.vjp(lambda x: jax.nn.softmax(x, axes), x)[1](x * 2)[0], "scaled_sum": lambda x: (x * x.mean(axes, keepdims=True)).sum(axes),
         "exp_sum": lambda x: jnp.exp(-jnp.abs(x)).sum(axes)}
    if name == "groups":
        return said("groups", s, kind), groups, (x,)
    return said("across", name, s, "by", order, "over", axes, kind), lambda x: f[name](x.transpose(order)), (x,)


@family("memory")
def elementwise(r):
    s, kind = shape(r, r.randint(1, 4), elements(r)), floats(r)
    steps = [r.choice(("exp", "tanh", "log1p", "sqrt", "sin", "logistic", "gelu", "abs", "mul", "add", "div", "max", "where", "pow3", "square", "erf", "bias", "scale", "cast")) for _ in range(r.randint(1, 5))]
    masks = [tuple(d if r.random() < 0.5 else 1 for d in s) for _ in steps]
    others = [value(m, kind, 2 + i) for i, m in enumerate(masks)]

    def f(x, *others):
        for step, y in zip(steps, others):
            x = {"exp": lambda: jnp.exp(-jnp.abs(x)), "tanh": lambda: jnp.tanh(x), "log1p": lambda: jnp.log1p(jnp.abs(x)), "sqrt": lambda: jnp.sqrt(jnp.abs(x)), "sin": lambda: jnp.sin(x),
                 "logistic": lambda: jax.nn.sigmoid(x), "gelu": lambda: jax.nn.gelu(x), "abs": lambda: jnp.abs(x), "mul": lambda: x * y, "add": lambda: x + y,
                 "div": lambda: x / (y * y + 1), "max": lambda: jnp.maximum(x, y), "where": lambda: jnp.where(x > y, x, y * 2), "pow3": lambda: x ** 3, "square": lambda: x * x,
                 "erf": lambda: lax.erf(x), "bias": lambda: x + y, "scale": lambda: x * 0.5 + 1, "cast": lambda: x.astype(BF16).astype(kind)}[step]()
        return x
    return said("-".join(steps), s, kind), f, (value(s, kind), *others)


@family("memory")
def shuffle(r):
    """What only moves."""
    rank = r.randint(1, 4)
    s, kind = shape(r, rank, elements(r)), r.choice((F32, F32, BF16, I8, I32))
    axis = r.randrange(rank)
    n = s[axis]
    name = r.choice(("roll", "flip", "slice", "strided", "pad", "pad_edge", "concat", "repeat", "tile", "broadcast", "tril", "diff", "stack", "split", "dynamic_slice", "update", "reshape_swap"))
    k = r.randint(0, n - 1)
    if name in ("repeat", "tile", "broadcast"):
        s = tuple(max(1, d // 2) if i == axis else d for i, d in enumerate(s))
    cut = lambda x, a, b, step=1: lax.slice_in_dim(x, a, b, step, axis)
    x = value(s, kind)
    f = {"roll": lambda x: jnp.roll(x, k, axis), "flip": lambda x: jnp.flip(x, axis), "slice": lambda x: cut(x, k // 2, n - k // 4), "strided": lambda x: cut(x, 0, n, 2),
         "pad": lambda x: jnp.pad(x, [(1, 2) if i == axis else (0, 0) for i in range(rank)]), "pad_edge": lambda x: jnp.pad(x, [(2, 1) if i == axis else (0, 0) for i in range(rank)], mode="edge"),
         "concat": lambda x: jnp.concatenate([x, x + jnp.ones((), kind)], axis), "repeat": lambda x: jnp.repeat(x, 3, axis),
         "tile": lambda x: jnp.concatenate([x] * 3, axis), "broadcast": lambda x: jnp.broadcast_to(jnp.expand_dims(x, axis), s[:axis] + (3,) + s[axis:]) + jnp.zeros((), kind),
         "tril": lambda x: jnp.tril(x) if rank > 1 else x[::-1], "diff": lambda x: jnp.diff(x, axis=axis), "stack": lambda x: jnp.stack([x, -x], axis),
         "split": lambda x: jnp.split(x[..., : s[-1] // 2 * 2], 2, -1)[1] * jnp.split(x[..., : s[-1] // 2 * 2], 2, -1)[0],
         "dynamic_slice": lambda x: lax.dynamic_slice_in_dim(x, jnp.int32(k), max(1, (n - k) // 2), axis),
         "update": lambda x: lax.dynamic_update_slice_in_dim(x, cut(x, 0, max(1, n // 3)), jnp.int32(k // 2), axis),
         "reshape_swap": lambda x: x.reshape(-1, s[-1]).swapaxes(0, 1).reshape(-1)}[name]
    return said(name, s, "at", (axis, k), kind), f, (x,)


@family("dense")
def product(r):
    """dot_general with its dimensions in any order."""
    kind = r.choice((F32, F32, F32, BF16))
    small = (1, 2, 3, 4, 7, 8, 10, 16, 17, 32, 48, 64, 65, 100, 128, 200, 256, 384, 512, 768, 1000, 1024)
    while True:
        nb, nm, nn, nk = r.choice((0, 0, 1, 1, 2)), r.choice((0, 1, 1, 1, 2)), r.choice((0, 1, 1, 1, 2)), r.choice((1, 1, 1, 2))
        dims = [r.choice(small) for _ in range(nb + nm + nn + nk)]
        b, m, n, k = (math.prod(dims[i:j]) for i, j in ((0, nb), (nb, nb + nm), (nb + nm, nb + nm + nn), (nb + nm + nn, len(dims))))
        if 1 << 21 <= b * m * n * k <= 1 << 30 and max(b * m * k, b * n * k, b * m * n) <= 1 << 24:
            break
    letters = "abcdefgh"
    batch, rows, columns, terms = letters[:nb], letters[nb:nb + nm], letters[nb + nm:nb + nm + nn], letters[nb + nm + nn:len(dims)]
    mixed = lambda text: "".join(r.sample(text, len(text)))
    left, right, out = mixed(batch + rows + terms), mixed(batch + columns + terms), mixed(batch + rows + columns)
    size = dict(zip(letters, dims))
    spec = f"{left},{right}->{out}"
    epilogue = r.choice(("", "", "", "relu", "bias"))
    x, y = value([size[c] for c in left], kind), value([size[c] for c in right], kind, 1)

    def f(x, y):
        z = jnp.einsum(spec, x, y)
        return jax.nn.relu(z) if epilogue == "relu" else z * 2 + z.ravel()[0] if epilogue == "bias" else z
    return said("einsum", spec.replace(",", "_").replace("->", "_to_"), dims, epilogue, kind), f, (x, y)


@family("dense")
def convolution(r):
    while True:
        spatial = r.choice((1, 2, 2, 2, 3))
        kind = r.choice((F32, F32, F32, BF16))
        n, ci, co = r.choice((1, 2, 8, 16, 32)), r.choice((1, 3, 4, 8, 16, 32, 64, 128, 256)), r.choice((1, 4, 8, 16, 32, 64, 128, 256))
        size = [r.choice((7, 8, 14, 16, 28, 32, 56, 64) if spatial < 3 else (4, 7, 8, 16)) * (16 if spatial == 1 else 1) for _ in range(spatial)]
        kernel = [r.choice((1, 2, 3, 3, 3, 4, 5, 7)) for _ in range(spatial)]
        stride = [r.choice((1, 1, 1, 2))] * spatial
        dilation = [r.choice((1, 1, 1, 1, 2))] * spatial
        groups = r.choice((1, 1, 1, 1, 2, "depthwise"))
        groups = ci if groups == "depthwise" else groups
        if ci % groups or co % groups:
            continue
        work = n * ci // groups * co * math.prod(kernel) * math.prod(size) // math.prod(stride)
        if 1 << 21 <= work <= 1 << 30:
            break
    letters = "DHW"[3 - spatial:]
    first, last = "NC" + letters, "N" + letters + "C"
    ins, outs = r.choice((first, last, last)), None
    outs, kernels = ins, r.choice(("OI" + letters, letters + "IO"))
    padding = r.choice(("SAME", "VALID"))
    lhs = [dict(zip("NC" + letters, [n, ci, *size]))[c] for c in ins]
    rhs = [dict(zip("OI" + letters, [co, ci // groups, *kernel]))[c] for c in kernels]
    part = r.choice(("forward", "forward", "lhs", "rhs", "both", "relu"))

    def forward(x, w):
        return lax.conv_general_dilated(x, w, stride, padding, rhs_dilation=dilation, feature_group_count=groups, dimension_numbers=(ins, kernels, outs))
    x, w = value(lhs, kind), value(rhs, kind, 1)
    f = {"forward": forward, "relu": lambda x, w: jax.nn.relu(forward(x, w) + 1), "lhs": lambda x, w: jax.grad(lambda x: (forward(x, w).astype(F32) ** 2).sum())(x),
         "rhs": lambda x, w: jax.grad(lambda w: (forward(x, w).astype(F32) ** 2).sum())(w), "both": lambda x, w: jax.grad(lambda x, w: (forward(x, w).astype(F32) ** 2).sum(), (0, 1))(x, w)}[part]
    return said("conv", ins, lhs, kernels, rhs, "stride", stride[0], "dilation", dilation[0], "groups", groups, padding, part, kind), f, (x, w)


@family("memory")
def pooling(r):
    n, c = r.choice((1, 4, 16, 32)), r.choice((1, 3, 8, 16, 32, 64))
    size = (r.choice((28, 32, 56, 64, 112)), r.choice((28, 32, 56, 64, 112)))
    window, stride = r.choice((2, 2, 3, 3, 4, 5)), r.choice((1, 2, 2, 3))
    layout, padding = r.choice(("NHWC", "NCHW")), r.choice(("SAME", "VALID"))
    at = 1 if layout == "NHWC" else 2
    s = (n, *size, c) if at == 1 else (n, c, *size)
    full = lambda k: tuple(k if at <= i < at + 2 else 1 for i in range(4))
    name = r.choice(("max", "average", "max_grad", "average_grad"))
    pool = {"max": lambda x: lax.reduce_window(x, -jnp.inf, lax.max, full(window), full(stride), padding),
            "average": lambda x: lax.reduce_window(x, 0.0, lax.add, full(window), full(stride), padding) / window ** 2}[name.split("_")[0]]
    f = (lambda x: jax.grad(lambda x: (pool(x) ** 2).sum())(x)) if name.endswith("grad") else pool
    return said("pool", name, layout, s, "window", window, "stride", stride, padding), f, (value(s),)


@family("irregular")
def gathering(r):
    rank = r.randint(1, 3)
    s, kind = shape(r, rank, 1 << r.randint(12, 22)), r.choice((F32, F32, BF16, I32, I8))
    axis = r.randrange(rank)
    m = max(1, min(4_000_000 * s[axis] // math.prod(s), 1 << r.randint(6, 20)))
    mode = r.choice(("take", "take", "take_along", "two", "sorted", "grad"))
    x, i = value(s, kind), value((m,), I32, 3, s[axis])
    if mode == "take_along":
        t = list(s)
        t[axis] = max(1, min(m, 4_000_000 * s[axis] // math.prod(s)))
        return said("take_along", s, "at", axis, "by", t, kind), lambda x, i: jnp.take_along_axis(x, i, axis), (x, value(tuple(t), I32, 3, s[axis]))
    if mode == "two" and rank > 1:
        return said("gather_two", s, "by", m, kind), lambda x, i, j: x[i, j], (x, value((m,), I32, 3, s[0]), value((m,), I32, 4, s[1]))
    if mode == "sorted":
        return said("take_sorted", s, "at", axis, "by", m, kind), lambda x, i: jnp.take(x, i, axis, mode="clip"), (x, jnp.sort(i))
    if mode == "grad":
        return said("take_grad", s, "at", axis, "by", m), lambda x, i: jax.grad(lambda x: (jnp.take(x, i, axis, mode="clip") ** 2).sum())(x), (value(s), i)
    return said("take", s, "at", axis, "by", m, kind), lambda x, i: jnp.take(x, i, axis), (x, i)


@family("irregular")
def scattering(r):
    rank = r.randint(1, 3)
    s, kind = shape(r, rank, 1 << r.randint(12, 22)), r.choice((F32, F32, BF16, I32))
    rows = math.prod(s[1:])
    m = max(1, min(4_000_000 // rows, 1 << r.randint(6, 20)))
    name = r.choice(("set", "add", "add", "max", "mul", "segment_sum", "segment_max", "add_two"))
    x, i = value(s, kind), value((m,), I32, 3, s[0])
    if name == "add_two" and rank > 1:
        rest = s[2:]
        return said("scatter_add_two", s, "by", m, kind), lambda x, i, j, u: x.at[i, j].add(u), (x, i, value((m,), I32, 5, s[1]), value((m, *rest), kind, 6))
    u = value((m, *s[1:]), kind, 4)
    if name.startswith("segment"):
        g = jax.ops.segment_sum if name == "segment_sum" else jax.ops.segment_max
        sort = r.random() < 0.5
        return said(name, s, "by", m, "sorted" if sort else "", kind), lambda u, i: g(u, i, s[0], indices_are_sorted=sort), (u, jnp.sort(i) if sort else i)
    name = "add" if name == "add_two" else name
    return said("scatter", name, s, "by", m, kind), lambda x, i, u: getattr(x.at[i], {"mul": "multiply"}.get(name, name))(u), (x, i, u)


@family("irregular")
def sorting(r):
    rank = r.randint(1, 3)
    s, kind = shape(r, rank, 1 << r.randint(14, 20)), r.choice((F32, F32, BF16, I32, U8))
    axis = r.randrange(rank)
    name = r.choice(("sort", "argsort", "top_k", "top_k", "pairs", "median", "descending", "unique_counts"))
    k = min(s[-1], r.choice((1, 2, 5, 8, 32, 50, 100, 256)))
    x = value(s, kind)
    if name == "median" or name == "unique_counts":
        return said("median", s, "at", axis), lambda x: jnp.median(x, axis), (value(s),)
    f = {"sort": lambda x: jnp.sort(x, axis), "argsort": lambda x: jnp.argsort(x, axis), "top_k": lambda x: lax.top_k(x, k), "descending": lambda x: jnp.sort(x, axis, descending=True),
         "pairs": lambda x: lax.sort((x, jnp.broadcast_to(jnp.arange(x.size, dtype=I32).reshape(s), s)), dimension=axis, num_keys=1)}[name]
    return said(name, s, k if name == "top_k" else f"at_{axis}", kind), f, (x,)


@family("irregular")
def cumulative(r):
    rank = r.randint(1, 4)
    s, kind = shape(r, rank, 1 << r.randint(14, 22)), r.choice((F32, F32, BF16, I32))
    axis, reverse = r.randrange(rank), r.random() < 0.3
    name = r.choice(("cumsum", "cumprod", "cummax", "cumlogsumexp", "associative"))
    if name == "cumlogsumexp":
        kind = F32
    x = value(s, kind)
    if name == "associative":
        return said("linear_recurrence", s, "at", axis), lambda a, b: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b), axis=axis), (jax.nn.sigmoid(value(s)), value(s, F32, 1))
    return said(name, s, "at", axis, "reverse" if reverse else "", kind), lambda x: getattr(lax, name)(x, axis, reverse=reverse), (x,)


@family("irregular")
def chance(r):
    s = shape(r, r.randint(2, 3), elements(r))
    name = r.choice(("uniform", "normal", "bernoulli", "randint", "gumbel", "exponential", "laplace", "categorical", "dropout", "permutation", "bits", "fold", "truncated", "cauchy", "rademacher"))
    kind = r.choice((F32, F32, BF16)) if name in ("uniform", "normal") else F32
    data = jax.random.key_data(jax.random.key(0))
    wrap = jax.random.wrap_key_data
    R = jax.random
    f = {"uniform": lambda k: R.uniform(wrap(k), s, kind), "normal": lambda k: R.normal(wrap(k), s, kind), "bernoulli": lambda k: R.bernoulli(wrap(k), 0.3, s),
         "randint": lambda k: R.randint(wrap(k), s, 0, 1000), "gumbel": lambda k: R.gumbel(wrap(k), s), "exponential": lambda k: R.exponential(wrap(k), s), "laplace": lambda k: R.laplace(wrap(k), s),
         "categorical": lambda k: R.categorical(wrap(k), jnp.zeros(s)), "dropout": lambda k: jnp.where(R.bernoulli(wrap(k), 0.9, s), 1.0, 0.0), "permutation": lambda k: R.permutation(wrap(k), s[0] * 100),
         "bits": lambda k: R.bits(wrap(k), s), "fold": lambda k: jax.vmap(lambda i: R.normal(R.fold_in(wrap(k), i), (s[-1],)))(jnp.arange(s[0])), "truncated": lambda k: R.truncated_normal(wrap(k), -2.0, 2.0, s),
         "cauchy": lambda k: R.cauchy(wrap(k), s), "rademacher": lambda k: R.rademacher(wrap(k), s)}[name]
    return said(name, s, kind), f, (data,)


@family("dense")
def transform(r):
    n = r.choice((15, 16, 60, 64, 100, 128, 240, 243, 256, 512, 1000, 1024, 1023, 2048, 4096, 6000, 8192, 16384, 65536))
    m = max(1, (1 << r.randint(14, 21)) // n)
    name = r.choice(("fft", "ifft", "rfft", "irfft", "fft_first", "fft2"))
    if name == "fft2":
        a = r.choice((32, 64, 100, 128, 256))
        return said("fft2", (max(1, m // 64), a, a)), jnp.fft.fft2, (value((max(1, min(m // 64, 64)), a, a), jnp.complex64),)
    x = value((n, m) if name == "fft_first" else (m, n), F32 if name == "rfft" else jnp.complex64)
    f = {"fft": jnp.fft.fft, "ifft": jnp.fft.ifft, "rfft": jnp.fft.rfft, "irfft": jnp.fft.irfft, "fft_first": lambda x: jnp.fft.fft(x, axis=0)}[name]
    return said(name, x.shape), f, (x,)


@family("loops")
def loop(r):
    """A scan or fori_loop whose turn is one of a few kinds, of a carry of any size."""
    T = r.choice((16, 64, 200, 500, 1000))
    B, D = r.choice((1, 2, 4, 8, 16, 32)), r.choice((1, 3, 4, 8, 16, 32, 48, 64, 100, 128))
    while T * B * D * D > 1 << 27:
        T //= 2
    name = r.choice(("linear", "tanh_rnn", "gated", "ema", "gather", "update", "argmax", "softmax", "grad_rnn", "grad_ema", "two", "while", "conditional", "norm", "kalman", "roll", "grad_gated", "cumulative", "vmap"))
    c0, W, xs = value((B, D)) * 0.1, value((D, D), F32, 1) * D ** -0.5, value((T, B, D), F32, 2)
    U = value((D, 3 * D), F32, 3) * 0.3 * D ** -0.5  # so that what rounding leaves does not grow from turn to turn
    ids = value((T,), I32, 4, B)

    def gated(c, x):
        z, i, g = jnp.split(c @ U + jnp.tile(x, 3), 3, -1)
        c = jax.nn.sigmoid(z) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return c, c.sum(-1)
    turns = {"linear": lambda c, x: (c @ W * 0.5 + x, None), "tanh_rnn": lambda c, x: (jnp.tanh(c @ W + x),) * 2, "gated": gated, "ema": lambda c, x: (0.9 * c + 0.1 * x,) * 2,
             "argmax": lambda c, x: (c.at[jnp.arange(B), jnp.argmax(c + x, -1)].multiply(0.5) + 0.01, jnp.argmax(x + c, -1)),
             "softmax": lambda c, x: (jax.nn.softmax(c + x, -1), (c * x).sum()), "norm": lambda c, x: ((c + x) * lax.rsqrt(((c + x) ** 2).mean(-1, keepdims=True) + 1e-5),) * 2,
             "roll": lambda c, x: (jnp.roll(c, 1, -1) * 0.9 + x, c[:, 0]), "conditional": lambda c, x: (lax.cond(x[0, 0] > 0, lambda c: c * 0.5 + 1, lambda c: jnp.tanh(c), c), c.mean()),
             "cumulative": lambda c, x: (c + jnp.cumsum(x, -1) * 0.01, c.max())}
    label = said("loop", name, "T", T, (B, D))
    if name in turns:
        return label, lambda c, xs, W, U: lax.scan(turns[name], c, xs), (c0, xs, W, U)
    if name.startswith("grad"):
        inner = {"grad_rnn": lambda c, x, W, U: (jnp.tanh(c @ W + x), c.sum()), "grad_ema": lambda c, x, W, U: (0.9 * c + jnp.sin(x) * c, c.sum()),
                 "grad_gated": lambda c, x, W, U: ((lambda z: (jax.nn.sigmoid(z[:, :D]) * c + jnp.tanh(z[:, D:2 * D]) + 0 * z[:, 2 * D:], c.sum()))(c @ U + jnp.tile(x, 3)))}[name]

        def loss(W, U, c, xs):
            c, ys = lax.scan(lambda c, x: inner(c, x, W, U), c, xs)
            return (c ** 2).sum() + (ys ** 2).mean()
        return label, jax.grad(loss, (0, 1, 3)), (W, U, c0, xs)
    if name == "gather":
        table = value((100, D), F32, 5)
        return label, lambda c, t, i: lax.scan(lambda c, i: (0.9 * c + t[i], c.sum()), c, i), (c0, table, value((T, B), I32, 4, 100))
    if name == "update":
        return label, lambda c, xs, i: lax.fori_loop(0, T, lambda t, c: c.at[i[t]].add(xs[t, 0]), c), (c0, xs, ids)
    if name == "two":
        return label, lambda c, xs: lax.scan(lambda c, x: ((c[0] + c[1] * 0.01, c[1] * 0.99 + x), c[0].mean(0)), (c, c), xs), (c0, xs)
    if name == "while":
        return label, lambda c: lax.while_loop(lambda s: (s[0] < T) & (jnp.abs(s[1]).max() < 1e6), lambda s: (s[0] + 1, jnp.sin(s[1]) + 0.01 * s[1]), (0, c)), (c0,)
    if name == "vmap":
        return label, lambda c: jax.vmap(lambda c: lax.fori_loop(0, T, lambda t, c: c + 0.01 * jnp.sin(c) * c.mean(), c))(c), (value((256, D)),)
    n = min(D, 8)
    A = 0.97 * jnp.eye(n) + 0.01 * value((n, n), F32, 7)

    def kalman(s, z):
        x, P = s
        x, P = A @ x, A @ P @ A.T + 0.1 * jnp.eye(n)
        g = P[:, 0] / (P[0, 0] + 1)
        return (x + g * (z - x[0]), P - jnp.outer(g, P[0])), x
    return said("loop", "kalman", "T", T, n), lambda z: lax.scan(kalman, (jnp.zeros(n), jnp.eye(n)), z), (value((T,)),)


@family("training")
def network(r):
    """A small net of layers drawn one by one, its gradient, and a step of an optimizer."""
    B, S, D = r.choice((2, 4, 8, 16, 32)), r.choice((8, 16, 32, 64, 128)), r.choice((32, 64, 96, 128, 256, 384))
    while B * S * D > 1 << 18:
        B = max(1, B // 2)
    layers = [r.choice(("dense", "mlp", "norm", "rms", "attention", "causal", "glu", "dropout", "conv", "mix", "pool")) for _ in range(r.randint(3, 7))]
    act, H = r.choice((F32, F32, BF16)), 4
    loss_kind, update = r.choice(("mse", "xent")), r.choice(("sgd", "momentum", "adam", "none"))
    V = r.choice((10, 100, 1000, 5000))
    key = iter(jax.random.split(jax.random.key(1), 200))
    n = lambda *s: jax.random.normal(next(key), s) * s[-2] ** -0.5
    widths = {"dense": lambda: [n(D, D)], "mlp": lambda: [n(D, 4 * D), n(4 * D, D), jnp.zeros(4 * D)], "norm": lambda: [jnp.ones(D), jnp.zeros(D)], "rms": lambda: [jnp.ones(D)],
              "attention": lambda: [n(D, 3 * D), n(D, D)], "causal": lambda: [n(D, 3 * D), n(D, D)], "glu": lambda: [n(D, 2 * D), n(2 * D, D), n(D, 2 * D)], "dropout": lambda: [],
              "conv": lambda: [n(3, D, D)], "mix": lambda: [n(S, S)], "pool": lambda: []}
    p = {"layers": [widths[kind]() for kind in layers], "out": n(D, V)}
    data = jax.random.key_data(jax.random.key(9))

    def layer(kind, w, x, k):
        if kind == "dense":
            return jax.nn.relu(x @ w[0])
        if kind == "mlp":
            return x + jax.nn.gelu(x @ w[0] + w[2]) @ w[1]
        if kind == "norm":
            y = x.astype(F32)
            m = y.mean(-1, keepdims=True)
            return ((y - m) * lax.rsqrt(y.var(-1, keepdims=True) + 1e-5) * w[0] + w[1]).astype(x.dtype)
        if kind == "rms":
            y = x.astype(F32)
            return (y * lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5) * w[0]).astype(x.dtype)
        if kind in ("attention", "causal"):
            q, kk, v = (t.reshape(B, S, H, -1) for t in jnp.split(x @ w[0], 3, -1))
            s = jnp.einsum("bqhd,bkhd->bhqk", q, kk).astype(F32) * (D // H) ** -0.5
            if kind == "causal":
                s = jnp.where(jnp.tril(jnp.ones((S, S), bool)), s, -1e30)
            return x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s, -1).astype(x.dtype), v).reshape(B, S, D) @ w[1]
        if kind == "glu":
            return x + (jax.nn.silu(x @ w[0]) * (x @ w[2])) @ w[1]
        if kind == "dropout":
            return jnp.where(jax.random.bernoulli(k, 0.9, x.shape), x / 0.9, 0).astype(x.dtype)
        if kind == "conv":
            return x + lax.conv_general_dilated(x, w[0], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        if kind == "mix":
            return x + jnp.einsum("st,btd->bsd", w[0], x)
        return x + lax.reduce_window(x, 0.0, lax.add, (1, 3, 1), (1, 1, 1), "SAME") / 3  # the greatest of three may be another where rounding differs

    def loss(p, x, y, k):
        p = jax.tree.map(lambda w: w.astype(act), p)
        x = x.astype(act)
        for i, (kind, w) in enumerate(zip(layers, p["layers"])):
            x = layer(kind, w, x, jax.random.fold_in(k, i))
        z = (x @ p["out"]).astype(F32)
        if loss_kind == "mse":
            return (z ** 2).mean()
        return -jnp.take_along_axis(jax.nn.log_softmax(z), y[..., None], -1).mean()

    def step(p, m, x, y, k):
        l, g = jax.value_and_grad(loss)(p, x, y, jax.random.wrap_key_data(k))
        if update == "none":
            return l, g
        if update == "sgd":
            return l, jax.tree.map(lambda p, g: p - 0.1 * g, p, g)
        if update == "momentum":
            m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
            return l, jax.tree.map(lambda p, m: p - 0.1 * m, p, m), m
        norm = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(g)))
        g = jax.tree.map(lambda g: g / jnp.maximum(norm, 1), g)
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
        return l, jax.tree.map(lambda p, m, g: p - 1e-3 * m / (jnp.sqrt(g * g) + 1e-2), p, m, g), m
    zero = jax.tree.map(jnp.zeros_like, p)
    return said("net", "-".join(layers), (B, S, D), V, loss_kind, update, act), step, (p, zero, value((B, S, D)), value((B, S), I32, 2, V), data)


def draw():
    wanted = os.environ.get("STRATA_FAMILIES", "").split(",")
    for name, (kind, make) in FAMILIES.items():
        for i in range(COUNT if wanted == [""] or name in wanted else 0):
            def drawn(make=make, seed=f"{SEED}.{name}.{i}"):
                return make(random.Random(seed))
            labels = []
            jax.eval_shape(lambda: (lambda label, _, arguments: labels.append(label) or arguments)(*drawn()))  # the name without any numbers
            PROGRAMS[labels[0]], KIND[labels[0]] = lambda drawn=drawn: drawn()[1:], kind


draw()
