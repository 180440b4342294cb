#!/usr/bin/env python3
"""Programs as JAX's users write them. Of the first step the loss and the gradients are those of XLA's CPU within 1e-5 (relative L2 of
each tensor), and after some steps the model has learnt.
"""
import harness


def near(ours, theirs, bound=1e-5):
    """Each tensor's relative distance; says which is far."""
    import jax
    import numpy as np

    far = []
    for (path, a), (_, b) in zip(jax.tree_util.tree_leaves_with_path(ours), jax.tree_util.tree_leaves_with_path(theirs), strict=True):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        error = np.linalg.norm(a - b) / max(float(np.linalg.norm(b)), 1e-30)
        if not error <= bound:
            far.append(f"{jax.tree_util.keystr(path)}: {error:.2e}")
    assert not far, "; ".join(far)


def first_step(loss_and_gradients, *args):
    ours, theirs = harness.on_strata(loss_and_gradients, *args), harness.on_xla(loss_and_gradients, *args)
    near(ours, theirs)
    return ours


def fell(losses, by=0.7):
    import numpy as np

    assert np.isfinite(losses).all() and losses[-1] < by * losses[0], f"losses {np.round(losses, 3)}"


def images(count, seed=0):
    """A stand-in for Fashion-MNIST: ten shapes of 28 x 28 with noise, and which one it is."""
    import numpy as np

    rng = np.random.default_rng(seed)
    shapes = np.random.default_rng(1).random((10, 7, 7)).repeat(4, 1).repeat(4, 2) > 0.5
    labels = rng.integers(0, 10, count)
    return (shapes[labels] * 0.8 + 0.2 * rng.random((count, 28, 28))).astype(np.float32)[..., None], labels.astype(np.int32)


def test_flax_nnx_cnn():
    import functools

    import jax
    import optax
    from flax import nnx

    class CNN(nnx.Module):
        def __init__(self, rngs):
            self.conv1 = nnx.Conv(1, 16, kernel_size=(3, 3), use_bias=False, rngs=rngs)
            self.norm = nnx.BatchNorm(16, rngs=rngs)
            self.conv2 = nnx.Conv(16, 32, kernel_size=(3, 3), rngs=rngs)
            self.pool = functools.partial(nnx.avg_pool, window_shape=(2, 2), strides=(2, 2))
            self.linear1 = nnx.Linear(7 * 7 * 32, 64, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, rngs=rngs)
            self.linear2 = nnx.Linear(64, 10, rngs=rngs)

        def __call__(self, x):
            x = self.pool(nnx.relu(self.norm(self.conv1(x))))
            x = self.pool(nnx.relu(self.conv2(x)))
            x = nnx.relu(self.linear1(x.reshape(x.shape[0], -1)))
            return self.linear2(self.dropout(x))

    def loss(model, x, y):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()

    model = CNN(nnx.Rngs(0))
    x, y = images(32)
    graph, params, rest = nnx.split(model, nnx.Param, ...)
    first_step(jax.value_and_grad(lambda params, rest, x, y: loss(nnx.merge(graph, params, rest, copy=True), x, y)), params, rest, x, y)

    optimizer = nnx.Optimizer(model, optax.adamw(3e-3), wrt=nnx.Param)

    @nnx.jit
    def step(model, optimizer, x, y):
        value, gradients = nnx.value_and_grad(loss)(model, x, y)
        optimizer.update(model, gradients)
        return value

    fell([float(step(model, optimizer, *images(32, seed))) for seed in range(12)], 0.5)
    model.eval()
    x, y = images(64, 100)
    assert (model(x).argmax(-1) == y).mean() > 0.8


