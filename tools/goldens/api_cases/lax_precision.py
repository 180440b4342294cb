"""jax.lax: what functions and products are told of their precision. A preset that CPUs do not have, and every DotAlgorithm, is refused."""
from jax import lax

from .calls import *

CASES = {}
X, M, K = uniform(2, 5, low=0.1, high=3.0), normal(3, 4), normal(4, 2)
ACCURATE = "exp exp2 expm1 log log1p tanh logistic sin cos sqrt rsqrt cbrt tan".split()
DIMENSIONS = (((1,), (0,)), ((), ()))


def by_mode(x, function, mode):
    return getattr(lax, function)(x, accuracy=getattr(lax.AccuracyMode, mode))


def by_tolerance(x, function, **tolerance):
    return getattr(lax, function)(x, accuracy=lax.Tolerance(**tolerance))


def by_preset(x, y, preset, dtype=None):
    return lax.dot_general(x, y, DIMENSIONS, precision=getattr(lax.DotAlgorithmPreset, preset), preferred_element_type=dtype)


def by_algorithm(x, y, lhs, rhs, sum, **more):
    return lax.dot_general(x, y, DIMENSIONS, precision=lax.DotAlgorithm(lhs, rhs, sum, **more))


CASES["lax.AccuracyMode"] = calls(
    [C(X, function=f, mode=m) for f in ACCURATE for m in ("HIGHEST", "DEFAULT")],
    C(X.astype(f16), function="exp", mode="HIGHEST"), C(X.astype(bf16), function="log", mode="DEFAULT"), C(E03, function="sin", mode="HIGHEST"), C(f32(0.5), function="tan", mode="HIGHEST"),
    C(C3, function="exp", mode="HIGHEST"), C(SPECIAL, function="tanh", mode="HIGHEST"), C(I3, function="exp", mode="DEFAULT"), C(0.5, function="logistic", mode="HIGHEST"), bound=16, call=by_mode)
CASES["lax.Tolerance"] = calls(
    [C(X, function=f, ulps=1) for f in ACCURATE], C(X, function="exp", atol=1e-30), C(X.astype(bf16), function="log", rtol=1e-3, ulps=2), C(X.astype(f16), function="cos", atol=0.5, rtol=0.25),
    C(E03, function="sqrt", ulps=1), C(X, function="exp"), C(X, function="exp", atol=-1.0), C(X, function="exp", rtol=-1.0), C(X, function="exp", ulps=-1), C(0.5, function="exp", ulps=1), bound=16, call=by_tolerance)
CASES["lax.DotAlgorithmPreset"] = calls(
    [C(M.astype(d), K.astype(d), preset=p.name) for p in lax.DotAlgorithmPreset for d in (f16, bf16, f32)],
    [C(M.astype(d), K.astype(d), preset=p, dtype=r) for p in ("F16_F16_F16", "BF16_BF16_F32", "BF16_BF16_F32_X3", "F32_F32_F32", "F64_F64_F64") for d in (bf16, f32) for r in (f16, bf16, f32)],
    C(ints(2, 3), ints(3, 2), preset="F32_F32_F32"), C(ints(2, 3), ints(3, 2), preset="BF16_BF16_F32"), C(M.astype(f16), K, preset="BF16_BF16_F32"), C(M.astype(bf16), K, preset="BF16_BF16_F32"),
    C(np.zeros((0, 4), f32), K, preset="F32_F32_F32"), C(np.zeros((3, 0), f32), np.zeros((0, 2), f32), preset="F16_F16_F16"), bound=8, scaled=True, call=by_preset)
CASES["lax.DotAlgorithm"] = calls(
    C(M, K, lhs=f32, rhs=f32, sum=f32), C(M.astype(f16), K.astype(f16), lhs=f16, rhs=f16, sum=f32), C(M, K, lhs=f16, rhs=f16, sum=f16, allow_imprecise_accumulation=True),
    C(M, K, lhs=f32, rhs=f32, sum=f32, num_primitive_operations=3, lhs_component_count=2, rhs_component_count=2), call=by_algorithm)
