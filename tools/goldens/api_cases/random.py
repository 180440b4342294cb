"""jax.random: the first argument is a seed, from which the key is made (`impl` names the generator).

Integers, orders and coins are equal, and so are floats that no function touched; samples of other distributions differ by what the functions
differ by that uniform numbers go through, in units of the greatest sample.
"""
import jax

from .calls import *


def keyed(name):
    def call(seed, *args, impl=None, **options):
        return getattr(jax.random, name)(jax.random.key(seed, impl=impl), *args, **options)

    return call


def data_of(name):
    def call(seed, *args, impl=None, **options):
        return jax.random.key_data(getattr(jax.random, name)(jax.random.key(seed, impl=impl), *args, **options))

    return call


def key_words(seed, impl=None):
    return jax.random.key_data(jax.random.key(seed, impl=impl))


CASES = {}
GENERATORS = ["threefry2x32", "threefry4x32", "philox2x32", "philox4x32", "rbg", "unsafe_rbg"]
CASES["random.key"] = calls(C(0), C(42), C(-1), C(i32(7)), C(u32(4294967295)), C(np.array([1, 2], i32)), C(f32(1)), [C(42, impl=g) for g in GENERATORS], call=key_words)
CASES["random.key_data"] = CASES["random.key"]
CASES["random.PRNGKey"] = calls(C(0), C(42), C(-3), C(u8(200)), C(1.5), [C(5, impl=g) for g in ("rbg", "philox4x32", "threefry4x32")])
CASES["random.wrap_key_data"] = calls(C(np.array([1, 2], u32)), C(np.array([[1, 2], [3, 4]], u32)), C(np.zeros((0, 2), u32)), C(np.array([1, 2, 3], u32)), C(np.array([1, 2], i32)), C(np.array([1, 2, 3, 4], u32), impl="rbg"), C(u32(1)),
                                      call=lambda words, **o: jax.random.key_data(jax.random.wrap_key_data(words, **o)))
CASES["random.clone"] = calls(C(0), C(9, impl="rbg"), C(i32(3)), call=data_of("clone"))
CASES["random.split"] = calls(C(42), C(42, num=5), C(0, num=(2, 3)), C(1, num=0), C(7, num=()), [C(42, num=3, impl=g) for g in GENERATORS], [C(3, num=(2, 2), impl=g) for g in GENERATORS], call=data_of("split"))
CASES["random.fold_in"] = calls(C(42, 7), C(42, i32(-1)), C(0, u8(255)), C(1, np.array([1, 2], i32)), [C(42, 9, impl=g) for g in GENERATORS], call=data_of("fold_in"))
CASES["random.bits"] = calls(C(42), C(42, shape=(2, 3)), C(1, shape=(0, 3)), [C(42, shape=(5,), dtype=d) for d in (u8, np.uint16, u32)], C(3, shape=(3,), dtype=i32), C(3, shape=(2,), dtype=f32),
                             [C(42, shape=(7,), impl=g) for g in GENERATORS], [C(5, shape=(2, 3), dtype=u8, impl=g) for g in GENERATORS], [C(5, shape=(3,), dtype=np.uint16, impl=g) for g in GENERATORS], call=keyed("bits"))


def floats(name, *more, **tolerance):
    """Shapes and dtypes of a sampler without parameters."""
    tolerance.setdefault("bound", 16)
    tolerance.setdefault("scaled", True)
    CASES["random." + name] = calls(C(42), C(42, shape=(2, 3)), C(1, shape=(0, 3)), C(2, shape=(64,)), C(3, shape=(7,), dtype=f16), C(4, shape=(7,), dtype=bf16), C(5, shape=(3,), dtype=i32), list(more), call=keyed(name), **tolerance)


floats("uniform", C(1, shape=(3,), minval=-2.0, maxval=3.0), C(1, shape=(2, 3), minval=np.array([0, 10, 20], f32), maxval=np.array([1, 11, 30], f32)), C(1, shape=(3,), minval=np.zeros(2, f32)), C(6, shape=(5,), impl="rbg"), bound=2)
floats("normal", C(9, shape=(3,), dtype=np.complex64), C(6, shape=(5,), impl="philox4x32"), bound=4)
floats("exponential", bound=4)
floats("gumbel", C(1, shape=(33,), mode="high"), C(1, shape=(33,), mode="highest"), C(1, shape=(5,), dtype=f16, mode="high"), C(1, shape=(5,), dtype=f16, mode="highest"), C(1, shape=(5,), mode="lowest"))
floats("laplace", bound=4)
floats("logistic")
floats("cauchy")
floats("maxwell")
CASES["random.rademacher"] = calls(C(42), C(42, shape=(2, 3)), C(1, shape=(0, 3)), C(2, shape=(9,), dtype=i8), C(2, shape=(9,), dtype=f32), C(2, shape=(4,), impl="rbg"), call=keyed("rademacher"))
A3, A31 = np.array([0.3, 1, 7.5], f32), np.array([[0.5], [2]], f32)


