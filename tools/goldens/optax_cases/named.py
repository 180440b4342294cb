"""Functions that users would write, by name, each with what it computes."""
import jax
import jax.numpy as jnp
import optax

from .arrays import numbers


def leaves_sum(f, params):
    return sum((jnp.sum(f(p)) for p in jax.tree.leaves(params)), jnp.float32(0))


def rosenbrock(params):
    x = params["x"]
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def quadratic(params):
    return leaves_sum(lambda p: 0.5 * jnp.arange(1, p.size + 1, dtype=p.dtype).reshape(p.shape) * p * p, params)


def sines(params):
    return leaves_sum(lambda p: jnp.sin(3.0 * p) + p * p, params)


def walled(params):
    """A quadratic that is infinite beyond a wall."""
    value = quadratic(params)
    return jnp.where(value < 10.0, value, jnp.inf)


def linear(batch, params):
    return jnp.sum(jnp.tanh(batch @ params))


def squares(params, inputs, targets):
    return jnp.mean((jnp.tanh(inputs @ params["w"]) @ params["v"] - targets) ** 2)


def one_hot_argmax(x):
    return jax.nn.one_hot(jnp.argmax(x, axis=-1), x.shape[-1])


def one_hot_argmax_tree(tree):
    return jax.tree.map(one_hot_argmax, tree)


NAMED = {
    "rosenbrock": (rosenbrock, "sum over i of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2 of the leaf x"),
    "quadratic": (quadratic, "sum over leaves and elements, i from 1 in row-major order, of i p^2 / 2"),
    "sines": (sines, "sum over leaves and elements of sin(3 p) + p^2"),
    "walled": (walled, "quadratic where it is below 10, else infinity"),
    "matrices": (lambda tree: jax.tree.map(lambda x: x.ndim >= 2, tree), "a mask: true where the rank is at least 2"),
    "by_rank": (lambda tree: jax.tree.map(lambda x: "matrix" if x.ndim >= 2 else "other", tree),
                "labels: matrix where the rank is at least 2, else other"),
    "every_other": (lambda step: step % 2 == 0, "whether the step is even"),
    "from_second": (lambda step: step >= 2, "whether the step is at least 2"),
    "value_below_one": (lambda step, value, **_: value < 1.0, "whether the extra argument value is below 1"),
    "k_grows": (lambda step: jnp.where(step < 1, 1, 2), "of the gradient step: 1 before step 1, then 2"),
    "skip_not_finite": (optax.skip_not_finite, "optax.skip_not_finite"),
    "skip_large": (lambda u, s, p: optax.skip_large_updates(u, s, p, 3.0), "optax.skip_large_updates(max_squared_norm=3)"),
    "halve": (lambda u, p: jax.tree.map(lambda g: 0.5 * g, u), "of updates u and params: 0.5 u"),
    "away_from": (lambda u, p: u - 0.25 * p, "of a leaf of updates u and of params p: u - 0.25 p"),
    "norm": (optax.tree.norm, "optax.tree.norm"),
    "norm_above_one": (lambda u: optax.tree.norm(u) > 1.0, "whether optax.tree.norm(u) > 1"),
    "quadratic_gradient": (lambda p, i: jax.tree.map(lambda g: (1.0 + 0.5 * i) * g, jax.grad(quadratic)(p)),
                           "of params and the adversarial step i: the gradient of quadratic times (1 + i / 2)"),
    "cube_root": (lambda step: (step + 1.0) ** (1.0 / 3.0), "(step + 1)^(1/3)"),
    "one_minus_reciprocal": (lambda step, exponent: 1.0 - (jnp.float32(step) + 1.0) ** (-1.0),
                             "of step and exponent: 1 - 1 / (step + 1)"),
    "one_minus_half": (lambda step: 1.0 - 0.5 ** (jnp.float32(step) + 1.0), "1 - 0.5^(step + 1)"),
    "galore_tensors": (lambda tree: jax.tree.map(
        lambda x: optax.contrib.GaLoreDimensionNumbers(0, (1, 2)) if x.ndim == 3 else None, tree),
        "GaLoreDimensionNumbers(reduction 0, output (1, 2)) where the rank is 3, else nothing"),
    "muon_all_leaves": (lambda tree: jax.tree.map(
        lambda x: optax.contrib.MuonDimensionNumbers((0,), (x.ndim - 1,)) if x.ndim >= 2 else None, tree),
        "MuonDimensionNumbers(reduction 0, output the last axis) where the rank is at least 2, else nothing"),
    "muon_tensors": (lambda tree: jax.tree.map(
        lambda x: optax.contrib.MuonDimensionNumbers((0, 1), 2) if x.ndim == 3 else None, tree),
        "MuonDimensionNumbers(reduction (0, 1), output 2) where the rank is 3, else nothing"),
    "linear": (linear, "of a batch and params: the sum of tanh(batch @ params)"),
    "squares": (squares, "of params, inputs, targets: mean of (tanh(inputs @ w) @ v - targets)^2"),
    "logsumexp_rows": (lambda x: jax.scipy.special.logsumexp(x, axis=-1), "logsumexp over the last axis"),
    "one_hot_argmax": (one_hot_argmax, "one_hot of the argmax over the last axis"),
    "one_hot_argmax_tree": (one_hot_argmax_tree, "one_hot_argmax of each leaf"),
    "weighted_sum": (lambda x: jnp.sum(one_hot_argmax(x) * jnp.asarray(numbers(77, x.shape))),
                     "sum of one_hot_argmax(x) times numbers(77, shape of x)"),
    "mean": (jnp.mean, "the mean of all"),
    "sum": (jnp.sum, "the sum of all"),
    "clip_by_root": (lambda step: (step + 1.0) ** 0.5, "(step + 1)^(1/2)"),
    "per_row": (lambda p, batch: jnp.mean(jnp.sin(batch @ p), axis=0), "of params p and a batch: the mean over rows of sin(batch @ p)"),
    "per_row_sum": (lambda p, batch: jnp.sum(jnp.sin(batch @ p)), "of params p and a batch: the sum of sin(batch @ p)"),
    "per_row_all": (lambda p, batch: jnp.sin(batch @ p), "of params p and a batch: sin(batch @ p), a number a row"),
    "one_row": (lambda p, row: jnp.sin(row @ p), "of params p and a row: sin(row @ p)"),
}
