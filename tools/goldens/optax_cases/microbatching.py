"""Functions over a batch in parts: which rows a part has, how results are joined."""
import jax.numpy as jnp
import optax

from .arrays import Numbers
from .calls import named
from .kinds import Function

TYPES = ("SUM", "MEAN", "RUNNING_MEAN", "CONCAT")
ROWS = jnp.arange(12, dtype=jnp.float32).reshape(6, 2)
BATCH, PARAMS = Numbers(21, (6, 3)), Numbers(22, (3,))
MODULE = optax.microbatching


def reshape(name, x, **options):
    return Function(name, "microbatching.reshape_batch_axis", {"tree": x}, options)


def batched(name, fun, accumulator, size, real=None, function="microbatch"):
    """`fun` of params and a batch; the batch is what is cut."""
    def run(params, batch, fun, accumulator, microbatch_size, num_real_microbatches):
        more = {"accumulator": MODULE.AccumulationType[accumulator], "microbatch_size": microbatch_size,
                "num_real_microbatches": num_real_microbatches}
        if function == "micro_vmap":
            return MODULE.micro_vmap(fun, (None, 0), **more)(params, batch)
        if function == "micro_grad":
            return MODULE.micro_grad(fun, batch_argnums=1, **more)(params, batch)
        return MODULE.microbatch(fun, 1, **more)(params, batch)

    options = {"fun": named(fun), "accumulator": accumulator, "microbatch_size": size, "num_real_microbatches": real}
    return Function(name, f"microbatching.{function}", {"params": PARAMS, "batch": BATCH}, options, run=run)


CASES = [
    reshape("reshape", ROWS, microbatch_size=2),
    reshape("reshape_one", ROWS, microbatch_size=1),
    reshape("reshape_all", ROWS, microbatch_size=6),
    reshape("reshape_axis", {"x": ROWS.T, "y": Numbers(23, (2, 6, 2))}, microbatch_size=3, axis=1),
    *[batched(f"microbatch_{kind}_{size}", "per_row_all" if kind == "CONCAT" else "per_row", kind, size)
      for kind in TYPES for size in (2, 3)],
    batched("microbatch_whole", "per_row", "SUM", None),
    batched("microbatch_two_real", "per_row", "RUNNING_MEAN", 2, 2),
    batched("microbatch_sum_two_real", "per_row_sum", "SUM", 2, 2),
    *[batched(f"micro_vmap_{kind}", "one_row", kind, 2, function="micro_vmap") for kind in TYPES],
    batched("micro_vmap_whole", "one_row", "CONCAT", None, function="micro_vmap"),
    *[batched(f"micro_grad_{kind}", "per_row", kind, 3, function="micro_grad") for kind in TYPES],
    batched("micro_grad_whole", "per_row_sum", "MEAN", None, function="micro_grad"),
]
