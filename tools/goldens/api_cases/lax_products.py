"""jax.lax: products, the Fourier transform, random bits, and a few elementwise functions with options."""
import jax

from .calls import *

CASES = {}
A, B = normal(2, 3), normal(3, 4)


def dims(lhs_contracting=(), rhs_contracting=(), lhs_batch=(), rhs_batch=()):
    return ((tuple(lhs_contracting), tuple(rhs_contracting)), (tuple(lhs_batch), tuple(rhs_batch)))


def split_dims(options):
    keys = ("lhs_contracting", "rhs_contracting", "lhs_batch", "rhs_batch")
    return dims(**{k: options.pop(k) for k in keys if k in options})


def general(x, y, **o):
    return jax.lax.dot_general(x, y, split_dims(o), **o)


ONE = dict(lhs_contracting=(1,), rhs_contracting=(0,))
CASES["lax.dot_general"] = calls(C(A, B, **ONE), C(normal(2, 3, 4), normal(2, 4, 5), lhs_contracting=(2,), rhs_contracting=(1,), lhs_batch=(0,), rhs_batch=(0,)), C(normal(2, 3, 4), normal(4, 3), lhs_contracting=(1, 2), rhs_contracting=(1, 0)), C(A, B), C(ints(2, 3), ints(3, 4), **ONE), C(ints(2, 3, dtype=i8), ints(3, 4, dtype=i8), preferred_element_type=i32, **ONE),
                                 C(normal(2, 3, dtype=bf16), normal(3, 4, dtype=bf16), **ONE), C(normal(2, 3, dtype=bf16), normal(3, 4, dtype=bf16), preferred_element_type=f32, **ONE), C(complexes(2, 3), complexes(3, 2), **ONE), C(np.zeros((2, 0), f32), np.zeros((0, 3), f32), **ONE), C(E03, B, **ONE), C(f32(2), f32(3)),
                                 C(A, A, **ONE), C(A, ints(3, 4), **ONE), C(A, B, lhs_contracting=(2,), rhs_contracting=(0,)), C(A, B, lhs_contracting=(1,), rhs_contracting=()), C(np.array([[np.inf, 1, np.nan]], f32), B, **ONE), scaled=True, call=general)


def dotted(x, y, **o):
    numbers = split_dims(o) if "lhs_contracting" in o else None
    return jax.lax.dot(x, y, dimension_numbers=numbers, **o)


CASES["lax.dot"] = calls(C(A, B), C(V3, V3), C(A, V3), C(V3, B), C(I23, ints(3)), C(normal(3, dtype=bf16), normal(3, dtype=bf16)), C(normal(3, dtype=bf16), normal(3, dtype=bf16), preferred_element_type=f32), C(normal(2, 3, 4), normal(2, 4, 5), lhs_contracting=(2,), rhs_contracting=(1,), lhs_batch=(0,), rhs_batch=(0,)), C(np.zeros((2, 0), f32), np.zeros((0, 3), f32)),
                         C(A, A), C(f32(1), f32(2)), C(A, f32(2)), C(normal(2, 3, 4), normal(4, 5)), C(A, I3), scaled=True, call=dotted)
CASES["lax.batch_matmul"] = calls(C(A, B), C(normal(2, 3, 4), normal(2, 4, 5)), C(ints(2, 3, 4), ints(2, 4, 5)), C(normal(2, 3, 4, dtype=bf16), normal(2, 4, 1, dtype=bf16)), C(np.zeros((0, 2, 3), f32), np.zeros((0, 3, 2), f32)), C(V3, V3), C(A, normal(2, 3, 4)), C(normal(2, 3, 4), normal(3, 4, 5)), C(A, A), scaled=True)
GROUPS = np.array([2, 0, 3], i32)
CASES["lax.ragged_dot"] = calls(C(normal(5, 2), normal(3, 2, 4), GROUPS), C(normal(7, 2), normal(3, 2, 4), GROUPS), C(ints(5, 2), ints(3, 2, 4), GROUPS), C(normal(5, 2, dtype=bf16), normal(3, 2, 4, dtype=bf16), GROUPS), C(normal(5, 2, dtype=bf16), normal(3, 2, 4, dtype=bf16), GROUPS, preferred_element_type=f32), C(np.zeros((0, 2), f32), normal(3, 2, 4), np.zeros(3, i32)),
                                C(normal(5, 2), normal(2, 2, 4), GROUPS), C(normal(5, 2), normal(3, 3, 4), GROUPS), C(normal(5, 2), normal(3, 2, 4), normal(3)), scaled=True)


def ragged(x, y, g, lhs_ragged_dimensions, rhs_group_dimensions, **o):
    return jax.lax.ragged_dot_general(x, y, g, jax.lax.RaggedDotDimensionNumbers(split_dims(o), lhs_ragged_dimensions, rhs_group_dimensions), **o)


