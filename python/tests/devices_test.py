#!/usr/bin/env python3
"""Eight devices in one process: programs run on the one that their arguments lie on, arrays go from one to another."""
import harness

CODE = """
import strata_jax
import jax, jax.numpy as jnp, numpy as np
devices = jax.devices()
assert len(devices) == 8, devices
f = jax.jit(lambda x: jnp.sin(x) * 2 + x.sum())
host = np.arange(8, dtype=np.float32)
want = np.asarray(f(jax.device_put(host, devices[0])))
for d in devices:
    y = f(jax.device_put(host, d))
    assert y.devices() == {d}
    assert (np.asarray(y) == want).all(), d
square = jax.jit(lambda a: a @ a / 64, donate_argnums=0)
all_of = [jax.device_put(jnp.eye(128) * 8, d) for d in devices]
for i in range(10):
    all_of = [square(m) for m in all_of]
for m in all_of:
    assert (np.asarray(m) == np.asarray(all_of[0])).all()
# A copy of what is not there yet, whose source is given away right after.
for i in range(40):
    a = jax.device_put(jnp.full((256, 256), float(i)), devices[i % 8])
    b = square(a)
    c = jax.device_put(b, devices[(i + 1) % 8])
    d = square(b)
    e = jax.device_put(d, devices[0])
    r = i * i * 256 / 64
    assert np.allclose(np.asarray(c), r) and np.allclose(np.asarray(e), r * r * 256 / 64), i
try:
    f(jax.device_put(host, devices[1])) + jax.device_put(host, devices[2])
    raise SystemExit("arrays of two devices were taken")
except ValueError as error:
    assert "incompatible devices" in str(error), error
print("done")
"""



def test_eight_devices():
    out, err, status = harness.python(CODE, "drop-in", STRATA_JAX_DEVICES="8")
    assert status == 0 and out.strip().endswith("done"), out + err


if __name__ == "__main__":
    harness.run(globals(), modes=["drop-in"])
