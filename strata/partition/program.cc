#include "strata/partition/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "strata/base/error.h"
#include "strata/ir/pass/pass.h"
#include "strata/partition/addends/addends.h"
#include "strata/partition/explain.h"
#include "strata/partition/gspmd.h"
#include "strata/partition/mesh_groups.h"
#include "strata/partition/one_mesh.h"
#include "strata/partition/split_constants.h"

namespace strata::spmd {
namespace {

using ir::Op;
using ir::Value;

/// Axes of a dimension as far as they divide it.
void keep_what_divides(Sharding& s, const Type& type) {
  for (std::size_t d = 0; d < s.dims.size(); ++d) {
    std::int64_t left = type.shape()[static_cast<int>(d)];
    SubAxes kept;
    for (const SubAxis& a : s.dims[d].axes) {
      std::int64_t fits = std::gcd(left, a.size());
      if (fits > 1) kept.push_back({a.axis, a.begin, a.begin * fits});
      if (fits != a.size()) break;
      left /= fits;
    }
    s.dims[d].axes = std::move(kept);
  }
}

/// What is before the first part of an axis in each dimension; parts that its user stated stay, and
/// what of a stated axis divides.
void drop_parts_of_axes(Sharding& s, const std::optional<Sharding>& stated, const Meshes& meshes) {
  const std::vector<mesh::MeshAxis>& axes = meshes.find(s.mesh)->axes();
  for (std::size_t d = 0; d < s.dims.size(); ++d) {
    SubAxes& cut = s.dims[d].axes;
    const SubAxes said = stated ? stated->dims[d].axes : SubAxes{};
    std::size_t kept = 0;
    for (; kept < cut.size(); ++kept) {
      const SubAxis& a = cut[kept];
      const bool is_whole = a.size() == axes[static_cast<std::size_t>(a.axis)].size;
      if (!is_whole && !(kept < said.size() && a.is_prefix_of(said[kept]))) break;
    }
    cut.resize(kept);
  }
}
bool can_be_cut(const Value* v) { return v->type().is_tensor() && v->shape().is_static(); }

/// The one mesh of the program: its axes cut into the parts that shardings name.
class Atoms {
 public:
  Atoms(const mesh::Mesh& mesh, const std::vector<const Sharding*>& shardings) {
    std::vector<std::set<std::int64_t>> ends(mesh.axes().size());
    for (const Sharding* s : shardings)
      for (const DimSharding& d : s->dims)
        for (const SubAxis& a : d.axes) {
          ends[static_cast<std::size_t>(a.axis)].insert(a.begin);
          ends[static_cast<std::size_t>(a.axis)].insert(a.end);
        }
    std::vector<Axis> axes;
    for (std::size_t i = 0; i < mesh.axes().size(); ++i) {
      const mesh::MeshAxis& whole = mesh.axes()[i];
      ends[i].insert(whole.size);
      std::int64_t begin = 1;
      for (std::int64_t end : ends[i]) {
        if (end == begin || end % begin != 0 || whole.size % end != 0) continue;
        bool is_whole = begin == 1 && end == whole.size;
        starts_[{static_cast<int>(i), begin}] = {static_cast<int>(axes.size()), end};
        axes.push_back(
            {is_whole ? whole.name : fmt::format("{}:({}){}", whole.name, begin, end / begin),
             end / begin});
        begin = end;
      }
    }
    grid = Grid(std::move(axes), mesh.devices());
  }

  /// Parts that fit with none of the others are left out, and what is behind them in a dimension.
  Layout layout(const Sharding& s) const {
    Layout out = Layout::whole(static_cast<int>(s.dims.size()));
    for (std::size_t d = 0; d < s.dims.size(); ++d) {
      bool fits = true;
      for (const SubAxis& a : s.dims[d].axes)
        for (std::int64_t at = a.begin; fits && at < a.end;) {
          auto atom = starts_.find({a.axis, at});
          fits = atom != starts_.end() && atom->second.second <= a.end;
          if (!fits) break;
          out.dims[d].push_back(atom->second.first);
          at = atom->second.second;
        }
    }
    return out;
  }

  /// Of the unreduced axes.
  Addends addends(const Sharding& s) const {
    Addends out;
    for (const SubAxis& a : s.unreduced)
      for (std::int64_t at = a.begin; at < a.end;) {
        auto atom = starts_.find({a.axis, at});
        if (atom == starts_.end()) break;
        out.axes.push_back(atom->second.first);
        at = atom->second.second;
      }
    if (s.reduction == mesh::ReductionKind::max) out.combiner = op::Combiner::max;
    if (s.reduction == mesh::ReductionKind::min) out.combiner = op::Combiner::min;
    return out;
  }

  Grid grid;

