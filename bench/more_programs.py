"""Programs of the same kinds as bench/programs.py, as people write them: PROGRAMS maps a name to a function that returns (program, arguments), KIND a name to
its class.

    STRATA_BUILD=build bench/perf.py --programs bench/more_programs.py [NAME...]

They found what the listed ones do not show: splats written out, sums read across memory, loops that lay out a matrix again in each turn.
"""
import numpy as np, jax, jax.numpy as jnp
from jax import lax

K = jax.random.key(0)
PROGRAMS, KIND = {}, {}

def nrm(*s): return jax.random.normal(jax.random.key(sum(s)), s)
def ints(n, *s, seed=0): return jax.random.randint(jax.random.key(seed), s, 0, n)
def key(): return jax.random.key_data(K)
def wrap(k): return jax.random.wrap_key_data(k)
def other(*s): return nrm(*s[:-1], s[-1] + 1)[..., :-1]  # of the same shape as nrm(*s), and not equal

def kind_of(kind):
    def named(name, make=None):
        def add(f):
            PROGRAMS[name], KIND[name] = f, kind
            return f
        return add(make) if make else add
    return named
def program(named, name, f, *arguments):
    """A program and what makes each of its arguments."""
    named(name, lambda: (f, tuple(a() for a in arguments)))

training, loops, dense, memory, irregular = map(kind_of, ("training", "loops", "dense", "memory", "irregular"))

# ---- training ------------------------------------------------------------------------------------------------------
def layer_norm(x):
    m = x.mean(-1, keepdims=True)
    return (x - m) * lax.rsqrt(((x - m) ** 2).mean(-1, keepdims=True) + 1e-5)
def cross_entropy(logits, y): return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[..., None], -1).mean()
def sgd(loss, rate=.1): return lambda p, *a: jax.tree.map(lambda w, g: w - rate * g, p, jax.grad(loss)(p, *a))

def gpt(act, layers=4, B=4, S=256, D=256, H=4, V=4096):
    k = iter(jax.random.split(K, 100))
    n = lambda *s: jax.random.normal(next(k), s) * s[-2] ** -.5
    p = dict(emb=n(V, D), pos=n(S, D), out=n(D, V), l=[dict(qkv=n(D, 3*D), o=n(D, D), u=n(D, 4*D), d=n(4*D, D)) for _ in range(layers)])
    tok = ints(V, B, S)
    def loss(p):
        p = jax.tree.map(lambda w: w.astype(act), p)
        x = p["emb"][tok] + p["pos"]
        for w in p["l"]:
            q, kk, v = jnp.split((layer_norm(x.astype(jnp.float32)).astype(act) @ w["qkv"]).reshape(B, S, H, -1), 3, -1)
            s = jnp.einsum("bqhd,bkhd->bhqk", q, kk).astype(jnp.float32) / np.sqrt(q.shape[-1])
            a = jax.nn.softmax(jnp.where(jnp.arange(S)[:, None] >= jnp.arange(S)[None], s, -jnp.inf), -1).astype(act)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(B, S, D) @ w["o"]
            x = x + jax.nn.gelu(layer_norm(x.astype(jnp.float32)).astype(act) @ w["u"]) @ w["d"]
        return cross_entropy((x @ p["out"]).astype(jnp.float32), jnp.roll(tok, -1, 1))
    def step(p, m):
        l, g = jax.value_and_grad(loss)(p)
        m = jax.tree.map(lambda m, g: .9*m + g, m, g)
        return l, jax.tree.map(lambda p, m: p - 1e-3*m, p, m), m
    return step, (p, jax.tree.map(jnp.zeros_like, p))
training("gpt_f32", lambda: gpt(jnp.float32))
training("gpt_bf16", lambda: gpt(jnp.bfloat16))

@training("vit_adam")
def _():
    B, S, D, H = 16, 64, 192, 6
    k = iter(jax.random.split(K, 100))
    n = lambda *s: jax.random.normal(next(k), s) * s[-2] ** -.5
    p = dict(pe=n(48, D), pos=n(S, D)*.1, head=n(D, 100), l=[dict(q=n(D, D), k=n(D, D), v=n(D, D), o=n(D, D), u=n(D, 4*D), d=n(4*D, D)) for _ in range(6)])
    def loss(p, x):
        h = x @ p["pe"] + p["pos"]
        for w in p["l"]:
            q, kk, v = (jnp.reshape(layer_norm(h) @ w[c], (B, S, H, -1)) for c in "qkv")
            a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, kk) / np.sqrt(D // H), -1)
            h = h + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(B, S, D) @ w["o"]
            h = h + jax.nn.gelu(layer_norm(h) @ w["u"]) @ w["d"]
        return cross_entropy(layer_norm(h).mean(1) @ p["head"], ints(100, B))
    def adam(p, m, v, t, x):
        l, g = jax.value_and_grad(loss)(p, x)
        m = jax.tree.map(lambda m, g: .9*m + .1*g, m, g)
        v = jax.tree.map(lambda v, g: .999*v + .001*g*g, v, g)
        return l, jax.tree.map(lambda p, m, v: p - 1e-3*(m/(1 - .9**t))/(jnp.sqrt(v/(1 - .999**t)) + 1e-8), p, m, v), m, v
    z = jax.tree.map(jnp.zeros_like, p)
    return adam, (p, z, z, jnp.float32(1), nrm(B, S, 48))

@training("experts_sgd")
def _():
    T, D, F, E = 1024, 256, 512, 8
    x, y = nrm(T, D), other(T, D)
    def loss(p):
        w, i = lax.top_k(jax.nn.softmax(x @ p["r"]), 2)
        share = (jax.nn.one_hot(i, E) * (w / w.sum(-1, keepdims=True))[..., None]).sum(1)
        o = jnp.einsum("etf,efd->etd", jax.nn.silu(jnp.einsum("td,edf->etf", x, p["u"])), p["d"])
        return ((jnp.einsum("te,etd->td", share, o) - y) ** 2).mean()
    return sgd(loss), (dict(r=nrm(D, E)*.1, u=nrm(E, D, F)*.06, d=nrm(E, F, D)*.05),)

def conv(x, w, strides=(1, 1), **more): return lax.conv_general_dilated(x, w, strides, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **more)

@training("cnn_batch_norm_sgd")
def _():
    y = ints(10, 32)
    def loss(p, x):
        for w in p[:-1]:
            x = conv(x, w)
            m = x.mean((0, 1, 2))
            x = jax.nn.relu((x - m) * lax.rsqrt(((x - m) ** 2).mean((0, 1, 2)) + 1e-5))
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return cross_entropy(x.mean((1, 2)) @ p[-1], y)
    return sgd(loss), ([nrm(3, 3, 3, 32)*.2, nrm(3, 3, 32, 64)*.06, nrm(3, 3, 64, 128)*.04, nrm(128, 10)*.1], nrm(32, 32, 32, 3))

@training("residual_group_norm_grad")
def _():
    def norm(x):
        g = x.reshape(8, 32, 32, 8, 4)
        return ((g - g.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(g.var((1, 2, 4), keepdims=True) + 1e-5)).reshape(x.shape)
    f = lambda p, x: ((x + conv(jax.nn.silu(norm(conv(jax.nn.silu(norm(x)), p[0]))), p[1])) ** 2).mean()
    return jax.grad(f), ((nrm(3, 3, 32, 32)*.06, other(3, 3, 32, 32)*.05), nrm(8, 32, 32, 32))

@training("mlp_sgd")
def _():
    x, y = nrm(1024, 784), ints(10, 1024)
    def loss(p):
        h = x
        for w in p[:-1]: h = jax.nn.relu(h @ w)
        return cross_entropy(h @ p[-1], y)
    return sgd(loss), ([nrm(784, 512)*.05, nrm(512, 512)*.05, nrm(512, 10)*.05],)

@training("vae_grad")
def _():
    x = jax.nn.sigmoid(nrm(256, 784))
    def loss(p, k):
        mean, log_var = jnp.split(jax.nn.relu(x @ p[0]) @ p[1], 2, -1)
        z = mean + jnp.exp(.5*log_var) * jax.random.normal(wrap(k), mean.shape)
        l = jax.nn.relu(z @ p[2]) @ p[3]
        return (jnp.maximum(l, 0) - l*x + jnp.log1p(jnp.exp(-jnp.abs(l)))).sum(1).mean() - .5*(1 + log_var - mean**2 - jnp.exp(log_var)).sum(1).mean()
    return jax.value_and_grad(loss), ([nrm(784, 400)*.04, nrm(400, 40)*.05, nrm(20, 400)*.2, nrm(400, 784)*.05], key())

def attention(causal, S=1024, B=2, H=8, D=64):
    return (lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=causal)), (nrm(B, S, H, D), other(B, S, H, D), nrm(B, S, H, D)*.5)
@training("attention_causal_grad")
def _():
    f, a = attention(True)
    return jax.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1, 2)), a

