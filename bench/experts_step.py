#!/usr/bin/env python3
"""A step of one layer of 64 experts, 8 of them active: ours (build/bin/experts-step) beside JAX's lax.ragged_dot, alternating.

    STRATA_BUILD=build bench/experts_step.py [--rounds N] [--tokens N] [--width N] [--hidden N]

Both sides compute the loss, the gradients of all weights and w - 0.01 g, from the same random numbers; the losses of the first
step are compared. Printed: the median over rounds of the medians of steps, and how many times JAX's time is ours.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXPERTS, ACTIVE = 64, 8


def layer(w, x):
  router, gate, up, down = w
  weights, experts = jax.lax.top_k(jax.nn.softmax(x @ router), ACTIVE)
  weights = weights / weights.sum(-1, keepdims=True)
  flat = experts.reshape(-1)
  order = jnp.argsort(flat)
  rows, sizes = x[order // ACTIVE], jnp.bincount(flat, length=EXPERTS)
  h = jax.nn.silu(jax.lax.ragged_dot(rows, gate, sizes)) * jax.lax.ragged_dot(rows, up, sizes)
  y = jax.lax.ragged_dot(h, down, sizes)[jnp.argsort(order)].reshape(*experts.shape, -1)
  return (y * weights[..., None]).sum(1)


@jax.jit
def step(w, x, y):
  loss, g = jax.value_and_grad(lambda w: jnp.mean((layer(w, x) - y) ** 2))(w)
  return loss, jax.tree.map(lambda a, b: a - 0.01 * b, w, g)


def jax_round(w, x, y, steps):
  times = []
  for _ in range(steps):
    begin = time.perf_counter()
    loss, w = jax.block_until_ready(step(w, x, y))
    times.append(1e3 * (time.perf_counter() - begin))
  return statistics.median(times)


def main():
  parser = argparse.ArgumentParser()
  for name, value in (("rounds", 3), ("tokens", 256), ("width", 128), ("hidden", 256), ("steps", 3)):
    parser.add_argument("--" + name, type=int, default=value)
  o = parser.parse_args()
  draw = lambda seed, shape: jax.random.normal(jax.random.key(seed), shape) * 0.1
  w = (draw(1, (o.width, EXPERTS)), draw(2, (EXPERTS, o.width, o.hidden)), draw(3, (EXPERTS, o.width, o.hidden)),
       draw(4, (EXPERTS, o.hidden, o.width)))
  x, y = draw(5, (o.tokens, o.width)), draw(6, (o.tokens, o.width))
  theirs_first = float(step(w, x, y)[0])
  program = [str(ROOT / os.environ.get("STRATA_BUILD", "build") / "bin/experts-step"), "--tokens", str(o.tokens), "--width", str(o.width),
             "--hidden", str(o.hidden), "--steps", str(o.steps)]
  ours, theirs, ours_first = [], [], 0
  for _ in range(o.rounds):
    first, ms = map(float, subprocess.run(program, check=True, capture_output=True, text=True).stdout.split())
    ours_first = first
    ours.append(ms)
    theirs.append(jax_round(w, x, y, o.steps))
  mine, other = statistics.median(ours), statistics.median(theirs)
  print(f"{o.tokens} tokens of width {o.width}, {EXPERTS} experts of {o.hidden}, {ACTIVE} active; first losses {ours_first:.7g} and {theirs_first:.7g}")
  print(f"ours {mine:.1f} ms, jax {jax.__version__} {other:.1f} ms, ratio {other / mine:.1f}")


if __name__ == "__main__":
  main()
