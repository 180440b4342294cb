"""jax.nn."""
import numpy as np

from .calls import *

CASES = {}
for name in ("relu", "relu6", "sigmoid", "log_sigmoid", "softplus", "sparse_plus", "sparse_sigmoid", "soft_sign", "silu", "swish", "mish", "hard_sigmoid", "hard_silu", "hard_swish",
             "hard_tanh", "selu", "squareplus", "identity", "tanh", "celu", "elu", "leaky_relu"):
    CASES["nn." + name] = calls(C(X23), C(normal(5, dtype=f16)), C(normal(5, dtype=bf16)), C(SPECIAL), C(E03), C(I3), C(f32(0.7)), C(-0.5), C(B23), bound=16)
CASES["nn.log_sigmoid"].bound = CASES["nn.mish"].bound = 64
CASES["nn.celu"].cases.append(C(X23, alpha=0.5))
CASES["nn.elu"].cases.append(C(X23, alpha=0.5))
CASES["nn.leaky_relu"].cases.append(C(X23, negative_slope=0.2))
CASES["nn.squareplus"].cases.append(C(X23, b=1.0))
CASES["nn.gelu"] = calls(C(X23), C(X23, approximate=False), C(H5), C(G5), C(E03), C(I3), C(f32(0.7)), scaled=True, bound=16)
CASES["nn.glu"] = calls(C(normal(2, 4)), C(normal(4, 2), axis=0), C(X23), C(normal(4, dtype=f16)), C(ints(4)), C(np.zeros((0, 4), f32)), bound=16)
CASES["nn.log1mexp"] = calls(C(uniform(2, 3, low=0.05, high=4)), C(np.array([0.0, 0.5, 0.7, 30.0, np.inf, np.nan], f32)), C(E03), C(uniform(4, low=0.1, high=2, dtype=f16)), C(1.0), bound=64)
for name in ("softmax", "log_softmax"):
    CASES["nn." + name] = calls(C(X23), C(X23, axis=0), C(X234, axis=(0, 2)), C(X234, axis=1), C(H5), C(G5), C(I3), C(np.array([0, np.inf, -np.inf, np.nan], f32)), C(np.array([-np.inf, 1.0], f32)), C(X23, axis=2), scaled=True, bound=16)
for name in ("logsumexp", "logmeanexp"):
    CASES["nn." + name] = calls(C(X23), C(X23, axis=0), C(X234, axis=(0, 2), keepdims=True), C(H5), C(I3), C(np.array([-np.inf, -np.inf], f32)), C(np.array([np.inf, 1], f32)), C(np.array([np.nan, 1], f32)), C(X23, axis=2), scaled=True, bound=16)
CASES["nn.standardize"] = calls(C(X23), C(X23, axis=0), C(X234, axis=(0, 2)), C(H5), C(X23, epsilon=0.1), scaled=True, bound=64)
CASES["nn.one_hot"] = calls(C(np.array([0, 2, 1], i32), num_classes=3), C(np.array([[0], [5]], i32), num_classes=4), C(i32(-1), num_classes=2), C(np.array([1, 0], u8), num_classes=2, dtype=i32), C(np.array([1, 0], i32), num_classes=3, axis=0), C(np.zeros((0,), i32), num_classes=3))