def norm(x, g, b): return layer_norm(x)*g + b

@training("encoder_dropout_adamw")
def _():
    B, S, D, H, V = 8, 128, 256, 4, 8192
    k = iter(jax.random.split(K, 100))
    n = lambda *s: jax.random.normal(next(k), s)*.02
    gain = lambda: (jnp.ones(D), jnp.zeros(D))
    p = dict(emb=n(V, D), pos=n(S, D), l=[dict(q=n(D, D), k=n(D, D), v=n(D, D), o=n(D, D), u=n(D, 4*D), d=n(4*D, D), a=gain(), b=gain()) for _ in range(4)])
    seen = jnp.arange(S)[None] < jnp.array([100, 128, 64, 128, 90, 128, 128, 70])[:, None]
    def drop(key, x): return jnp.where(jax.random.bernoulli(key, .9, x.shape), x/.9, 0)
    def loss(p, tok, key):
        key, x = wrap(key), p["emb"][tok] + p["pos"]
        for i, w in enumerate(p["l"]):
            q, kk, v = ((x @ w[c]).reshape(B, S, H, -1) for c in "qkv")
            s = jnp.where(seen[:, None, None], jnp.einsum("bqhd,bkhd->bhqk", q, kk)/np.sqrt(D // H), -1e9)
            a = drop(jax.random.fold_in(key, 3*i), jax.nn.softmax(s, -1))
            x = norm(x + drop(jax.random.fold_in(key, 3*i + 1), jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(B, S, D) @ w["o"]), *w["a"])
            x = norm(x + drop(jax.random.fold_in(key, 3*i + 2), jax.nn.gelu(x @ w["u"]) @ w["d"]), *w["b"])
        return cross_entropy(x @ p["emb"].T, tok)
    def step(p, m, v, t, tok, key):
        g = jax.grad(loss)(p, tok, key)
        m, v = jax.tree.map(lambda m, g: .9*m + .1*g, m, g), jax.tree.map(lambda v, g: .999*v + .001*g*g, v, g)
        return jax.tree.map(lambda p, m, v: p - 1e-3*(m/(1 - .9**t)/(jnp.sqrt(v/(1 - .999**t)) + 1e-8) + .01*p), p, m, v), m, v
    z = jax.tree.map(jnp.zeros_like, p)
    return step, (p, z, z, jnp.float32(3), ints(V, B, S), key())

@training("grouped_heads_remat_bf16")
def _():
    B, S, D, H, KV, F, V = 4, 256, 256, 8, 2, 768, 4096
    bf, hd = jnp.bfloat16, 32
    k = iter(jax.random.split(K, 100))
    n = lambda *s: jax.random.normal(next(k), s)*.02
    p = dict(emb=n(V, D), out=n(D, V), l=dict(q=n(6, D, D), k=n(6, D, hd*KV), v=n(6, D, hd*KV), o=n(6, D, D), g=n(6, D, F), u=n(6, D, F), d=n(6, F, D)))
    turns = jnp.arange(S)[:, None] * 1e4 ** (-jnp.arange(hd // 2) / (hd // 2))
    c, s = jnp.cos(turns)[:, None], jnp.sin(turns)[:, None]
    def rms(x): return (x.astype(jnp.float32) * lax.rsqrt((x.astype(jnp.float32) ** 2).mean(-1, keepdims=True) + 1e-6)).astype(bf)
    def rope(x):
        a, b = jnp.split(x.astype(jnp.float32), 2, -1)
        return jnp.concatenate([a*c - b*s, b*c + a*s], -1).astype(bf)
    def layer(x, w):
        w, h = jax.tree.map(lambda w: w.astype(bf), w), rms(x)
        q, kk, v = rope((h @ w["q"]).reshape(B, S, H, hd)), rope((h @ w["k"]).reshape(B, S, KV, hd)), (h @ w["v"]).reshape(B, S, KV, hd)
        x = x + jax.nn.dot_product_attention(q, kk, v, is_causal=True).reshape(B, S, D) @ w["o"]
        h = rms(x)
        return x + (jax.nn.silu(h @ w["g"]) * (h @ w["u"])) @ w["d"], None
    def loss(p, tok):
        x, _ = lax.scan(jax.checkpoint(layer), p["emb"][tok[:, :-1]].astype(bf), p["l"])
        return cross_entropy((x @ p["out"].astype(bf)).astype(jnp.float32), tok[:, 1:])
    return sgd(loss), (p, ints(V, B, S + 1))

@training("encoder_decoder_sgd")
def _():
    B, S, D, H = 4, 128, 256, 4
    k = iter(jax.random.split(K, 100))
    n = lambda *s: jax.random.normal(next(k), s)*.05
    heads = lambda: dict(q=n(D, D), k=n(D, D), v=n(D, D), o=n(D, D))
    block = lambda: dict(a=heads(), c=heads(), u=n(D, 4*D), d=n(4*D, D))
    p = dict(e=[block() for _ in range(2)], d=[block() for _ in range(2)], near=n(32, H), out=n(D, 2048))
    apart = jnp.clip(jnp.arange(S)[None] - jnp.arange(S)[:, None] + 16, 0, 31)
    def rms(x): return x * lax.rsqrt((x*x).mean(-1, keepdims=True) + 1e-6)
    def attend(w, x, y, bias=0., causal=False):
        q, kk, v = ((a @ w[c]).reshape(B, S, H, -1) for a, c in ((x, "q"), (y, "k"), (y, "v")))
        s = jnp.einsum("bqhd,bkhd->bhqk", q, kk) + bias
        if causal: s = jnp.where(jnp.tril(jnp.ones((S, S), bool)), s, -1e9)
        return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(s), v).reshape(B, S, D) @ w["o"]
    def feed(w, x): return x + jax.nn.relu(rms(x) @ w["u"]) @ w["d"]
    def loss(p, x, y, t):
        bias = p["near"][apart].transpose(2, 0, 1)
        for w in p["e"]: x = feed(w, x + attend(w["a"], rms(x), rms(x), bias))
        for w in p["d"]: y = feed(w, y + attend(w["a"], rms(y), rms(y), bias, True) + attend(w["c"], rms(y), x))
        return cross_entropy(rms(y) @ p["out"], t)
    return sgd(loss), (p, nrm(B, S, D), other(B, S, D), ints(2048, B, S))

@training("residual_net_sgd")
def _():
    k = iter(jax.random.split(K, 100))
    n = lambda *s: jax.random.normal(next(k), s)*.05
    p = dict(stem=n(3, 3, 3, 16), b=[dict(c=n(3, 3, i, o), d=n(3, 3, o, o), s=n(1, 1, i, o)) for i, o in ((16, 16), (16, 32), (32, 64))], out=n(64, 10))
    def batch_norm(x): return (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5)
    def loss(p, x):
        x = conv(x, p["stem"])
        for i, w in enumerate(p["b"]):
            strides = (1, 1) if i == 0 else (2, 2)
            x = jax.nn.relu(batch_norm(conv(jax.nn.relu(batch_norm(conv(x, w["c"], strides))), w["d"])) + conv(x, w["s"], strides))
        return cross_entropy(x.mean((1, 2)) @ p["out"], ints(10, 64))
    return sgd(loss), (p, nrm(64, 32, 32, 3))

@training("denoiser_grad")
def _():
    k = iter(jax.random.split(K, 100))
    n = lambda *s: jax.random.normal(next(k), s)*.05
    p = dict(a=n(3, 3, 3, 32), b=n(3, 3, 32, 64), c=n(3, 3, 64, 64), d=n(3, 3, 96, 32), e=n(3, 3, 32, 3), t=n(32, 64))
    def group_norm(x):
        g = x.reshape(*x.shape[:3], 8, -1)
        return ((g - g.mean((1, 2, 4), keepdims=True)) * lax.rsqrt(g.var((1, 2, 4), keepdims=True) + 1e-5)).reshape(x.shape)
    def act(x): return jax.nn.silu(group_norm(x))
    def loss(p, x, t, key):
        noise = jax.random.normal(wrap(key), x.shape)
        high = act(conv(x*.8 + noise*.6, p["a"]))
        low = act(conv(act(conv(high, p["b"], (2, 2))) + (t @ p["t"])[:, None, None], p["c"]))
        up = jax.image.resize(low, (8, 32, 32, 64), "nearest")
        return ((conv(act(conv(jnp.concatenate([up, high], -1), p["d"])), p["e"]) - noise) ** 2).mean()
    return jax.value_and_grad(loss), (p, nrm(8, 32, 32, 3), nrm(8, 32), key())

@training("graph_net_grad")
def _():
    N, E, D = 2048, 16384, 64
    s, d = ints(N, E), ints(N, E, seed=3)
    def loss(p, x, y):
        for w in p[:-1]:
            near = jax.ops.segment_sum(x[s], d, N) / jnp.maximum(jax.ops.segment_sum(jnp.ones(E), d, N), 1)[:, None]
            x = jax.nn.relu(jnp.concatenate([x, near], -1) @ w)
        return cross_entropy(x @ p[-1], y)
    return jax.grad(loss), ([nrm(2*D, D)*.08, other(2*D, D)*.08, nrm(D, 8)*.1], nrm(N, D), ints(8, N))

# ---- loops ---------------------------------------------------------------------------------------------------------
@loops("lstm_grad")
def _():
    T, B, D = 256, 16, 64
    def loss(w, xs):
        def cell(c, x):
            i, f, g, o = jnp.split(jnp.concatenate([c[0], x], -1) @ w, 4, -1)
            s = jax.nn.sigmoid(f)*c[1] + jax.nn.sigmoid(i)*jnp.tanh(g)
            h = jax.nn.sigmoid(o)*jnp.tanh(s)
            return (h, s), h
        return (lax.scan(cell, (jnp.zeros((B, D)), jnp.zeros((B, D))), xs)[1] ** 2).sum()
    return jax.grad(loss), (nrm(2*D, 4*D)*.1, nrm(T, B, D))
@loops("gru_grad")
def _():
    T, B, D = 256, 16, 64
    def loss(w, u, xs):
        def cell(h, x):
            z, r = jnp.split(jax.nn.sigmoid(jnp.concatenate([h, x], -1) @ w), 2, -1)
            h = (1 - z)*jnp.tanh(jnp.concatenate([r*h, x], -1) @ u) + z*h
            return h, h
        return (lax.scan(cell, jnp.zeros((B, D)), xs)[1] ** 2).sum()
    return jax.grad(loss, (0, 1)), (nrm(2*D, 2*D)*.1, nrm(2*D, D)*.1, nrm(T, B, D))
@loops("state_space_scan")
def _():
    def turn(h, t):
        h = h*jnp.exp(-t[0])[..., None] + t[1][..., None]*t[2][:, None]
        return h, (h*t[2][:, None]).sum(-1)
    return (lambda *xs: lax.scan(turn, jnp.zeros((4, 256, 16)), xs)[1]), (jnp.abs(nrm(256, 4, 256))*.1, other(256, 4, 256), nrm(256, 4, 16))
@loops("viterbi")
def _():
    def turn(s, e): return (s[:, None] + turns).max(0) + e, jnp.argmax(s[:, None] + turns, 0)
    turns = nrm(64, 64)
    return (lambda e: lax.scan(turn, e[0], e[1:])), (nrm(2000, 64),)
@loops("edit_distance")
def _():
    place = jnp.arange(501)
    def row(a, b):
        def turn(i, r):
            base = jnp.concatenate([jnp.array([i + 1]), jnp.minimum(r[1:] + 1, r[:-1] + (a[i] != b))])
            return lax.associative_scan(jnp.minimum, base - place) + place
        return lax.fori_loop(0, 500, turn, place)
    return row, (ints(4, 500), ints(4, 500, seed=3))
@loops("conjugate_gradients_512")
def _():
    def solve(a, b):
        def turn(_, s):
            x, r, p, rr = s
            ap = a @ p
            alpha = rr / (p @ ap)
            r = r - alpha*ap
            new = r @ r
            return x + alpha*p, r, r + new/rr*p, new
        return lax.fori_loop(0, 30, turn, (b*0, b, b, b @ b))[0]
    m = nrm(512, 512)
    return solve, (m @ m.T/512 + jnp.eye(512), nrm(512))
@loops("power_iteration_256")
def _():
    def turn(x, a): return (lambda y: y/jnp.linalg.norm(y))(a @ x)
    return (lambda a, x: lax.fori_loop(0, 200, lambda i, x: turn(x, a), x)), (nrm(256, 256), nrm(256))
program(loops, "matvec8_loop", lambda a, x: lax.fori_loop(0, 20000, lambda i, x: jnp.sin(a @ x), x), lambda: nrm(8, 8)*.3, lambda: nrm(8))
program(loops, "newton_while", lambda x: lax.while_loop(lambda s: s[1] < 100000, lambda s: (s[0] - (s[0]**3 - s[0] - 2)/(3*s[0]**2 - 1)*.01, s[1] + 1), (x, 0)), lambda: jnp.float32(2))
program(loops, "collatz", jax.vmap(lambda n: lax.while_loop(lambda s: s[0] > 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0]//2, 3*s[0] + 1), s[1] + 1), (n, 0))[1]), lambda: jnp.arange(1, 4097))
program(loops, "heat_256", lambda u: lax.fori_loop(0, 200, lambda i, u: u + .1*(jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4*u), u), lambda: nrm(256, 256))
@loops("life_512")
def _():
    def turn(_, u):
        n = sum(jnp.roll(u, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0))
        return ((n == 3) | ((n == 2) & (u == 1))).astype(jnp.int32)
    return (lambda u: lax.fori_loop(0, 50, turn, u)), (ints(2, 512, 512),)
@loops("ising_256")
def _():
    def turn(k, i, s):
        near = jnp.roll(s, 1, 0) + jnp.roll(s, -1, 0) + jnp.roll(s, 1, 1) + jnp.roll(s, -1, 1)
        return jnp.where(jax.random.uniform(jax.random.fold_in(wrap(k), i), s.shape) < jnp.exp(-.8*s*near), -s, s)
    return (lambda k, s: lax.fori_loop(0, 20, lambda i, s: turn(k, i, s), s)), (key(), jnp.sign(nrm(256, 256)))
@loops("leapfrog")
def _():
    def turn(x, y, w, m):
        g = jax.grad(lambda w: jnp.log1p(jnp.exp(-y*(x @ w))).sum())(w)
        return w + .01*(m - .005*g), m - .01*g
    return (lambda x, y, w, m: lax.fori_loop(0, 50, lambda i, s: turn(x, y, *s), (w, m))), (nrm(1000, 32), jnp.sign(nrm(1000)), nrm(32)*.1, other(32))
@loops("decode")
def _():
    def turn(w, i, x, seen):
        seen = lax.dynamic_update_index_in_dim(seen, x, i, 0)
        return jnp.tanh(jax.nn.softmax(jnp.where(jnp.arange(128) <= i, seen @ x, -1e9)) @ seen @ w), seen
    return (lambda x, w: lax.fori_loop(0, 128, lambda i, s: turn(w, i, *s), (x, jnp.zeros((128, 128))))[0]), (nrm(128), nrm(128, 128)*.1)

program(loops, "pendulums", jax.vmap(lambda s: lax.fori_loop(0, 1000, lambda i, s: s + .01*jnp.stack([s[2], s[3], -jnp.sin(s[0]) - .1*jnp.sin(s[0] - s[1]), -jnp.sin(s[1]) + .1*jnp.sin(s[0] - s[1])]), s)), lambda: nrm(64, 4))
@loops("kalman")
def _():
    A, H = jnp.eye(4) + .1*jnp.eye(4, k=1), jnp.eye(2, 4)
    def turn(c, y):
        x, P = A @ c[0], A @ c[1] @ A.T + .01*jnp.eye(4)
        S = H @ P @ H.T + .1*jnp.eye(2)
        G = P @ H.T @ (jnp.array([[S[1, 1], -S[0, 1]], [-S[1, 0], S[0, 0]]]) / (S[0, 0]*S[1, 1] - S[0, 1]*S[1, 0]))
        x = x + G @ (y - H @ x)
        return (x, (jnp.eye(4) - G @ H) @ P), x
    return (lambda ys: lax.scan(turn, (jnp.zeros(4), jnp.eye(4)), ys)[1]), (nrm(2000, 2),)
program(loops, "shortest_paths", lambda d: lax.fori_loop(0, 256, lambda k, d: jnp.minimum(d, d[:, k][:, None] + d[k][None]), d), lambda: jnp.abs(nrm(256, 256)))

# ---- dense ---------------------------------------------------------------------------------------------------------
dense("attention", lambda: attention(False))
dense("attention_causal", lambda: attention(True))
program(dense, "batch_64x128", lambda a, b: a @ b, lambda: nrm(64, 128, 128), lambda: other(64, 128, 128))
program(dense, "batch_65536x4", lambda a, b: a @ b, lambda: nrm(65536, 4, 4), lambda: other(65536, 4, 4))
program(dense, "a_bt_1024", lambda a, b: a @ b.T, lambda: nrm(1024, 1024), lambda: other(1024, 1024))
program(dense, "at_b_1024", lambda a, b: a.T @ b, lambda: nrm(1024, 1024), lambda: other(1024, 1024))
program(dense, "bias_gelu", lambda a, b, c: jax.nn.gelu(a @ b + c), lambda: nrm(2048, 512), lambda: nrm(512, 2048), lambda: nrm(2048))
program(dense, "matvec_rows_of_64", lambda a, b: a @ b, lambda: nrm(1 << 18, 64), lambda: nrm(64))
program(dense, "matvec_4096", lambda a, b: a @ b, lambda: nrm(4096, 4096), lambda: nrm(4096))
program(dense, "vector_bf16", lambda a, b: a @ b, lambda: nrm(1, 2048).astype(jnp.bfloat16), lambda: nrm(2048, 8192).astype(jnp.bfloat16))
program(dense, "integers_1024", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), lambda: (ints(200, 1024, 1024) - 100).astype(jnp.int8), lambda: (ints(200, 1024, 1024, seed=1) - 100).astype(jnp.int8))
program(dense, "tall_65536x32", lambda a, b: a.T @ b, lambda: nrm(65536, 32), lambda: other(65536, 32))
program(dense, "wide_4096", lambda a, b: a @ b, lambda: nrm(4096, 32), lambda: nrm(32, 4096))
program(dense, "bilinear", lambda x, w, y: jnp.einsum("bi,ijk,bj->bk", x, w, y), lambda: nrm(256, 64), lambda: nrm(64, 64, 64), lambda: other(256, 64))
program(dense, "nearest", lambda x, y: jnp.sqrt(jnp.maximum((x**2).sum(1)[:, None] + (y**2).sum(1)[None] - 2*x @ y.T, 0)).min(1), lambda: nrm(2048, 64), lambda: other(2048, 64))
program(dense, "conv_nlc", lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), lambda: nrm(16, 1024, 64), lambda: nrm(5, 64, 64))
program(dense, "conv5x5_stride2", lambda x, w: conv(x, w, (2, 2)), lambda: nrm(16, 64, 64, 32), lambda: nrm(5, 5, 32, 64))
program(dense, "conv1x1", conv, lambda: nrm(16, 32, 32, 128), lambda: nrm(1, 1, 128, 256))
program(dense, "conv_dilated", lambda x, w: conv(x, w, rhs_dilation=(2, 2)), lambda: nrm(8, 64, 64, 32), lambda: nrm(3, 3, 32, 32))
program(dense, "conv_depthwise", lambda x, w: conv(x, w, feature_group_count=64), lambda: nrm(16, 64, 64, 64), lambda: nrm(3, 3, 1, 64))
program(dense, "conv_depthwise_grad", jax.grad(lambda x, w: (conv(x, w, feature_group_count=32) ** 2).sum(), (0, 1)), lambda: nrm(8, 32, 32, 32), lambda: nrm(3, 3, 1, 32))
program(dense, "conv_nchw", lambda x, w: lax.conv(x, w, (1, 1), "SAME"), lambda: nrm(16, 64, 32, 32), lambda: nrm(64, 64, 3, 3))
program(dense, "conv3d", lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")), lambda: nrm(2, 16, 32, 32, 16), lambda: nrm(3, 3, 3, 16, 32))
program(dense, "conv_transposed", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), lambda: nrm(16, 32, 32, 64), lambda: nrm(3, 3, 64, 64))
program(dense, "rfft_2048x4096", jnp.fft.rfft, lambda: nrm(2048, 4096))
program(dense, "fft2_1024", jnp.fft.fft2, lambda: nrm(1024, 1024).astype(jnp.complex64))
program(dense, "fft3_128", jnp.fft.fftn, lambda: nrm(128, 128, 128).astype(jnp.complex64))
program(dense, "fft_prime", jnp.fft.fft, lambda: nrm(256, 4093).astype(jnp.complex64))
program(dense, "fft_127", jnp.fft.fft, lambda: nrm(8192, 127).astype(jnp.complex64))
program(dense, "fft_59", jnp.fft.fft, lambda: nrm(8192, 59).astype(jnp.complex64))
program(dense, "ifft_720", jnp.fft.ifft, lambda: nrm(2048, 720).astype(jnp.complex64))
program(dense, "rfft_16", jnp.fft.rfft, lambda: nrm(131072, 16))
program(dense, "rfft_243", jnp.fft.rfft, lambda: nrm(4096, 243))
program(dense, "irfft_65536", jnp.fft.irfft, lambda: nrm(16, 32769).astype(jnp.complex64))
program(dense, "fft2_300", jnp.fft.fft2, lambda: nrm(16, 300, 300).astype(jnp.complex64))
program(dense, "fft_convolution", lambda a, b: jnp.fft.irfft(jnp.fft.rfft(a, 2048)*jnp.fft.rfft(b, 2048))[:, :1024], lambda: nrm(512, 1024), lambda: other(512, 1024))

program(dense, "dot_16M", jnp.dot, lambda: jnp.abs(nrm(1 << 24)), lambda: jnp.abs(nrm(1 << 24))*2)
program(dense, "dot_all", lambda x, y: jnp.vdot(x, y), lambda: jnp.abs(nrm(2048, 2048)), lambda: jnp.abs(other(2048, 2048)))
program(dense, "dot_rows", lambda a, b: jnp.einsum("bd,bd->b", a, b), lambda: nrm(65536, 64), lambda: other(65536, 64))
program(dense, "columns_dots", lambda a, b: jnp.einsum("ij,ij->j", a, b), lambda: nrm(4096, 1024), lambda: other(4096, 1024))
program(dense, "filter_features", lambda a, b: jnp.einsum("bld,ld->bd", a, b), lambda: nrm(32, 256, 512), lambda: nrm(256, 512))
program(dense, "batch_last", lambda a, b: jnp.einsum("kia,kja->ija", a, b), lambda: nrm(64, 8, 2048), lambda: other(64, 8, 2048))
program(dense, "batch_last_of_one", lambda a, b: jnp.einsum("dba,adc->abc", a, b), lambda: nrm(200, 4, 1024), lambda: other(1024, 200, 4))
program(dense, "moved_four_ways", lambda a, b: jnp.einsum("bae,ecda->badc", a, b), lambda: nrm(1024, 64, 17), lambda: other(17, 3, 7, 64))
program(dense, "features_mixed", lambda a, b: jnp.einsum("nchw,co->nohw", a, b), lambda: nrm(32, 64, 56, 56), lambda: other(64, 64))
program(dense, "one_term", lambda a, b: a @ b, lambda: nrm(8192, 1), lambda: nrm(1, 256))
program(dense, "conv_nchw_stride2", lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")), lambda: nrm(16, 128, 32, 64), lambda: nrm(64, 128, 3, 3))
program(dense, "conv1x1_64_256", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), lambda: nrm(32, 56, 56, 64), lambda: nrm(1, 1, 64, 256))
program(dense, "conv1x1_bf16", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        lambda: nrm(32, 56, 56, 64).astype(jnp.bfloat16), lambda: nrm(1, 1, 64, 256).astype(jnp.bfloat16))
program(dense, "conv3x3_bf16", conv, lambda: nrm(32, 32, 32, 64).astype(jnp.bfloat16), lambda: nrm(3, 3, 64, 64).astype(jnp.bfloat16))
program(dense, "conv3x3_grad_bf16", jax.grad(lambda x, w: (conv(x, w).astype(jnp.float32) ** 2).sum(), (0, 1)),
        lambda: nrm(32, 32, 32, 64).astype(jnp.bfloat16), lambda: nrm(3, 3, 64, 64).astype(jnp.bfloat16))
program(dense, "conv7x7_stride2_bf16", lambda x, w: conv(x, w, (2, 2)), lambda: nrm(8, 224, 224, 3).astype(jnp.bfloat16), lambda: nrm(7, 7, 3, 64).astype(jnp.bfloat16))
program(dense, "conv1x1_3d", lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")), lambda: nrm(2, 16, 28, 28, 64), lambda: nrm(1, 1, 1, 64, 128))
program(dense, "conv_to_8", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), lambda: nrm(8, 64, 64, 64), lambda: nrm(3, 3, 64, 8))
program(dense, "conv_to_4_stride2", lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), lambda: nrm(16, 14, 64, 256), lambda: nrm(3, 7, 256, 4))
program(dense, "conv_to_16_stride2", lambda x, w: lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), lambda: nrm(32, 8, 64, 256), lambda: nrm(3, 7, 256, 16))
program(dense, "conv_to_10", conv, lambda: nrm(8, 56, 56, 64), lambda: nrm(3, 3, 64, 10))
program(dense, "conv3d_two_groups", lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME", feature_group_count=2, dimension_numbers=("NDHWC", "OIDHW", "NDHWC")),
        lambda: nrm(1, 7, 8, 8, 256), lambda: nrm(8, 128, 5, 7, 2))
program(dense, "trace_of_product", lambda a, b: jnp.einsum("ij,ji->", a, b), lambda: jnp.abs(nrm(1024, 1024)), lambda: jnp.abs(other(1024, 1024)))
program(dense, "eight_long_rows", lambda a, b: a @ b, lambda: jnp.abs(nrm(8, 1 << 20)), lambda: jnp.abs(nrm(1 << 20)))
program(dense, "batch_by_vectors", lambda a, b: jnp.einsum("bij,bj->bi", a, b), lambda: nrm(64, 512, 512), lambda: nrm(64, 512))
program(dense, "conv_strided_grad", jax.grad(lambda x, w: (conv(x, w, (2, 2)) ** 2).sum(), (0, 1)), lambda: nrm(16, 32, 32, 64), lambda: nrm(3, 3, 64, 128))
program(dense, "conv_transposed_nchw", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), ((2, 2), (2, 2)), lhs_dilation=(2, 2)), lambda: nrm(8, 64, 28, 28), lambda: nrm(64, 64, 4, 4))
program(dense, "attention_grouped_heads", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), lambda: nrm(2, 512, 16, 64), lambda: nrm(2, 512, 4, 64), lambda: other(2, 512, 4, 64))

