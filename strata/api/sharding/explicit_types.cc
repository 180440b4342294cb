#include "strata/api/sharding/explicit_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "strata/api/sharding/placement.h"
#include "strata/ir/graph.h"
#include "strata/op/build.h"

namespace strata::internal {
namespace {

using mesh::AxisType;
using mesh::Mesh;
using spmd::DimAxes;

// What is asked of results that may be ambiguous, innermost last.
thread_local std::vector<const mesh::PartitionSpec*> any_result;

struct Seen {
  std::vector<std::string> axes;  // none: all
  AxisType type;
};
thread_local std::vector<Seen> regions;

struct Read {
  Type type;
  Typed typed;
};
thread_local std::optional<Read> read;
/// What is known of a trace before its arguments are made.
struct Ahead {
  std::vector<std::optional<int>> dropped;
  bool local = false;
};
thread_local Ahead ahead;       // of the next trace
thread_local Ahead ahead_here;  // of the one whose arguments are made

/// The axes that are Explicit there, of each dimension.
DimAxes explicit_part(const Mesh& mesh, DimAxes axes) {
  for (auto& dim : axes)
    std::erase_if(dim, [&](const std::string& name) {
      const auto at = mesh.abstract().find(name);
      return !at || mesh.axes()[*at].type != AxisType::Explicit;
    });
  return axes;
}

spmd::Sums explicit_part(const Mesh& mesh, spmd::Sums sums) {
  const auto hidden = [&](const std::string& name) {
    const auto at = mesh.abstract().find(name);
    return !at || mesh.axes()[*at].type != AxisType::Explicit;
  };
  std::erase_if(sums.unreduced, hidden);
  std::erase_if(sums.reduced, hidden);
  return sums;
}

std::optional<Typed> as_seen(Typed t) {
  t.mesh = seen(t.mesh);
  if (!is_explicit(t.mesh)) return std::nullopt;
  t.axes = explicit_part(t.mesh, std::move(t.axes));
  t.sums = explicit_part(t.mesh, std::move(t.sums));
  return t;
}
std::optional<Typed> typed_value(const ir::Value& value) {
  if (value.op() == nullptr || !is_typed(*value.op())) return std::nullopt;
  return as_seen(said_by(*value.op()).typed);
}

// ---- recorded operations -----------------------------------------------------------------------

/// How a value is sharded.
struct Lies {
  DimAxes axes;
  spmd::Sums sums = {};

  std::string to_string() const { return spmd::spec_of(axes, sums).to_string(); }
  bool operator==(const Lies&) const = default;
};
using Known = std::unordered_map<const ir::Value*, Lies>;

Lies known_or_whole(const Known& known, const ir::Value* v) {
  const auto it = known.find(v);
  return it != known.end() ? it->second : Lies{DimAxes(static_cast<std::size_t>(v->rank()))};
}
bool is_cut(const DimAxes& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const auto& a) { return !a.empty(); });
}

/// The sharding of result r of a loop or a branch: as its region says, behind the new dimension of
/// a scan's stacked results.
Lies of_region(const ir::Block& region, std::size_t r, const ir::Value& result) {
  Lies out{DimAxes(static_cast<std::size_t>(result.rank()))};
  const std::optional<Typed> inside =
      r < region.results.size() ? typed_value(*region.results[r]) : std::nullopt;
  if (!inside || inside->axes.size() > out.axes.size()) return out;
  std::copy(inside->axes.begin(), inside->axes.end(),
            out.axes.end() - static_cast<std::ptrdiff_t>(inside->axes.size()));
  out.sums = inside->sums;
  return out;
}

std::string differs(std::size_t i, const Type& type, bool loop, const std::string& before,
                    const std::string& after) {
  if (loop)
    return fmt::format(
        "carry {}, {}, lies as {} before a step and as {} after it; both must be the same "
        "(reshard)",
        i, describe(type), before, after);
  return fmt::format("result {}, {}, lies as {} in one branch and as {} in another (reshard)", i,
                     describe(type), before, after);
}

