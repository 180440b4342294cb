"""MultiHeadAttention on both numerical paths, its cache, and the functions around it."""
import numpy as np
from flax import nnx

from .describe import Key, Layer, Numbers, Seeds, packed
from .record import Call, answers, case, made, state_json, variants

FEATURES = 6


def mha(**args):
    return Layer("MultiHeadAttention", **{"num_heads": 2, "in_features": FEATURES, "decode": False} | args)


def x(*lead, seed=1, **kwargs):
    return Call(Numbers(seed, (*lead, FEATURES)), **kwargs)


def mask(*shape):
    """A mask with a last row that allows nothing."""
    out = (np.arange(int(np.prod(shape))) % 3 != 1).reshape(shape)
    out[..., -1, :] = False
    return out


def layers():
    yield from variants("self", mha(), x(2, 4))
    yield from list(variants("path_b", mha(dropout_rate=0.5, deterministic=True), x(2, 4)))
    yield case("cross", mha(), Call(*[Numbers(s, (2, t, FEATURES)) for s, t in ((1, 3), (2, 4))]))
    yield case("three_inputs", mha(num_heads=3, qkv_features=12, out_features=5, in_kv_features=4),
               Call(Numbers(1, (2, 3, FEATURES)), Numbers(2, (2, 2, 4)), Numbers(3, (2, 2, 4))))
    yield case("no_bias", mha(use_bias=False), x(2, 3), grads=False)
    yield case("no_batch", mha(), x(3), grads=False)
    yield case("two_batches", mha(), x(2, 2, 3), grads=False)
    yield case("two_batches_mask", mha(), x(2, 2, 3, mask=mask(2, 2, 1, 3, 3)), grads=False)
    for path, args in (("", {}), ("_b", {"dropout_rate": 0.25, "deterministic": True})):
        yield case("mask" + path, mha(**args), x(2, 4, mask=mask(2, 1, 4, 4)))
        yield case("mask_heads" + path, mha(**args), x(2, 3, mask=mask(2, 2, 3, 3).astype(np.float32)),
                   grads=False)
        yield case("causal" + path, mha(**args), x(2, 4, is_causal=True))
        yield case("causal_mask" + path, mha(**args), x(2, 4, is_causal=True, mask=mask(2, 2, 4, 4)), grads=False)
        longer = Call(Numbers(1, (1, 2, FEATURES)), Numbers(2, (1, 4, FEATURES)), is_causal=True)
        yield case("causal_longer_keys" + path, mha(**args), longer, grads=False)
        yield case("grouped" + path, mha(num_heads=4, num_kv_heads=2, qkv_features=8, **args), x(2, 3))
        yield case("one_kv_head" + path, mha(num_heads=3, num_kv_heads=1, **args),
                   x(2, 3, is_causal=True), grads=False)
        yield case("normalized" + path, mha(normalize_qk=True, **args), x(2, 3))
        narrow = mha(normalize_qk=True, **args)
        yield case("normalized" + path + "_bf16", narrow.with_dtype("bfloat16"),
                   x(2, 3, mask=mask(2, 1, 3, 3)), grads=False, reference=narrow)
    yield case("param_bf16", mha(param_dtype="bfloat16"), x(2, 3).to("bfloat16"), grads=False)


def dropouts():
    dropped = mha(dropout_rate=0.4)
    yield case("dropout", mha(dropout_rate=0.4, deterministic=False), x(2, 4), x(2, 4))
    yield case("dropout_in_call", dropped, x(2, 4, deterministic=False), x(2, 4, deterministic=True),
               grads=False, rngs={"params": 1, "dropout": 2})
    yield case("dropout_each", mha(dropout_rate=0.4, broadcast_dropout=False, deterministic=False), x(2, 4))
    yield case("dropout_grouped", mha(num_heads=4, num_kv_heads=2, qkv_features=8, dropout_rate=0.4,
               deterministic=False), x(2, 3), grads=False)
    yield case("dropout_streams_in_call", mha(dropout_rate=0.4, keep_rngs=False), x(2, 3, deterministic=False,
               rngs=Seeds({"dropout": 7})), x(2, 3, deterministic=False, rngs=Seeds(7)), grads=False)
    yield case("dropout_bf16", mha(dropout_rate=0.4, deterministic=False).with_dtype("bfloat16"), x(2, 3),
               grads=False, reference=mha(dropout_rate=0.4, deterministic=False))
    yield case("sow_weights_not_captured", mha(), x(2, 3, sow_weights=True), grads=False)


