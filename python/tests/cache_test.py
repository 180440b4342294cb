#!/usr/bin/env python3
"""JAX's persistent cache of compiled programs, in drop-in mode (JAX keeps none for platforms whose name it does not know)."""
import tempfile

import harness

PROGRAM = """
import strata_jax, jax, jax.numpy as jnp, numpy as np
from jax._src import monitoring
hits = []
monitoring.register_event_listener(lambda name, **_: hits.append(name) if "compilation_cache/cache_hits" in name else None)
f = jax.jit(lambda x: jnp.sin(x @ x.T).sum(0))
print(repr(np.asarray(f(jnp.arange(12.0).reshape(3, 4))).tolist()))
print(jax.jit(lambda x: jax.pure_callback(lambda a: np.asarray(a) + 1, jax.ShapeDtypeStruct((), jnp.float32), x))(jnp.float32(1)))
print(len(hits))
"""


def test_a_second_process_takes_what_the_first_compiled():
    import pathlib

    with tempfile.TemporaryDirectory() as cache:
        settings = {"JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
        first, log, code = harness.python(PROGRAM, "drop-in", **settings)
        assert code == 0, log
        kept = sorted(p.name for p in pathlib.Path(cache).iterdir())
        assert any(name.startswith("jit__lambda") for name in kept), f"nothing was kept: {log}"
        second, log, code = harness.python(PROGRAM, "drop-in", **settings)
        assert code == 0, log
        values, called, hits = second.splitlines()
        assert [values, called] == first.splitlines()[:2]
        assert int(first.splitlines()[2]) == 0 and int(hits) >= 1, (first, second)


def test_a_serialised_executable_runs_elsewhere():
    import pathlib

    write = """
import pickle, sys, strata_jax, jax, jax.numpy as jnp
from jax.experimental import serialize_executable
compiled = jax.jit(lambda x, y: {"sum": x + y, "product": x @ y.T}).lower(jnp.ones((2, 3)), jnp.ones((2, 3))).compile()
pickle.dump(serialize_executable.serialize(compiled), open("FILE", "wb"))
"""
    load = """
import pickle, strata_jax, jax, jax.numpy as jnp
from jax.experimental import serialize_executable
f = serialize_executable.deserialize_and_load(*pickle.load(open("FILE", "rb")))
out = f(jnp.ones((2, 3)), 2 * jnp.ones((2, 3)))
print(out["sum"].tolist(), out["product"].tolist())
"""
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder, "executable"))
        for code in (write, load):
            out, log, status = harness.python(code.replace("FILE", file), "drop-in")
            assert status == 0, log
        assert out == "[[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]] [[6.0, 6.0], [6.0, 6.0]]\n", out


if __name__ == "__main__":
    harness.run(globals(), modes=())
