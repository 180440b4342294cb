#!/usr/bin/env python3
"""Writes conformance/primitives/: for each primitive of JAX 0.10.2 a small program that JAX emits for it, with JAX's values.

    tools/goldens/primitives.py            # rewrites the folder
    tools/goldens/primitives.py --list     # primitives that have neither a program nor a reason

`programs` below is the table: a name leads to a function and its arguments, or to the reason why the primitive says
nothing about one program on one device. A program counts only if its jaxpr holds the primitive.
Makes build/peers with jax 0.10.2 when this Python has none.
"""
import functools
import importlib
import json
import os
import pathlib
import pkgutil
import shutil
import struct
import sys
import warnings

os.environ["JAX_PLATFORMS"] = "cpu"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "conformance" / "primitives"


try:
    import jax
except ImportError:
    from peers import again_with

    again_with("jax==0.10.2")

import jax.numpy as jnp
import jax._src
import numpy as np
from jax import ad_checkpoint, lax
from jax._src import core
from jax._src.lax import lax as lax_internal
from jax._src.lax import linalg, parallel, windowed_reductions
from jax.sharding import Mesh, NamedSharding, PartitionSpec

warnings.filterwarnings("ignore")


def all_primitives():
    """Objects named *_p in jax._src outside Pallas, by the name that a jaxpr shows."""
    found = {}
    for module in pkgutil.walk_packages(jax._src.__path__, "jax._src."):
        if any(part in module.name for part in ("pallas", "mosaic", "test", "roofline")):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except Exception:  # needs a library that is not there: a GPU's, say
            continue
        for name, value in names.items():
            if name.endswith("_p") and isinstance(value, core.Primitive):
                found[value.name] = value
    return found


# ---- arguments ----------------------------------------------------------------------------------------------------

X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 0.125]], np.float32)
Y = np.array([[1.5, 0.25, -2.5], [0.5, 4.0, -3.0]], np.float32)
POSITIVE = np.array([0.25, 0.5, 1.0, 1.5, 3.0, 7.5], np.float32)
UNIT = np.array([-0.9, -0.5, -0.1, 0.2, 0.6, 0.95], np.float32)
V = np.array([3.0, -1.0, 2.0, 5.0, -4.0, 0.5], np.float32)
I = np.array([7, -3, 12, 0, 5, -8], np.int32)
J = np.array([2, 4, -5, 3, -1, 6], np.int32)
U = np.array([1, 2, 3, 0xF0F0F0F0], np.uint32)
P = np.array([True, False, True, True, False, False])
Q = np.array([True, True, False, True, False, True])
C = np.array([1 + 2j, -0.5 + 0.25j, 3 - 1j], np.complex64)
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]], np.float32)
LOWER = np.array([[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.5, -1.0, 4.0]], np.float32)
IMAGE = np.arange(2 * 5 * 5, dtype=np.float32).reshape(1, 2, 5, 5) / 8 - 3
FILTER = np.arange(3 * 2 * 2 * 2, dtype=np.float32).reshape(3, 2, 2, 2) / 4 - 2
GRID = np.array([[3.0, 1.0, 4.0, 1.5], [9.0, 2.0, 6.0, 5.0], [3.5, 5.5, 8.0, 9.5], [7.0, 9.25, 3.25, 2.5]], np.float32)
KEY = np.array([17, 42], np.uint32)


def one_device(f, in_specs=PartitionSpec(), out_specs=PartitionSpec(), **options):
    """`f` on a mesh of one device, where collectives are said though nobody else listens."""
    mesh = Mesh(np.array(jax.devices()[:1]), ("i",))
    return jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


def unary(f, x=X):
    return f, (x,)


def binary(f, x=X, y=Y):
    return f, (x, y)


def bind(name, *args, **params):
    return lambda *xs: PRIMITIVES[name].bind(*xs, **params)