def sown(name, layer, call):
    model, first, _, said = made(layer, 0, {}, True)
    kwargs = {k: v for k, v in call.kwargs.items()}
    out, state = nnx.capture(model, nnx.Intermediate)(call.inputs[0].array(), **kwargs)
    return {"name": name, **layer.json(), "rngs": 0, "init": first,
            "set": {k: v.json() for k, v in said.items()},
            "capture": ["Intermediate"],
            "calls": [call.json() | {"outputs": [packed(out)], "captured": state_json(state)}]}


def caches():
    tokens = [x(2, 1, seed=s) for s in range(1, 9)]
    start = Call((2, 8, FEATURES), method="init_cache")
    yield case("decode", mha(decode=True), start, *tokens, grads=False)
    short = Call((2, 3, FEATURES), method="init_cache")
    yield case("decode_past_end", mha(decode=True), short, *tokens[:5], grads=False)
    grouped = mha(num_heads=4, num_kv_heads=2, qkv_features=8, decode=True, normalize_qk=True)
    yield case("decode_grouped", grouped, Call((2, 4, FEATURES), method="init_cache"), *tokens[:3], grads=False)
    allowed = np.asarray([True, False, True, True]).reshape(1, 1, 1, 4)
    masked = [x(1, 1, seed=s, mask=allowed, decode=True) for s in (1, 2, 3)]
    yield case("decode_mask", mha(), Call((1, 4, FEATURES), method="init_cache"), *masked, grads=False)
    yield case("decode_no_batch", mha(decode=True), Call((3, FEATURES), method="init_cache"), x(1), x(1, seed=2),
               grads=False)
    narrow = mha(decode=True, dtype="bfloat16")
    half = Call((2, 4, FEATURES), "bfloat16", method="init_cache")
    yield case("decode_bf16", narrow, half, *tokens[:4], grads=False)


def functions():
    q, k, v = (Numbers(s, (2, 3, 4, 2)) for s in (1, 2, 3))
    k2, v2 = (Numbers(s, (2, 5, 2, 2)) for s in (4, 5))
    bias = Numbers(6, (2, 4, 3, 3))
    f = "dot_product_attention"
    off = {"dropout_rate": 0.5, "deterministic": True}
    for path, more in (("", {}), ("_b", off)):
        yield answers(f + path, f, Call(q, k, v, **more), grads=True)
        yield answers(f + "_bias" + path, f, Call(q, k, v, bias=bias, mask=mask(2, 1, 3, 3), **more), grads=True)
        yield answers(f + "_grouped" + path, f, Call(q, k2, v2, is_causal=True, **more), grads=True)
        narrow = Call(q, k, v, **more).to("bfloat16")
        yield answers(f + "_bf16" + path, f, narrow)
        yield answers(f + "_dtype_bf16" + path, f, Call(q, k, v, dtype="bfloat16", **more))
    six = [Numbers(s, (2, 1, 3, 2, 2)) for s in (1, 2, 3)]
    yield answers(f + "_two_batches", f, Call(*six), Call(*six, **off))
    dropped = {"dropout_rate": 0.5, "dropout_rng": Key(3)}
    yield answers(f + "_dropout", f, Call(q, k, v, **dropped), Call(q, k, v, broadcast_dropout=False, **dropped),
                  grads=True)
    left = np.asarray([[1, 1, 0], [1, 0, 0]], np.float32)
    right = np.asarray([[1, 1, 1, 0], [0, 1, 0, 1]], np.float32)
    f = "make_attention_mask"
    yield answers(f, f, Call(left, right), Call(left, right, extra_batch_dims=2), Call(left[0], right[0]),
                  Call(left, right, dtype="bool"))
    f = "make_causal_mask"
    yield answers(f, f, Call(left), Call(right, extra_batch_dims=1), Call(right[0], dtype="bool"))
    a, b = np.asarray([[1.0, 0.0], [1.0, 1.0]], np.float32), np.asarray([[1.0, 1.0], [0.0, 2.0]], np.float32)
    f = "combine_masks"
    yield answers(f, f, Call(a, b), Call(a, None, b, dtype="bool"), Call(None, b), Call(None, None), Call())


def cases():
    yield from layers()
    yield from dropouts()
    yield sown("sow_weights", mha(), x(2, 3, sow_weights=True))
    yield sown("sow_weights_off", mha(), x(2, 3))
    yield sown("sow_weights_dropout", mha(dropout_rate=0.4, deterministic=False), x(2, 3, sow_weights=True))
    yield from caches()
    yield from functions()
