// The shape of samples, where the parameters have one of their own.
#pragma once

#include "strata/api/options.h"

namespace strata::random {

/// Left out (or `{}`): that of the parameters, broadcast against each other. Given, `3`, `{2, 3}`,
/// `Sizes{}` or a Shape, the parameters must broadcast to it.
using SampleShape = OptionalSizes;

}  // namespace strata::random
