// @stablehlo.dynamic_rng_bit_generator: rng_bit_generator whose result's shape an operand holds.
//
// Operands [state, shape]; attribute `rng_algorithm`; results: the next state, the bits.
#include <fmt/ranges.h>

#include <algorithm>

#include "strata/op/foreign/target.h"
#include "strata/op/rules.h"
#include "strata/op/shape/refine.h"

namespace strata::op {
namespace {

constexpr const char* kSelf = "dynamic_rng_bit_generator";

std::string algorithm_of(const Op& op) {
  const ir::Attr* a = op.attrs.find("rng_algorithm");
  const auto* word = a ? std::get_if<std::string>(a) : nullptr;
  const auto* text = a ? std::get_if<ir::Opaque>(a) : nullptr;  // #stablehlo<rng_algorithm WORD>
  for (const char* name : {"DEFAULT", "THREE_FRY", "PHILOX"})
    if ((word && *word == name) || (text && text->text.find(name) != std::string::npos))
      return name;
  throw Error("custom_call", "@stablehlo.{} needs a rng_algorithm: DEFAULT, THREE_FRY or PHILOX",
              kSelf)
      .at(op.where.text());
}

}  // namespace

std::vector<int> dynamic_rng_bit_generator_needs(const Op& op) {
  return op.num_results() == 2 && is_dynamic(op.result(1)->type()) ? std::vector{1}
                                                                   : std::vector<int>{};
}

Values compose_dynamic_rng_bit_generator(Builder& b, const Op& op,
                                         std::span<Value* const> operands) {
  if (operands.size() != 2 || op.num_results() != 2 || !op.result(1)->type().is_tensor())
    throw Error("custom_call", "@stablehlo.{} takes a state and a shape for a state and bits",
                kSelf)
        .at(op.where.text());
  Type bits = op.result(1)->type();
  if (is_dynamic(bits)) {
    Ints sizes = expect_known(kSelf, "the result's shape", operands[1]);
    if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n < 0; }) ||
        !may_equal(bits.shape(), Shape::of(sizes)))
      throw Error("custom_call", "@stablehlo.{}: bits of {} cannot have the shape [{}]", kSelf,
                  bits.to_string(), fmt::join(sizes, ", "))
          .at(op.where.text());
    bits = bits.with(Shape::of(sizes));
  }
  return b
      .create(def("stablehlo.rng_bit_generator").info, {operands[0]},
              {{"rng_algorithm", algorithm_of(op)}}, {}, {operands[0]->type(), bits})
      .results();
}

}  // namespace strata::op
