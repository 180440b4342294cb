#include "strata/compile/plan/loop_parallelism.h"

#include "strata/compile/plan/launch_cost.h"

namespace strata::compile {
namespace {

/// Lanes of 32 bits that one thread works on in two microseconds or more. To hand work to a thread
/// that waits for it and to wait for that thread takes 0.3 to 0.5 of one.
constexpr double kBriefWork = 1e5;

bool is_worth_threads(const loop::Kernel& kernel) {
  return kernel.grid >= 2 && lanes_of(cost_of(kernel)) > kBriefWork;
}

void spread(Plan& plan, Steps& steps, bool in_loop) {
  for (Step& step : steps) {
    if (auto* launch = std::get_if<Launch>(&step.what); launch && in_loop && !launch->parallel) {
      launch->parallel = launch->brief =
          is_worth_threads(*plan.kernels[static_cast<std::size_t>(launch->kernel)]);
    } else if (auto* counted = std::get_if<CountedLoop>(&step.what)) {
      spread(plan, counted->body, in_loop || counted->count > 1);
    } else if (auto* loop = std::get_if<WhileLoop>(&step.what)) {
      spread(plan, loop->condition, true);
      spread(plan, loop->body, true);
    } else if (auto* branch = std::get_if<Branch>(&step.what)) {
      for (Steps& side : branch->branches) spread(plan, side, in_loop);
    }
  }
}

}  // namespace

void parallelize_launches_in_loops(Plan& plan) { spread(plan, plan.steps, false); }

}  // namespace strata::compile
