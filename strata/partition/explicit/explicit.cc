#include "strata/partition/explicit/explicit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "strata/base/error.h"
#include "strata/partition/explicit/explicit_reshape.h"
#include "strata/partition/op_name.h"
#include "strata/partition/rule.h"
#include "strata/type/print.h"

namespace strata::spmd {
namespace {

using Axes = std::vector<std::string>;

bool is_cut(const DimAxes& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const Axes& a) { return !a.empty(); });
}
DimAxes whole(const ir::Value& value) { return DimAxes(static_cast<std::size_t>(value.rank())); }

/// "f32[8,16] P('x', None) and f32[16,4] P('y', None)"
std::string describe(const op::Op& op, std::span<const DimAxes> operands) {
  std::string out;
  for (std::size_t i = 0; i < operands.size(); ++i)
    out += fmt::format("{}{} {}",
                       i == 0                     ? ""
                       : i + 1 == operands.size() ? " and "
                                                  : ", ",
                       array_text(op.operand(static_cast<int>(i))->type()),
                       spec_of(operands[i]).to_string());
  return out;
}

constexpr const char* kReshard = "move an operand first (reshard)";
constexpr const char* kSay =
    "say how the result is to lie (OutSharding), or move an operand first (reshard)";

/// One operation's question.
struct Case {
  const op::Op& op;
  std::span<const DimAxes> operands;
  const mesh::AbstractMesh& mesh;

  [[noreturn]] void refuse(const std::string& why, const char* remedy) const {
    throw Error(std::string(short_name(op)), "{}: {}; {}", describe(op, operands), why, remedy);
  }
  std::int64_t pieces(const Axes& axes) const {
    std::int64_t out = 1;
    for (const std::string& a : axes) out *= mesh.axis_size(a);
    return out;
  }
};

std::string name_of(const Axes& axes) { return fmt::format("{}", fmt::join(axes, ", ")); }

/// Throws where an axis cuts two dimensions.
void expect_once(const Case& c, const DimAxes& result) {
  std::set<std::string> seen;
  for (const Axes& axes : result)
    for (const std::string& a : axes)
      if (!seen.insert(a).second)
        c.refuse(fmt::format("the axis {} would cut two dimensions of the result, {}", a,
                             spec_of(result).to_string()),
                 kSay);
}

/// As the first operand is sharded, where sizes that change still divide.
DimAxes as_operand(const Case& c) {
  const DimAxes& dims = c.operands[0];
  const Shape &before = c.op.operand(0)->shape(), &after = c.op.result()->shape();
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const int at = static_cast<int>(d);
    if (before[at] != after[at] && after[at] % c.pieces(dims[d]) != 0)
      c.refuse(fmt::format("dimension {} becomes {}, which the {} devices of {} do not divide", d,
                           after[at], c.pieces(dims[d]), name_of(dims[d])),
               kReshard);
  }
  return dims;
}

/// As all of these are sharded, which must be alike.
DimAxes alike(const Case& c, std::size_t from, std::size_t to) {
  for (std::size_t i = from + 1; i < to; ++i)
    if (c.operands[i] != c.operands[from]) c.refuse("operands must lie alike", kReshard);
  return c.operands[from];
}

DimAxes of_select(const Case& c) {
  const DimAxes out = alike(c, 1, 3);
  if (!c.operands[0].empty() && c.operands[0] != out)
    c.refuse("the predicate must be a scalar or lie as the cases do", kReshard);
  return out;
}

/// Which (operand, dimension) leads with a factor.
struct Place {
  std::size_t operand, dim;
};
std::vector<std::vector<Place>> places_of(const op::Factors& f) {
  std::vector<std::vector<Place>> out(f.kinds.size());
  for (std::size_t i = 0; i < f.operands.size(); ++i)
    for (std::size_t d = 0; d < f.operands[i].size(); ++d)
      if (!f.operands[i][d].empty())
        out[static_cast<std::size_t>(f.operands[i][d][0])].push_back({i, d});
  return out;
}