def with_one(name, extra=(), rejects_i32=False, low=A3, **tolerance):
    """A sampler of one parameter."""
    tolerance.setdefault("bound", 32)
    tolerance.setdefault("scaled", True)
    CASES["random." + name] = calls(C(42, low), C(1, f32(2)), C(1, 3.0), C(2, low, shape=(4, 3)), C(2, low, shape=(4,)), C(3, E03), C(4, low, dtype=f16), C(4, low.astype(f16), dtype=f16), C(4, low.astype(bf16), dtype=bf16), C(5, i32(2)), C(6, low, dtype=i32), list(extra), call=keyed(name), **tolerance)


with_one("pareto")
with_one("rayleigh")
with_one("wald")
with_one("chisquare", [C(8, f32(3), shape=(40,))])
with_one("t", [C(8, f32(3), shape=(40,))])
with_one("gamma", [C(8, f32(3), shape=(200,)), C(9, f32(0.1), shape=(100,)), C(9, A3, impl="rbg"), C(9, A3, impl="threefry4x32")])
with_one("loggamma", [C(8, f32(3), shape=(100,)), C(9, f32(0.001), shape=(100,))])
with_one("lognormal", [C(3, f32(0.5), shape=(3,), dtype=np.complex64)])
CASES["random.beta"] = calls(C(42, A3, A3[::-1].copy()), C(1, A31, A3), C(1, 2.0, f32(0.5), shape=(50,)), C(2, A3, A3, shape=(4,)), C(3, E03, A3), C(4, A3, A3, dtype=f16), C(4, A3.astype(f16), f16(2), dtype=f16), C(4, A3.astype(bf16), bf16(2), dtype=bf16), C(5, 1, 2), call=keyed("beta"), bound=32, scaled=True)
CASES["random.dirichlet"] = calls(C(42, A3), C(1, A3, shape=(5,)), C(1, np.ones((2, 3), f32)), C(1, f32(2)), C(2, E03), C(3, A3, dtype=f16), C(3, A3, dtype=bf16), C(4, np.ones((2, 3), f32), shape=(3,)), call=keyed("dirichlet"), bound=32, scaled=True)
CASES["random.f"] = calls(C(42, A3 + f32(1), f32(4)), C(1, f32(3), f32(9), shape=(20,)), C(2, E03, 2.0), C(3, f16(3), f16(4), dtype=f16), C(3, bf16(3), bf16(4), dtype=bf16), C(3, f32(3), f32(4), dtype=f16), call=keyed("f"), bound=64, scaled=True)
CASES["random.generalized_normal"] = calls(C(42, 2.0), C(1, 1.5, shape=(20,)), C(2, f32(3), shape=(2, 3)), C(3, 2.0, shape=(0,)), C(4, 2.0, shape=(5,), dtype=f16), C(4, 2.0, shape=(5,), dtype=bf16), call=keyed("generalized_normal"), bound=32, scaled=True)
CASES["random.ball"] = calls(C(42, d=3), C(1, d=2, shape=(5,)), C(2, d=4, p=1.0, shape=(2, 2)), C(3, d=2, shape=(0,)), C(4, d=3, dtype=f16), C(4, d=3, dtype=bf16), C(5, d=1), call=keyed("ball"), bound=32, scaled=True)
CASES["random.double_sided_maxwell"] = calls(C(42, 0.0, 1.0, shape=(4,)), C(1, f32(2), A3), C(1, A3, f32(2), shape=(2,)), C(2, 0.0, 1.0), C(3, E03, 1.0), C(4, 0.0, 1.0, shape=(3,), dtype=f16), C(4, 0.0, 1.0, shape=(3,), dtype=bf16), call=keyed("double_sided_maxwell"), bound=16, scaled=True)
CASES["random.weibull_min"] = calls(C(42, 1.0, 2.0, shape=(5,)), C(1, A3, f32(2), shape=(3,)), C(1, 2.0, A3, shape=(2, 3)), C(2, 1.0, 1.0), C(3, 1.0, 1.0, shape=(0,)), C(4, 1.0, 2.0, shape=(3,), dtype=f16), C(4, 1.0, 2.0, shape=(3,), dtype=bf16), C(5, 1.0, 2.0, shape=(3,), dtype=i32), call=keyed("weibull_min"), bound=32, scaled=True)
CASES["random.triangular"] = calls(C(42, -1.0, 0.5, 2.0, shape=(9,)), C(1, -A3, f32(0), A3), C(1, A31 - f32(3), f32(0), A3), C(2, -1.0, 0.0, 1.0), C(3, E03, 1.0, 2.0), C(4, -1.0, 0.0, 1.0, shape=(3,), dtype=f16), C(4, -1.0, 0.0, 1.0, shape=(3,), dtype=bf16), C(4, A3, A3, A3, dtype=f16), call=keyed("triangular"), bound=16, scaled=True)
CASES["random.truncated_normal"] = calls(C(42, -2.0, 2.0, shape=(64,)), C(1, -A3, A3), C(1, A31, f32(9)), C(2, -1, 1), C(3, E03, 2.0), C(4, -1.0, 1.0, shape=(5,), dtype=f16), C(4, -1.0, 1.0, shape=(5,), dtype=bf16), C(4, -1.0, 1.0, shape=(5,), dtype=i32), C(5, np.zeros(2, f32), np.ones(3, f32)), call=keyed("truncated_normal"), bound=16, scaled=True)

