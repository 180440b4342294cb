"""Normalisation: statistics over axes, and of weights (WeightNorm, SpectralNorm)."""
import numpy as np

from .describe import Layer, Numbers, initializer
from .record import Call, case, variants


def x(*shape, seed=1, **kwargs):
    return Call(Numbers(seed, shape), **kwargs)


def kept(*shape):
    """A mask with about two thirds of ones."""
    return (np.arange(int(np.prod(shape))) % 3 != 1).reshape(shape)


STATISTICS = {"mean": Numbers(7, (3,)), "var": np.asarray([0.5, 1.5, 0.25], np.float32)}


def batch():
    plain = Layer("BatchNorm", num_features=3)
    yield from variants("batch_norm", plain, x(4, 3), x(4, 3, seed=2))
    yield case("batch_norm_20_steps", Layer("BatchNorm", num_features=3, momentum=0.9),
               *[x(5, 3, seed=s) for s in range(1, 21)], grads=False)
    yield case("batch_norm_20_steps_bf16", Layer("BatchNorm", num_features=3, momentum=0.9, dtype="bfloat16"),
               *[x(5, 3, seed=s) for s in range(1, 21)], grads=False)
    each = (np.arange(12) % 5 != 1).reshape(4, 3)
    yield case("batch_norm_mask", plain, x(4, 3, mask=kept(4, 1)), x(4, 3, seed=2, mask=each))
    yield case("batch_norm_mask_without_rows", plain, x(4, 3, mask=kept(4, 3)), grads=False)
    running = Layer("BatchNorm", num_features=3, use_running_average=True)
    yield from variants("batch_norm_running", running, x(4, 3), given=STATISTICS)
    yield case("batch_norm_running_in_call", plain, x(4, 3, use_running_average=True), x(4, 3),
               x(4, 3, use_running_average=True), given=STATISTICS)
    yield case("batch_norm_axis", Layer("BatchNorm", num_features=3, axis=1, momentum=0.8), x(2, 3, 4))
    yield case("batch_norm_axis_mask", Layer("BatchNorm", num_features=3, axis=1), x(2, 3, 4, mask=kept(2, 1, 4)))
    yield case("batch_norm_slow", Layer("BatchNorm", num_features=3, use_fast_variance=False), x(4, 2, 3))
    yield case("batch_norm_no_scale", Layer("BatchNorm", num_features=3, use_scale=False), x(4, 3))
    yield case("batch_norm_no_bias", Layer("BatchNorm", num_features=3, use_bias=False, epsilon=1e-3), x(4, 3))
    yield case("batch_norm_bare", Layer("BatchNorm", num_features=3, use_bias=False, use_scale=False), x(4, 3),
               x(4, 3, seed=2).to("bfloat16"))
    yield case("batch_norm_param_bf16", Layer("BatchNorm", num_features=3, param_dtype="bfloat16"),
               x(4, 3).to("bfloat16"), x(4, 3), grads=False)
    yield case("batch_norm_other_initializers", Layer("BatchNorm", num_features=3,
               scale_init=initializer("uniform", scale=1.0), bias_init=initializer("normal", stddev=0.3)),
               x(4, 3), grads=False)


def layer_and_rms():
    for kind, name in (("LayerNorm", "layer_norm"), ("RMSNorm", "rms_norm")):
        yield from variants(name, Layer(kind, num_features=5), x(2, 3, 5))
        yield case(name + "_mask", Layer(kind, num_features=5), x(2, 5, mask=kept(2, 5)))
        yield case(name + "_two_axes", Layer(kind, num_features=4, reduction_axes=(-2, -1)), x(2, 3, 4))
        yield case(name + "_first_axis", Layer(kind, num_features=2, reduction_axes=(0, 2), feature_axes=0),
                   x(2, 3, 4))
        yield case(name + "_slow", Layer(kind, num_features=4, use_fast_variance=False, epsilon=1e-3), x(2, 4))
        yield case(name + "_bare", Layer(kind, num_features=4, use_scale=False)
                   if kind == "RMSNorm" else
                   Layer(kind, num_features=4, use_scale=False, use_bias=False), x(2, 4),
                   x(2, 4).to("bfloat16"))
        yield case(name + "_param_bf16", Layer(kind, num_features=4, param_dtype="bfloat16"),
                   x(2, 4).to("bfloat16"), x(2, 4), grads=False)
        far = np.asarray([[1000.25, 1000.5, 1000.75, 1001.0]], np.float32)
        yield case(name + "_far_from_zero", Layer(kind, num_features=4), Call(far))
    yield case("layer_norm_no_bias", Layer("LayerNorm", num_features=4, use_bias=False), x(2, 4))
    yield case("layer_norm_no_scale", Layer("LayerNorm", num_features=4, use_scale=False), x(2, 4))