/// The axes of a factor: of those that are cut along it, which must agree.
Axes agreed(const Case& c, const std::vector<Place>& places, char kind, bool& both) {
  Axes out;
  both = false;
  for (const Place& p : places) {
    const Axes& axes = c.operands[p.operand][p.dim];
    if (axes.empty()) continue;
    if (!out.empty() && out != axes)
      c.refuse(fmt::format("{} cut over {} and {}",
                           kind == 'r' ? "dimensions that are contracted are"
                                       : "dimensions that belong together are",
                           name_of(out), name_of(axes)),
               kReshard);
    both = !out.empty();
    out = axes;
  }
  return out;
}

std::vector<DimAxes> by_factors(const Case& c, const op::Factors& f) {
  const std::vector<std::vector<Place>> places = places_of(f);
  std::vector<Axes> of(f.kinds.size());
  for (std::size_t k = 0; k < places.size(); ++k) {
    bool both = false;
    of[k] = agreed(c, places[k], f.kinds[k], both);
    if (of[k].empty()) continue;
    if (f.kinds[k] == 'r' && both)
      c.refuse(fmt::format("dimensions that are contracted are cut over {} on both sides, so that "
                           "how the result lies is ambiguous",
                           name_of(of[k])),
               kSay);
    if (f.kinds[k] == 'n')
      c.refuse(fmt::format("a dimension that is cut over {} must be whole", name_of(of[k])),
               kReshard);
  }
  std::vector<DimAxes> out;
  for (std::size_t r = 0; r < f.results.size(); ++r) {
    DimAxes dims = whole(*c.op.result(static_cast<int>(r)));
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (f.results[r][d].empty()) continue;
      const auto k = static_cast<std::size_t>(f.results[r][d][0]);
      if (f.kinds[k] != 'r') dims[d] = of[k];
    }
    expect_once(c, dims);
    out.push_back(std::move(dims));
  }
  return out;
}

/// Throws where indices of a gather or scatter, or a dimension that they choose from, are cut.
void expect_local(const Case& c, const op::Factors& f) {
  const std::vector<std::vector<Place>> places = places_of(f);
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::array<bool, 3> in{}, cut{};  // of the operand, of indices, of updates
    for (const Place& p : places[k]) {
      in[p.operand] = true;
      cut[p.operand] |= !c.operands[p.operand][p.dim].empty();
    }
    if (cut[1] && !in[0]) c.refuse("its indices are cut", kSay);
    const bool chosen = f.kinds[k] != 'p' || (c.operands.size() == 3 && !in[2]);
    if (cut[0] && !in[1] && chosen)
      c.refuse("a dimension that its indices choose from is cut", kSay);
  }
}

}  // namespace

std::vector<DimAxes> explicit_results(const op::Op& op, std::span<const DimAxes> operands,
                                      const mesh::AbstractMesh& mesh) {
  std::vector<DimAxes> out;
  for (int r = 0; r < op.num_results(); ++r) out.push_back(whole(*op.result(r)));
  if (std::none_of(operands.begin(), operands.end(), is_cut)) return out;
  const Case c{op, operands, mesh};
  const std::string_view name = short_name(op);
  if (name == "reshape") {
    const std::optional<DimAxes> dims =
        reshaped(operands[0], op.operand(0)->shape().sizes(), op.result()->shape().sizes(), mesh);
    if (!dims)
      c.refuse(
          fmt::format("into {} the axes cannot be carried on", array_text(op.result()->type())),
          kSay);
    return {*dims};
  }
  if (is_one_of(name, {"slice", "dynamic_slice", "pad", "reverse", "reduce_window"}))
    return {as_operand(c)};
  if (name == "clamp") return {operands[1]};
  if (name == "concatenate") return {alike(c, 0, operands.size())};
  if (name == "dynamic_update_slice") return {alike(c, 0, 2)};
  if (name == "select") return {of_select(c)};

  const std::optional<Rule> rule = rule_of(op);
  if (!rule) return out;
  if (name == "gather" || (name == "scatter" && operands.size() == 3))
    expect_local(c, rule->factors);
  if (name == "scatter") return {operands[0]};
  return by_factors(c, rule->factors);
}

}  // namespace strata::spmd
