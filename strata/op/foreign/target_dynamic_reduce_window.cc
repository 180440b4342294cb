// @stablehlo.dynamic_reduce_window: reduce_window whose windows operands hold, as JAX writes
// cumulative operations and pooling over open dimensions.
//
// Operands [inputs..., initial values..., window_dimensions, window_strides, base_dilations,
// window_dilations, padding (two for each dimension)]; the reduction is the function that
// `called_computations` names, which ir/pass/inline_calls.cc has made the call's region.
#include "strata/ir/text/combiner_text.h"
#include "strata/op/foreign/target.h"
#include "strata/op/reduce/windows.h"
#include "strata/op/rules.h"
#include "strata/op/shape/refine.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "dynamic_reduce_window";
constexpr std::size_t kLists = 5;

[[noreturn]] void refuse(const Op& op, const std::string& why) {
  throw Error("custom_call", "@stablehlo.{}: {}", kSelf, why).at(op.where.text());
}

WindowDims dims_of(const Op& op, std::span<Value* const> lists, int rank) {
  WindowDims d;
  Ints padding;
  for (auto [to, list, name] :
       {std::tuple(&d.size, 0, "window_dimensions"), std::tuple(&d.stride, 1, "window_strides"),
        std::tuple(&d.base_dilation, 2, "base_dilations"),
        std::tuple(&d.window_dilation, 3, "window_dilations"),
        std::tuple(&padding, 4, "padding")}) {
    *to = expect_known(kSelf, name, lists[static_cast<std::size_t>(list)]);
    const int wanted = list == 4 ? 2 * rank : rank;
    if (to->size() != static_cast<std::size_t>(wanted))
      refuse(op, fmt::format("{} has {} entries, not {}: {} for each of {} dimensions", name,
                             to->size(), wanted, list == 4 ? "two" : "one", rank));
  }
  for (std::size_t i = 0; i < padding.size(); ++i)
    (i % 2 == 0 ? d.low : d.high).push_back(padding[i]);
  return d;
}

}  // namespace

std::vector<int> dynamic_reduce_window_needs(const Op& op) {
  std::vector<int> out;
  const int n = static_cast<int>(op.operands.size()), lists = static_cast<int>(kLists);
  for (int i = std::max(0, n - lists); i < n; ++i) out.push_back(i);
  return out;
}

Values compose_dynamic_reduce_window(Builder& b, const Op& op, std::span<Value* const> operands) {
  const std::size_t n = static_cast<std::size_t>(op.num_results());
  if (n == 0 || operands.size() != 2 * n + kLists)
    refuse(op, "takes inputs, as many initial values, and five lists, for as many results");
  if (op.regions.size() != 1)
    refuse(op, "reduces by the one function that called_computations names, which must be here");
  std::vector<std::unique_ptr<Block>> regions;
  std::string word = n == 1 && operands[0]->type().is_tensor()
                         ? ir::recognise_combiner(op.region(0), operands[0]->dtype())
                         : "region";
  if (word == "assign") word = "region";
  if (word == "region") regions.push_back(ir::clone(op.region(0)));
  Attrs attrs{{"combiner", word}};
  set_window_attrs(attrs, dims_of(op, operands.subspan(2 * n), operands[0]->rank()));
  Values arrays(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(2 * n));
  Values results =
      b.create("stablehlo.reduce_window", arrays, std::move(attrs), std::move(regions)).results();
  for (std::size_t r = 0; r < n; ++r)
    if (!may_equal(results[r]->shape(), op.result(static_cast<int>(r))->shape()))
      throw Error("custom_call", "@stablehlo.{}: result {} is stated to be {}, but is {}", kSelf, r,
                  op.result(static_cast<int>(r))->type().to_string(),
                  results[r]->type().to_string())
          .at(op.where.text());
  return results;
}

}  // namespace strata::op
