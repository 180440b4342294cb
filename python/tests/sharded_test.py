#!/usr/bin/env python3
"""One program over eight devices as JAX states it: jit with shardings, shard_map and its collectives, pmap, unreduced sums, exports."""
import harness

CODE = """
import strata_jax
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

devices = jax.devices()
assert len(devices) == 8 and strata_jax.is_strata(devices[0]), devices
rng = np.random.default_rng(0)
auto = jax.make_mesh((2, 4), ('x', 'y'), axis_types=(AxisType.Auto,) * 2)
line = jax.make_mesh((8,), ('i',), axis_types=(AxisType.Auto,))
a, w = rng.normal(size=(16, 32)).astype(np.float32), rng.normal(size=(32, 8)).astype(np.float32)

# Products, cut along rows and along what is summed up; what JAX is told of the results.
put = lambda v, *spec: jax.device_put(v, NamedSharding(auto, P(*spec)))
product = jax.jit(lambda a, w: jnp.tanh(a @ w))
got = product(put(a, 'x', 'y'), put(w, 'y', None))
np.testing.assert_allclose(got, np.tanh(a @ w), rtol=1e-5, atol=1e-6)
assert got.sharding.is_equivalent_to(NamedSharding(auto, P('x', None)), 2), got.sharding
out = jax.jit(lambda a: a * 2, out_shardings=NamedSharding(auto, P('y', 'x')))(put(a, 'x', 'y'))
assert [s.data.shape for s in out.addressable_shards] == [(4, 16)] * 8
np.testing.assert_array_equal(out, a * 2)
text = product.lower(put(a, 'x', 'y'), put(w, 'y', None)).compile().as_text()
assert 'all-reduce' in text and 'f32[8,8]' in text, text

# Results whose sizes only a part of the mesh divides: JAX hears of whole axes, and computes on with them.
rows = rng.normal(size=(16, 24)).astype(np.float32)
wide_w = rng.normal(size=(24, 32)).astype(np.float32)
whole = NamedSharding(line, P())
cut_rows, cut_w = jax.device_put(rows, NamedSharding(line, P('i'))), jax.device_put(wide_w, NamedSharding(line, P(None, 'i')))
for name, f, sharding in [
    ('slice', lambda x: x[:12], whole),
    ('reshape', lambda x: x.reshape(4, 4, 24), whole),
    ('split', lambda x: (x[:12], x[12:]), whole),
    ('pad', lambda x: jnp.pad(x, ((1, 3), (0, 0))), whole),
    ('rows that divide', lambda x: x[:8] * 2, NamedSharding(line, P('i'))),
    ('gradient', jax.grad(lambda x: (x[:12] ** 2).sum()), None),
]:
    got, want = jax.jit(f)(cut_rows), f(jnp.asarray(rows))
    for a_got, a_want in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_array_equal(a_got, a_want, err_msg=name)
        np.testing.assert_array_equal(a_got + 1, a_want + 1, err_msg=name)
        assert isinstance(a_got.sharding, NamedSharding), (name, a_got.sharding)
        assert sharding is None or a_got.sharding.is_equivalent_to(sharding, a_got.ndim), (name, a_got.sharding)
np.testing.assert_array_equal(cut_rows[3:9], rows[3:9])
for part, want in zip(jnp.split(cut_rows, 4), np.split(rows, 4), strict=True):
    np.testing.assert_array_equal(part, want)
heads = jax.jit(lambda x, w: (x @ w).reshape(16, 4, 8))(rows, cut_w)
np.testing.assert_allclose(heads, (rows @ wide_w).reshape(16, 4, 8), rtol=1e-5, atol=1e-5)

# The same bits from run to run: sums go in the devices' order.
first = np.asarray(product(put(a, 'x', 'y'), put(w, 'y', None)))
for _ in range(20):
    assert (np.asarray(product(put(a, 'x', 'y'), put(w, 'y', None))) == first).all()

# Gradients and a loop with a collective in it.
def loss(w, a):
    def turn(c, _):
        return jnp.tanh(a @ w @ c), ()
    return lax.scan(turn, w.T @ w, None, length=3)[0].sum()
square = rng.normal(size=(8, 8)).astype(np.float32) / 4
wide = jax.grad(loss)
want = wide(jnp.asarray(square), jnp.asarray(square))
np.testing.assert_allclose(jax.jit(wide)(put(square, 'x', 'y'), put(square, 'y', 'x')), want, rtol=2e-4, atol=2e-5)

# shard_map: each collective.
v = np.arange(64, dtype=np.float32).reshape(8, 8)
mapped = lambda f, out=P('i'): np.asarray(jax.jit(jax.shard_map(f, mesh=line, in_specs=P('i'), out_specs=out, check_vma=False))(v))
np.testing.assert_array_equal(mapped(lambda x: lax.psum(x, 'i'), P()), v.sum(0, keepdims=True))
np.testing.assert_array_equal(mapped(lambda x: lax.pmax(x, 'i'), P()), v.max(0, keepdims=True))
np.testing.assert_array_equal(mapped(lambda x: lax.all_gather(x, 'i', tiled=True), P()), v)
np.testing.assert_array_equal(mapped(lambda x: lax.psum_scatter(x, 'i', scatter_dimension=1, tiled=True), P(None, 'i')), v.sum(0, keepdims=True))
np.testing.assert_array_equal(mapped(lambda x: lax.all_to_all(x, 'i', 1, 0, tiled=True), P('i')), v.T.reshape(64, 1))
np.testing.assert_array_equal(mapped(lambda x: lax.ppermute(x, 'i', [(k, (k + 3) % 8) for k in range(8)])), np.roll(v, 3, axis=0))
np.testing.assert_array_equal(mapped(lambda x: x + lax.axis_index('i')), v + np.arange(8)[:, None])
np.testing.assert_array_equal(mapped(lambda x: lax.psum(x, 'i', axis_index_groups=[[0, 2], [1, 3], [4, 5], [6, 7]]))[1], v[1] + v[3])

# Ragged: device k sends k + 1 rows to each.
def ragged(x):
    k = lax.axis_index('i')
    sizes = jnp.full(8, 1, jnp.int32) * (k + 1)
    starts = jnp.arange(8, dtype=jnp.int32) * 0
    targets = jnp.full(8, 1, jnp.int32) * (k * (k + 1) // 2)
    return lax.ragged_all_to_all(jnp.broadcast_to(x[0, 0], (8,)), jnp.zeros(36), starts, sizes, targets, jnp.arange(1, 9, dtype=jnp.int32), axis_name='i')
assert (mapped(ragged).reshape(8, 36) == np.repeat(v[:, 0], range(1, 9))).all()

# pmap.
np.testing.assert_array_equal(jax.pmap(lambda x: lax.psum(x, 'i'), axis_name='i')(v), np.broadcast_to(v.sum(0), (8, 8)))

# Sums that are left undone until they are wanted.
explicit = jax.make_mesh((8,), ('x',))
with jax.set_mesh(explicit):
    left, right = jax.device_put(v, P(None, 'x')), jax.device_put(v, P('x', None))
    undone = jax.jit(lambda p, q: jnp.einsum('ij,jk->ik', p, q, out_sharding=P(None, None, unreduced={'x'})))(left, right)
    np.testing.assert_array_equal(jax.jit(lambda u: jax.sharding.reshard(u, P()))(undone), v @ v)

# Donation, and a program that was exported.
give = jax.jit(lambda a: a + 1, donate_argnums=0)
given = put(a, 'x', 'y')
kept = give(given)
assert given.is_deleted()
np.testing.assert_array_equal(kept, a + 1)
from jax import export
exported = export.export(product)(put(a, 'x', 'y'), put(w, 'y', None))
assert exported.nr_devices == 8
np.testing.assert_array_equal(exported.call(put(a, 'x', 'y'), put(w, 'y', None)), first)
print("done")
"""


def test_one_program_over_eight_devices():
    platform = "cpu" if harness.os.environ.get("STRATA_JAX") == "drop-in" else "strata"
    code = CODE if platform == "cpu" else CODE.replace("jax.devices()", "jax.devices('strata')")
    printed, log, status = harness.python(code, harness.os.environ["STRATA_JAX"], STRATA_JAX_DEVICES="8")
    assert status == 0 and printed == "done\n", log


if __name__ == "__main__":
    harness.run(globals())
