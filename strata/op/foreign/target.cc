#include "strata/op/foreign/target.h"

#include <algorithm>

namespace strata::op {

// Each in its own file.
Values compose_identity(Builder& b, const Op& op,
                        std::span<Value* const> operands);  // target_identity.cc
Values compose_sink(Builder& b, const Op& op, std::span<Value* const> operands);
Values compose_approx_top_k(Builder& b, const Op& op,
                            std::span<Value* const> operands);  // target_approx_top_k.cc
Values compose_allocate_buffer(Builder& b, const Op& op,
                               std::span<Value* const> operands);  // target_allocate_buffer.cc
Values compose_dynamic_reduce_window(  // target_dynamic_reduce_window.cc
    Builder& b, const Op& op, std::span<Value* const> operands);
std::vector<int> dynamic_reduce_window_needs(const Op& op);
Values compose_dynamic_rng_bit_generator(  // target_dynamic_rng_bit_generator.cc
    Builder& b, const Op& op, std::span<Value* const> operands);
std::vector<int> dynamic_rng_bit_generator_needs(const Op& op);
Values compose_dynamic_top_k(Builder& b, const Op& op,
                             std::span<Value* const> operands);  // target_dynamic_top_k.cc
std::vector<int> dynamic_top_k_needs(const Op& op);
Result<foreign::Bound> bind_qr(const foreign::Call& call);  // target_qr.cc
Result<foreign::Bound> bind_householder_product(const foreign::Call& call);
Result<foreign::Bound> bind_collective(const foreign::Call& call);  // collective_target.cc
bool is_lapack(std::string_view target);                            // lapack/target.cc
Result<foreign::Bound> bind_lapack(const foreign::Call& call);

const Target* find_target(std::string_view name) {
  static constexpr Target all[] = {
      {"AllocateBuffer", compose_allocate_buffer},
      {"ApproxTopK", compose_approx_top_k},
      {"ProductOfElementaryHouseholderReflectors", nullptr, bind_householder_product},
      {"Qr", nullptr, bind_qr},
      {"SPMDFullToShardShape", compose_identity},
      {"SPMDShardToFullShape", compose_identity},
      {"Sharding", compose_identity},
      {"annotate_device_placement", compose_identity},
      {"dce_sink", compose_sink},
      {"stablehlo.dynamic_approx_top_k", compose_approx_top_k},
      {"stablehlo.dynamic_reduce_window", compose_dynamic_reduce_window, nullptr,
       dynamic_reduce_window_needs},
      {"stablehlo.dynamic_rng_bit_generator", compose_dynamic_rng_bit_generator, nullptr,
       dynamic_rng_bit_generator_needs},
      {"stablehlo.dynamic_top_k", compose_dynamic_top_k, nullptr, dynamic_top_k_needs},
      {"strata.collective", nullptr, bind_collective},
  };
  static constexpr Target lapack{"lapack_*_ffi", nullptr, bind_lapack};
  if (is_lapack(name)) return &lapack;
  const Target* found =
      std::find_if(std::begin(all), std::end(all), [&](const Target& t) { return name == t.name; });
  return found == std::end(all) ? nullptr : found;
}

}  // namespace strata::op
