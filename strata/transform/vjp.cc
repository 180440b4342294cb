#include "strata/transform/vjp.h"

#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/op/calculus/linearize.h"
#include "strata/op/calculus/support.h"
#include "strata/op/calculus/transpose.h"
#include "strata/transform/prune.h"
#include "strata/transform/support.h"

namespace strata::transform {
namespace {

using op::Value;
using op::Values;

// Emits results and cotangents of the active arguments; `seeds` makes the cotangents once the
// results are there.
template <class Seeds>
std::unique_ptr<ir::Block> pull_back(const ir::Block& f, const std::vector<bool>& active,
                                     Seeds&& seeds) {
  auto out = std::make_unique<ir::Block>();
  Values primals = add_arguments_of(*out, f);
  ir::Builder b(*out);
  op::LinearBlock l = op::linearize(b, f, primals, active);
  Values cotangents = seeds(b);
  Values ct = op::transpose(b, *l.linear, op::filter(cotangents, l.active));
  Values wanted = op::filter(primals, active);
  for (std::size_t i = 0; i < wanted.size(); ++i) ct[i] = op::or_zeros(b, ct[i], wanted[i]->type());
  out->results = op::joined(l.results, ct);
  prune(*out);
  return out;
}

}  // namespace

std::unique_ptr<ir::Block> vjp(const ir::Block& f, const std::vector<bool>& active,
                               std::vector<bool> seeded) {
  check_flags("vjp", "arguments", active.size(), static_cast<std::size_t>(f.num_arguments()));
  if (seeded.empty()) seeded = inexact(f.results);
  check_flags("vjp", "results", seeded.size(), f.results.size());
  return pull_back(f, active, [&](ir::Builder& b) {
    Values cotangents;
    for (std::size_t i = 0; i < seeded.size(); ++i)
      cotangents.push_back(seeded[i] ? b.block().add_argument(f.results[i]->type()) : nullptr);
    return cotangents;
  });
}

std::unique_ptr<ir::Block> value_and_grad(const ir::Block& f, const std::vector<bool>& active) {
  check_flags("grad", "arguments", active.size(), static_cast<std::size_t>(f.num_arguments()));
  if (f.results.empty() || f.results[0]->rank() != 0 ||
      !op::is_differentiable(f.results[0]->type()))
    throw Error("grad", "the function must return a real or complex scalar, got {}",
                f.results.empty() ? std::string("nothing") : f.results[0]->type().to_string());
  return pull_back(f, active, [&](ir::Builder& b) {
    Values cotangents(f.results.size(), nullptr);
    cotangents[0] = op::constant(b, f.results[0]->type(), 1);
    return cotangents;
  });
}

}  // namespace strata::transform
