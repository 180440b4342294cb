"""Utilities of optax.tree: arithmetic, norms, dtypes, random trees, parts of states."""
import jax
import jax.numpy as jnp
import optax

from .arrays import Numbers, arrays, numbers_tree
from .calls import call
from .descent import TINY
from .kinds import Function

A, B, C = (numbers_tree(TINY, seed) for seed in (1, 2, 3))
MIXED = {"a": Numbers(1, (3,), "bfloat16"), "b": Numbers(2, (2, 2))}
COMPLEX = {k: x * (1 - 0.5j) + 0.25j for k, x in arrays(A).items()}
INTEGERS = {"a": jnp.asarray([3, -4, 5], jnp.int32), "b": jnp.asarray([[1, 2], [3, 40]], jnp.int32)}
CHAIN = call("chain", transforms=[call("adamw", learning_rate=0.1), call("trace", decay=0.9)])


def tree(name, function, /, inputs, wrt=(), **options):
    return Function(name, "tree." + function, inputs, options, wrt)


def positional(name, function, /, inputs, wrt=()):
    return Function(name, "tree." + function, inputs, {}, wrt, positional=True)


def stated(name, function, run, **options):
    """A utility that is given the state that the described rule has after one step."""
    def on_state(rule, **options):
        params = arrays(A)
        _, state = rule.update(arrays(B), rule.init(params), params)
        return run(rule, state, params, **options)

    return Function(name, "tree." + function, {}, {"rule": CHAIN, **options}, run=on_state)


def dtype_of(tree, handler):
    return jnp.zeros((), optax.tree.dtype(tree, handler))