 private:
  std::map<std::pair<int, std::int64_t>, std::pair<int, std::int64_t>> starts_;  // atom and its end
};

/// The mesh that all shardings are of; that of the module where there is none.
std::string mesh_of(const std::vector<const Sharding*>& shardings, const Meshes& meshes) {
  std::string found;
  for (const Sharding* s : shardings) {
    const mesh::Mesh& mesh = *meshes.find(s->mesh);
    if (mesh.is_maximal() || mesh.is_placeholder()) continue;
    if (found.empty())
      found = s->mesh;
    else if (!(*meshes.find(found) == mesh))
      throw Error("partition", "shardings of two meshes in one program: @{} is {}, @{} is {}",
                  found, meshes.find(found)->to_shardy(), s->mesh, mesh.to_shardy())
          .unsupported();
  }
  if (!found.empty()) return found;
  for (const auto& [name, mesh] : meshes.all())
    if (mesh.size() > 1) return name;
  return "";
}

/// Of the sharding that an argument or result is given with.
Addends addends_at(const Atoms& atoms, Meshes& meshes, const std::vector<ir::Attrs>& attrs,
                   std::size_t i, const Value* v) {
  const std::string* text = i < attrs.size() ? text_of(attrs[i], "sdy.sharding") : nullptr;
  if (text == nullptr || !can_be_cut(v)) return {};
  return atoms.addends(parse_sharding(*text, v->type(), meshes));
}
/// Of the operands or results of a manual computation.
std::vector<Addends> addends_of(const Atoms& atoms, Meshes& meshes, const Op& op, const char* name,
                                std::span<Value* const> values) {
  const std::string* text = text_of(op.attrs, name);
  if (text == nullptr) return {};
  std::vector<Type> types;
  for (const Value* v : values) types.push_back(v->type());
  std::vector<Addends> out;
  for (const Sharding& s : parse_shardings(*text, types, meshes)) out.push_back(atoms.addends(s));
  return out;
}

}  // namespace

void normalize(ir::Module& module) {
  gspmd_to_shardy(module);
  list_groups(module);
  to_one_mesh(module);
}

PartitionedProgram partition_program(const ir::Function& program, const ir::Module& module,
                                     const PartitionOptions& options) {
  std::unique_ptr<ir::Function> split = split_constants(program);
  const ir::Function& f = *split;
  Meshes meshes(module);
  Shardings s = read_shardings(f, meshes);
  std::size_t arguments = static_cast<std::size_t>(f.body.num_arguments());
  std::vector<std::optional<Sharding>> stated_arguments(arguments), stated_results = s.results;
  for (std::size_t i = 0; i < arguments; ++i)
    if (auto it = s.values.find(f.body.argument(static_cast<int>(i))); it != s.values.end())
      stated_arguments[i] = it->second;
  apply_constraints(f, s);
  propagate(f, meshes, s);
  auto settle = [&](Sharding& sharding, const Value* v, const std::optional<Sharding>& stated) {
    if (!can_be_cut(v)) return;
    keep_what_divides(sharding, v->type());
    drop_parts_of_axes(sharding, stated, meshes);
  };
  for (std::size_t i = 0; i < arguments; ++i)
    if (auto it = s.values.find(f.body.argument(static_cast<int>(i))); it != s.values.end())
      settle(it->second, it->first, stated_arguments[i]);
  s.results.resize(f.body.results.size());
  stated_results.resize(f.body.results.size());
  for (std::size_t i = 0; i < s.results.size(); ++i)
    if (s.results[i]) settle(*s.results[i], f.body.results[i], stated_results[i]);

  // In the order of the program, so that equal programs are cut alike.
  std::vector<const Value*> values;
  for (const auto& a : f.body.arguments()) values.push_back(a.get());
  ir::walk(f.body, [&](const Op& op) {
    for (const Value* r : op.results()) values.push_back(r);
    for (const auto& region : op.regions)
      for (const auto& a : region->arguments()) values.push_back(a.get());
  });
  std::vector<const Sharding*> all;
  for (const Value* v : values)
    if (auto it = s.values.find(v); it != s.values.end()) all.push_back(&it->second);
  for (const auto& r : s.results)
    if (r) all.push_back(&*r);
  std::string name = mesh_of(all, meshes);
  mesh::Mesh one = mesh::Mesh::of_device(0);
  const mesh::Mesh& mesh = name.empty() ? one : *meshes.find(name);
  Atoms atoms(mesh, [&] {
    std::vector<const Sharding*> out;
    for (const Sharding* x : all)
      if (!meshes.find(x->mesh)->is_maximal()) out.push_back(x);
    return out;
  }());

  Plan plan;
  for (const Value* v : values)
    if (auto it = s.values.find(v); it != s.values.end() && can_be_cut(v))
      plan.values[v] = atoms.layout(it->second);
  for (std::size_t i = 0; i < s.results.size(); ++i) {
    bool known = s.results[i] && can_be_cut(f.body.results[i]);
    Layout whole = Layout::whole(can_be_cut(f.body.results[i]) ? f.body.results[i]->rank() : 0);
    plan.results.emplace_back(known ? atoms.layout(*s.results[i]) : whole);
  }
  for (const Value* v : values)
    if (auto it = s.values.find(v); it != s.values.end() && can_be_cut(v))
      if (Addends a = atoms.addends(it->second); !a.axes.empty()) plan.addends[v] = std::move(a);
  spread_addends(f.body, plan);
  ir::walk(f.body, [&](const Op& op) {
    if (op.name() != "sdy.manual_computation") return;
    ManualPlan manual;
    auto layout = [&](const Value* v) {
      auto it = plan.values.find(v);
      return it != plan.values.end() ? it->second
                                     : Layout::whole(v->type().is_tensor() ? v->rank() : 0);
    };
    for (const std::string& axis : parse_manual_axes(*text_of(op.attrs, "manual_axes")))
      for (int a = 0; a < static_cast<int>(atoms.grid.axes().size()); ++a) {
        const std::string& atom = atoms.grid.axes()[static_cast<std::size_t>(a)].name;
        if (atom == axis || atom.compare(0, axis.size() + 2, axis + ":(") == 0)
          manual.axes.push_back(a);
      }
    for (const auto& a : op.region(0).arguments()) manual.operands.push_back(layout(a.get()));
    for (const Value* r : op.results()) manual.results.push_back(layout(r));
    for (const auto& a : op.region(0).arguments()) {
      plan.values.erase(a.get());
      plan.addends.erase(a.get());
    }
    manual.operand_addends = addends_of(atoms, meshes, op, "in_shardings", op.operands);
    manual.result_addends = addends_of(atoms, meshes, op, "out_shardings", op.results());
    plan.manual[&op] = std::move(manual);
  });

  plan.argument_addends.resize(arguments);
  for (std::size_t i = 0; i < arguments; ++i)
    plan.argument_addends[i] =
        addends_at(atoms, meshes, f.arg_attrs, i, f.body.argument(static_cast<int>(i)));
  plan.result_addends.resize(f.body.results.size());
  for (std::size_t i = 0; i < f.body.results.size(); ++i)
    plan.result_addends[i] = addends_at(atoms, meshes, f.result_attrs, i, f.body.results[i]);

  Partitioned p = partition(f.body, atoms.grid, plan, options);
  PartitionedProgram out;
  out.function = std::make_unique<ir::Function>(f.name);
  out.function->is_public = f.is_public;
  out.function->has_visibility = f.has_visibility;
  out.function->attrs = f.attrs;
  out.function->arg_attrs = f.arg_attrs;
  out.function->result_attrs = f.result_attrs;
  for (ir::Attrs& a : out.function->arg_attrs) a.erase("sdy.sharding");
  for (ir::Attrs& a : out.function->result_attrs) a.erase("sdy.sharding");
  ir::Values given;
  for (const auto& a : p.body->arguments())
    given.push_back(out.function->body.add_argument(a->type(), a->hint()));
  ir::Builder b(out.function->body);
  out.function->body.results = ir::inline_block(b, *p.body, given);
  auto closed = [&](std::optional<Sharding> known, const Value* v) {
    Sharding sharding{
        name, std::vector<DimSharding>(static_cast<std::size_t>(can_be_cut(v) ? v->rank() : 0))};
    if (known && can_be_cut(v)) sharding = *known;
    for (DimSharding& d : sharding.dims) d.is_closed = true;
    return sharding;
  };
  for (std::size_t i = 0; i < arguments; ++i) {
    const Value* v = f.body.argument(static_cast<int>(i));
    auto it = s.values.find(v);
    out.argument_shardings.push_back(
        closed(it == s.values.end() ? std::nullopt : std::optional(it->second), v));
  }
  for (std::size_t i = 0; i < s.results.size(); ++i)
    out.result_shardings.push_back(closed(s.results[i], f.body.results[i]));
  out.explanation = explain(f, name, mesh, meshes, s, atoms.grid, p);
  out.grid = std::move(atoms.grid);
  out.arguments = std::move(p.arguments);
  out.results = std::move(p.results);
  out.argument_addends = std::move(plan.argument_addends);
  out.result_addends = std::move(plan.result_addends);
  out.moves = std::move(p.moves);
  return out;
}

void add_partition_passes() {
  ir::Passes::global().add(
      {"sdy-propagate", "shardings of all values, by Shardy's propagation", [](ir::Module& m) {
         Meshes meshes(m);
         for (const auto& f : m.functions) {
           Shardings s = read_shardings(*f, meshes);
           propagate(*f, meshes, s);
           write_shardings(*f, meshes, s);
         }
       }});
  ir::Passes::global().add(
      {"partition", "public functions become the program of each device", [](ir::Module& m) {
         for (auto& f : m.functions)
           if (f->is_public) f = partition_program(*f, m).function;
       }});
}

}  // namespace strata::spmd
