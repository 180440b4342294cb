"""jax.nn: attention, and products of narrow floats with scales.

Upstream has the latter on GPUs alone: here its quantisation runs, and the product is the formula that it states.
"""
import jax
import jax._src.cudnn.scaled_matmul_stablehlo as upstream

from .calls import *

CASES = {}
more = dict(scaled=True, bound=32)
Q, K, V = normal(2, 3, 4, 5), normal(2, 6, 4, 5), normal(2, 6, 4, 5)
K2, V2, K1, V1 = normal(2, 6, 2, 5), normal(2, 6, 2, 5), normal(2, 6, 1, 5), normal(2, 6, 1, 5)
S, SK = normal(1, 7, 2, 4), normal(1, 7, 2, 4)
BIAS, MASK = normal(2, 4, 3, 6), bools(2, 4, 3, 6)
LENGTHS, KEYS = np.array([2, 3], i32), np.array([4, 1], i32)
half = lambda d: [x.astype(d) for x in (Q, K2, V2)]
E3 = np.zeros((0, 3, 2, 4), f32)


def attention(q, k, v, **o):
    return jax.nn.dot_product_attention(q, k, v, **{n: jnp.asarray(x) if isinstance(x, np.ndarray) else x for n, x in o.items()})


CASES["nn.dot_product_attention"] = calls(
    C(Q, K, V), C(S, S, SK), C(Q, K2, V2), C(Q, K1, V1), C(Q[0], K[0], V[0]), C(Q[0], K2[0], V2[0], mask=MASK[0]), C(Q, K, V, scale=0.7), C(Q, K, V, bias=BIAS), C(Q, K, V, mask=MASK), C(Q, K2, V2, bias=BIAS, mask=MASK),
    C(Q, K2, V2, bias=BIAS[:, :1]), C(Q, K, V, bias=BIAS[0, 0]), C(Q, K, V, bias=BIAS[:1].astype(f16)), C(Q, K, V, is_causal=True), C(S, S, SK, is_causal=True, local_window_size=2), C(S, S, SK, local_window_size=(1, 2)),
    C(Q, K2, V2, query_seq_lengths=LENGTHS), C(Q, K2, V2, key_value_seq_lengths=KEYS), C(Q, K2, V2, query_seq_lengths=LENGTHS, key_value_seq_lengths=KEYS, is_causal=True), C(Q, K, V, return_residual=True), C(Q[0], K2[0], V2[0], is_causal=True, return_residual=True),
    C(*half(bf16)), C(*half(f16), is_causal=True, bias=BIAS), C(*half(bf16), mask=MASK, return_residual=True), C(E3, E3, E3), C(Q, K, V, mask=np.zeros((1, 1, 3, 6), bool)), C(Q * f32(np.nan), K, V),
    C(Q, K, V2), C(Q, K2[:1], V2[:1]), C(Q[:, :, :3], K2, V2), C(Q, K.astype(f16), V.astype(f16)), C(Q, K, V, mask=BIAS), C(Q, K, V, query_seq_lengths=LENGTHS[:1]), C(Q, K, V, key_value_seq_lengths=KEYS.astype(f32)), C(V3, V3, V3),
    C(Q.astype(i32), K.astype(i32), V.astype(i32)), C(Q, K, V, bias=BIAS[:, :2]), call=attention, **more)


def by_formula(a, b, a_scales, b_scales, preferred_element_type=np.float32):
    """What jax.nn.scaled_matmul says that it is, with its checks."""
    if not all(x.ndim == 3 for x in (a, b, a_scales, b_scales)) or a_scales.shape[2] != b_scales.shape[2] or a_scales.shape[1] != a.shape[1] or b_scales.shape[1] != b.shape[1]:
        return jax.nn.scaled_matmul(a, b, a_scales, b_scales)
    wide = lambda x, s: x.astype(np.float32) * jnp.repeat(s.astype(np.float32), x.shape[-1] // s.shape[-1], axis=-1)
    return jnp.einsum("BMK,BNK->BMN", wide(a, a_scales), wide(b, b_scales)).astype(preferred_element_type)


A, B = normal(2, 3, 8), normal(2, 5, 8)
AS, BS = np.abs(normal(2, 3, 2)), np.abs(normal(2, 5, 2))
CASES["nn.scaled_matmul"] = calls(C(A, B, AS, BS), C(A, B, np.abs(normal(2, 3, 1)), np.abs(normal(2, 5, 1))), C(A.astype(bf16), B.astype(bf16), AS.astype(bf16), BS.astype(bf16)), C(A, B, AS, BS, preferred_element_type=bf16),
                                  C(ints(1, 1, 3), ints(1, 1, 3), np.full((1, 1, 1), 0.5, f32), np.full((1, 1, 1), 0.5, f32)), C(A[:0], B[:0], AS[:0], BS[:0]), C(A, B, AS[:, :2], BS), C(A, B, AS, np.abs(normal(2, 5, 4))), C(A[0], B[0], AS[0], BS[0]), call=by_formula, **more)

L, R = normal(1, 3, 64), normal(1, 2, 64)
EXTREME_BLOCKS = (L * np.exp2(np.arange(-60, 68, 2, dtype=f32))).astype(f32)


def general(lhs, rhs, contracting=(2, 2), batch=(0, 0), mode=None, scales=(), **o):
    upstream.scaled_matmul_wrapper = by_formula
    pair = lambda x: ((x[0],), (x[1],)) if x else ((), ())
    configs = None
    if mode:
        configs = [jax.nn.get_scaled_dot_general_config(mode, jnp.asarray([s], np.float32)) for s in scales] if scales else [jax.nn.get_scaled_dot_general_config(mode)] * 3
    dims = (pair(contracting), pair(batch))
    return jax.nn.scaled_dot_general(lhs, rhs, dims, configs=configs, **o) if not mode else upstream.scaled_dot_general_wrapper(lhs, rhs, dims, configs=configs, preferred_element_type=np.dtype(o.get("preferred_element_type", np.float32)))


CASES["nn.scaled_dot_general"] = calls(C(L, R), C(normal(4, 3), normal(4, 5), contracting=(0, 0), batch=()), C(L.astype(f16), R.astype(f16)), C(L, R, mode="mxfp8"), C(L, R, mode="nvfp4"), C(L, R, mode="nvfp4", scales=(0.5, 2.0, 1.0)), C(EXTREME_BLOCKS, R, mode="mxfp8"),
                                       C(normal(64, 2, 1), normal(2, 64, 2), contracting=(0, 1), batch=(1, 2), mode="mxfp8"), C(normal(3, 64), normal(64, 2), contracting=(1, 0), batch=(), mode="mxfp8", preferred_element_type=bf16), C(L.astype(bf16), R.astype(bf16), mode="mxfp8"), C(L.astype(f16), R.astype(f16), mode="mxfp8"),
                                       C(L, R, mode="nvfp4", preferred_element_type=f16), C(normal(1, 1, 40), normal(1, 1, 40), mode="mxfp8"), C(normal(2, 3, 8), normal(2, 5, 8), mode="nvfp4"), C(L, R, mode="x"), C(L, normal(1, 2, 32), mode="mxfp8"), C(L, R, mode="mxfp8", preferred_element_type=i32), call=general, **more)
