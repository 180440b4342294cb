// Arrays and transforms alone: `#include <strata/core.h>`. For programs that are short of compile
// time, and for headers; `<strata/strata.h>` is this and the rooms above it.
#pragma once

// First, so that what a compiler says of a wrong function names few headers on its way.
// clang-format off
#include "strata/api/trace/function.h"
#include "strata/api/transform/jit.h"
// clang-format on

#include "strata/api/index.h"
#include "strata/api/initializers.h"
#include "strata/api/lax.h"
#include "strata/api/lax/fft.h"
#include "strata/api/lax/linalg.h"
#include "strata/api/lax/parallel.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/numpy/fft.h"
#include "strata/api/numpy/linalg.h"
#include "strata/api/ops.h"
#include "strata/api/program.h"
#include "strata/api/random.h"
#include "strata/api/scipy/linalg.h"
#include "strata/api/scipy/special.h"
#include "strata/api/sharding/devices.h"
#include "strata/api/transform/callback.h"
#include "strata/api/transform/control.h"
#include "strata/api/transform/custom.h"
#include "strata/api/transform/debug.h"
#include "strata/api/transform/grad.h"
#include "strata/api/transform/graph.h"
#include "strata/api/transform/implicit.h"
#include "strata/api/transform/jacobian.h"
#include "strata/api/transform/map.h"
#include "strata/api/transform/vmap.h"
#include "strata/api/tree.h"
