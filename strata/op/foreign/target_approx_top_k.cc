// @ApproxTopK: the k greatest or least elements along a dimension and where they stood, at some
// recall. All of them are an answer with the best recall there is, so this gives the first ones in
// order.
//
// Operands [x, positions, a number to begin with, a position to begin with]; in
// `mhlo.backend_config`: reduction_dim, top_k and what is about speed alone. The comparator is
// named in `called_computations`, as JAX names it: top_k_gt_..., top_k_lt_.... Of
// @stablehlo.dynamic_approx_top_k a fifth operand is k, which the results' shapes say, too.
#include "strata/op/build.h"
#include "strata/op/foreign/foreign_attributes.h"
#include "strata/op/foreign/target.h"
#include "strata/op/sort/sort.h"
#include "strata/op/sort/sort_key.h"

namespace strata::op {
namespace {

[[noreturn]] void refuse(const Op& op, const char* why) {
  throw Error("custom_call", "@ApproxTopK {}", why).unsupported().at(op.where.text());
}

bool descends(const Op& op) {
  const ir::Attr* called = op.attrs.find("called_computations");
  const auto* names = called ? std::get_if<ir::Opaque>(called) : nullptr;
  if (names && names->text.find("@top_k_gt") != std::string::npos) return true;
  if (names && names->text.find("@top_k_lt") != std::string::npos) return false;
  refuse(op, "compares by a function that is not JAX's");
}

}  // namespace

Values compose_approx_top_k(Builder& b, const Op& op, std::span<Value* const> operands) {
  const bool by_operand =
      op.attr<std::string>("call_target_name") == "stablehlo.dynamic_approx_top_k";
  if (operands.size() != (by_operand ? 5 : 4) || op.num_results() != 2 ||
      operands[0]->rank() == 0 || is_complex(operands[0]->dtype()))
    refuse(op, "takes one array and its positions");
  Result<foreign::Dictionary> config = foreign::attributes_of(op.attrs);
  if (!config)
    throw Error("custom_call", "@ApproxTopK: {}", config.status().message()).at(op.where.text());
  const foreign::Attribute* stated = config->find("reduction_dim");
  std::optional<std::int64_t> dim = stated ? stated->integer() : std::nullopt;
  if (!dim || *dim < 0 || *dim >= operands[0]->rank())
    refuse(op, "needs a reduction_dim within its operand");
  auto d = static_cast<int>(*dim);
  std::int64_t kept = op.result()->shape()[d];
  if (kept > operands[0]->shape()[d] ||
      !(operands[0]->type().with(op.result()->shape()) == op.result()->type()))
    refuse(op, "keeps more than there is");
  if (descends(op) && kept <= kFewKept) {
    int last = operands[0]->rank() - 1;
    Values top =
        b.create("chlo.top_k", {move_dim(b, operands[0], d, last)}, {{"k", kept}}).results();
    Value* positions = take_along(b, move_dim(b, operands[1], d, last), top[1], last);
    return {move_dim(b, top[0], last, d), move_dim(b, positions, last, d)};
  }
  return first_sorted(b, {operands[0], operands[1]}, d, descends(op), kept);
}

}  // namespace strata::op