/// Throws Error where a carry comes in otherwise than it goes out, or branches differ.
void expect_steady(const ir::Op& op, const Known& known) {
  const bool scan = op.attrs.has("num_carry");
  const bool loop = scan || op.name() == "stablehlo.while";
  const ir::Block& body = *op.regions.back();
  const auto count = scan ? static_cast<std::size_t>(op.attr<std::int64_t>("num_carry"))
                     : loop || op.regions.size() > 1 ? static_cast<std::size_t>(op.num_results())
                                                     : 0;
  const auto consts = scan ? static_cast<std::size_t>(op.attr<std::int64_t>("num_consts")) : 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ir::Value& result = *op.result(static_cast<int>(i));
    const Lies after = of_region(body, i, result);
    const Lies before = loop ? known_or_whole(known, op.operand(static_cast<int>(consts + i)))
                             : of_region(*op.regions.front(), i, result);
    if (before != after)
      throw Error(scan   ? "scan"
                  : loop ? "while_loop"
                         : "cond",
                  "{}", differs(i, result.type(), loop, before.to_string(), after.to_string()));
  }
  if (!scan) return;
  for (std::size_t i = consts + count; i < op.operands.size(); ++i)
    if (const Lies xs = known_or_whole(known, op.operand(static_cast<int>(i)));
        !xs.axes.empty() && !xs.axes[0].empty())
      throw Error("scan", "the dimension that it goes along is cut: {} lies as {} (reshard)",
                  describe(op.operand(static_cast<int>(i))->type()), xs.to_string());
}

bool calls_regions(const ir::Op& op) {
  const std::string& name = op.name();
  return name == "stablehlo.while" || name == "stablehlo.if" || name == "stablehlo.case" ||
         name == "strata.scan" || name == "strata.remat" || name == "strata.custom_jvp" ||
         name == "strata.custom_vjp";
}

/// A constraint of the user's is an assertion here.
void expect_asserted(const ir::Op& op, const DimAxes& lies, const Mesh& mesh) {
  const strata::Result<mesh::TensorSharding> sharding =
      mesh::parse_sharding(op.attrs.get<ir::Opaque>("sharding").text);
  if (!sharding || sharding->dims.size() != lies.size()) return;
  DimAxes wanted(lies.size());
  for (std::size_t d = 0; d < lies.size(); ++d)
    for (const mesh::AxisRef& a : sharding->dims[d].axes) wanted[d].push_back(a.name);
  wanted = explicit_part(mesh, wanted);
  if (wanted != lies)
    throw Error("with_sharding_constraint",
                "{} lies as {}, not as {}; over Explicit axes a constraint asserts, and reshard "
                "moves",
                describe(op.operand(0)->type()), spmd::spec_of(lies).to_string(),
                spmd::spec_of(wanted).to_string());
}

/// Goes through new operations in order.
class Rules {
 public:
  /// `strict`: whether a mistake is the user's; `choosing`: whether cut dimensions may come out
  /// ambiguous, since who calls says how they are sharded.
  Rules(const Mesh& mesh, bool strict, bool choosing, Known known)
      : mesh_(mesh), strict_(strict), choosing_(choosing), known_(std::move(known)) {}
  void visit(const ir::Op& op) {
    if (is_typed(op)) return note_typed(op);
    if (calls_regions(op)) return note_regions(op);
    follow(op);
  }
  Lies operator[](const ir::Value* v) const { return known_or_whole(known_, v); }
  /// Whether the value comes from what was ambiguous, or summed what is cut, so that who calls says
  /// how it is sharded before anything is moved.
  bool is_left(const ir::Value* v) const { return left_.count(v) > 0; }

