// Functions of jax.nn.
#pragma once

#include "strata/api/nn/attention.h"
#include "strata/api/nn/functions.h"
#include "strata/api/nn/scaled_dot.h"
#include "strata/api/numpy.h"