# ---- memory --------------------------------------------------------------------------------------------------------
square = lambda: nrm(4096, 4096)
for name, f in dict(
        silu_mul=lambda x: jax.nn.silu(x)*x[::-1], exp_sum_columns=lambda x: jnp.exp(x).sum(0), mean_and_variance=lambda x: (x.mean(1), x.var(1)),
        softmax_columns=lambda x: jax.nn.softmax(x, 0), log_sum_exp=lambda x: jax.nn.logsumexp(x, 1), max_all=jnp.max, cumsum_columns=lambda x: jnp.cumsum(x, 0),
        cummax_rows=lambda x: lax.cummax(x, 1), argmin_columns=lambda x: jnp.argmin(x, 0), where_clip=lambda x: jnp.where(x > 0, jnp.clip(x, 0, 1), x*.1),
        polynomial=lambda x: jnp.polyval(jnp.arange(1., 9.), x), norm_all=lambda x: jnp.sqrt((x*x).sum()), any_and_all=lambda x: ((x > 6).any(1), (x > -6).all(0)),
        standardise=lambda x: (x - x.mean(0))/x.std(0), flip=lambda x: x[:, ::-1]*2, every_second=lambda x: x[::2, ::2] + x[1::2, 1::2], tril=jnp.tril,
        differences=lambda x: jnp.diff(x, axis=1), symmetric=lambda x: x + x.T, to_bf16=lambda x: x.astype(jnp.bfloat16)).items():
    program(memory, name, f, square)