# integers
CASES["random.randint"] = calls(C(42, shape=(8,), minval=0, maxval=10), C(42, shape=(6,), minval=-5, maxval=1000000), C(1, shape=(), minval=3, maxval=4), C(1, shape=(0, 2), minval=0, maxval=4), C(42, shape=(6,), minval=-128, maxval=128, dtype=i8), C(42, shape=(6,), minval=0, maxval=256, dtype=u8), C(42, shape=(6,), minval=-3, maxval=3000, dtype=i8),
                                C(42, shape=(6,), minval=-40, maxval=4000, dtype=i16), C(1, shape=(4,), minval=5, maxval=5), C(1, shape=(4,), minval=5, maxval=2), C(1, shape=(4,), minval=0, maxval=10, dtype=u32), C(1, shape=(4,), minval=0, maxval=10, dtype=f32), C(2, shape=(2, 3), minval=np.array([0, 5, 10], i32), maxval=np.array([[5], [100]], i32)),
                                C(2, shape=(3,), minval=np.array([0, 5], i32), maxval=9), C(3, shape=(4,), minval=-2147483648, maxval=2147483647), C(3, shape=(4,), minval=0, maxval=np.array(4294967295, u32)), C(3, shape=(4,), minval=np.array(0, u8), maxval=np.array(200, u8)), C(4, shape=(4,), minval=np.array(-500, i32), maxval=np.array(500, i32), dtype=i8), C(4, shape=(4,), minval=0, maxval=7, impl="rbg"), call=keyed("randint"))
