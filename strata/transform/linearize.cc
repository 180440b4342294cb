#include "strata/transform/linearize.h"

#include "strata/op/build.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/transform/prune.h"
#include "strata/transform/support.h"

namespace strata::transform {

using op::Values;

Linear linearize(const ir::Block& f, const std::vector<bool>& active) {
  check_flags("linearize", "arguments", active.size(), static_cast<std::size_t>(f.num_arguments()));
  Linear out{std::make_unique<ir::Block>(), std::make_unique<ir::Block>(), 0};
  ir::Builder b(*out.known);
  op::LinearBlock l = op::linearize(b, f, add_arguments_of(*out.known, f), active);
  Values residuals = ir::captures(*l.linear), arguments;
  out.num_residuals = static_cast<int>(residuals.size());
  out.known->results = op::joined(l.results, residuals);

  ir::ValueMap map;
  for (op::Value* v : residuals) map.set(v, out.linear->add_argument(v->type()));
  for (const auto& a : l.linear->arguments())
    arguments.push_back(out.linear->add_argument(a->type()));
  ir::Builder lb(*out.linear);
  Values tangents = op::spread(ir::inline_block(lb, *l.linear, arguments, map), l.active);
  std::vector<bool> wanted = inexact(f.results);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i])
      out.linear->results.push_back(op::or_zeros(lb, tangents[i], f.results[i]->type()));
  prune(*out.known);
  prune(*out.linear);
  check_forward(*out.linear);
  return out;
}

std::unique_ptr<ir::Block> transpose(const ir::Block& f, const std::vector<bool>& linear) {
  check_flags("linear_transpose", "arguments", linear.size(),
              static_cast<std::size_t>(f.num_arguments()));
  auto out = std::make_unique<ir::Block>();
  Values operands, cotangents;
  for (std::size_t i = 0; i < linear.size(); ++i)
    operands.push_back(linear[i] ? nullptr
                                 : out->add_argument(f.argument(static_cast<int>(i))->type()));
  for (op::Value* v : f.results)
    cotangents.push_back(op::is_differentiable(v->type()) ? out->add_argument(v->type()) : nullptr);
  ir::Builder b(*out);
  Values ct = op::transpose(b, f, operands, linear, cotangents);
  for (std::size_t i = 0; i < linear.size(); ++i)
    if (linear[i])
      out->results.push_back(op::or_zeros(b, ct[i], f.argument(static_cast<int>(i))->type()));
  prune(*out);
  return out;
}

}  // namespace strata::transform
