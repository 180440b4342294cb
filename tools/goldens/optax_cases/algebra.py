"""Assignment, least squares, roots, eigenvectors, second derivatives, perturbed functions."""
import jax.numpy as jnp
import optax

from .arrays import Numbers, numbers
from .calls import named
from .kinds import Function

SQUARES = {"v": Numbers(41, (3,)), "w": Numbers(42, (2, 3))}
DATA = {"inputs": Numbers(43, (4, 2)), "targets": Numbers(44, (4,))}
X = Numbers(45, (2, 3))


def spd(n, seed):
    a = numbers(seed, (n, n))
    return jnp.asarray(a @ a.T + 0.1 * jnp.eye(n, dtype=jnp.float32))


def costs():
    shapes = [(1, 1), (1, 4), (4, 1), (2, 2), (3, 5), (5, 3), (4, 4), (6, 6), (7, 4), (8, 8), (12, 12), (5, 12)]
    return {f"{n}x{m}": Numbers(50 + k, (n, m)) for k, (n, m) in enumerate(shapes)}


def hungarian(name, cost):
    return [Function(f"{kind}_{name}", f"assignment.{kind}_algorithm", {"cost_matrix": cost})
            for kind in ("hungarian", "base_hungarian")]


def second(function, **inputs):
    def run(loss=None, negative_log_likelihood=None, **inputs):
        return getattr(optax.second_order, function)(loss or negative_log_likelihood, **inputs)

    first = "negative_log_likelihood" if function == "fisher_diag" else "loss"
    return Function(function, f"second_order.{function}", {**inputs, "params": SQUARES, **DATA}, {first: named("squares")},
                    run=run)


def perturbed(name, fun, noise, wrt=True, **options):
    """The function's mean and its gradient; `key` is the seed of the key."""
    def run(x, fun, key, noise, **more):
        made = optax.perturbations.make_perturbed_fun(fun, noise=getattr(optax.perturbations, noise)(), **more)
        return made(key, x)

    options = {"fun": named(fun), "noise": noise, "key": {"key": 13}, "num_samples": 20, **options}
    return Function("perturbed_" + name, "perturbations.make_perturbed_fun", {"x": X}, options, ("x",) if wrt else (), run=run)


def noise(kind):
    law = getattr(optax.perturbations, kind)()
    return [Function(f"{kind}_log_prob", f"perturbations.{kind}.log_prob", {"inputs": X}, wrt=("inputs",),
                     run=lambda inputs: law.log_prob(inputs)),
            Function(f"{kind}_sample", f"perturbations.{kind}.sample", {}, {"key": {"key": 14}, "shape": [3, 4]},
                     run=lambda key, shape: law.sample(key, tuple(shape), jnp.float32))]


TIED = jnp.asarray([[1, 1, 2], [1, 1, 2], [2, 2, 1]], jnp.float32)
CASES = [
    *[case for name, cost in costs().items() for case in hungarian(name, cost)],
    *hungarian("ties", TIED), *hungarian("integers", jnp.asarray([[4, 1, 3], [2, 0, 5], [3, 2, 2]], jnp.int32)),
    Function("nnls_tall", "nnls", {"A": Numbers(61, (8, 4)), "b": Numbers(62, (8,))}, {"iters": 50}),
    Function("nnls_several", "nnls", {"A": Numbers(61, (8, 4)), "b": Numbers(63, (8, 2))}, {"iters": 20}),
    Function("nnls_bound_given", "nnls", {"A": Numbers(61, (6, 3)), "b": Numbers(62, (6,))}, {"iters": 10, "L": 4.0, "unroll": 2}),
    *[Function(f"root_{p}_of_{n}", "matrix_inverse_pth_root", {"matrix": spd(n, 70 + n)}, {"p": p}, positional=False)
      for n in (1, 2, 5) for p in (1, 2, 4)],
    Function("root_ridge", "matrix_inverse_pth_root", {"matrix": spd(4, 80)}, {"p": 4, "ridge_epsilon": 0.1, "num_iters": 3}),
    Function("power_iteration", "power_iteration", {"matrix": spd(5, 81)}),
    Function("power_iteration_start", "power_iteration", {"matrix": spd(4, 82), "v0": Numbers(83, (4,))}, {"num_iters": 7}),
    Function("power_iteration_key", "power_iteration", {"matrix": spd(4, 82)}, {"key": {"key": 3}, "error_tolerance": 1e-2}),
    second("hvp", v=Numbers(46, (9,))), second("hessian_diag"), second("fisher_diag"),
    perturbed("sum", "weighted_sum", "Gumbel"), perturbed("sum_normal", "weighted_sum", "Normal", sigma=0.5),
    perturbed("no_baseline", "weighted_sum", "Gumbel", use_baseline=False, num_samples=5),
    perturbed("rows", "one_hot_argmax", "Normal", num_samples=8, sigma=1.0),
    *noise("Gumbel"), *noise("Normal"),
    Function("multi_normal_log_prob", "multi_normal.log_prob", {"loc": Numbers(47, (4,)), "log_scale": Numbers(48, (4,)),
                                                                "inputs": Numbers(49, (3, 4))},
             wrt=("loc", "log_scale"), run=lambda loc, log_scale, inputs: optax.multi_normal(loc, log_scale).log_prob(inputs)),
    Function("multi_normal_sample", "multi_normal.sample", {"loc": Numbers(47, (4,)), "log_scale": Numbers(48, (4,))},
             {"seed": {"key": 15}, "shape": [3]},
             run=lambda loc, log_scale, seed, shape: optax.multi_normal(loc, log_scale).sample(shape, seed)),
]
