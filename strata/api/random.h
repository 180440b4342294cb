// Random numbers of jax.random, from explicit keys; bits equal JAX's.
//
//   random::Key key = random::key(0);
//   auto [k1, k2] = random::split(key);
//   Array w = random::normal(k1, {256, 128}) * 0.02f;
//
// The same key always gives the same numbers: split before each use. bits, uniform, randint, split,
// permutation, choice and bernoulli equal JAX's bit for bit (a range is applied by a product and a
// sum, each rounded, which XLA contracts: there the last bit may differ); the others apply
// functions that are within an ulp or two of the truth to the same uniform numbers. Source:
// jax/_src/random/ (0.10.2).
#pragma once

#include "strata/api/random/arrangement.h"
#include "strata/api/random/basic.h"
#include "strata/api/random/continuous.h"
#include "strata/api/random/discrete.h"
#include "strata/api/random/gamma.h"
#include "strata/api/random/key.h"
#include "strata/api/random/matrices.h"
