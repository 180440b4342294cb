#include "strata/conformance/checks.h"

#include <algorithm>

#include "strata/op/build.h"
#include "strata/op/control/probe.h"

namespace strata::conformance {
namespace {

int add_result(ir::Function& f, ir::Value* value) {
  f.body.results.push_back(value);
  f.result_attrs.resize(f.body.results.size());
  return static_cast<int>(f.body.results.size()) - 1;
}

Check taken_out(ir::Function& f, const ir::Op& op, const op::Demand& demand) {
  Check out{.demand = demand, .what = fmt::format("{} at {}", op.name(), op.where.text())};
  if (op.attrs.has("probe_id")) {
    out.probe = op.attr<std::string>("probe_id");
    if (op.attrs.has("iteration"))
      out.iteration = static_cast<std::size_t>(op.attr<std::int64_t>("iteration"));
    out.want = add_result(f, op.operand(0));
    return out;
  }
  out.got = add_result(f, op.operand(0));
  if (op.operands.size() > 1)
    out.want = add_result(f, op.operand(1));
  else
    out.value = op.attr<Literal>("value");
  return out;
}

std::string failure(const Check& check, const Literal& got, const Literal& want,
                    op::Distance* largest) {
  if (!(got.type() == want.type()))
    return fmt::format("got {}, want {}", got.type().to_string(), want.type().to_string());
  auto difference = op::compare(check.demand, got, want, largest);
  return difference ? op::to_string(*difference) : "";
}

}  // namespace

std::vector<Check> extract_checks(ir::Function& f) {
  std::vector<Check> out;
  ir::ValueMap held;
  std::vector<std::unique_ptr<ir::Op>> kept, gone;
  for (auto& op : f.body.ops()) {
    std::optional<op::Demand> demand = op::demand_of(*op);
    if (!demand) {
      kept.push_back(std::move(op));
      continue;
    }
    out.push_back(taken_out(f, *op, *demand));
    gone.push_back(std::move(op));
  }
  f.body.ops() = std::move(kept);
  ir::Builder b(f.body);
  std::size_t before = f.body.ops().size();
  for (const auto& op : gone)
    for (ir::Value* r : op->results()) held.set(r, op::constant(b, r->type(), 1));
  // The constants stand before their uses.
  std::rotate(f.body.ops().begin(), f.body.ops().begin() + static_cast<std::ptrdiff_t>(before),
              f.body.ops().end());
  ir::replace_uses(f.body, held);
  return out;
}

std::vector<std::string> failed_checks(const std::vector<Check>& checks,
                                       const std::vector<Literal>& results, op::Distance* largest) {
  std::vector<std::string> out;
  auto result = [&](int i) -> const Literal& { return results[static_cast<std::size_t>(i)]; };
  for (std::size_t i = 0; i < checks.size(); ++i) {
    const Check& c = checks[i];
    const Literal& want = c.value ? *c.value : result(c.want);
    std::string said;
    if (c.probe.empty()) {
      said = failure(c, result(c.got), want, largest);
    } else {
      const auto& recorded = op::probes()[c.probe];
      said = c.iteration < recorded.size()
                 ? failure(c, recorded[c.iteration], want, largest)
                 : fmt::format("probe '{}' recorded {} values, none for iteration {}", c.probe,
                               recorded.size(), c.iteration);
    }
    if (!said.empty()) out.push_back(fmt::format("check {} ({}) {}", i, c.what, said));
  }
  return out;
}

}  // namespace strata::conformance
