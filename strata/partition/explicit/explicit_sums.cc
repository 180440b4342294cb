#include "strata/partition/explicit/explicit_sums.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "strata/base/error.h"
#include "strata/op/reduce/combiner.h"
#include "strata/partition/op_name.h"
#include "strata/partition/rule.h"
#include "strata/type/print.h"

namespace strata::spmd {
namespace {

using Names = std::set<std::string>;

std::string text(const Names& names) { return fmt::format("{}", fmt::join(names, ", ")); }
bool meet(const Names& a, const Names& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& n) { return b.count(n) > 0; });
}

/// One operation's question.
struct Case {
  const op::Op& op;
  std::span<const DimAxes> operands;
  std::span<const Sums> sums;

  std::string of(std::size_t i) const {
    return fmt::format("{} {}", array_text(op.operand(static_cast<int>(i))->type()),
                       spec_of(operands[i], sums[i]).to_string());
  }
  [[noreturn]] void refuse(const std::string& why) const {
    std::string all;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (sums[i].follows) continue;
      all += (all.empty() ? "" : ", ") + of(i);
    }
    throw Error(std::string(short_name(op)), "{}: {}", all, why);
  }
  Names axes_of(std::size_t i) const {
    Names out;
    for (const auto& dim : operands[i]) out.insert(dim.begin(), dim.end());
    return out;
  }
};

/// The axes over which one of these is unreduced, or reduced; all that are must be alike.
Names common(const Case& c, Names Sums::* which) {
  Names out;
  for (const Sums& s : c.sums) {
    const Names& mine = s.*which;
    if (mine.empty()) continue;
    if (!out.empty() && out != mine)
      c.refuse(fmt::format("operands are {} over {} and over {}; move one (reshard)",
                           which == &Sums::reduced ? "reduced" : "unreduced", text(out),
                           text(mine)));
    out = mine;
  }
  return out;
}

/// Of elementwise operations: what is reduced meets only what is reduced over the same axes, or is
/// addends over these.
Names reduced_of_all(const Case& c, const mesh::AbstractMesh& mesh) {
  const Names out = common(c, &Sums::reduced);
  if (out.empty()) return out;
  for (std::size_t i = 0; i < c.operands.size(); ++i) {
    if (c.sums[i].follows) continue;
    const Names cut = c.axes_of(i);
    if (meet(cut, out))
      c.refuse(
          fmt::format("one operand is cut over {} and another is reduced over it; cut the "
                      "reduced one, too (reshard)",
                      text(out)));
    for (const mesh::MeshAxis& axis : mesh.axes()) {
      const bool replicated = cut.count(axis.name) == 0 &&
                              c.sums[i].unreduced.count(axis.name) == 0 &&
                              c.sums[i].reduced.count(axis.name) == 0;
      if (replicated && out.count(axis.name) > 0)
        c.refuse(
            fmt::format("one operand is the same on the devices of {} and another is reduced "
                        "over it; say that both are reduced (reshard)",
                        axis.name));
    }
  }
  return out;
}

Sums of_add(const Case& c, Names reduced) {
  const Names unreduced = common(c, &Sums::unreduced);
  if (!unreduced.empty())
    for (const Sums& s : c.sums)
      if (s.unreduced.empty())
        c.refuse(
            fmt::format("one operand is unreduced over {} and the other is not, so that adding "
                        "them would communicate; reduce it first (reshard)",
                        text(unreduced)));
  return {unreduced, std::move(reduced)};
}

Sums of_multiply(const Case& c, Names reduced) {
  const Names &a = c.sums[0].unreduced, &b = c.sums[1].unreduced;
  if (a.empty() && b.empty()) return {{}, std::move(reduced)};
  if (!a.empty() && !b.empty())
    c.refuse("a product of two that are unreduced is no sum of products; reduce one (reshard)");
  const Names& unreduced = a.empty() ? b : a;
  if (c.sums[a.empty() ? 0 : 1].reduced != unreduced)
    c.refuse(
        fmt::format("one operand is unreduced over {}, and the other is not reduced over it "
                    "(reshard)",
                    text(unreduced)));
  return {unreduced, {}};
}

/// Of these operands, which must be alike.
Sums alike(const Case& c, std::size_t from, std::size_t to) {
  const Sums* out = nullptr;
  for (std::size_t i = from; i < to; ++i) {
    if (c.sums[i].follows) continue;
    if (out != nullptr && !(*out == c.sums[i]))
      c.refuse("operands must be unreduced and reduced over the same axes; move one (reshard)");
    out = &c.sums[i];
  }
  return out == nullptr ? Sums() : *out;
}