def groups():
    plain = Layer("GroupNorm", num_features=6, num_groups=2)
    yield from variants("group_norm", plain, x(2, 3, 6))
    yield case("group_norm_size", Layer("GroupNorm", num_features=6, num_groups=None, group_size=2), x(2, 2, 2, 6))
    yield case("group_norm_mask", plain, x(2, 3, 6, mask=kept(2, 3, 6)))
    yield case("group_norm_flat", plain, x(4, 6))
    yield case("group_norm_axes", Layer("GroupNorm", num_features=6, num_groups=3, reduction_axes=(1, 2)),
               x(2, 3, 6))
    yield case("group_norm_slow", Layer("GroupNorm", num_features=4, num_groups=2, use_fast_variance=False),
               x(2, 3, 4))
    yield case("group_norm_bare", Layer("GroupNorm", num_features=4, num_groups=1, use_bias=False,
               use_scale=False), x(2, 3, 4))
    plain = Layer("InstanceNorm", num_features=3)
    yield from variants("instance_norm", plain, x(2, 4, 3))
    yield case("instance_norm_image", plain, x(2, 3, 2, 3))
    yield case("instance_norm_axis", Layer("InstanceNorm", num_features=3, feature_axes=1), x(2, 3, 4))
    yield case("instance_norm_mask", plain, x(2, 4, 3, mask=kept(2, 4, 1)))
    yield case("instance_norm_slow", Layer("InstanceNorm", num_features=3, use_fast_variance=False), x(2, 4, 3))
    yield case("instance_norm_bare", Layer("InstanceNorm", num_features=3, use_bias=False, use_scale=False),
               x(2, 4, 3))


def weights():
    linear = Layer("Linear", in_features=4, out_features=3)
    conv = Layer("Conv", in_features=2, out_features=3, kernel_size=(3,))
    three = lambda *shape: [x(*shape, seed=s) for s in (1, 2, 3)]
    scales = {"scales/(kernel)": Numbers(11, (3,))}
    weight = lambda inner, **args: Layer("WeightNorm", layer_instance=inner, **args)
    yield case("weight_norm", weight(linear), *three(2, 4), given=scales)
    yield case("weight_norm_bf16", weight(linear).with_dtype("bfloat16"), *three(2, 4), grads=False,
               given=scales, reference=weight(linear))
    yield case("weight_norm_conv", weight(conv), *three(2, 5, 2), given=scales)
    yield case("weight_norm_no_scale", weight(linear, use_scale=False), *three(2, 4))
    yield case("weight_norm_whole", weight(linear, feature_axes=None, epsilon=1e-3), *three(2, 4))
    yield case("weight_norm_first_axis", weight(linear, feature_axes=0), *three(2, 4))
    spectral = lambda inner, **args: Layer("SpectralNorm", layer_instance=inner, **args)
    yield case("spectral_norm", spectral(linear), *three(2, 4))
    yield case("spectral_norm_bf16", spectral(linear).with_dtype("bfloat16"), *three(2, 4), grads=False,
               reference=spectral(linear))
    yield case("spectral_norm_conv", spectral(conv), *three(2, 5, 2))
    yield case("spectral_norm_steps", spectral(linear, n_steps=3, epsilon=1e-6), *three(2, 4))
    yield case("spectral_norm_no_update", spectral(linear), x(2, 4), x(2, 4, seed=2, update_stats=False),
               x(2, 4, seed=3))
    yield case("spectral_norm_eval", spectral(linear, update_stats=False), *three(2, 4))
    attention = Layer("MultiHeadAttention", num_heads=2, in_features=4, decode=False)
    yield case("spectral_norm_attention", spectral(attention), x(2, 4), x(2, 4, seed=2), grads=False)


def cases():
    yield from batch()
    yield from layer_and_rms()
    yield from groups()
    yield from weights()
