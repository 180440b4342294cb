#!/usr/bin/env python3
"""Trains a small classifier of digits with JAX and exports it: what a service in C++ runs afterwards, without Python.

    python3 examples/digits/export.py            # writes digits.jax, digits.txt and expected.txt beside itself
    python3 examples/digits/export.py --check    # says whether expected.txt is what digits.jax gives in JAX

digits.jax: what jax.export serialises, of classify(pictures: f32[b,8,8]) -> (digit: i32[b], probability: f32[b,10]) for any b; the weights
are inside. digits.txt: pictures of "." and "#". expected.txt: digit and probability of each, by JAX. Needs jax 0.10.2.
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

HERE = pathlib.Path(__file__).resolve().parent
HIDDEN, SEED = 24, 7

# No machine's folders in what is written.
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")

# Five columns by seven rows, a number of five bits a row.
FONT = """
0e 11 13 15 19 11 0e  04 0c 04 04 04 04 0e  0e 11 01 02 04 08 1f  1f 02 04 02 01 11 0e  02 06 0a 12 1f 02 02
1f 10 1e 01 01 11 0e  06 08 10 1e 11 11 0e  1f 01 02 04 08 08 08  0e 11 11 0e 11 11 0e  0e 11 11 0f 01 02 0c
"""
SHAPES = np.array([int(word, 16) for word in FONT.split()]).reshape(10, 7)
SHAPES = (SHAPES[:, :, None] >> np.arange(4, -1, -1) & 1).astype(np.float32)


def drawn(random, count, flips):
    """Pictures of 8 x 8 with their digits: the letter somewhere, some dots wrong."""
    digits = random.integers(0, 10, count)
    pictures = np.zeros((count, 8, 8), np.float32)
    for picture, digit, down, right in zip(pictures, digits, random.integers(0, 2, count), random.integers(0, 4, count)):
        picture[down : down + 7, right : right + 5] = SHAPES[digit]
    wrong = random.random(pictures.shape) < flips
    return np.where(wrong, 1 - pictures, pictures), digits.astype(np.int32)


def scores(params, pictures):
    x = pictures.reshape(pictures.shape[0], 64)
    x = jnp.tanh(x @ params["w1"] + params["b1"])
    return x @ params["w2"] + params["b2"]


def trained():
    random = np.random.default_rng(SEED)
    one, two = jax.random.split(jax.random.key(SEED))
    params = {
        "w1": jax.random.normal(one, (64, HIDDEN)) / 8,
        "b1": jnp.zeros(HIDDEN),
        "w2": jax.random.normal(two, (HIDDEN, 10)) / 5,
        "b2": jnp.zeros(10),
    }

    def loss(params, pictures, digits):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores(params, pictures)), digits[:, None], 1))

    step = jax.jit(lambda p, x, y: jax.tree.map(lambda p, g: p - 0.5 * g, p, jax.grad(loss)(p, x, y)))
    for _ in range(3000):
        params = step(params, *drawn(random, 128, 0.03))
    return params, random


def text_of(pictures):
    return "\n".join("\n".join("".join(".#"[int(dot)] for dot in row) for row in picture) + "\n" for picture in pictures)


def pictures_of(text):
    rows = [row for row in text.split("\n") if row]
    return np.array([[dot == "#" for dot in row] for row in rows], np.float32).reshape(-1, 8, 8)


def expected(classify, pictures):
    answer = classify(pictures=pictures)
    return "".join(f"{d} {100 * float(p[d]):.2f} %\n" for d, p in zip(answer["digit"], answer["probability"]))


def main():
    model, pictures, answers = HERE / "digits.jax", HERE / "digits.txt", HERE / "expected.txt"
    if "--check" not in sys.argv[1:]:
        params, random = trained()

        def classify(pictures):
            probability = jax.nn.softmax(scores(params, pictures))
            return {"digit": jnp.argmax(probability, 1).astype(jnp.int32), "probability": probability}

        (b,) = export.symbolic_shape("b")
        exported = export.export(jax.jit(classify))(pictures=jax.ShapeDtypeStruct((b, 8, 8), np.float32))
        model.write_bytes(bytes(exported.serialize()))
        pictures.write_text(text_of(drawn(random, 12, 0.03)[0]))
    call = export.deserialize(bytearray(model.read_bytes())).call
    found = expected(call, pictures_of(pictures.read_text()))
    if "--check" not in sys.argv[1:]:
        answers.write_text(found)
    elif answers.read_text() != found:
        sys.exit(f"{answers} is not what JAX {jax.__version__} gives")


if __name__ == "__main__":
    main()