CASES["lax.ragged_dot_general"] = calls(C(normal(2, 5, 3), normal(3, 2, 3, 4), GROUPS, lhs_contracting=(2,), rhs_contracting=(2,), lhs_batch=(0,), rhs_batch=(1,), lhs_ragged_dimensions=(1,), rhs_group_dimensions=(0,)), C(normal(3, 5), normal(5, 4), GROUPS, lhs_contracting=(1,), rhs_contracting=(0,), lhs_ragged_dimensions=(1,), rhs_group_dimensions=()),
                                        C(ints(3, 5), ints(5, 4), GROUPS, lhs_contracting=(1,), rhs_contracting=(0,), lhs_ragged_dimensions=(1,), rhs_group_dimensions=()), C(normal(3, 5, dtype=bf16), normal(5, 4, dtype=bf16), GROUPS, lhs_contracting=(1,), rhs_contracting=(0,), lhs_ragged_dimensions=(1,), rhs_group_dimensions=()),
                                        C(normal(5, 2), normal(3, 2, 4), GROUPS, lhs_contracting=(1,), rhs_contracting=(1,), lhs_ragged_dimensions=(0, 1), rhs_group_dimensions=(0,)), scaled=True, call=ragged)


def powers(*shape):
    """Powers of two: products with them are exact in bf16, whether or not XLA rounds them."""
    return np.exp2(np.round(normal(*shape))).astype(f32)


def scaled_product(x, y, *scales, **o):
    return jax.lax.scaled_dot(x, y, lhs_scale=scales[0] if scales else None, rhs_scale=scales[1] if len(scales) > 1 else None, **o)


CASES["lax.scaled_dot"] = calls(C(normal(2, 3, 4), normal(2, 4, 5), np.abs(normal(2, 3, 2)), np.abs(normal(2, 1, 5))), C(normal(3, 4, dtype=bf16).astype(f32), normal(4, 5, dtype=bf16).astype(f32), powers(3, 1), preferred_element_type=f32), C(normal(3, 4), normal(4, 5)), C(normal(3, 4, dtype=bf16), normal(4, 5, dtype=bf16), powers(3, 2).astype(bf16), powers(2, 5).astype(bf16), preferred_element_type=f32),
                                C(normal(3, 4), normal(4, 5), np.abs(normal(3, 4))), C(normal(3, 4), normal(4, 5), np.abs(normal(2, 2))), C(V3, V3), C(normal(3, 4), normal(3, 5)), C(normal(3, 4), normal(2, 4, 5)), scaled=True, bound=8, call=scaled_product)

KEY = np.array([1, 2, 3, 4], u32)
CASES["lax.rng_bit_generator"] = calls(*[C(k, shape=s, dtype=d, algorithm=a) for k, s, d, a in ((KEY, (5,), u32, 0), (KEY, (2, 3), u32, 1), (KEY, (2, 3), u32, 2), (KEY, (4,), u8, 1), (KEY, (7,), np.uint16, 2), (KEY, (), u32, 0), (KEY, (0, 2), u32, 1), (KEY[:3], (2,), u32, 0), (KEY, (2,), i32, 0), (KEY, (2,), f32, 0), (KEY.astype(i32), (2,), u32, 0))],
                                       call=lambda key, shape, dtype, algorithm: jax.lax.rng_bit_generator(key, shape, dtype, jax.lax.RandomAlgorithm(algorithm)))
HALVES = np.array([-2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 3.7, np.inf, np.nan, 1e20, 8388609.0], f32)
CASES["lax.round"] = calls(*[C(x, method=m) for x in (HALVES, HALVES.astype(f16), HALVES.astype(bf16), E03, f32(2.5), 1.5) for m in (0, 1)], C(X23), C(I23), C(B23), C(C3), call=lambda x, method=0: jax.lax.round(x, jax.lax.RoundingMethod(method)))
CASES["lax.reduce_precision"] = calls(*[C(np.array([1 / 3, -1e-5, 70000, 1e-40, np.inf, np.nan, 0.1], f32), exponent_bits=e, mantissa_bits=m) for e, m in ((5, 10), (8, 7), (4, 3), (8, 23), (5, 2))], C(H5, exponent_bits=5, mantissa_bits=2), C(G5, exponent_bits=8, mantissa_bits=3), C(f32(1 / 3), exponent_bits=5, mantissa_bits=4), C(E03, exponent_bits=5, mantissa_bits=4), C(I23, exponent_bits=5, mantissa_bits=4), C(X23, exponent_bits=0, mantissa_bits=4), C(X23, exponent_bits=5, mantissa_bits=-1))
BIG = ints(2, 3, low=-2**31, high=2**31 - 1)
CASES["lax.mulhi"] = calls(C(BIG, BIG[::-1].copy()), C(EXTREME, EXTREME[::-1].copy()), C(U23, U23), C(ints(4, low=0, high=2**32, dtype=u32), ints(4, low=0, high=2**32, dtype=u32)), C(BIG, 7), C(BIG, I3), C(X23, X23), C(B23, B23), C(np.zeros(0, i32), np.zeros(0, i32)), C(BIG, U23), C(ints(3, low=-30000, high=30000, dtype=i16), ints(3, low=-30000, high=30000, dtype=i16)))