CASES = [
    positional("add", "add", {"tree_x": A, "tree_y": B}, ("tree_x", "tree_y")),
    positional("add_several", "add", {"tree_x": A, "tree_y": B, "tree_z": C}),
    tree("add_scale", "add_scale", {"tree_x": A, "scalar": jnp.float32(0.3), "tree_y": B}, ("tree_x", "scalar", "tree_y")),
    tree("sub", "sub", {"tree_x": A, "tree_y": B}),
    tree("mul", "mul", {"tree_x": A, "tree_y": B}),
    tree("div", "div", {"tree_x": A, "tree_y": B}),
    tree("scale", "scale", {"scalar": jnp.float32(0.3), "tree": A}),
    tree("scale_bf16", "scale", {"tree": MIXED}, scalar=0.3),
    tree("sum", "sum", {"tree": A}, ("tree",)),
    tree("sum_associative", "sum", {"tree": A}, associative_reduction=True),
    tree("sum_mixed", "sum", {"tree": MIXED}),
    tree("max", "max", {"tree": A}, ("tree",)),
    tree("min", "min", {"tree": A}, ("tree",)),
    tree("size", "size", {"tree": A}),
    *[tree(f"norm_{ord}{'_squared' * squared}", "norm", {"tree": A}, ("tree",), ord=ord, squared=squared)
      for ord in (None, 1, 2, "inf") for squared in (False, True)],
    tree("norm_complex", "norm", {"tree": COMPLEX}),
    tree("norm_mixed", "norm", {"tree": MIXED}),
    tree("vdot", "vdot", {"tree_x": A, "tree_y": B}, ("tree_x", "tree_y")),
    tree("vdot_complex", "vdot", {"tree_x": COMPLEX, "tree_y": A}),
    tree("vdot_integers", "vdot", {"tree_x": INTEGERS, "tree_y": INTEGERS}),
    tree("conj", "conj", {"tree": COMPLEX}),
    tree("real", "real", {"tree": COMPLEX}),
    tree("real_mixed", "real", {"tree": A}),
    tree("clip", "clip", {"tree": A}, ("tree",), min_value=-0.25, max_value=0.5),
    tree("clip_above", "clip", {"tree": A}, max_value=0.1),
    *[tree(f"where_{flag}".lower(), "where", {"condition": jnp.asarray(flag), "tree_x": A, "tree_y": B}) for flag in (True, False)],
    tree("zeros_like", "zeros_like", {"tree": MIXED}),
    tree("zeros_like_dtype", "zeros_like", {"tree": MIXED}, dtype={"dtype": "int32"}),
    tree("ones_like", "ones_like", {"tree": MIXED}),
    tree("full_like", "full_like", {"tree": MIXED}, fill_value=0.3),
    tree("full_like_dtype", "full_like", {"tree": MIXED}, fill_value=2, dtype={"dtype": "float32"}),
    tree("cast", "cast", {"tree": MIXED}, dtype={"dtype": "bfloat16"}),
    tree("cast_none", "cast", {"tree": MIXED}, dtype=None),
    tree("cast_like", "cast_like", {"tree": A, "other_tree": MIXED}),
    tree("allclose", "allclose", {"a": A, "b": A}),
    tree("allclose_not", "allclose", {"a": A, "b": B}, rtol=0.1, atol=0.1),
    tree("batch_shape", "batch_shape", {"tree": MIXED}, shape={"tuple": [2, 1]}),
    *[Function(f"dtype_{handler}", "tree.dtype", {"tree": MIXED}, {"mixed_dtype_handler": handler},
               run=lambda tree, mixed_dtype_handler: dtype_of(tree, mixed_dtype_handler))
      for handler in ("promote", "highest", "lowest")],
    tree("split_key_like", "split_key_like", {"target_tree": A}, rng_key={"key": 3}),
    tree("random_like", "random_like", {"target_tree": A}, rng_key={"key": 3}),
    Function("random_like_rademacher", "tree.random_like", {"target_tree": A},
             {"rng_key": {"key": 3}, "sampler": "rademacher", "dtype": {"dtype": "float32"}},
             run=lambda target_tree, rng_key, sampler, dtype: optax.tree.random_like(
                 rng_key, target_tree, sampler=getattr(jax.random, sampler), dtype=dtype)),
    tree("unwrap_random_key_data", "unwrap_random_key_data", {"input_tree": {"k": jax.random.key(3), "x": Numbers(1, (3,))}}),
    tree("bias_correction", "bias_correction", {"moment": A, "count": jnp.int32(2)}, decay=0.9),
    tree("bias_correction_bf16", "bias_correction", {"moment": MIXED, "count": jnp.int32(3)}, decay=0.999),
    tree("update_moment", "update_moment", {"updates": A, "moments": B}, decay=0.9, order=2),
    tree("update_moment_cubic", "update_moment", {"updates": A, "moments": B}, decay=0.9, order=3),
    tree("update_infinity_moment", "update_infinity_moment", {"updates": A, "moments": B}, decay=0.9, eps=1e-3),
    tree("update_moment_per_elem_norm", "update_moment_per_elem_norm", {"updates": A, "moments": B}, decay=0.9, order=2),
    tree("update_moment_per_elem_norm_complex", "update_moment_per_elem_norm", {"updates": COMPLEX, "moments": B},
         decay=0.9, order=2),
    tree("update_moment_per_elem_norm_fourth", "update_moment_per_elem_norm", {"updates": A, "moments": B}, decay=0.9,
         order=4),
    stated("get", "get", lambda rule, state, params, key: optax.tree.get(state, key), key="nu"),
    stated("get_missing", "get", lambda rule, state, params, key, default: jnp.float32(optax.tree.get(state, key, default)),
           key="absent", default=0.5),
    stated("get_state", "get", lambda rule, state, params, key: optax.tree.get(state, key), key="TraceState"),
    stated("get_all_with_path", "get_all_with_path",
           lambda rule, state, params, key: [value for _, value in optax.tree.get_all_with_path(state, key)], key="mu"),
    stated("set", "set", lambda rule, state, params, count: optax.tree.set(state, count=jnp.int32(count)), count=7),
    stated("map_params", "map_params", lambda rule, state, params, f: optax.tree.map_params(rule, lambda x: 0.5 * x, state),
           f="0.5 x"),
]