def with_ref(f):
    """`f` on a reference that holds the first argument; the reference's last value is a result too."""

    def run(x, *rest):
        ref = jax.new_ref(x)
        out = f(ref, *rest)
        return (ref[...],) if out is None else (out, ref[...])

    return run


@jax.custom_jvp
def custom_square(x):
    return x * x


custom_square.defjvp(lambda primals, tangents: (custom_square(*primals), 2 * primals[0] * tangents[0]))


@jax.custom_vjp
def custom_cube(x):
    return x * x * x


custom_cube.defvjp(lambda x: (custom_cube(x), x), lambda x, ct: (3 * x * x * ct,))


@jax.custom_batching.custom_vmap
def custom_batched(x):
    return x + 1


custom_batched.def_vmap(lambda size, batched, x: (x + 2, batched[0]))


def linear_solve(a, b):
    return lax.custom_linear_solve(lambda x: a @ x, b, lambda _, y: lax.linalg.triangular_solve(a, y[:, None], left_side=True, lower=True)[:, 0])


@functools.partial(lax.composite, name="test.scaled")
def scaled(x, *, scale):
    return x * np.float32(scale)


def key_bits(f):
    """`f` on a key made of two words."""
    return lambda words: f(jax.random.wrap_key_data(words))


ONE_DEVICE = "says how an array is sharded over several devices; on one there is nothing to do"
CALLBACK = "calls back into Python: a host function of the calling process, not an operation"
DEVICE_ONLY = "a kernel of cuDNN or a TPU; has no lowering on a CPU"
HIJAX = "a box, log or stage of JAX's own tracing, gone before a program is lowered"
LAPACK = "a call of LAPACK, which comes with the plugin (conformance/jax/lapack)"
ASYNC = "half of a collective that runs beside other work, on several devices"
TYPES = "changes how a value's devices are known to JAX's types; no operation"


