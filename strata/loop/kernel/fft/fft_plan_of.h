// Makes plans (fft_plan.h), and keeps those used last.
#pragma once

#include <cstdint>
#include <memory>

#include "strata/loop/kernel/fft/fft_plan.h"

namespace strata::loop::fft {

/// Plans used last are kept, up to some size in all. They hold nothing of any input. Needs n >= 1,
/// and n even where `real`.
template <class N>
std::shared_ptr<const Plan<N>> plan_of(std::int64_t n, bool real);

}  // namespace strata::loop::fft