def transformer(params, tokens):
    """Logits of a small decoder."""
    import jax
    import jax.numpy as jnp

    norm = lambda x, scale: x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale
    x = params["embedding"][tokens] + params["positions"][: tokens.shape[1]]
    mask = jnp.tril(jnp.ones((tokens.shape[1],) * 2, bool))
    for layer in params["layers"]:
        h = norm(x, layer["norm1"])
        q, k, v = (jnp.einsum("bld,dhk->blhk", h, layer[w]) for w in "qkv")
        scores = jnp.where(mask, jnp.einsum("blhk,bmhk->bhlm", q, k) / q.shape[-1] ** 0.5, -1e30)
        x = x + jnp.einsum("bhlm,bmhk,hkd->bld", jax.nn.softmax(scores), v, layer["o"])
        x = x + jax.nn.gelu(norm(x, layer["norm2"]) @ layer["up"]) @ layer["down"]
    return norm(x, params["norm"]) @ params["embedding"].T


def transformer_params(key, vocabulary=64, width=32, heads=4, layers=2, length=16):
    import jax
    import jax.numpy as jnp

    keys = iter(jax.random.split(key, 100))
    draw = lambda *shape: 0.1 * jax.random.normal(next(keys), shape)
    size = width // heads
    one = lambda: {
        **{w: draw(width, heads, size) for w in "qkv"},
        **{"o": draw(heads, size, width), "up": draw(width, 4 * width), "down": draw(4 * width, width)},
        **{"norm1": jnp.ones(width), "norm2": jnp.ones(width)},
    }
    return {"embedding": draw(vocabulary, width), "positions": draw(length, width), "norm": jnp.ones(width), "layers": [one() for _ in range(layers)]}


def test_optax_transformer():
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    def loss(params, tokens):
        return optax.softmax_cross_entropy_with_integer_labels(transformer(params, tokens[:, :-1]), tokens[:, 1:]).mean()

    params = transformer_params(jax.random.key(0))
    tokens = np.tile(np.arange(17) * 3 % 64, (8, 1)) + np.arange(8)[:, None]
    first_step(jax.value_and_grad(loss), params, tokens % 64)

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0, 1e-2, 5, 40)))
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, tokens):
        value, gradients = jax.value_and_grad(loss)(params, tokens)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, value

    losses = []
    for _ in range(30):
        params, state, value = step(params, state, jnp.asarray(tokens % 64))
        losses.append(float(value))
    fell(losses, 0.5)


def test_flax_linen_and_orbax():
    import pathlib
    import tempfile

    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
    import orbax.checkpoint as ocp
    from flax.training import train_state

    class MLP(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.LayerNorm()(nn.relu(nn.Dense(32)(x)))
            return nn.Dense(1)(nn.tanh(nn.Dense(16)(x)))[..., 0]

    model = MLP()
    x = jax.random.normal(jax.random.key(1), (64, 5))
    y = jnp.sin(x.sum(-1))
    loss = lambda params: jnp.mean((model.apply(params, x) - y) ** 2)
    params = model.init(jax.random.key(0), x)
    first_step(jax.value_and_grad(loss), params)

    @jax.jit
    def step(state):
        value, gradients = jax.value_and_grad(loss)(state.params)
        return state.apply_gradients(grads=gradients), value

    def steps(state, count):
        losses = []
        for _ in range(count):
            state, value = step(state)
            losses.append(float(value))
        return state, losses

    state, losses = steps(train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2)), 30)
    fell(losses)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder).resolve() / "state"
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(path, state)
            checkpointer.wait_until_finished()
            restored = checkpointer.restore(path, jax.tree.map(jnp.zeros_like, state))
    assert all(harness.device() in leaf.devices() for leaf in jax.tree.leaves(restored.params))
    on, again = steps(state, 5), steps(restored, 5)
    assert on[1] == again[1], f"what was restored goes on differently: {on[1]}, {again[1]}"


