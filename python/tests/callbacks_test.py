#!/usr/bin/env python3
"""Python functions called from compiled programs."""
import harness


def x():
    import jax
    import jax.numpy as jnp

    return jax.device_put(jnp.arange(6.0).reshape(2, 3), harness.device())


def test_pure_callback():
    import jax
    import numpy as np

    f = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a).T.copy(), jax.ShapeDtypeStruct((3, 2), x.dtype), x * 2))
    assert (np.asarray(f(x())) == 2 * np.asarray(x()).T).all()


def test_several_operands_and_results():
    import jax
    import numpy as np

    def host(a, n, flag):
        assert a.shape == (2, 3) and n.dtype == np.int32 and flag.dtype == bool and flag.shape == ()
        return {"sum": np.float32(np.sum(a)), "shifted": np.asarray(n) + 1}, np.bool_(not flag)

    shapes = {"sum": jax.ShapeDtypeStruct((), np.float32), "shifted": jax.ShapeDtypeStruct((4,), np.int32)}, jax.ShapeDtypeStruct((), bool)
    f = jax.jit(lambda x: jax.pure_callback(host, shapes, x, jax.numpy.arange(4), x[0, 0] > 1))
    out, flag = f(x())
    assert out["sum"] == 15 and list(out["shifted"]) == [1, 2, 3, 4] and flag


def test_narrow_types():
    import jax
    import jax.numpy as jnp
    import ml_dtypes
    import numpy as np

    for dtype in (ml_dtypes.int2, ml_dtypes.uint2, ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.float4_e2m1fn, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn):
        low = 0 if "uint" in np.dtype(dtype).name else -2
        values = (np.arange(7) % 4 + low if "2" in np.dtype(dtype).name[-2:] else np.arange(7) % 5 + low).astype(np.float32).astype(dtype)
        seen = []

        def host(a):
            seen.append(np.asarray(a))
            return np.asarray(a)[::-1].copy()

        out = np.asarray(jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x))(jnp.asarray(values)))
        assert seen[0].dtype == values.dtype and (seen[0] == values).all(), (seen, values)
        assert (out == values[::-1]).all(), (out, values)


def test_empty_operands():
    import jax
    import numpy as np

    empty = np.zeros((0, 3), np.float32)
    out = jax.jit(lambda x: jax.pure_callback(lambda a: np.zeros((2, 0), np.float32), jax.ShapeDtypeStruct((2, 0), np.float32), x))(empty)
    assert out.shape == (2, 0)


def test_under_vmap_and_scan():
    import jax
    import jax.numpy as jnp
    import numpy as np

    def one(a):
        return jax.pure_callback(lambda a: np.sum(a, dtype=np.float32), jax.ShapeDtypeStruct((), jnp.float32), a, vmap_method="sequential")

    assert list(np.asarray(jax.jit(jax.vmap(one))(x()))) == [3, 12]
    total, _ = jax.jit(lambda x: jax.lax.scan(lambda s, row: (s + one(row), s), 0.0, x))(x())
    assert total == 15


def test_ordered_effects_keep_their_order():
    import jax
    from jax.experimental import io_callback

    seen = []

    @jax.jit
    def f(n):
        def body(i, n):
            io_callback(lambda i: seen.append(int(i)), None, i, ordered=True)
            return n + 1

        return jax.lax.fori_loop(0, 20, body, n)

    assert f(5) == 25 and f(6) == 26
    jax.effects_barrier()
    assert seen == 2 * list(range(20)), seen


def test_ordered_callback_with_a_result():
    import jax
    import numpy as np
    from jax.experimental import io_callback

    counter = iter(range(100))
    draw = lambda: io_callback(lambda: np.int32(next(counter)), jax.ShapeDtypeStruct((), np.int32), ordered=True)
    a, b, c = jax.jit(lambda: (draw(), draw(), draw()))()
    assert (a, b, c) == (0, 1, 2)


def test_debug_print():
    import contextlib
    import io

    import jax

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        jax.jit(lambda x: (jax.debug.print("x is {x}", x=x), jax.debug.print("then {}", x + 1, ordered=True), x * 2)[-1])(3.0).block_until_ready()
        jax.effects_barrier()
    assert sorted(out.getvalue().splitlines()) == ["then 4.0", "x is 3.0"], out.getvalue()


def test_debug_callback_in_a_gradient():
    import jax
    import jax.numpy as jnp

    seen = []

    def loss(x):
        jax.debug.callback(lambda v: seen.append(float(v)), jnp.sum(x))
        return jnp.sum(x * x)

    g = jax.jit(jax.grad(loss))(x())
    jax.effects_barrier()
    assert seen == [15.0] and float(g[1, 2]) == 10


def test_an_exception_becomes_the_runs_error():
    import jax

    def host(a):
        raise ValueError("the reason that the user gave")

    f = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    try:
        f(x()).block_until_ready()
    except RuntimeError as e:
        assert "the reason that the user gave" in str(e) and "Traceback" in str(e), e
    else:
        raise AssertionError("no error")
    # ... and the next run is none the worse.
    assert float(jax.jit(lambda x: x.sum())(x())) == 15