def programs():
    t = {}
    # ---- elementwise
    for name in ("neg", "sign", "floor", "ceil", "round", "exp", "exp2", "expm1", "tanh", "logistic", "sin", "cos", "tan", "atan", "sinh", "cosh", "asinh", "cbrt", "square", "is_finite", "abs", "erf", "erfc", "bessel_i0e", "bessel_i1e"):
        t[name] = unary(getattr(lax, name) if hasattr(lax, name) else bind(name), UNIT if name == "tan" else X)
    for name in ("log", "log1p", "sqrt", "rsqrt", "lgamma", "digamma"):
        t[name] = unary(getattr(lax, name), POSITIVE)
    for name in ("asin", "acos", "atanh", "erf_inv"):
        t[name] = unary(getattr(lax, name), UNIT)
    t["acosh"] = unary(lax.acosh, POSITIVE + 1)
    for name, f in (("not", lax.bitwise_not), ("population_count", lax.population_count), ("clz", lax.clz)):
        t[name] = unary(f, I)
    for name in ("real", "imag", "conj"):
        t[name] = unary(getattr(lax, name), C)
    t["integer_pow"] = unary(lambda x: lax.integer_pow(x, 3))
    for name in ("nextafter", "atan2", "sub", "mul", "div", "rem", "max", "min", "complex", "add", "eq", "ne", "ge", "gt", "le", "lt"):
        t[name] = binary(getattr(lax, name))
    t["pow"] = binary(lax.pow, POSITIVE, V)
    for name, f in (("and", lax.bitwise_and), ("or", lax.bitwise_or), ("xor", lax.bitwise_xor)):
        t[name] = binary(f, I, J)
    for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical"):
        t[name] = binary(getattr(lax, name), I, np.abs(J))
    t["mulhi"] = binary(bind("mulhi"), I * 1000003, J * 999983)
    for name in ("eq_to", "le_to", "lt_to"):
        t[name] = binary(bind(name), V, V[::-1].copy())
    t["clamp"] = (lax.clamp, (np.float32(-1), V, np.float32(2)))
    t["select_n"] = (lax.select_n, (P, V, -V))
    t["igamma"] = binary(lax.igamma, POSITIVE, POSITIVE[::-1].copy())
    t["igammac"] = binary(lax.igammac, POSITIVE, POSITIVE[::-1].copy())
    t["igamma_grad_a"] = binary(lax.igamma_grad_a, POSITIVE, POSITIVE[::-1].copy())
    t["random_gamma"] = (lambda w, a: jax.random.gamma(jax.random.wrap_key_data(w), a), (KEY, POSITIVE[:3]))
    t["polygamma"] = binary(lax.polygamma, np.array([0, 1, 2, 3, 1, 2], np.float32), POSITIVE)
    t["zeta"] = binary(lax.zeta, POSITIVE + 1.5, POSITIVE)
    t["regularized_incomplete_beta"] = (lax.betainc, (POSITIVE, POSITIVE[::-1].copy(), (UNIT + 1) / 2))
    # ---- shape
    t["convert_element_type"] = unary(lambda x: lax.convert_element_type(x, np.int32), V)
    t["bitcast_convert_type"] = unary(lambda x: lax.bitcast_convert_type(x, np.int32), V)
    t["broadcast_in_dim"] = unary(lambda x: lax.broadcast_in_dim(x, (2, 6, 3), (1,)), V)
    t["concatenate"] = binary(lambda x, y: lax.concatenate([x, y], 1))
    t["stack"] = binary(lambda x, y: bind("stack", axis=0)(x, y))
    t["unstack"] = unary(lambda x: bind("unstack", axis=0)(x))
    t["pad"] = unary(lambda x: lax.pad(x, np.float32(9), ((1, -1, 0), (0, 2, 1))))
    t["squeeze"] = unary(lambda x: lax.squeeze(x, (0,)), X[None])
    t["reshape"] = unary(lambda x: lax.reshape(x, (3, 2)))
    t["rev"] = unary(lambda x: lax.rev(x, (1,)))
    t["transpose"] = unary(lambda x: lax.transpose(x, (1, 0)))
    t["iota"] = unary(lambda x: x + lax.iota(np.float32, 6), V)
    t["tile"] = unary(lambda x: bind("tile", reps=(2, 1))(x))
    t["split"] = unary(lambda x: lax.split(x, (1, 2), 1))
    t["slice"] = unary(lambda x: lax.slice(x, (0, 1), (2, 3), (1, 1)))
    t["dynamic_slice"] = (lambda x, i: lax.dynamic_slice(x, (i, 0), (1, 2)), (X, np.int32(1)))
    t["dynamic_update_slice"] = (lambda x, y, i: lax.dynamic_update_slice(x, y, (0, i)), (X, Y[:, :2], np.int32(5)))
    t["gather"] = (lambda x, i: x[i], (X, np.array([1, 0, 1], np.int32)))
    for name, f in (("scatter", "set"), ("scatter-add", "add"), ("scatter-mul", "multiply"), ("scatter-min", "min"), ("scatter-max", "max"), ("scatter-sub", "subtract")):
        t[name] = (lambda x, i, y, f=f: getattr(x.at[i], f)(y), (V, np.array([1, 4], np.int32), np.array([10.0, -2.0], np.float32)))
    t["copy"] = unary(lambda x: bind("copy")(x))
    t["zeros_like"] = "made of a constant at once: full_like"
    t["empty"] = "an array of any contents: a constant of zeros on a CPU"
    t["empty2"] = t["empty"]
    # ---- reductions, windows, sorting
    for name in ("reduce_sum", "reduce_prod", "reduce_max", "reduce_min"):
        t[name] = unary(lambda x, name=name: getattr(lax, name)(x, (1,)))
    for name, x in (("reduce_and", P), ("reduce_or", P), ("reduce_xor", I)):
        t[name] = unary(lambda x, name=name: getattr(lax, name)(x, (0,)), x)
    t["argmax"] = unary(lambda x: lax.argmax(x, 1, np.int32))
    t["argmin"] = unary(lambda x: lax.argmin(x, 0, np.int32))
    t["reduce"] = unary(lambda x: lax.reduce(x, np.float32(0), lambda a, b: lax.add(a, lax.mul(b, b)), (0,)))
    t["reduce_precision"] = unary(lambda x: lax.reduce_precision(x, 5, 3), V / 3)
    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        t[name] = unary(lambda x, name=name: getattr(lax, name)(x, 0), V)
    t["reduce_window"] = unary(lambda x: lax.reduce_window(x, np.float32(1), lambda a, b: a * b + 1, (2, 2), (1, 1), "VALID"), GRID)
    t["reduce_window_sum"] = unary(lambda x: lax.reduce_window(x, np.float32(0), lax.add, (2, 2), (2, 1), "SAME"), GRID)
    t["reduce_window_max"] = unary(lambda x: lax.reduce_window(x, np.float32(-np.inf), lax.max, (2, 2), (1, 1), "VALID"), GRID)
    t["reduce_window_min"] = unary(lambda x: lax.reduce_window(x, np.float32(np.inf), lax.min, (3, 2), (1, 2), "SAME"), GRID)
    pool = lambda x: lax.reduce_window(x, np.float32(-np.inf), lax.max, (2, 2), (2, 2), "VALID")
    t["select_and_scatter_add"] = unary(lambda x: jax.grad(lambda y: jnp.sum(pool(y)))(x), GRID)
    t["select_and_gather_add"] = (lambda x, y: jax.jvp(pool, (x,), (y,))[1], (GRID, GRID[::-1].copy()))
    t["select_and_scatter"] = (
        lambda x, y: windowed_reductions._select_and_scatter(x, lax.ge, (2, 2), (2, 2), ((0, 0), (0, 0)), y, np.float32(1), lax.mul),
        (GRID, GRID[:2, :2].copy()),
    )
    t["sort"] = (lambda k, v: lax.sort((k, v), num_keys=1), (V, I))
    t["top_k"] = unary(lambda x: lax.top_k(x, 3), V)
    t["approx_top_k"] = "a custom call of XLA's; top_k is its exact answer"
    # ---- products
    t["dot_general"] = (lambda x, y: lax.dot_general(x, y, (((1,), (1,)), ((), ()))), (X, Y))
    t["ragged_dot_general"] = (lambda x, y, g: lax.ragged_dot(x, y, g), (GRID, np.stack([GRID, GRID + 1]), np.array([3, 1], np.int32)))
    t["conv_general_dilated"] = (lambda x, w: lax.conv_general_dilated(x, w, (1, 2), ((1, 0), (0, 1)), rhs_dilation=(2, 1)), (IMAGE, FILTER))
    t["scaled_dot"] = "a dot of blocks in 8 and 4 bits: lowered to a composite of TPU and GPU kernels"
    t["fft"] = unary(lambda x: lax.fft(x, "RFFT", (6,)), V)
    # ---- linear algebra
    t["cholesky"] = unary(lambda x: lax.linalg.cholesky(x, symmetrize_input=False), SQUARE)
    t["triangular_solve"] = (lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), (LOWER, np.ascontiguousarray(X.T)))
    t["lu_pivots_to_permutation"] = unary(lambda p: lax.linalg.lu_pivots_to_permutation(p, 4), np.array([2, 1, 3], np.int32))
    t["symmetric_product"] = (lambda a, c: linalg.symmetric_product(a, c, symmetrize_output=True), (X, np.eye(2, dtype=np.float32)))
    t["cholesky_update"] = (lambda r, w: linalg.cholesky_update(r, w), (np.ascontiguousarray(LOWER.T), np.array([1.0, -0.5, 0.25], np.float32)))
    for name in ("eig", "eigh", "geqp3", "geqrf", "hessenberg", "householder_product", "lu", "ormqr", "qr", "schur", "svd", "tridiagonal", "tridiagonal_solve"):
        t[name] = LAPACK
    # ---- control
    t["cond"] = (lambda p, x: lax.cond(p, jnp.sin, lambda y: y * 2, x), (np.bool_(True), X))
    t["while"] = (lambda n, x: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 0.5), (np.int32(0), x)), (np.int32(3), X))
    t["scan"] = unary(lambda x: lax.scan(lambda c, y: (c + y, c * y), np.float32(1), x), V)
    t["custom_linear_solve"] = (linear_solve, (LOWER, V[:3]))
    t["platform_index"] = unary(lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos))
    t["composite"] = unary(lambda x: scaled(x, scale=3.0))
    t["jit"] = unary(lambda x: jax.jit(lambda y: y + 1)(x))
    t["call"] = "a call without a name; tracing of today says jit"
    t["closed_call"] = t["eval_jaxpr"] = t["call"]
    t["custom_jvp_call"] = unary(lambda x: custom_square(x))
    t["custom_jvp_call_jaxpr"] = "custom_jvp_call under its older name"
    t["custom_vjp_call"] = unary(lambda x: custom_cube(x))
    t["custom_vmap_call"] = unary(lambda x: custom_batched(x))
    t["custom_lin"] = "stands in a linearised program while it is transposed; never lowered"
    t["linear_call"] = unary(lambda x: jax.custom_derivatives.linear_call(lambda _, y: 2 * y, lambda _, ct: 2 * ct, (), x))
    t["remat2"] = unary(lambda x: jax.grad(lambda y: jnp.sum(jax.checkpoint(lambda z: jnp.sin(jnp.sin(z)))(y)))(x))
    t["remat_opt"] = "keeps what the optimised half of a custom_vjp saves; gone before lowering"
    t["name"] = unary(lambda x: ad_checkpoint.checkpoint_name(x * 2, "doubled"))
    t["add_any"] = unary(lambda x: jax.grad(lambda y: jnp.sum(y * y + jnp.sin(y)))(x))
    t["stop_gradient"] = "no primitive of its own programs: the value itself"
    t["optimization_barrier"] = binary(lambda x, y: lax.optimization_barrier((x, y)))
    t["custom_partitioning"] = ONE_DEVICE
    t["unreachable"] = "marks a rule that must not be reached"
    t["dce_sink"] = unary(lambda x: (lax_internal.dce_sink(x * 3), x + 1)[1])
    # ---- tokens and random numbers
    t["create_token"] = "a token to start a chain of effects: no value"
    t["after_all"] = "joins tokens: no value"
    t["rng_uniform"] = "numbers of the device's own choosing"
    t["rng_bit_generator"] = unary(lambda k: lax.rng_bit_generator(k, (5,)), np.array([1, 2, 3, 4], np.uint32))
    t["threefry2x32"] = unary(lambda k: bind("threefry2x32")(k[0], k[1], jnp.arange(3, dtype=np.uint32), jnp.arange(3, 6, dtype=np.uint32)), KEY)
    t["threefry4x32"] = unary(lambda k: bind("threefry4x32")(*(k[i] for i in range(4)), *(jnp.arange(3, dtype=np.uint32) + i for i in range(4))), U)
    t["philox2x32"] = unary(lambda k: bind("philox2x32")(k[0], *(jnp.arange(3, dtype=np.uint32) + i for i in range(2))), U)
    t["philox4x32"] = unary(lambda k: bind("philox4x32")(k[0], k[1], *(jnp.arange(3, dtype=np.uint32) + i for i in range(4))), U)
    t["iota_2x32_shape"] = unary(lambda k: [k + part for part in bind("iota_2x32_shape", shape=(2,))()], KEY)
    t["random_seed"] = unary(lambda s: jax.random.key_data(jax.random.key(s)), np.int32(7))
    t["random_split"] = unary(key_bits(lambda k: jax.random.key_data(jax.random.split(k, 3))), KEY)
    t["random_fold_in"] = unary(key_bits(lambda k: jax.random.key_data(jax.random.fold_in(k, 5))), KEY)
    t["random_bits"] = unary(key_bits(lambda k: jax.random.bits(k, (3,))), KEY)
    t["random_wrap"] = unary(key_bits(jax.random.key_data), KEY)
    t["random_unwrap"] = t["random_wrap"]
    t["random_clone"] = unary(key_bits(lambda k: jax.random.key_data(jax.random.clone(k))), KEY)
    # ---- references
    t["new_ref"] = unary(with_ref(lambda r: None))
    t["get"] = unary(with_ref(lambda r: r[0] * 2))
    t["swap"] = binary(with_ref(lambda r, y: jax.ref.swap(r, (0,), y[1])))
    t["addupdate"] = binary(with_ref(lambda r, y: jax.ref.addupdate(r, (1,), y[0])))
    t["freeze"] = unary(lambda x: jax.freeze(jax.new_ref(x)))
    t["empty_ref"] = "a reference to an array of any contents"
    t["free_ref"] = "says that a reference is used no more: no value"
    t["accum_grad_in_ref"] = "adds a cotangent into a reference while a program is transposed; never lowered"
    t["broadcast_to"] = "of values inside kernels of Pallas"
    t["run_state"] = "references of a function made of its own state; gone before lowering"
    for name in ("pin", "unpin", "create_linear"):
        t[name] = "memory that stays where it is, for kernels of devices"
    # ---- several devices
    for name, f in (("psum", lambda x: lax.psum(x, "i")), ("pmax", lambda x: lax.pmax(x, "i")), ("pmin", lambda x: lax.pmin(x, "i")), ("all_gather", lambda x: lax.all_gather(x, "i")),
                    ("all_to_all", lambda x: lax.all_to_all(x, "i", 0, 0)), ("ppermute", lambda x: lax.ppermute(x, "i", [(0, 0)])), ("reduce_scatter", lambda x: lax.psum_scatter(x, "i", tiled=True)),
                    ("axis_index", lambda x: x + lax.axis_index("i").astype(np.float32))):
        t[name] = unary(one_device(f, check_vma=False), X[:1] if name == "all_to_all" else X)
    t["psum_invariant"] = unary(one_device(lambda x: lax.psum(lax.pcast(x, "i", to="varying"), "i")))
    t["all_gather_invariant"] = unary(one_device(lambda x: parallel.all_gather_invariant(lax.pcast(x, "i", to="varying"), "i")))
    t["pvary"] = unary(one_device(lambda x: lax.psum(lax.pcast(x, "i", to="varying"), "i")))
    t["shard_map"] = unary(one_device(lambda x: x + 1))
    t["pbroadcast"] = t["ragged_all_to_all"] = "a collective that JAX does not run on a CPU, so that there is no expected value"
    for name in ("psum_start", "psum_done", "psum_invariant_start", "all_gather_start", "all_gather_done", "all_gather_reduced_start", "all_to_all_start", "all_to_all_done", "ppermute_start", "ppermute_done",
                 "reduce_scatter_start", "reduce_scatter_done", "pbroadcast_start", "pbroadcast_done", "unreduced_psum_start", "unreduced_reduce_scatter_start"):
        t[name] = ASYNC
    for name in ("preduced", "reduced_vary_cast_p", "vary_unreduced_cast_p", "all_gather_reduced", "unreduced_psum", "unreduced_reduce_scatter"):
        t[name] = TYPES
    for name in ("psend", "precv"):
        t[name] = "sends between devices of several processes"
    single = NamedSharding(Mesh(np.array(jax.devices()[:1]), ("i",)), PartitionSpec())
    t["sharding_constraint"] = unary(lambda x: lax.with_sharding_constraint(x * 2, single))
    t["device_put"] = unary(lambda x: jax.device_put(x) + 1)
    t["reshard"] = t["layout_constraint"] = t["inspect_sharding"] = ONE_DEVICE
    t["shard_alike"] = ONE_DEVICE
    # ---- the host, export, tracing
    for name in ("pure_callback", "io_callback", "debug_callback", "debug_print", "ffi_call", "buffer_callback"):
        t[name] = CALLBACK
    t["check"] = "an assertion that checkify turns into values before lowering"
    t["call_exported"] = "a program that was exported before, inlined as a call"
    for name in ("dim_as_value", "dimension_size", "shape_assertion"):
        t[name] = "a dimension's size, in programs of unknown shapes (conformance/stablehlo/dynamic)"
    for name in ("box_get", "box_set", "new_box", "new_log", "log_extend", "log_read", "call_hi_primitive", "call_hi_primitive_linearized", "to_edtype", "from_edtype", "stage", "tie"):
        t[name] = HIJAX
    for name in ("dot_product_attention_fwd", "dot_product_attention_bwd", "dot_product_attention_fp8_fwd", "dot_product_attention_fp8_bwd", "scaled_matmul", "cudnn_fusion", "tpu_custom_call"):
        t[name] = DEVICE_ONLY
    t["compute_on"] = ONE_DEVICE
    t["xla_metadata_value"] = "a note for XLA on the value of another operation"
    return t


