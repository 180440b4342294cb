// A few operations for the tests of this room, which may not know the real ones (they stand in
// op/).
#pragma once

#include <initializer_list>

#include "strata/base/error.h"
#include "strata/ir/graph.h"
#include "strata/ir/text/format.h"

namespace strata::ir::testing {

inline std::vector<Type> same_type(std::span<Value* const> operands, const Attrs&,
                                   std::span<const std::unique_ptr<Block>>) {
  for (Value* v : operands)
    if (v->type() != operands[0]->type())
      throw Error("test", "operands differ: {} and {}", operands[0]->type().to_string(),
                  v->type().to_string());
  return {operands[0]->type()};
}

/// Registers, once a process: add, multiply, constant, reduce, while, func.call, test.isolated (a
/// region over its operands), test.attribute (needs an integer `results`), test.effect.
inline void register_test_ops() {
  static const OpInfo ops[] = {
      {.name = "stablehlo.add", .infer = same_type, .text = &formats::elementwise},
      {.name = "stablehlo.multiply", .infer = same_type, .text = &formats::elementwise},
      {.name = "stablehlo.constant",
       .infer = [](auto, const Attrs& a,
                   auto) { return std::vector<Type>{a.get<Literal>("value").type()}; },
       .text = &formats::constant},
      {.name = "stablehlo.reduce",
       .infer = [](auto operands, const Attrs&,
                   auto) { return std::vector<Type>{Type::scalar(operands[0]->dtype())}; },
       .text = &formats::reduce},
      {.name = "stablehlo.while",
       .infer =
           [](auto operands, const Attrs&, auto) {
             std::vector<Type> out;
             for (Value* v : operands) out.push_back(v->type());
             return out;
           },
       .text = &formats::while_},
      {.name = "func.call", .text = &formats::call},
      {.name = "test.isolated",
       .infer =
           [](auto, const Attrs&, auto regions) {
             if (regions.size() != 1)
               throw Error("test.isolated", "has {} regions", regions.size());
             return regions[0]->result_types();
           },
       .isolated = true},
      {.name = "test.attribute",
       .infer =
           [](auto, const Attrs& a, auto) {
             return std::vector<Type>(static_cast<std::size_t>(a.get<std::int64_t>("results")));
           }},
      {.name = "test.effect",
       .infer = [](auto, const Attrs&, auto) { return std::vector<Type>{}; },
       .has_effect = true},
  };
  static const bool once = [] {
    for (const OpInfo& op : ops) Registry::global().add(op);
    return true;
  }();
  (void)once;
}

}  // namespace strata::ir::testing
