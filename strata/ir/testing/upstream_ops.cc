#include "strata/ir/testing/upstream_ops.h"

#include "strata/ir/text/format_shardy.h"

namespace strata::ir::testing {
namespace {

struct Row {
  const TextFormat* format;
  const char* names;  // after the dialect, with spaces between
};

const Row kStablehlo[] = {
    {&formats::elementwise,
     "abs add and atan2 ceil clamp convert count_leading_zeros divide floor imag is_finite maximum "
     "minimum multiply negate not or popcnt power real remainder "
     "round_nearest_afz round_nearest_even shift_left shift_right_arithmetic shift_right_logical "
     "sign subtract xor uniform_quantize uniform_dequantize after_all"},
    {&formats::result_accuracy,
     "cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan "
     "tanh"},
    {&formats::compare, "compare"},
    {&formats::select, "select"},
    {&formats::complex, "complex"},
    {&formats::reduce_precision, "reduce_precision"},
    {&formats::typed_result, "create_token partition_id replica_id"},
    {&formats::get_tuple_element, "get_tuple_element"},
    {&formats::tuple, "tuple"},
    {&formats::constant, "constant"},
    {&formats::iota, "iota"},
    {&formats::dynamic_iota, "dynamic_iota"},
    {&formats::functional,
     "bitcast_convert dynamic_pad dynamic_reshape dynamic_update_slice real_dynamic_slice reshape"},
    {&formats::broadcast, "broadcast"},
    {&formats::broadcast_in_dim, "broadcast_in_dim"},
    {&formats::dynamic_broadcast_in_dim, "dynamic_broadcast_in_dim"},
    {&formats::transpose, "transpose"},
    {&formats::reverse, "reverse"},
    {&formats::slice, "slice"},
    {&formats::pad, "pad"},
    {&formats::concatenate, "concatenate"},
    {&formats::dynamic_slice, "dynamic_slice"},
    {&formats::get_dimension_size, "get_dimension_size"},
    {&formats::set_dimension_size, "set_dimension_size"},
    {&formats::optimization_barrier, "optimization_barrier"},
    {&formats::dot_general, "dot_general"},
    {&formats::dot, "dot"},
    {&formats::einsum, "einsum unary_einsum"},
    {&formats::convolution, "convolution"},
    {&formats::dynamic_conv, "dynamic_conv"},
    {&formats::reduce, "reduce"},
    {&formats::reduce_window, "reduce_window"},
    {&formats::select_and_scatter, "select_and_scatter"},
    {&formats::gather, "gather"},
    {&formats::dynamic_gather, "dynamic_gather"},
    {&formats::scatter, "scatter"},
    {&formats::sort, "sort"},
    {&formats::cholesky, "cholesky"},
    {&formats::triangular_solve, "triangular_solve"},
    {&formats::fft, "fft"},
    {&formats::rng, "rng"},
    {&formats::rng_bit_generator, "rng_bit_generator"},
    {&formats::batch_norm, "batch_norm_grad batch_norm_inference batch_norm_training"},
    {&formats::torch_index_select, "torch_index_select"},
    {&formats::while_, "while"},
    {&formats::custom_call, "custom_call"},
    {&formats::composite, "composite"},
    {&formats::collective,
     "all_gather all_to_all collective_broadcast collective_permute cross-replica-sum recv send"},
    {&formats::collective_reduce, "all_reduce collective_reduce reduce_scatter"},
    {nullptr, "case if infeed map outfeed"},
};

const Row kChlo[] = {
    {&formats::chlo_elementwise,
     "_asin_acos_kernel acos acosh asin asinh atan atanh bessel_i1e conj cosh digamma erf erf_inv "
     "erfc is_inf is_neg_inf is_pos_inf lgamma mulhi next_after polygamma "
     "sinh square tan zeta"},
    {&formats::functional,
     "broadcast_add broadcast_and broadcast_atan2 broadcast_complex broadcast_divide "
     "broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after "
     "broadcast_or broadcast_polygamma broadcast_power broadcast_remainder broadcast_select "
     "broadcast_shift_left broadcast_shift_right_arithmetic "
     "broadcast_shift_right_logical broadcast_subtract broadcast_xor broadcast_zeta"},
    {&formats::chlo_compare, "broadcast_compare"},
    {&formats::constant, "constant"},
    {&formats::constant_like, "constant_like"},
    {&formats::ragged_dot, "ragged_dot"},
    {&formats::chlo_scan, "scan"},
    {&formats::top_k, "top_k"},
};

const Row kSdy[] = {
    {&formats::sharding_constraint, "sharding_constraint reshard"},
    {&formats::propagation_barrier, "propagation_barrier"},
    {&formats::sharding_group, "sharding_group"},
    {&formats::manual_computation, "manual_computation"},
    {&formats::named_computation, "named_computation"},
};

class Upstream {
 public:
  Upstream() {
    for (const Row& r : kStablehlo) add("stablehlo.", r);
    for (const Row& r : kChlo) add("chlo.", r);
    for (const Row& r : kSdy) add("sdy.", r);
    add("func.", {&formats::call, "call"});
  }
  const Registry& registry() const { return registry_; }

 private:
  void add(const std::string& dialect, const Row& row) {
    std::string_view names = row.names;
    while (!names.empty()) {
      std::size_t end = std::min(names.find(' '), names.size());
      infos_.push_back({.name = dialect + std::string(names.substr(0, end)),
                        .infer = nullptr,
                        .isolated = row.format == &formats::chlo_scan,
                        .text = row.format});
      registry_.add(infos_.back());
      names.remove_prefix(std::min(end + 1, names.size()));
    }
  }
  std::deque<OpInfo> infos_;
  Registry registry_;
};

}  // namespace

const Registry& upstream_ops() {
  static const Upstream upstream;
  return upstream.registry();
}

}  // namespace strata::ir::testing
