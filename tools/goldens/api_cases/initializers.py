"""jax.nn.initializers: the first argument is a seed, `shape` and `dtype` those of the weight; the other options make the initialiser."""
import jax

from .calls import *


def initialised(name):
    def call(seed, shape=(), dtype=np.float32, **options):
        make = getattr(jax.nn.initializers, name)
        return (make if name in ("zeros", "ones") else make(**options))(jax.random.key(seed), shape, dtype)

    return call


CASES = {}
for name in ("zeros", "ones"):
    CASES["nn.initializers." + name] = calls(C(0, shape=(2, 3)), C(0, shape=()), C(0, shape=(0, 2), dtype=f16), C(0, shape=(2,), dtype=bf16), call=initialised(name))
CASES["nn.initializers.constant"] = calls(C(0, shape=(2, 3), value=0.3), C(0, shape=(), value=-2.5, dtype=f16), C(0, shape=(0,), value=1.0), C(0, shape=(2,), value=0.7, dtype=bf16), call=initialised("constant"))
for name, more in {"uniform": C(3, shape=(8,), scale=0.7), "normal": C(3, shape=(8,), stddev=0.5), "truncated_normal": C(3, shape=(8,), stddev=0.5, lower=-1.0, upper=0.5)}.items():
    CASES["nn.initializers." + name] = calls(C(1, shape=(2, 3)), C(1, shape=()), C(1, shape=(0, 3)), C(2, shape=(4,), dtype=f16), C(2, shape=(4,), dtype=bf16), more, call=initialised(name), bound=8, scaled=True)
for name in "lecun_normal lecun_uniform glorot_normal glorot_uniform xavier_normal xavier_uniform he_normal he_uniform kaiming_normal kaiming_uniform".split():
    CASES["nn.initializers." + name] = calls(C(1, shape=(4, 6)), C(1, shape=(0, 3)), C(2, shape=(4, 2), dtype=f16), C(2, shape=(3, 2, 2), dtype=bf16, in_axis=-1, out_axis=0), C(3, shape=(5,)), C(3, shape=(2, 3, 4), batch_axis=(0,)), call=initialised(name), bound=8, scaled=True)
CASES["nn.initializers.variance_scaling"] = calls(C(1, shape=(4, 6), scale=2.0, mode="fan_in", distribution="normal"), C(1, shape=(3, 3, 4, 6), scale=1.0, mode="fan_out", distribution="uniform"), C(1, shape=(4, 6), scale=1.5, mode="fan_avg", distribution="truncated_normal", dtype=f16), C(1, shape=(4, 6), scale=1.5, mode="fan_geo_avg", distribution="normal", dtype=bf16), C(1, shape=(6,), scale=1.5, mode="fan_in", distribution="normal"), call=initialised("variance_scaling"), bound=8, scaled=True)
