#include "strata/op/target.h"

#include <algorithm>

namespace strata::op {

// Each in its own file.
Values compose_identity(Builder& b, const Op& op,
                        std::span<Value* const> operands);  // target_identity.cc
Values compose_sink(Builder& b, const Op& op, std::span<Value* const> operands);
Values compose_approx_top_k(Builder& b, const Op& op,
                            std::span<Value* const> operands);  // target_approx_top_k.cc
Result<foreign::Bound> bind_qr(const foreign::Call& call);      // target_qr.cc
Result<foreign::Bound> bind_householder_product(const foreign::Call& call);
bool is_lapack(std::string_view target);  // lapack/target.cc
Result<foreign::Bound> bind_lapack(const foreign::Call& call);

const Target* find_target(std::string_view name) {
  static constexpr Target all[] = {
      {"ApproxTopK", compose_approx_top_k},
      {"ProductOfElementaryHouseholderReflectors", nullptr, bind_householder_product},
      {"Qr", nullptr, bind_qr},
      {"SPMDFullToShardShape", compose_identity},
      {"SPMDShardToFullShape", compose_identity},
      {"Sharding", compose_identity},
      {"annotate_device_placement", compose_identity},
      {"dce_sink", compose_sink},
  };
  static constexpr Target lapack{"lapack_*_ffi", nullptr, bind_lapack};
  if (is_lapack(name)) return &lapack;
  const Target* found =
      std::find_if(std::begin(all), std::end(all), [&](const Target& t) { return name == t.name; });
  return found == std::end(all) ? nullptr : found;
}

}  // namespace strata::op