# ---- writing ------------------------------------------------------------------------------------------------------

DTYPES = {"bool": "BOOL", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "C64"}


def safetensors(tensors, metadata):
    header, blob = {"__metadata__": metadata}, b""
    for name, value in tensors.items():
        value = np.asarray(value)
        data = np.ascontiguousarray(value).tobytes()
        header[name] = {"dtype": DTYPES[str(value.dtype)], "shape": list(value.shape), "data_offsets": [len(blob), len(blob) + len(data)]}
        blob += data
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + blob


def holds(jaxpr, name):
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == name:
            return True
        for value in eqn.params.values():
            for sub in value if isinstance(value, (list, tuple)) else [value]:
                inner = getattr(sub, "jaxpr", sub)
                if hasattr(inner, "eqns") and holds(inner, name):
                    return True
    return False


def text_of(lowered):
    return lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=False)


def write(name, f, args):
    jaxpr = jax.make_jaxpr(f)(*args)
    if not holds(jaxpr.jaxpr, name):
        raise ValueError(f"the program does not hold it: {jaxpr}")
    jitted = jax.jit(f, keep_unused=True)
    text = text_of(jitted.lower(*args))
    if "custom_call" in text:  # of LAPACK, where a TPU is given the operation itself
        text = text_of(jitted.trace(*args).lower(lowering_platforms=("tpu",)))
    if "custom_call" in text:
        raise ValueError("lowered to a custom call")
    tensors = {f"in.{i}": a for i, a in enumerate(args)}
    tensors.update({f"out.{i}": o for i, o in enumerate(jax.tree.leaves(jitted(*args)))})
    stem = name.replace("-", "_")
    (FOLDER / f"{stem}.mlir").write_text(text.rstrip("\n") + "\n")
    (FOLDER / f"{stem}.safetensors").write_bytes(safetensors(tensors, {"rtol": "1e-05", "atol": "1e-06", "jax": jax.__version__, "primitive": name}))


def main():
    global PRIMITIVES
    PRIMITIVES = all_primitives()
    table = programs()
    missing = sorted(set(PRIMITIVES) - set(table))
    unknown = sorted(set(table) - set(PRIMITIVES))
    if "--list" in sys.argv:
        print(len(PRIMITIVES), "primitives; without an entry:", *missing, "; entries of none:", *unknown)
        return 0
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    reasons, failed = [], [f"{n}: no entry" for n in missing] + [f"{n}: no such primitive" for n in unknown]
    for name in sorted(table):
        if name not in PRIMITIVES:
            continue
        entry = table[name]
        if isinstance(entry, str):
            reasons.append(f"{name}\t{entry}")
            continue
        try:
            write(name, *entry)
        except Exception as e:
            failed.append(f"{name}: {type(e).__name__}: {str(e)[:300]}")
    (FOLDER / "none.tsv").write_text("\n".join(reasons) + "\n")
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