 private:
  void follow(const ir::Op& op) {
    std::vector<DimAxes> operands;
    std::vector<spmd::Sums> sums;
    bool cut = false, summed = false;
    for (int i = 0; i < static_cast<int>(op.operands.size()); ++i) {
      Lies lies = known_or_whole(known_, op.operand(i));
      cut |= is_cut(lies.axes);
      summed |= lies.sums.any();
      operands.push_back(std::move(lies.axes));
      sums.push_back(std::move(lies.sums));
    }
    if (op.name() == kConstraint) {
      if (strict_ && !choosing_) expect_asserted(op, operands[0], mesh_);
      known_[op.result()] = {operands[0], sums[0]};
      return;
    }
    if (is_everywhere(op)) known_[op.result()] = everywhere(*op.result());
    if (!cut && !summed && !asked()) {
      if (comes_from_left(op))
        for (int r = 0; r < op.num_results(); ++r) left_.insert(op.result(r));
      return;
    }
    const std::vector<DimAxes> dims = [&] {
      try {
        return spmd::explicit_results(op, operands, mesh_.abstract());
      } catch (const Error&) {
        if (strict_ && !choosing_) throw;
        return std::vector<DimAxes>();
      }
    }();
    const spmd::Sums made = sums_of_results(op, operands, sums);
    if (choosing_ && (dims.empty() || is_sum(op) || comes_from_left(op)))
      for (int r = 0; r < op.num_results(); ++r) left_.insert(op.result(r));
    for (int r = 0; r < op.num_results(); ++r) {
      Lies lies = known_or_whole(known_, op.result(r));
      if (!dims.empty()) lies.axes = dims[static_cast<std::size_t>(r)];
      if (made.any()) lies.sums = made;
      known_[op.result(r)] = std::move(lies);
    }
  }
  spmd::Sums sums_of_results(const ir::Op& op, std::span<const DimAxes> operands,
                             std::span<const spmd::Sums> sums) const {
    try {
      if (asked()) spmd::expect_gives_addends(op, operands, sums, any_result.back()->unreduced());
      return spmd::result_sums(op, operands, sums, mesh_.abstract());
    } catch (const Error&) {
      if (strict_) throw;
      return {};
    }
  }
  bool asked() const {
    return choosing_ && any_result.back() != nullptr && !any_result.back()->unreduced().empty();
  }
  static bool is_sum(const ir::Op& op) {
    return op.name() == "stablehlo.dot_general" || op.name() == "stablehlo.reduce";
  }
  bool comes_from_left(const ir::Op& op) const {
    return std::any_of(op.operands.begin(), op.operands.end(),
                       [&](const ir::Value* v) { return is_left(v); });
  }
  /// Constants, and scalars that are broadcast.
  static bool is_everywhere(const ir::Op& op) {
    return op.name() == "stablehlo.constant" ||
           (op.name() == "stablehlo.broadcast_in_dim" && op.operand(0)->rank() == 0);
  }
  static Lies everywhere(const ir::Value& v) {
    Lies out{DimAxes(static_cast<std::size_t>(v.rank()))};
    out.sums.follows = true;
    return out;
  }
  void note_typed(const ir::Op& op) {
    const Said said = said_by(op);
    const Lies operand = known_or_whole(known_, op.operand(0));
    DimAxes axes = explicit_part(mesh_, said.typed.axes);
    for (std::size_t d = 0; d < axes.size(); ++d)
      if (said.open[d]) axes[d] = operand.axes[d];
    known_[op.result()] = {std::move(axes), explicit_part(mesh_, said.typed.sums)};
  }
  void note_regions(const ir::Op& op) {
    if (strict_ && !choosing_) expect_steady(op, known_);
    const bool loop = op.name() == "stablehlo.while";
    for (int r = 0; r < op.num_results(); ++r)
      known_[op.result(r)] = of_region(loop ? *op.regions.back() : *op.regions.front(),
                                       static_cast<std::size_t>(r), *op.result(r));
  }

