#include "strata/transform/vmap.h"

#include "strata/base/error.h"
#include "strata/op/calculus/batch.h"
#include "strata/transform/support.h"

namespace strata::transform {

std::unique_ptr<ir::Block> vmap(const ir::Block& f, const std::vector<bool>& batched,
                                std::int64_t size) {
  return vmap(f, batched, size, std::vector<bool>(f.results.size(), true));
}

std::unique_ptr<ir::Block> vmap(const ir::Block& f, const std::vector<bool>& batched,
                                std::int64_t size, const std::vector<bool>& out) {
  check_flags("vmap", "arguments", batched.size(), static_cast<std::size_t>(f.num_arguments()));
  check_flags("vmap", "results", out.size(), f.results.size());
  op::BatchedBlock r = op::batch(f, batched, size, out);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (r.batched[i] && !out[i])
      throw Error("vmap", "result {} differs between the inputs, so it needs an output axis", i);
  return std::move(r.block);
}

}  // namespace strata::transform