CASES["random.bernoulli"] = calls(C(42), C(42, 0.3, shape=(20,)), C(1, A3 / f32(10)), C(1, A31 / f32(4), shape=(2, 3)), C(2, E03), C(3, f16(0.5), shape=(9,)), C(3, bf16(0.5), shape=(9,)), C(4, 0.3, shape=(20,), mode="high"), C(4, 0.3, shape=(3,), mode="x"), C(5, 1), C(6, A3, shape=(4,)), call=keyed("bernoulli"))
CASES["random.geometric"] = calls(C(42, f32(0.2), shape=(30,)), C(1, A3 / f32(10)), C(1, A31 / f32(4), shape=(2, 3)), C(2, E03), C(3, f16(0.5), shape=(9,)), C(3, f32(0.5), shape=(9,), dtype=i8), C(4, f32(0.3), dtype=f32), C(5, A3, shape=(4,)), C(6, 0.25, shape=(7,)), call=keyed("geometric"))
CASES["random.poisson"] = calls(C(42, f32(3), shape=(50,)), C(1, f32(40), shape=(50,)), C(2, np.array([0, 0.5, 9, 10, 1000, np.nan], f32)), C(3, E03), C(4, i32(5), shape=(4,)), C(4, 2.5, shape=(2, 3), dtype=i16), C(5, f32(1e6), shape=(5,)), C(6, A3, shape=(4,)), C(6, f32(3), dtype=f32), C(7, f32(3), impl="rbg"), C(8, f16(4), shape=(5,)), call=keyed("poisson"))
CASES["random.binomial"] = calls(C(42, f32(10), f32(0.3), shape=(40,)), C(1, f32(1000), f32(0.4), shape=(40,)), C(2, np.array([5, 100, np.inf, -1, np.nan, 20, 20], f32), np.array([0.5, 0.9, 0.5, 0.5, 0.5, np.nan, -0.5], f32)), C(3, E03, 0.5), C(4, 7, 0.25, shape=(9,)), C(5, A3 * f32(9), A31 / f32(4)), C(6, f32(9), f32(0.5), dtype=i32), C(7, f32(9), f16(0.5), shape=(5,)), C(7, f32(9), f32(0.5), shape=(5,), dtype=f16), C(8, A3, f32(0.5), shape=(4,)), call=keyed("binomial"))
CASES["random.multinomial"] = calls(C(42, f32(20), np.array([0.2, 0.3, 0.5], f32)), C(1, np.array([10, 1000], f32), np.array([0.2, 0.3, 0.5], f32), shape=(2, 3)), C(2, 5, np.array([0.5, 0.5], f32)), C(3, f32(3), np.ones((2, 1), f32)), C(4, f32(9), np.array([0, 1, 0], f32), dtype=f16), C(5, f32(4), np.array([0.5, 0.25, 0.25], f32), dtype=i32), C(6, np.zeros((0,), f32), np.ones((0, 2), f32)), call=keyed("multinomial"))
L3 = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]], f32))
CASES["random.categorical"] = calls(C(42, L3), C(1, L3, axis=0), C(2, L3, shape=(20, 2)), C(3, L3, shape=(2, 2), replace=False), C(3, L3, shape=(3, 2), axis=-1, replace=False), C(4, L3[0], shape=(30,)), C(4, L3[0], shape=(4,), replace=False), C(5, L3.astype(f16)), C(5, L3.astype(bf16), axis=1), C(6, L3, shape=(3,)), C(7, np.zeros((0, 3), f32)), C(8, L3, axis=2), C(9, L3, mode="high"), call=keyed("categorical"))

# orders
X43 = np.arange(12, dtype=f32).reshape(4, 3)
CASES["random.permutation"] = calls(C(42, 10), C(1, i32(3)), C(2, np.arange(9, dtype=i32)), C(3, X43), C(4, X43, axis=1), C(5, X43, axis=-1, independent=True), C(6, X43, independent=True), C(7, np.zeros((0, 3), f32)), C(8, np.arange(7, dtype=f16)), C(8, np.arange(2000, dtype=i32)), C(9, 2.5), C(9, X43, axis=2), C(9, 0), C(1, B23, axis=1), call=keyed("permutation"))
P4 = np.array([0.1, 0.2, 0.3, 0.4], f32)
CASES["random.choice"] = calls(C(42, 10), C(1, 10, shape=(2, 3)), C(2, 10, shape=(4,), replace=False), C(3, X43, shape=(5,)), C(3, X43, shape=(2, 2), axis=1), C(4, X43, shape=(2,), replace=False), C(4, X43, shape=(2,), replace=False, axis=1), C(5, 4, shape=(20,), p=P4), C(5, X43, shape=(5,), p=P4), C(6, 4, shape=(3,), p=P4, replace=False), C(6, X43, shape=(2,), p=P4, replace=False), C(6, 4, shape=(3,), p=P4, replace=False, mode="high"),
                               C(7, 4, shape=(5,), replace=False), C(7, 0, shape=(5,)), C(7, 0, shape=(0,)), C(7, X43, shape=(0,)), C(8, 3, shape=(2,), p=P4), C(9, np.arange(5, dtype=f16), shape=(3,)), C(9, np.arange(5, dtype=i8), shape=()), C(9, X43, shape=(2,), axis=2), call=keyed("choice"))
COV = np.array([[2, 0.5], [0.5, 1]], f32)
CASES["random.multivariate_normal"] = calls(C(42, np.zeros(2, f32), COV), C(1, np.ones(2, f32), COV, shape=(5,)), C(2, np.ones((3, 2), f32), COV), C(3, np.zeros(2, i32), COV), C(4, np.zeros(3, f32), COV), C(5, f32(1), COV), C(6, np.zeros((0, 2), f32), COV), C(7, np.zeros(2, f32), np.stack([COV, COV * f32(4)]), shape=(3, 2)), C(8, np.zeros(2, f32), COV, method="qr"), C(8, np.zeros(2, f32), COV, dtype=i32), call=keyed("multivariate_normal"), bound=32, scaled=True)