  const Mesh& mesh_;
  bool strict_, choosing_;
  Known known_;
  std::set<const ir::Value*> left_;  // looked up only
};

}  // namespace

Mesh seen(const Mesh& mesh) {
  if (regions.empty()) return mesh;
  std::vector<mesh::MeshAxis> axes = mesh.axes();
  for (const Seen& region : regions)
    for (mesh::MeshAxis& a : axes)
      if (region.axes.empty() ||
          std::find(region.axes.begin(), region.axes.end(), a.name) != region.axes.end())
        a.type = region.type;
  return Mesh(std::move(axes), mesh.devices());
}

std::optional<Typed> typed(const Array& x) {
  if (!has_explicit() || !x.has_value()) return std::nullopt;
  if (x.is_traced()) return typed_value(*x.state()->value);
  const auto there = sharded(x);
  if (there == nullptr) return std::nullopt;
  const mesh::NamedSharding& s = there->device().sharding();
  return as_seen({s.mesh(), spmd::axes_of(s.spec(), static_cast<std::size_t>(x.ndim())),
                  spmd::sums_of(s.spec())});
}

ir::Value* with_type(ir::Builder& b, ir::Value* x, const Typed& type, bool was_summed) {
  if (x->rank() == 0 && !type.sums.any() && !was_summed) return x;
  mesh::TensorSharding s;
  s.mesh = Mesh(type.mesh.axes());
  // What Explicit axes do not cut is left to the Auto ones, where there are some.
  const bool open =
      std::any_of(type.mesh.axes().begin(), type.mesh.axes().end(),
                  [](const mesh::MeshAxis& a) { return a.type != AxisType::Explicit; });
  for (const auto& axes : type.axes) {
    mesh::DimSharding& d = s.dims.emplace_back();
    d.axes.assign(axes.begin(), axes.end());
    d.open = open;
  }
  for (const mesh::MeshAxis& a : type.mesh.axes())
    if (type.sums.unreduced.count(a.name) > 0) s.unreduced.emplace_back(a.name);
  if (open)
    for (const mesh::MeshAxis& a : type.mesh.axes())
      if (a.type == AxisType::Explicit && !s.binds(a.name)) s.replicated.emplace_back(a.name);
  ir::Attrs attrs{{"sharding", ir::Opaque{s.to_attribute()}}, {kAxisTypes, letters(type.mesh)}};
  if (!type.sums.reduced.empty())
    attrs.set(kReduced, fmt::format("{}", fmt::join(type.sums.reduced, ",")));
  return b.create(kConstraint, {x}, std::move(attrs)).result();
}

// ---- arguments ---------------------------------------------------------------------------------

void note_read(const ArrayState& state) {
  if (!has_explicit()) return;
  read.reset();
  const Array x(std::shared_ptr<const ArrayState>(std::shared_ptr<const ArrayState>(), &state));
  if (std::optional<Typed> t = typed(x)) read = Read{state.type, std::move(*t)};
}

std::optional<Typed> read_for(const Type& type, std::size_t number) {
  if (!has_explicit()) return std::nullopt;
  if (number == 0) ahead_here = std::exchange(ahead, {});
  if (!read || ahead_here.local) return std::nullopt;
  Read from = std::move(*read);
  read.reset();
  if (type.rank() == from.type.rank()) return from.typed;
  if (type.rank() + 1 != from.type.rank()) return std::nullopt;
  // vmap said which; a scan goes along the first.
  const int at = number < ahead_here.dropped.size() ? ahead_here.dropped[number].value_or(0) : 0;
  from.typed.axes.erase(from.typed.axes.begin() + at);
  return from.typed;
}

