#include "strata/compile/plan/launch_grain.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "strata/compile/plan/launch_cost.h"

namespace strata::compile {
namespace {

class Grains {
 public:
  explicit Grains(Plan& plan) : plan_(plan) {}

  void choose(Steps& steps) {
    for (Step& step : steps) {
      if (auto* launch = std::get_if<Launch>(&step.what)) {
        if (launch->parallel) launch->grain = grain(launch->kernel);
      } else if (auto* counted = std::get_if<CountedLoop>(&step.what)) {
        choose(counted->body);
      } else if (auto* loop = std::get_if<WhileLoop>(&step.what)) {
        choose(loop->condition);
        choose(loop->body);
      } else if (auto* branch = std::get_if<Branch>(&step.what)) {
        for (Steps& side : branch->branches) choose(side);
      }
    }
  }

 private:
  std::int64_t grain(int number) {
    auto found = grains_.find(number);
    if (found != grains_.end()) return found->second;
    const loop::Kernel& kernel = *plan_.kernels[static_cast<std::size_t>(number)];
    const std::int64_t out = grain_of(kernel.grid, lanes_of(cost_of(kernel)));
    return grains_.emplace(number, out).first->second;
  }

  Plan& plan_;
  std::map<int, std::int64_t> grains_;  // of kernels
};

}  // namespace

std::int64_t grain_of(std::int64_t points, double lanes) {
  constexpr std::int64_t kLeastClaims = 64;
  constexpr double kClaimedWork = 5e4;
  const std::int64_t most = points / kLeastClaims;
  if (most <= 1) return 1;
  return std::clamp<std::int64_t>(
      std::llround(kClaimedWork * static_cast<double>(points) / std::max(1.0, lanes)), 1, most);
}

void choose_grains(Plan& plan) { Grains(plan).choose(plan.steps); }

}  // namespace strata::compile