[[noreturn]] void refuse_addends(const Case& c) {
  c.refuse("it does not take what is unreduced; reduce it first (reshard)");
}

/// The axes that cut dimensions of an operand along factors of that kind.
std::vector<std::string> axes_along(const Case& c, const op::Factors& f, std::size_t operand,
                                    char kind) {
  std::vector<std::pair<int, std::vector<std::string>>> found;  // by factor
  for (std::size_t d = 0; d < f.operands[operand].size(); ++d) {
    if (f.operands[operand][d].empty()) continue;
    const int k = f.operands[operand][d][0];
    if (f.kinds[static_cast<std::size_t>(k)] == kind) found.emplace_back(k, c.operands[operand][d]);
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (const auto& [k, axes] : found) out.insert(out.end(), axes.begin(), axes.end());
  return out;
}

}  // namespace

mesh::PartitionSpec spec_of(const DimAxes& axes, const Sums& sums) {
  return spec_of(axes).with_unreduced(sums.unreduced).with_reduced(sums.reduced);
}
Sums sums_of(const mesh::PartitionSpec& spec) { return {spec.unreduced(), spec.reduced()}; }

Sums result_sums(const op::Op& op, std::span<const DimAxes> operands, std::span<const Sums> sums,
                 const mesh::AbstractMesh& mesh) {
  if (std::none_of(sums.begin(), sums.end(), [](const Sums& s) { return s.any(); })) return {};
  const Case c{op, operands, sums};
  const std::string_view name = short_name(op);
  const bool addends =
      std::any_of(sums.begin(), sums.end(), [](const Sums& s) { return !s.unreduced.empty(); });

  if (is_one_of(name, {"reshape", "transpose", "broadcast_in_dim", "slice", "pad", "convert",
                       "reduce_precision"}))
    return sums[0];
  if (name == "select") return alike(c, 1, 3);
  if (name == "concatenate") return alike(c, 0, sums.size());
  if (name == "dynamic_update_slice") return alike(c, 0, 2);
  if (name == "dynamic_slice") {
    if (addends) refuse_addends(c);
    return sums[0];
  }
  if (name == "reduce" && op.operands.size() == 2 && op::combiner_of(op) == op::Combiner::add)
    return sums[0];
  if (name == "dot_general") {
    if (addends) refuse_addends(c);
    return {};
  }
  if (!op::def(op).traits.elementwise || name == "clamp")
    c.refuse("it has no rule for what is unreduced or reduced; move it first (reshard)");
  Names reduced = reduced_of_all(c, mesh);
  if (name == "add") return of_add(c, std::move(reduced));
  if (name == "multiply") return of_multiply(c, std::move(reduced));
  if (addends) refuse_addends(c);
  return {{}, std::move(reduced)};
}

void expect_gives_addends(const op::Op& op, std::span<const DimAxes> operands,
                          std::span<const Sums> sums, const std::set<std::string>& axes) {
  const Case c{op, operands, sums};
  const std::string_view name = short_name(op);
  if (name == "reshape" && sums[0].unreduced != axes)
    c.refuse(
        fmt::format("out_sharding is unreduced over {}, which the operand is not", text(axes)));
  if (name != "dot_general" && name != "reduce") return;
  const std::optional<Rule> rule = rule_of(op);
  if (!rule) return;
  const std::vector<std::string> left = axes_along(c, rule->factors, 0, 'r');
  if (name == "reduce") {
    Names over(left.begin(), left.end());
    over.insert(sums[0].unreduced.begin(), sums[0].unreduced.end());
    for (const std::string& axis : axes)
      if (over.count(axis) == 0)
        c.refuse(
            fmt::format("out_sharding is unreduced over {}, which cuts no dimension that is "
                        "summed",
                        axis));
    return;
  }
  const std::vector<std::string> right = axes_along(c, rule->factors, 1, 'r');
  if (left != right)
    c.refuse(
        fmt::format("out_sharding is unreduced over {}; then the dimensions that are "
                    "contracted must be cut alike (reshard)",
                    text(axes)));
  if (Names(left.begin(), left.end()) != axes)
    c.refuse(fmt::format(
        "out_sharding is unreduced over {}, and the dimensions that are "
        "contracted are cut over {}: these must be the same axes",
        text(axes), left.empty() ? "nothing" : fmt::format("{}", fmt::join(left, ", "))));
}

}  // namespace strata::spmd