void dropped_axes(const std::vector<std::optional<int>>& axes) {
  if (!has_explicit()) return;
  ahead = {{std::nullopt}, false};  // the place along the axis stands in front
  ahead.dropped.insert(ahead.dropped.end(), axes.begin(), axes.end());
}
void expect_not_within(const ir::Block& block, std::span<const Array> leaves,
                       const std::vector<std::optional<int>>& mapped) {
  if (!has_explicit()) return;
  std::set<std::string> over;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (const std::optional<Typed> t = mapped[i] ? typed(leaves[i]) : std::nullopt)
      over.insert(t->axes[static_cast<std::size_t>(*mapped[i])].begin(),
                  t->axes[static_cast<std::size_t>(*mapped[i])].end());
  ir::walk(block, [&](const ir::Op& op) {
    if (over.empty() || !is_typed(op)) return;
    for (const auto& dim : said_by(op).typed.axes)
      for (const std::string& a : dim)
        if (over.count(a) > 0)
          fail("vmap",
               "the axis {} cuts the dimension that is mapped, and {} within the function, which "
               "lies as {} (reshard)",
               a, describe(op.result()->type()), said_by(op).typed.spec().to_string());
  });
}
void local_arguments() {
  if (has_explicit()) ahead = {{}, true};
}

Array lying_as(const Array& x, const Mesh& mesh, const mesh::PartitionSpec& spec) {
  const Typed type{mesh,
                   explicit_part(mesh, spmd::axes_of(spec, static_cast<std::size_t>(x.ndim()))),
                   explicit_part(mesh, spmd::sums_of(spec))};
  return emit_one({x}, x.weak(),
                  [&](ir::Builder& b, const ir::Values& v) { return with_type(b, v[0], type); });
}

// ---- results -----------------------------------------------------------------------------------

ir::Values with_types(Trace& trace, std::size_t first, std::span<const Array> operands,
                      ir::Values results) {
  std::optional<Mesh> mesh;
  Known known;
  for (const Array& x : operands) {
    const std::optional<Typed> t = typed(x);
    if (!t) continue;
    if (mesh && !(mesh->abstract() == t->mesh.abstract()))
      fail("explicit", "arrays of one operation lie on the meshes {} and {}", mesh->to_string(),
           t->mesh.to_string());
    mesh = t->mesh;
    known[trace.value(x)] = {t->axes, t->sums};
  }
  const auto& ops = trace.block().ops();
  bool transformed = false;
  for (std::size_t i = first; i < ops.size(); ++i) {
    if (!is_typed(*ops[i])) continue;
    transformed = true;
    if (!mesh) mesh = seen(said_by(*ops[i]).typed.mesh);
  }
  if (!mesh || !is_explicit(*mesh)) return results;

  Rules rules(*mesh, !transformed, !any_result.empty(), std::move(known));
  const std::size_t end = ops.size();
  for (std::size_t i = first; i < end; ++i) rules.visit(*ops[i]);
  for (ir::Value*& r : results) {
    if (rules.is_left(r)) continue;
    const Lies lies = rules[r];
    const std::optional<Typed> said = typed_value(*r);
    if (said && said->axes == lies.axes && said->sums == lies.sums) continue;
    r = with_type(trace.builder(), r, {*mesh, lies.axes, lies.sums});
  }
  return results;
}

// ---- regions -----------------------------------------------------------------------------------

void new_any_result(const mesh::PartitionSpec* asked) { any_result.push_back(asked); }
void end_any_result() { any_result.pop_back(); }

void begin_axes_as(std::vector<std::string> axes, AxisType type) {
  if (type == AxisType::Explicit) use_explicit();
  regions.push_back({std::move(axes), type});
}
void end_axes_as() { regions.pop_back(); }

const Mesh*& current_mesh() {
  thread_local const Mesh* mesh = nullptr;
  return mesh;
}

void append_explicit_settings(std::string& key) {
  if (!has_explicit()) return;
  if (current_mesh() != nullptr) key += current_mesh()->repr() + current_mesh()->to_shardy();
  for (const Seen& region : regions) {
    key += mesh::name_of(region.type)[0];
    for (const std::string& a : region.axes) key += a + ",";
    key += ';';
  }
}

}  // namespace strata::internal