def test_grain_feeds_a_jitted_step():
    import grain.python as grain
    import jax
    import jax.numpy as jnp
    import numpy as np

    class Points:
        def __len__(self):
            return 256

        def __getitem__(self, i):
            x = np.random.default_rng(i).standard_normal(3).astype(np.float32)
            return {"x": x, "y": np.float32(x @ np.array([1.0, -2.0, 3.0], np.float32) + 0.5)}

    dataset = grain.MapDataset.source(Points()).shuffle(seed=0).repeat(4).batch(32, drop_remainder=True)
    loss = lambda p, batch: jnp.mean((batch["x"] @ p["w"] + p["b"] - batch["y"]) ** 2)
    params = {"w": jnp.zeros(3), "b": jnp.zeros(())}
    first_step(jax.value_and_grad(loss), params, next(iter(dataset)))

    @jax.jit
    def step(params, batch):
        value, gradients = jax.value_and_grad(loss)(params, batch)
        return jax.tree.map(lambda p, g: p - 0.2 * g, params, gradients), value

    losses = []
    for batch in dataset.to_iter_dataset():
        params, value = step(params, batch)
        losses.append(float(value))
    assert len(losses) == 32
    fell(losses, 1e-3)
    assert np.allclose(params["w"], [1, -2, 3], atol=1e-2), params


def test_equinox():
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import optax

    model = eqx.nn.MLP(2, 1, 16, 2, activation=jax.nn.silu, key=jax.random.key(0))
    x = jax.random.uniform(jax.random.key(1), (128, 2), minval=-1)
    y = (x[:, 0] * x[:, 1])[:, None]
    dynamic, static = eqx.partition(model, eqx.is_array)
    loss = lambda model, x, y: jnp.mean((jax.vmap(model)(x) - y) ** 2)
    first_step(jax.value_and_grad(lambda d, x, y: loss(eqx.combine(d, static), x, y)), dynamic, x, y)

    optimizer = optax.adam(1e-2)
    state = optimizer.init(dynamic)

    @eqx.filter_jit
    def step(model, state):
        value, gradients = eqx.filter_value_and_grad(loss)(model, x, y)
        updates, state = optimizer.update(gradients, state)
        return eqx.apply_updates(model, updates), state, value

    losses = []
    for _ in range(60):
        model, state, value = step(model, state)
        losses.append(float(value))
    fell(losses, 0.2)


def test_numpyro():
    import jax
    import jax.numpy as jnp
    import numpy as np
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS, util

    def model(x, y=None):
        slope = numpyro.sample("slope", dist.Normal(0, 2))
        intercept = numpyro.sample("intercept", dist.Normal(0, 2))
        noise = numpyro.sample("noise", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(slope * x + intercept, noise), obs=y)

    x = np.linspace(-1, 1, 50, dtype=np.float32)
    y = (1.5 * x - 0.5 + 0.1 * np.random.default_rng(0).standard_normal(50)).astype(np.float32)
    start = {"slope": jnp.float32(0.3), "intercept": jnp.float32(0.1), "noise": jnp.float32(-0.5)}
    first_step(jax.value_and_grad(lambda p, x, y: util.potential_energy(model, (x,), {"y": y}, p)), start, x, y)

    mcmc = MCMC(NUTS(model), num_warmup=150, num_samples=200, progress_bar=False)
    mcmc.run(jax.random.key(0), x, y)
    means = {name: float(jnp.mean(v)) for name, v in mcmc.get_samples().items()}
    assert abs(means["slope"] - 1.5) < 0.1 and abs(means["intercept"] + 0.5) < 0.1 and 0.05 < means["noise"] < 0.2, means


def test_a_compiled_program_is_shown_with_its_constants():
    import jax
    import numpy as np

    large = np.arange(1 << 16, dtype="float32")
    x = jax.device_put(np.zeros_like(large), harness.device())
    compiled = jax.jit(lambda x: x + large).lower(x).compile()
    assert "f32[65536]" in compiled.as_text() and "constant" in compiled.as_text()
    assert np.asarray(compiled(x)).tobytes() == large.tobytes()


if __name__ == "__main__":
    harness.run(globals(), needs=["flax", "optax", "orbax", "grain", "equinox", "numpyro"])