for name, f in dict(exp=jnp.exp, log=jnp.log, sin=jnp.sin, tanh=jnp.tanh, erf=jax.scipy.special.erf, sigmoid=jax.nn.sigmoid, softplus=jax.nn.softplus, gelu=jax.nn.gelu,
                    power=lambda x: x**1.7, atan2=lambda x: jnp.arctan2(x, x + 1), digamma=jax.scipy.special.digamma, lgamma=jax.scipy.special.gammaln).items():
    program(memory, f"{name}_4M", f, lambda: jnp.abs(nrm(2048, 2048)) + .01)
for t in (jnp.float16, jnp.bfloat16):
    for name, f in dict(where=lambda x: jnp.where(x > 0, x, -x), compare=lambda x: x > .5, max_rows=lambda x: x.max(1), argmax_rows=lambda x: x.argmax(1), log=lambda x: jnp.log(jnp.abs(x)),
                        roll=lambda x: jnp.roll(x, 5, 1)).items():
        program(memory, f"{name}_{'f16' if t == jnp.float16 else 'bf16'}", f, lambda t=t: nrm(2048, 2048).astype(t))
for name, f in dict(scale=lambda x: 2*x + 1, max_rows=lambda x: x.max(1), roll=lambda x: jnp.roll(x, 5, 1), concat=lambda x: jnp.concatenate([x, x], 1), remainder=lambda x: x % 7).items():
    program(memory, f"{name}_i8", f, lambda: ints(255, 2048, 2048).astype(jnp.int8))
