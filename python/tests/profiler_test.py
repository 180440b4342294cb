#!/usr/bin/env python3
"""jax.profiler on Strata: its programs and what they launch stand in the profile that JAX writes."""
import pathlib
import tempfile

import harness


def layers(x, w):
    import jax.numpy as jnp

    for _ in range(3):
        x = jnp.tanh(x @ w)
    return x


def traced(work):
    """The profile of work()."""
    import jax

    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            work()
        (file,) = pathlib.Path(folder).rglob("*.xplane.pb")
        return file.read_bytes()


def ours(profile):
    """Lines of Strata's planes, {plane: {line: [event]}}."""
    import jax

    planes = jax.profiler.ProfileData.from_serialized_xspace(profile).planes
    return {p.name: {line.name: list(line.events) for line in p.lines} for p in planes if p.name.startswith("/device:CUSTOM:Strata:")}


def step():
    import jax
    import numpy as np

    w = jax.device_put(np.full((256, 256), 0.01, np.float32), harness.device())
    f = jax.jit(layers)
    return lambda: jax.block_until_ready(f(w, w))


def test_a_program_and_its_launches():
    import numpy as np

    run = step()
    plain = np.asarray(run())
    results = []
    planes = ours(traced(lambda: results.extend(run() for _ in range(4))))
    assert all((np.asarray(r) == plain).all() for r in results), "a clock changes a bit"
    (lines,) = planes.values()
    runs = [e for e in lines["XLA Modules"] if e.name == "jit_layers"]
    assert len(runs) == 4, [e.name for e in lines["XLA Modules"]]
    for program in runs:
        end = program.start_ns + program.duration_ns
        inside = [e for e in lines["XLA Ops"] if program.start_ns <= e.start_ns and e.start_ns + e.duration_ns <= end + 1]
        assert len(inside) >= 3, [e.name for e in inside]
        assert 0 < sum(e.duration_ns for e in inside) <= program.duration_ns + 1
        assert all(dict(e.stats)["hlo_module"] == "jit_layers" for e in inside)


def test_the_hosts_clock():
    """Our events lie within what the host saw of the same work."""
    import jax

    run = step()
    run()

    def work():
        with jax.profiler.TraceAnnotation("seen_by_the_host"):
            run()

    profile = traced(work)
    (lines,) = ours(profile).values()
    (program,) = [e for e in lines["XLA Modules"] if e.name == "jit_layers"]
    host = [e for p in jax.profiler.ProfileData.from_serialized_xspace(profile).planes if p.name == "/host:CPU" for line in p.lines for e in line.events]
    (seen,) = [e for e in host if e.name == "seen_by_the_host"]
    assert seen.start_ns <= program.start_ns, (seen.start_ns, program.start_ns)
    assert program.start_ns + program.duration_ns <= seen.start_ns + seen.duration_ns + 1000


def test_runs_that_call_python_and_run_within_one_another():
    import jax
    import numpy as np

    inner = jax.jit(lambda x: x * 2 + 1)
    inner(jax.device_put(np.float32(1), harness.device()))

    def called(x):
        return np.asarray(inner(jax.device_put(np.asarray(x), harness.device())))

    def outer(x):
        return jax.pure_callback(called, jax.ShapeDtypeStruct((), np.float32), x) + 1

    f = jax.jit(outer)
    x = jax.device_put(np.float32(3), harness.device())
    assert f(x) == 8
    values = []
    (lines,) = ours(traced(lambda: values.extend(float(f(x)) for _ in range(3)))).values()
    assert values == [8, 8, 8]
    runs = [e for name, events in lines.items() if name.startswith("XLA Modules") for e in events if e.name == "jit_outer"]
    assert len(runs) == 3
    inside = [e for name, events in lines.items() if name.startswith("XLA Modules") for e in events if e.name.startswith("jit__lambda")]
    assert len(inside) == 3 and all(any(r.start_ns <= e.start_ns and e.start_ns + e.duration_ns <= r.start_ns + r.duration_ns for r in runs) for e in inside), lines
    for name, events in lines.items():  # one after the other, or one within another
        for e, after in zip(events, events[1:]):
            end = e.start_ns + e.duration_ns
            assert after.start_ns >= end or after.start_ns + after.duration_ns <= end, (name, e.name, after.name)


def test_one_profile_after_the_other():
    run = step()
    for _ in range(2):
        (lines,) = ours(traced(run)).values()
        assert len([e for e in lines["XLA Modules"] if e.name == "jit_layers"]) == 1


if __name__ == "__main__":
    harness.run(globals())