def test_a_wrong_result_is_named():
    import jax
    import numpy as np

    for host, said in [(lambda a: np.zeros(7, np.float32), "Incorrect output shape"), (lambda a: np.zeros((2, 3), np.int32), "Incorrect output dtype")]:
        f = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
        try:
            f(x()).block_until_ready()
        except RuntimeError as e:
            assert said in str(e), e
        else:
            raise AssertionError(f"no error where it should say {said}")


def test_a_callback_may_call_jax():
    import jax
    import jax.numpy as jnp
    import numpy as np

    inner = jax.jit(lambda a: jnp.dot(a, a.T).sum())

    def host(a):
        return np.asarray(inner(jnp.asarray(np.asarray(a))))

    f = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((), x.dtype), x + 1))
    expected = float(inner(x() + 1))
    for _ in range(5):
        assert float(f(x())) == expected


def test_from_many_threads():
    import concurrent.futures

    import jax
    import numpy as np

    f = jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x).sum())
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(lambda i: float(f(x() + i)), range(40)))
    assert sums == [21 + 6 * i for i in range(40)], sums


def test_functions_live_as_long_as_their_programs():
    import gc

    import jax
    import numpy as np
    from strata_jax import _callbacks

    gc.collect()
    before = len(_callbacks._functions)

    def compiled():
        def host(a):
            return np.asarray(a) * 3

        f = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
        return f.lower(x()).compile()

    f = compiled()
    jax.clear_caches()
    gc.collect()
    assert float(f(x())[1, 2]) == 15
    del f
    jax.clear_caches()
    gc.collect()
    assert len(_callbacks._functions) == before, f"{len(_callbacks._functions) - before} functions are held by nobody's program"


def test_a_process_may_end_while_callbacks_wait():
    import os

    code = """
import time, strata_jax, jax, jax.numpy as jnp, numpy as np
def slow(a):
    time.sleep(0.1)
    print("called", flush=True)
    return np.asarray(a)
f = jax.jit(lambda x: jax.pure_callback(slow, jax.ShapeDtypeStruct(x.shape, x.dtype), x @ x))
x = f(jnp.ones((50, 50)))
for _ in range(3): x = f(x)
"""
    out, err, status = harness.python(code, os.environ["STRATA_JAX"])
    assert (out, status) == (4 * "called\n", 0), (out, err, status)


def test_programs_with_callbacks_are_not_exported():
    import jax
    import numpy as np
    from jax import export

    f = jax.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x))
    try:
        export.export(f)(x())
    except NotImplementedError as e:
        assert "host_callbacks" in str(e), e
    else:
        raise AssertionError("a Python function was serialised")


def add_into(context, out, a, b):
    import numpy as np

    assert out.writeable and not a.writeable and out.shape == a.shape and out.dtype == a.dtype and out.ndim == 2
    np.asarray(out)[...] = np.asarray(a) + np.from_dlpack(b)


def test_buffer_callback():
    import jax
    import numpy as np
    from jax.experimental.buffer_callback import buffer_callback

    f = lambda x: buffer_callback(add_into, jax.ShapeDtypeStruct(x.shape, x.dtype))(x, 2 * x)
    for run in (harness.on_strata, harness.on_xla):
        assert (run(f, np.asarray(x())) == 3 * np.asarray(x())).all(), run


def test_buffer_callback_in_place():
    import jax
    import numpy as np
    from jax.experimental.buffer_callback import buffer_callback

    def add_one(context, out, a):
        np.asarray(out)[...] += 1

    f = lambda x: buffer_callback(add_one, jax.ShapeDtypeStruct(x.shape, x.dtype), input_output_aliases={0: 0})(x)
    assert (harness.on_strata(f, np.asarray(x())) == np.asarray(x()) + 1).all()


def test_the_built_in_cpu_keeps_its_own():
    import jax
    import numpy as np

    f = lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
    assert float(harness.on_xla(f, np.float32(1))) == 2
    assert float(harness.on_strata(f, np.float32(2))) == 3


def test_sparse_solve():
    """JAX's solver for the CPU is SciPy's, called back by the public name of the function that emits callbacks."""
    import jax
    import numpy as np
    from jax.experimental.sparse.linalg import spsolve

    dense = np.diag(np.arange(1.0, 7.0)).astype(np.float32) + np.eye(6, k=2, dtype=np.float32)
    rows, columns = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=6))]).astype(np.int32)
    b = np.arange(6, dtype=np.float32)
    solve = jax.jit(lambda data: spsolve(data, columns.astype(np.int32), starts, b))
    data = jax.device_put(dense[rows, columns], harness.device())
    np.testing.assert_allclose(dense @ np.asarray(solve(data)), b, atol=1e-5)
    assert np.isfinite(np.asarray(jax.grad(lambda d: solve(d).sum())(data))).all()


if __name__ == "__main__":
    harness.run(globals())
