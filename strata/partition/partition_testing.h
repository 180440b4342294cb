// What tests of this room share: a partitioned program run on all its devices by the reference
// evaluator.
#pragma once

#include <vector>

#include "strata/op/def.h"
#include "strata/partition/partition.h"

namespace strata::op {
struct World;
}

namespace strata::spmd {

/// The results of the program on whole arguments, of whole types `results`, put together from the
/// devices'. Throws strata::Error when devices that hold copies differ.
op::Literals run_on_devices(const op::Block& body, const Grid& grid,
                            const std::vector<Layout>& argument_layouts,
                            const std::vector<Layout>& result_layouts,
                            const std::vector<Type>& results, const op::Literals& arguments,
                            op::World& world);
op::Literals run_on_devices(const op::Block& whole, const Partitioned& program, const Grid& grid,
                            const op::Literals& arguments, op::World& world);

}  // namespace strata::spmd