for name, f in dict(multiply=lambda z, w: z*w, where=lambda z, w: jnp.where(z.real > 0, z, -w), exp=lambda z, w: jnp.exp(z)*w, power_spectrum=lambda z, w: (z*w.conj()).real, transpose=lambda z, w: z.T).items():
    program(memory, f"complex_{name}", f, *(lambda o=o: lax.complex(o(1024, 1024), nrm(1024, 1027)[:, :1024]) for o in (nrm, other)))
program(memory, "max_rows", lambda x: x.max(1), square)
program(memory, "min_and_max", lambda x: (x.min(1), x.max(1)), square)
program(memory, "first_true", lambda x: jnp.argmax(x > 3, 1), square)
program(memory, "argmax_of_truth", lambda x: x.argmax(1), lambda: square() > 3)
program(memory, "rms_norm_bf16", lambda x: (x.astype(jnp.float32)*lax.rsqrt((x.astype(jnp.float32)**2).mean(-1, keepdims=True) + 1e-5)).astype(jnp.bfloat16), lambda: square().astype(jnp.bfloat16))
program(memory, "softmax_of_4", lambda x: jax.nn.softmax(x, -1), lambda: nrm(1 << 20, 4))
program(memory, "softmax_of_16", lambda x: jax.nn.softmax(x, -1), lambda: nrm(100000, 16))
program(memory, "log_sum_exp_of_16", lambda x: jax.nn.logsumexp(x, -1), lambda: nrm(100000, 16))
program(memory, "max_of_24", lambda x: x.max(-1), lambda: nrm(50000, 24))
program(memory, "layer_norm_of_32", layer_norm, lambda: nrm(50000, 32))
program(memory, "norm_of_3", lambda x: jnp.sqrt((x*x).sum(-1)), lambda: nrm(1 << 20, 3))
program(memory, "transpose_3d", lambda x: x.transpose(1, 2, 0), lambda: nrm(64, 512, 512))
program(memory, "transpose_short_last", lambda x: x.transpose(3, 0, 2, 1), lambda: nrm(64, 3, 7, 1024))
program(memory, "transpose_turned_round", lambda x: x.transpose(3, 2, 1, 0), lambda: nrm(12, 64, 100, 100))
program(memory, "transpose_features_last", lambda x: x.transpose(2, 3, 1, 0), lambda: nrm(6, 64, 100, 100))
program(memory, "heads_first", lambda x: x.transpose(0, 2, 1, 3), lambda: nrm(8, 1024, 16, 64))
program(memory, "space_to_depth", lambda x: x.reshape(8, 64, 4, 64, 4, 16).transpose(0, 1, 3, 2, 4, 5).reshape(8, 64, 64, 256), lambda: nrm(8, 256, 256, 16))
program(memory, "rope_halves", lambda x, c, s: jnp.concatenate([x[..., :32]*c - x[..., 32:]*s, x[..., 32:]*c + x[..., :32]*s], -1), lambda: nrm(8, 512, 16, 64), lambda: nrm(512, 1, 32), lambda: other(512, 1, 32))
program(memory, "rope_pairs", lambda x, c, s: jnp.stack([x[..., ::2]*c - x[..., 1::2]*s, x[..., 1::2]*c + x[..., ::2]*s], -1).reshape(x.shape), lambda: nrm(2048, 1024), lambda: nrm(2048, 512), lambda: other(2048, 512))
program(memory, "repeat_heads", lambda x: jnp.repeat(x, 4, 2), lambda: nrm(8, 512, 8, 64))
program(memory, "join_and_pad", lambda x, y: jnp.pad(jnp.concatenate([x, y], 1), ((1, 1), (2, 2))), lambda: nrm(2048, 2048), lambda: other(2048, 2048))
program(memory, "shifted_stack", lambda x: jnp.stack([jnp.roll(x, 1, 0), jnp.pad(x[1:], ((0, 1), (0, 0))), x[::-1]], -1), lambda: nrm(2048, 1024))
program(memory, "max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), lambda: nrm(32, 64, 64, 64))
program(memory, "average_pool", lambda x: lax.reduce_window(x, 0., lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")/9, lambda: nrm(32, 64, 64, 64))
program(memory, "max_pool_grad", jax.grad(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()), lambda: nrm(32, 64, 64, 32))
program(memory, "one_hot", lambda i: jax.nn.one_hot(i, 1000), lambda: ints(1000, 8192))
program(memory, "quantise_rows", lambda x: (lambda s: (jnp.round(x/s).astype(jnp.int8), s))(jnp.abs(x).max(1, keepdims=True)/127), square)
program(memory, "cross_entropy_grad", jax.grad(cross_entropy), lambda: nrm(1024, 8192), lambda: ints(8192, 1024))
@memory("adamw")
def _():
    def update(p, g, m, v):
        m, v = .9*m + .1*g, .999*v + .001*g*g
        return p - 1e-3*(m/.1/(jnp.sqrt(v/.001) + 1e-8) + .1*p), m, v
    return update, (nrm(2048, 2048), other(2048, 2048), nrm(2048, 2048)*.1, jnp.abs(other(2048, 2048)))

program(memory, "transpose_bf16", lambda x: x.T, lambda: nrm(2048, 2048).astype(jnp.bfloat16))
program(memory, "features_second", lambda x: x.transpose(0, 3, 1, 2), lambda: nrm(16, 64, 64, 64))
program(memory, "moments_features_second", lambda x: (x.sum((0, 2, 3)), (x*x).sum((0, 2, 3))), lambda: nrm(32, 64, 56, 56))
program(memory, "batch_norm_features_second", lambda x: (x - x.mean((0, 2, 3), keepdims=True))*lax.rsqrt(x.var((0, 2, 3), keepdims=True) + 1e-5), lambda: nrm(32, 64, 56, 56))
program(memory, "moments_7x7", lambda x: (x.sum((0, 2, 3)), (x*x).sum((0, 2, 3))), lambda: nrm(256, 512, 7, 7))
program(memory, "moments_features_last", lambda x: (x.mean((0, 1, 2)), (x*x).mean((0, 1, 2))), lambda: nrm(32, 56, 56, 64))
program(memory, "moments_of_all", lambda x: (x.mean(), (x*x).mean()), square)
program(memory, "batch_norm_fast_variance", lambda x: (x - x.mean((0, 1, 2)))*lax.rsqrt((x*x).mean((0, 1, 2)) - x.mean((0, 1, 2))**2 + 1e-5), lambda: nrm(32, 28, 28, 128))
program(memory, "softmax_first_and_last", lambda x: jax.nn.softmax(x, (0, 2)), lambda: nrm(512, 512, 17))
program(memory, "average_pool_nchw", lambda x: lax.reduce_window(x, 0., lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "VALID")/9, lambda: nrm(32, 64, 28, 56))
program(memory, "max_pool_2_1", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID"), lambda: nrm(16, 56, 112, 16))
program(memory, "max_beside_one", lambda x: x.max((1, 2)), lambda: nrm(240, 28, 192, 1))
program(memory, "bias_50", lambda x, b: x + b, lambda: nrm(40000, 50), lambda: nrm(50))
program(memory, "bias_10", lambda x, b: x + b, lambda: nrm(200000, 10), lambda: nrm(10))
program(memory, "all_but_first_of_32", lambda x: x[..., 1:], lambda: nrm(4096, 16, 32))
program(memory, "beside_20_and_30", lambda x, y: jnp.concatenate([x, y], -1), lambda: nrm(40000, 20), lambda: nrm(40000, 30))
program(memory, "every_second_in_the_middle", lambda x: x[:, ::2], lambda: nrm(512, 7, 197, 2))
program(memory, "transposed_line_i8", lambda x: x.T.reshape(-1), lambda: ints(100, 1024, 2048).astype(jnp.int8))
program(memory, "turned_12_first", lambda x: jnp.transpose(x, (1, 2, 0)), lambda: nrm(12, 256, 1000))
program(memory, "turned_24_last", lambda x: x.T, lambda: nrm(1 << 18, 24))
program(memory, "max_of_48", lambda x: x.max(-1), lambda: nrm(50000, 48))
program(memory, "softmax_of_50", lambda x: jax.nn.softmax(x, -1), lambda: nrm(50000, 50))
program(memory, "log_sum_exp_of_64", lambda x: jax.nn.logsumexp(x, -1), lambda: nrm(50000, 64))
program(memory, "softmax_of_128_bf16", lambda x: jax.nn.softmax(x.astype(jnp.float32), -1).astype(x.dtype), lambda: nrm(16384, 128).astype(jnp.bfloat16))
program(memory, "argmax_of_16", lambda x: jnp.argmax(x, -1), lambda: nrm(1 << 17, 16))
program(memory, "sum_here_and_there", lambda x: x.sum((0, 2)), lambda: nrm(64, 1024, 64))
program(memory, "max_of_300_by_5", lambda x: x.max(1), lambda: nrm(1000, 300, 5))
program(memory, "prod_of_197_by_2", lambda x: x.prod(1), lambda: nrm(1024, 197, 2))
program(memory, "mean_of_20_by_10_bf16", lambda x: x.mean(1), lambda: nrm(20480, 20, 10).astype(jnp.bfloat16))
program(memory, "transpose_4096x300", lambda x: x.T + 0, lambda: nrm(4096, 300))
program(memory, "transpose_to_bf16", lambda x: x.T.astype(jnp.bfloat16), lambda: nrm(4096, 300))
program(memory, "transpose_64_64_last_first", lambda x: jnp.transpose(x, (2, 1, 0)) + 0, lambda: nrm(1024, 64, 64))
program(memory, "silu_mul_bf16", lambda g, u: jax.nn.silu(g)*u, lambda: nrm(512, 768).astype(jnp.bfloat16), lambda: other(512, 768).astype(jnp.bfloat16))
program(memory, "pad_reflect", lambda x: jnp.pad(x, 2, mode="reflect"), lambda: nrm(2048, 2048))
program(memory, "swap_halves", lambda x: jnp.concatenate([x[:, 1024:], x[:, :1024]], 1), lambda: nrm(2048, 2048))

# ---- irregular -----------------------------------------------------------------------------------------------------
for name, make in dict(i32=lambda: ints(1 << 30, 1 << 20), u8=lambda: ints(255, 1 << 20).astype(jnp.uint8), bf16=lambda: nrm(1 << 20).astype(jnp.bfloat16)).items():
    program(irregular, f"sort_{name}", jnp.sort, make)
program(irregular, "median_of_one", lambda x: jnp.median(x, 2), lambda: nrm(1000, 384, 1))
program(irregular, "sort_rows_1024", lambda x: jnp.sort(x, 1), lambda: nrm(1024, 1024))
program(irregular, "sort_rows_32", lambda x: jnp.sort(x, 1), lambda: nrm(32768, 32))
program(irregular, "sort_columns", lambda x: jnp.sort(x, 0), lambda: nrm(16384, 64))
program(irregular, "argsort_rows", lambda x: jnp.argsort(x, 1), lambda: nrm(4096, 256))
program(irregular, "sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1), lambda: ints(1 << 20, 1 << 20), lambda: jnp.arange(1 << 20))
program(irregular, "sort_two_keys", lambda a, b, c: lax.sort((a, b, c), num_keys=2), lambda: ints(100, 1 << 18), lambda: nrm(1 << 18), lambda: jnp.arange(1 << 18))
program(irregular, "median_rows", lambda x: jnp.median(x, 1), lambda: nrm(1024, 1001))
program(irregular, "percentiles", lambda x: jnp.percentile(x, jnp.array([5., 50., 95.])), lambda: nrm(1 << 18))
program(irregular, "unique", lambda x: jnp.unique(x, size=1000), lambda: ints(1000, 1 << 18))
program(irregular, "nucleus", lambda x: (lambda s: jnp.where(jnp.cumsum(jax.nn.softmax(s, -1), -1) < .9, s, -jnp.inf))(jnp.sort(x, -1)[:, ::-1]), lambda: nrm(64, 8192))
program(irregular, "top_40_of_32000", lambda x: lax.top_k(x, 40), lambda: nrm(64, 32000))
program(irregular, "top_2_of_8", lambda x: lax.top_k(x, 2), lambda: nrm(65536, 8))
program(irregular, "argmax_of_32000", lambda x: jnp.argmax(x, -1), lambda: nrm(64, 32000))
program(irregular, "permutation", lambda k: jax.random.permutation(wrap(k), 1 << 20), key)
program(irregular, "bincount", lambda x: jnp.bincount(x, length=1000), lambda: ints(1000, 1 << 20))
program(irregular, "histogram", lambda x: jnp.histogram(x, 64, (-4, 4))[0], lambda: nrm(1 << 20))
program(irregular, "search_sorted", jnp.searchsorted, lambda: jnp.sort(nrm(1 << 16)), lambda: nrm(1 << 18))
program(irregular, "segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 1024), lambda: nrm(1 << 16, 32), lambda: ints(1024, 1 << 16))
program(irregular, "embedding_grad", jax.grad(lambda e, t, g: (e[t]*g).sum()), lambda: nrm(32000, 128), lambda: ints(32000, 4096), lambda: nrm(4096, 128))
program(irregular, "gather_elements", lambda x, i: x[i], lambda: nrm(1 << 20), lambda: ints(1 << 20, 1 << 22))
program(irregular, "gather_2d", lambda x, i, j: x[i, j], lambda: nrm(1024, 1024), lambda: ints(1024, 1 << 20), lambda: ints(1024, 1 << 20, seed=7))
program(irregular, "take_along_rows", lambda x, i: jnp.take_along_axis(x, i, 1), lambda: nrm(4096, 1024), lambda: ints(1024, 4096, 256))
program(irregular, "windows", lambda x, i: jax.vmap(lambda i: lax.dynamic_slice(x, (i,), (64,)))(i), lambda: nrm(1 << 20), lambda: ints((1 << 20) - 64, 1 << 16))
program(irregular, "scatter_rows", lambda x, i, u: x.at[i].set(u), lambda: nrm(1 << 16, 64), lambda: ints(1 << 16, 1 << 14), lambda: nrm(1 << 14, 64))
program(irregular, "scatter_max", lambda x, i, u: x.at[i].max(u), lambda: nrm(65536), lambda: ints(65536, 1 << 20), lambda: nrm(1 << 20))
program(irregular, "scatter_2d", lambda i, j, u: jnp.zeros((1024, 1024)).at[i, j].add(u), lambda: ints(1024, 1 << 20), lambda: ints(1024, 1 << 20, seed=7), lambda: nrm(1 << 20))
program(irregular, "sparse_matvec", lambda d, r, c, x: jax.ops.segment_sum(d*x[c], r, 65536, indices_are_sorted=True), lambda: nrm(1 << 20), lambda: jnp.sort(ints(65536, 1 << 20)), lambda: ints(65536, 1 << 20, seed=2), lambda: nrm(65536))
program(irregular, "messages", lambda h, s, d, w: jax.ops.segment_sum(jax.nn.relu(h[s] @ w), d, 4096), lambda: nrm(4096, 64), lambda: ints(4096, 32768), lambda: ints(4096, 32768, seed=3), lambda: nrm(64, 64))
program(irregular, "nonzero", lambda x: jnp.nonzero(x > 0, size=1 << 19)[0], lambda: nrm(1 << 20))
@irregular("bilinear_sample")
def _():
    def sample(im, y, x):
        y0, x0 = jnp.floor(y).astype(int), jnp.floor(x).astype(int)
        fy, fx = y - y0, x - x0
        return im[y0, x0]*(1 - fy)*(1 - fx) + im[y0 + 1, x0]*fy*(1 - fx) + im[y0, x0 + 1]*(1 - fy)*fx + im[y0 + 1, x0 + 1]*fy*fx
    return sample, (nrm(512, 512), jnp.abs(jnp.sin(nrm(1 << 20)))*500, jnp.abs(jnp.cos(nrm(1 << 20)))*500)
program(irregular, "uniform_16M", lambda k: jax.random.uniform(wrap(k), (1 << 24,)), key)
program(irregular, "integers_16M", lambda k: jax.random.randint(wrap(k), (1 << 24,), 0, 1000), key)
program(irregular, "bernoulli_sum", lambda k: jax.random.bernoulli(wrap(k), .3, (1 << 24,)).sum(), key)
program(irregular, "dropout_16M", lambda k, x: jnp.where(jax.random.bernoulli(wrap(k), .9, x.shape), x/.9, 0), key, square)
program(irregular, "gumbel_4M", lambda k: jax.random.gumbel(wrap(k), (1 << 22,)), key)
program(irregular, "truncated_normal_4M", lambda k: jax.random.truncated_normal(wrap(k), -2, 2, (1 << 22,)), key)
program(irregular, "categorical", lambda k, l: jax.random.categorical(wrap(k), l), key, lambda: nrm(1024, 4096))
program(irregular, "choice", lambda k, p: jax.random.choice(wrap(k), 1000, (1 << 18,), p=p), key, lambda: jax.nn.softmax(nrm(1000)))
program(irregular, "gamma", lambda k, a: jax.random.gamma(wrap(k), a), key, lambda: jnp.abs(nrm(1 << 18)) + .5)
program(irregular, "many_keys", lambda k: jax.vmap(lambda k: jax.random.normal(k, (16,)))(jax.random.split(wrap(k), 16384)), key)
program(irregular, "scatter_1M_into_1M", lambda i, u: jnp.zeros(1 << 20).at[i].add(u), lambda: ints(1 << 20, 1 << 20), lambda: nrm(1 << 20))
program(irregular, "scatter_add_rows", lambda x, i, u: x.at[i].add(u), lambda: nrm(1 << 14, 128), lambda: ints(1 << 14, 1 << 15), lambda: nrm(1 << 15, 128))
program(irregular, "segment_max", lambda x, i: jax.ops.segment_max(x, i, 4096), lambda: nrm(1 << 18), lambda: ints(4096, 1 << 18))
program(irregular, "rows_of_16_looked_up", lambda x, i: x[i], lambda: nrm(1 << 18, 16), lambda: ints(1 << 18, 1 << 20))
program(irregular, "take_or_fill", lambda x, i: jnp.take(x, i, 0, mode="fill"), lambda: nrm(65536, 32), lambda: ints(65536, 1 << 17))
program(irregular, "top_100_of_1M", lambda x: lax.top_k(x, 100), lambda: nrm(1 << 20))
program(irregular, "top_50_of_128256", lambda x: lax.top_k(x, 50), lambda: nrm(4, 128256))
program(irregular, "sums_of_slices", lambda u, i: jax.ops.segment_sum(u, i, 384), lambda: nrm(65536, 8, 5), lambda: ints(384, 65536))
program(irregular, "rows_by_pairs", lambda x, i, j: x[i, j], lambda: nrm(3, 128, 48), lambda: ints(3, 27777), lambda: ints(128, 27777))
program(irregular, "sums_of_100", lambda u, i: jax.ops.segment_sum(u, i, 4096), lambda: nrm(1 << 15, 100), lambda: ints(4096, 1 << 15))
program(irregular, "scatter_1M_bf16", lambda i, u: jnp.zeros(1 << 16, jnp.bfloat16).at[i].add(u), lambda: ints(1 << 16, 1 << 20), lambda: nrm(1 << 20).astype(jnp.bfloat16))
program(irregular, "rows_of_8", lambda x, i: x[i], lambda: nrm(5000, 8), lambda: ints(5000, 250000))
program(irregular, "cumulative_log_sum_exp", lambda x: lax.cumlogsumexp(x), lambda: nrm(1 << 20))
program(memory, "edges_4096x197x7", lambda x: jnp.pad(x, ((0, 0), (2, 1), (0, 0)), mode="edge"), lambda: nrm(4096, 197, 7))
program(memory, "mirrored_rows_of_5", lambda x: jnp.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)), mode="reflect"), lambda: nrm(17, 64, 100, 5))
program(memory, "mirrored_images", lambda x: jnp.pad(x, ((0, 0), (1, 2), (1, 2), (0, 0)), mode="reflect"), lambda: nrm(16, 112, 112, 3))
program(memory, "mirrored_bytes", lambda x: jnp.pad(x, ((0, 0), (1, 1), (0, 0)), mode="reflect"), lambda: ints(100, 4096, 197, 7).astype(jnp.int8))
program(memory, "joined_columns", lambda *x: jnp.concatenate(x, 1), *[lambda n=n: nrm(2000, n) for n in (3, 50, 17, 64, 1)])
program(memory, "rolled_twice", lambda x: jnp.roll(x, (3, 5), (2, 3)), lambda: nrm(16, 64, 28, 28))
program(dense, "outer_put_first", lambda x, y: jnp.einsum("dba,dc->bca", x, y), lambda: nrm(4, 512, 48), lambda: nrm(4, 100))
program(dense, "features_before_space", lambda x, w: jnp.einsum("nchw,co->nohw", x, w), lambda: nrm(16, 128, 28, 28), lambda: nrm(128, 128))
program(dense, "single_terms_turned", lambda x, y: jnp.einsum("dba,dc->bca", x, y), lambda: nrm(1, 512, 48), lambda: nrm(1, 100))
@dense("conv_1_by_kernel")
def _():
    def conv(x, w): return lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NCW", "WIO", "NCW"))
    return (lambda x, w: jax.grad(lambda w: (conv(x, w) ** 2).sum())(w)), (nrm(16, 8, 256), nrm(1, 8, 128))
program(dense, "batch_last_in_each", lambda x, y: jnp.einsum("aeb,dceba->bdac", x, y), lambda: nrm(384, 256, 4), lambda: nrm(2, 3, 256, 4, 384))
program(memory, "bytes_turned_to_pairs", lambda x: jnp.transpose(x, (2, 1, 0)) + 0, lambda: ints(100, 2, 1024, 768).astype(jnp.int8))
program(memory, "maxima_of_4", lambda x: lax.cummax(x, 2, reverse=True), lambda: ints(100, 4096, 256, 4))
program(memory, "sums_down_columns_of_4", lambda x: lax.cumsum(x, 1), lambda: nrm(4096, 256, 4))
program(memory, "softmax_transposed", lambda x: jax.nn.softmax(x.T, -1), lambda: nrm(4096, 512))
program(dense, "heads_joined", lambda x, w: jnp.einsum("bhsk,hkd->bsd", x, w), lambda: nrm(4, 8, 128, 32), lambda: nrm(8, 32, 256))
program(memory, "first_condition", lambda x: jnp.select([x < 0, x < 1, x < 2], [x, x ** 2, x ** 3], 0.), lambda: nrm(1 << 20))
program(loops, "incomplete_beta", lambda a, b, x: jax.scipy.special.betainc(a * 3 + .1, b * 3 + .1, x), lambda: jax.random.uniform(jax.random.key(1), (1 << 14,)), lambda: jax.random.uniform(jax.random.key(2), (1 << 14,)), lambda: jax.random.uniform(jax.random.key(3), (1 << 14,)))
program(memory, "deviations_of_transposed", lambda x: x.T.std(0), lambda: nrm(4096, 1024))
program(irregular, "argmax_transposed", lambda x: jnp.argmax(x.T, 1), lambda: nrm(4096, 512))
program(memory, "sums_of_transposed", lambda x: x.T.sum(-1), lambda: nrm(65536, 64))
program(memory, "last_norm_of_features_second", lambda x: (lambda y: (y - y.mean(-1, keepdims=True))*lax.rsqrt(y.var(-1, keepdims=True) + 1e-5))(x.transpose(0, 2, 3, 1)), lambda: nrm(8, 96, 56, 56))
program(dense, "covariance", lambda x: jnp.cov(x, rowvar=False), lambda: nrm(65536, 64))
program(dense, "patches", lambda x, w: x.reshape(16, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(16, 196, 768) @ w, lambda: nrm(16, 224, 224, 3), lambda: nrm(768, 384))
program(memory, "group_norm", lambda x: (lambda y: (y - y.mean((1, 3), keepdims=True))*lax.rsqrt(y.var((1, 3), keepdims=True) + 1e-5))(x.reshape(8, 3136, 32, 4)).reshape(x.shape), lambda: nrm(8, 56, 56, 128))
program(memory, "bytes_by_channel", lambda x: (x.astype(jnp.float32)/255 - jnp.array([.485, .456, .406]))/jnp.array([.229, .224, .225]), lambda: ints(256, 16, 224, 224, 3).astype(jnp.uint8))
program(memory, "bits_packed", lambda x: jnp.packbits(x, axis=-1), lambda: ints(2, 1 << 19, 8).astype(jnp.uint8))
program(memory, "hamming", lambda a, b: lax.population_count(a ^ b).sum(-1), lambda: ints(1 << 30, 1 << 16, 32).astype(jnp.uint32), lambda: ints(1 << 30, 1 << 16, 32, seed=1).astype(jnp.uint32))
program(memory, "softmax_of_10", lambda x: jax.nn.softmax(x), lambda: nrm(100000, 10))
@memory("overlaps")
def _():
    def boxes(n): return (lambda x, s: jnp.concatenate([x, x + .1 + .2*s], 1))(jnp.abs(nrm(n, 2)), jnp.abs(other(n, 2)))
    def overlap(a, b):
        low, high = jnp.maximum(a[:, None, :2], b[None, :, :2]), jnp.minimum(a[:, None, 2:], b[None, :, 2:])
        both = jnp.prod(jnp.maximum(high - low, 0), -1)
        area = lambda x: (x[:, 2] - x[:, 0])*(x[:, 3] - x[:, 1])
        return both/(area(a)[:, None] + area(b)[None] - both)
    return overlap, (boxes(2000), boxes(1500))
program(irregular, "places_of_short_rows", lambda x, i, u: x.at[:, i].add(u), lambda: nrm(33, 197), lambda: ints(197, 121212), lambda: nrm(33, 121212))
program(training, "focal_grad", lambda x, y: jax.grad(lambda x: (lambda q: (-(1 - q)**2*jnp.log(q + 1e-6)).mean())(jnp.take_along_axis(jax.nn.softmax(x), y[:, None], 1)))(x), lambda: nrm(8192, 100), lambda: ints(100, 8192))
@training("unet_grad")
def _():
    def conv(x, w): return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    def loss(w, x):
        a = jax.nn.relu(conv(x, w[0]))
        b = jax.nn.relu(conv(a.reshape(2, 32, 2, 32, 2, 16).max((2, 4)), w[1]))
        return (conv(jnp.concatenate([a, b.repeat(2, 1).repeat(2, 2)], -1), w[2])**2).mean()
    return jax.grad(loss), ([nrm(3, 3, 3, 16)*.2, nrm(3, 3, 16, 32)*.1, nrm(3, 3, 48, 3)*.1], nrm(2, 64, 64, 3))
@loops("lorenz")
def _():
    def slope(s):
        x, y, z = s
        return jnp.stack([10*(y - x), x*(28 - z) - y, x*y - 8/3*z])
    def turn(s, _):
        h = .005
        a = slope(s)
        b = slope(s + h/2*a)
        c = slope(s + h/2*b)
        return s + h/6*(a + 2*b + 2*c + slope(s + h*c)), s[0].mean()
    return (lambda s: lax.scan(turn, s, None, length=100)), (nrm(3, 4096),)
program(loops, "heat_inside", lambda u: lax.fori_loop(0, 20, lambda i, u: u.at[1:-1, 1:-1, 1:-1].add(.1*(u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
                                                                                           + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2] - 6*u[1:-1, 1:-1, 1:-1])), u), lambda: nrm(64, 64, 64))
program(loops, "linear_regression", lambda x, y: lax.fori_loop(0, 50, lambda i, w: w - .1*x.T @ (x @ w - y)/1024, jnp.zeros(64)), lambda: nrm(1024, 64), lambda: nrm(1024))
program(loops, "regression_by_batches", lambda w, x, y: lax.scan(lambda w, b: (w - .01*b[0].T @ (b[0] @ w - b[1])/32, None), w, (x, y))[0], lambda: nrm(64), lambda: nrm(300, 32, 64), lambda: nrm(300, 32))
program(loops, "queries_one_by_one", lambda q, k, v: lax.scan(lambda c, q: (lambda a: (a, a))(jax.nn.softmax((q + .1*c) @ k.T*.125) @ v), jnp.zeros(64), q)[1], lambda: nrm(200, 64), lambda: nrm(256, 64), lambda: other(256, 64))
program(dense, "few_columns", lambda x, w: x @ w, lambda: nrm(2000, 1500), lambda: nrm(1500, 3))
program(dense, "thin_2048", lambda x, y: x @ y.T, lambda: nrm(2000, 16), lambda: nrm(2048, 16))
program(dense, "kernel_by_vectors", lambda x, y, v: jnp.exp(-((x * x).sum(1)[:, None] - 2 * x @ y.T + (y * y).sum(1))) @ v, lambda: nrm(2000, 16) * .3, lambda: other(1500, 16) * .3, lambda: nrm(1500, 4))
program(dense, "conv_nchw_short_rows", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW")), lambda: nrm(32, 128, 16, 16), lambda: nrm(4, 128, 3, 3))
