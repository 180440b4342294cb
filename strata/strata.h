// Everything a program needs to use arrays and transforms: `#include <strata/strata.h>`.
#pragma once

#include "strata/api/control.h"
#include "strata/api/custom.h"
#include "strata/api/grad.h"
#include "strata/api/index.h"
#include "strata/api/initializers.h"
#include "strata/api/jit.h"
#include "strata/api/lax.h"
#include "strata/api/nn.h"
#include "strata/api/numpy.h"
#include "strata/api/program.h"
#include "strata/api/random.h"
#include "strata/api/scipy/special.h"
#include "strata/api/vmap.h"
