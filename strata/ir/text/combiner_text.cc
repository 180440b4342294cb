#include "strata/ir/text/combiner_text.h"

namespace strata::ir {
namespace {

struct Row {
  std::string_view combiner, operation;
};
constexpr Row kRows[] = {{"add", "stablehlo.add"},     {"mul", "stablehlo.multiply"},
                         {"min", "stablehlo.minimum"}, {"max", "stablehlo.maximum"},
                         {"and", "stablehlo.and"},     {"or", "stablehlo.or"},
                         {"xor", "stablehlo.xor"}};

}  // namespace

std::string_view combiner_operation(std::string_view combiner) {
  for (const Row& r : kRows)
    if (r.combiner == combiner) return r.operation;
  return {};
}

std::string_view combiner_of_operation(std::string_view operation) {
  for (const Row& r : kRows)
    if (r.operation == operation) return r.combiner;
  return {};
}

std::string recognise_combiner(const Block& region, DType dtype) {
  const std::string other = "region";
  Type scalar = Type::scalar(dtype);
  if (region.num_arguments() != 2 || region.argument(0)->type() != scalar ||
      region.argument(1)->type() != scalar || region.results.size() != 1)
    return other;
  if (region.ops().empty()) return region.results[0] == region.argument(1) ? "assign" : other;
  if (region.ops().size() != 1) return other;
  const Op& op = *region.ops()[0];
  std::string_view combiner = combiner_of_operation(op.name());
  bool plain = !combiner.empty() && op.num_results() == 1 && region.results[0] == op.result() &&
               op.result()->type() == scalar && op.operands.size() == 2 &&
               op.operand(0) == region.argument(0) && op.operand(1) == region.argument(1);
  return plain ? std::string(combiner) : other;
}

std::unique_ptr<Block> combiner_region(std::string_view combiner, DType dtype) {
  auto block = std::make_unique<Block>();
  Value* a = block->add_argument(Type::scalar(dtype));
  Value* b = block->add_argument(Type::scalar(dtype));
  if (combiner == "assign") {
    block->results = {b};
    return block;
  }
  const OpInfo* info = Registry::global().find(combiner_operation(combiner));
  STRATA_CHECK(info != nullptr, "no operation for combiner '{}'", combiner);
  Builder builder(*block);
  block->results = {builder.create(*info, {a, b}, {}, {}, {Type::scalar(dtype)}).result()};
  return block;
}

}  // namespace strata::ir
