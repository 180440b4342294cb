// shard_map as a vmap for each manual axis of the mesh, whose dimensions are
// cut over these axes.
//
// An argument [n, m] under P("x") becomes [x, n / x, m], its first dimension
// cut over x and the others whole; f is batched over that dimension, and
// results go back. A device then holds one element of each such dimension, so
// that what partitioning makes of the whole is f on its part, and collectives
// over names (op/collective/named_axis.h) are reductions and moves over cut dimensions.
// What batching leaves without the dimension does not vary along the axis: that
// is the check of out_specs. All these are operations that transforms know, so
// derivatives need nothing here.
#include "strata/api/sharding/shard_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "strata/api/sharding/distributed.h"
#include "strata/api/sharding/explicit_types.h"
#include "strata/api/sharding/placement.h"
#include "strata/api/sharding/varying.h"
#include "strata/api/trace/compose.h"
#include "strata/api/transform/batched_program.h"
#include "strata/ir/graph.h"
#include "strata/op/calculus/batch.h"

namespace strata::internal {
namespace {

constexpr const char* kShardMap = "shard_map";
/// On a constraint while its block is batched: the rank that it had.
constexpr const char* kRank = "strata.rank";

using AxisList = std::vector<std::string>;
using Dims = std::vector<AxisList>;  // the axes of each dimension

thread_local std::vector<const Manual*> around;

bool is_manual_around(const std::string& name) {
  return std::any_of(around.begin(), around.end(), [&](const Manual* m) {
    return std::any_of(m->axes.begin(), m->axes.end(),
                       [&](const mesh::MeshAxis& a) { return a.name == name; });
  });
}
bool is_manual(const Manual& manual, const std::string& name) {
  return std::any_of(manual.axes.begin(), manual.axes.end(),
                     [&](const mesh::MeshAxis& a) { return a.name == name; });
}

// ---- specs
// -------------------------------------------------------------------------------------

/// The axes of each dimension of an array of that rank. Throws Error unless the
/// Throws Error for an axis over which a spec cannot be unreduced or reduced.
void expect_summable(const Manual& manual, const PartitionSpec& spec, const std::string& what,
                     const std::string& axis, std::set<std::string>& seen) {
  const auto at = manual.mesh.abstract().find(axis);
  if (!at)
    fail(kShardMap, "the spec {} of {} names the axis {}, and the mesh is {}", spec.to_string(),
         what, axis, manual.mesh.to_string());
  if (!is_manual(manual, axis) || manual.mesh.axes()[*at].type != mesh::AxisType::Explicit)
    fail(kShardMap,
         "the spec {} of {} is unreduced or reduced over {}, which is no Explicit axis of this "
         "shard_map; the mesh is {}",
         spec.to_string(), what, axis, manual.mesh.to_string());
  if (!seen.insert(axis).second)
    fail(kShardMap, "the spec {} of {} names the axis {} twice", spec.to_string(), what, axis);
  if (spec.unreduced().count(axis) > 0 && what.find("result") != 0)
    fail(kShardMap,
         "the spec {} of {} is unreduced; arguments come in whole or cut (reshard before)",
         spec.to_string(), what);
}

/// spec names manual axes, each once, and no more dimensions than there are.
Dims dims_of(const Manual& manual, const PartitionSpec& spec, const Type& type,
             const std::string& what) {
  const std::size_t rank = static_cast<std::size_t>(type.rank());
  if (spec.entries().size() > rank)
    fail(kShardMap, "{} is {}, which has {} dimensions, but its spec {} has {} entries", what,
         describe(type), rank, spec.to_string(), spec.entries().size());
  Dims out(rank);
  std::set<std::string> seen;
  for (std::size_t d = 0; d < spec.entries().size(); ++d) {
    const mesh::SpecEntry& entry = spec.entries()[d];
    if (entry.unconstrained)
      fail(kShardMap, "the spec {} of {} leaves a dimension to the compiler", spec.to_string(),
           what);
    for (const std::string& axis : entry.axes) {
      if (!manual.mesh.abstract().find(axis))
        fail(kShardMap, "the spec {} of {} names the axis {}, and the mesh is {}", spec.to_string(),
             what, axis, manual.mesh.to_string());
      if (!is_manual(manual, axis))
        fail(kShardMap, "the spec {} of {} names the axis {}, which {}", spec.to_string(), what,
             axis,
             is_manual_around(axis) ? "a shard_map around this one has bound already"
                                    : "is not among axis_names");
      if (!seen.insert(axis).second)
        fail(kShardMap, "the spec {} of {} names the axis {} twice", spec.to_string(), what, axis);
      out[d].push_back(axis);
    }
  }
  for (const auto* sums : {&spec.unreduced(), &spec.reduced()})
    for (const std::string& axis : *sums) expect_summable(manual, spec, what, axis, seen);
  return out;
}
std::int64_t pieces(const Mesh& mesh, const AxisList& axes) {
  std::int64_t out = 1;
  for (const std::string& axis : axes) out *= mesh.axis_size(axis);
  return out;
}
/// The axes of the shard_map over which a result is to be unreduced, in the mesh's order.
AxisList unreduced_by(const Manual& manual, const PartitionSpec& spec) {
  AxisList out;
  for (const mesh::MeshAxis& axis : manual.axes)
    if (spec.unreduced().count(axis.name) > 0) out.push_back(axis.name);
  return out;
}
/// The axes that a spec names, in the mesh's order.
AxisList named_by(const Manual& manual, const Dims& dims) {
  AxisList out;
  for (const mesh::MeshAxis& axis : manual.axes)
    for (const AxisList& each : dims)
      if (std::find(each.begin(), each.end(), axis.name) != each.end()) out.push_back(axis.name);
  return out;
}

/// Those, and those over which it is to be unreduced.
AxisList named_or_summed(const Manual& manual, const Dims& dims, const PartitionSpec& spec) {
  const AxisList named = named_by(manual, dims), unreduced = unreduced_by(manual, spec);
  AxisList out;
  for (const mesh::MeshAxis& axis : manual.axes)
    for (const AxisList* each : {&named, &unreduced})
      if (std::find(each->begin(), each->end(), axis.name) != each->end()) out.push_back(axis.name);
  return out;
}

// ---- constraints
// -------------------------------------------------------------------------------

/// The value, constrained to have its dimensions cut so; `open`: the compiler may cut
/// them further.
/// `unreduced`: axes along which devices may hold addends of it.
Value* lying(Builder& b, Value* x, const Mesh& mesh, const Dims& dims, bool open,
             const AxisList& unreduced = {}) {
  mesh::TensorSharding s;
  s.mesh = Mesh(mesh.axes());
  for (const AxisList& axes : dims) {
    mesh::DimSharding& d = s.dims.emplace_back();
    d.axes.assign(axes.begin(), axes.end());
    d.open = open;
  }
  s.unreduced.assign(unreduced.begin(), unreduced.end());
  return b.create(kConstraint, {x}, {{"sharding", ir::Opaque{s.to_attribute()}}}).result();
}

template <class F>
void each_constraint(ir::Block& block, F f) {
  for (const auto& op : block.ops()) {
    if (op->name() == kConstraint && op->attrs.has("sharding")) f(*op);
    for (const auto& region : op->regions) each_constraint(*region, f);
  }
}

/// Throws Error where a constraint of the function names an axis that it is
/// written for one place of.
void expect_free(const ir::Op& op, const mesh::MeshAxis& axis) {
  const std::string& text = op.attrs.get<ir::Opaque>("sharding").text;
  const strata::Result<mesh::TensorSharding> sharding = mesh::parse_sharding(text);
  if (sharding && sharding->binds(axis.name))
    throw Error("with_sharding_constraint",
                "{} names the axis {}, over which the function is written for "
                "one device",
                text, axis.name)
        .at(op.where.text());
}

/// The block for all places of an axis. Constraints inside are with the new
/// dimension cut over it. Throws Error for one that names it.
op::BatchedBlock mapped_over(const ir::Block& block, const mesh::MeshAxis& axis,
                             const std::vector<bool>& batched) {
  const std::unique_ptr<ir::Block> marked = ir::clone(block);
  each_constraint(*marked, [&](ir::Op& op) {
    expect_free(op, axis);
    op.attrs.set(kRank, static_cast<std::int64_t>(op.result()->type().rank()));
  });
  op::BatchedBlock out = op::batch(*marked, batched, axis.size);
  each_constraint(*out.block, [&](ir::Op& op) {
    if (!op.attrs.has(kRank)) return;
    const bool grown = op.result()->type().rank() > op.attrs.get<std::int64_t>(kRank);
    op.attrs.erase(kRank);
    if (!grown) return;
    // Batching has put a free dimension in front.
    std::string text = op.attrs.get<ir::Opaque>("sharding").text;
    const std::size_t at = text.find(", [{?}");
    if (at == std::string::npos) return;
    text.replace(at + 3, 3, fmt::format("{{\"{}\"}}", axis.name));
    op.attrs.set("sharding", ir::Opaque{text});
  });
  return out;
}

// ---- arrays in parts
// ---------------------------------------------------------------------------

/// Where the axis stands in a list.
std::size_t place_in(const AxisList& list, const std::string& axis) {
  return static_cast<std::size_t>(std::find(list.begin(), list.end(), axis) - list.begin());
}
/// {{a}, {b}, {}, {}}: leading dimensions over axes, the others whole.
Dims leading_dims(const AxisList& leading, std::size_t rank) {
  Dims out;
  for (const std::string& axis : leading) out.push_back({axis});
  out.resize(leading.size() + rank);
  return out;
}

/// [n, m] under {{"x"}, {}} as [x, n / x, m].
Value* split(Builder& b, Value* x, const Manual& manual, const Dims& dims) {
  x = lying(b, x, manual.mesh, dims, !manual.all);
  const AxisList leading = named_by(manual, dims);
  if (leading.empty()) return x;
  Ints shape, order(leading.size()), local;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (const std::string& axis : dims[d]) {
      order[place_in(leading, axis)] = static_cast<std::int64_t>(shape.size());
      shape.push_back(manual.mesh.axis_size(axis));
    }
    local.push_back(static_cast<std::int64_t>(shape.size()));
    shape.push_back(x->shape()[static_cast<int>(d)] / pieces(manual.mesh, dims[d]));
  }
  order.insert(order.end(), local.begin(), local.end());
  x = op::transpose(b, op::reshape(b, x, Shape::of(shape)), order);
  return lying(b, x, manual.mesh, leading_dims(leading, dims.size()), !manual.all);
}

/// The way back: `leading` stand in front of x.
Value* joined(Builder& b, Value* x, const Manual& manual, const Dims& dims,
              const AxisList& unreduced) {
  const AxisList leading = named_by(manual, dims);
  x = lying(b, x, manual.mesh, leading_dims(leading, dims.size()), !manual.all, unreduced);
  Ints order, shape;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    for (const std::string& axis : dims[d])
      order.push_back(static_cast<std::int64_t>(place_in(leading, axis)));
    const std::size_t at = leading.size() + d;
    order.push_back(static_cast<std::int64_t>(at));
    shape.push_back(x->shape()[static_cast<int>(at)] * pieces(manual.mesh, dims[d]));
  }
  x = op::reshape(b, op::transpose(b, x, order), Shape::of(shape));
  return lying(b, x, manual.mesh, dims, !manual.all, unreduced);
}

/// The sum over the leading dimensions of `axes`, which are among those that stand there.
Value* summed(Builder& b, Value* x, const Manual& manual, const AxisList& leading,
              const AxisList& axes) {
  if (axes.empty()) return x;
  x = lying(b, x, manual.mesh,
            leading_dims(leading, static_cast<std::size_t>(x->rank()) - leading.size()),
            !manual.all);
  Ints dims;
  for (const std::string& axis : axes)
    dims.push_back(static_cast<std::int64_t>(place_in(leading, axis)));
  return op::reduce_sum(b, x, dims);
}

/// x, which varies along `has`, with leading dimensions for `wanted`, both in
/// the mesh's order.
Value* along(Builder& b, Value* x, const Manual& manual, AxisList has, const AxisList& wanted) {
  for (std::size_t i = has.size(); i-- > 0;) {
    if (std::find(wanted.begin(), wanted.end(), has[i]) != wanted.end()) continue;
    const int dim = static_cast<int>(i);
    Ints shape = x->shape().sizes();
    shape.erase(shape.begin() + dim);
    x = op::reshape(b, op::slice_dim(b, x, dim, 0, 1), Shape::of(shape));
    has.erase(has.begin() + dim);
  }
  if (has == wanted) return x;
  Ints shape, dims;
  for (const std::string& axis : has)
    dims.push_back(static_cast<std::int64_t>(place_in(wanted, axis)));
  for (const std::string& axis : wanted) shape.push_back(manual.mesh.axis_size(axis));
  for (int d = static_cast<int>(has.size()); d < x->rank(); ++d) {
    dims.push_back(static_cast<std::int64_t>(shape.size()));
    shape.push_back(x->shape()[d]);
  }
  return op::broadcast_in_dim(b, x, Shape::of(shape), dims);
}

/// Throws Error for an argument whose type has another sharding than its spec.
void expect_typed(const Manual& manual, const Array& x, const Dims& dims, const std::string& path,
                  const PartitionSpec& spec) {
  const std::optional<Typed> type = typed(x);
  if (!type) return;
  Dims lies = type->axes;
  for (AxisList& axes : lies)
    std::erase_if(axes, [&](const std::string& a) { return !is_manual(manual, a); });
  const auto manual_only = [&](std::set<std::string> axes) {
    std::erase_if(axes, [&](const std::string& a) { return !is_manual(manual, a); });
    return axes;
  };
  if (!manual_only(type->sums.unreduced).empty() ||
      manual_only(type->sums.reduced) != manual_only(spec.reduced()))
    fail(
        kShardMap,
        "{} is {}, which lies as {} by its type, and its spec in in_specs is {}; what is unreduced "
        "is reduced first, and what is reduced says so in its spec (reshard)",
        path, describe(x.type()), type->spec().to_string(), spec.to_string());
  if (lies != dims)
    fail(kShardMap,
         "{} is {}, which lies as {} by its type, and its spec in in_specs is {}; reshard moves it",
         path, describe(x.type()), spmd::spec_of(lies).to_string(), spec.to_string());
}

/// Results of a program over an Explicit mesh, with their types.
std::vector<Array> with_out_types(std::vector<Array> results, const Mesh& mesh,
                                  const std::function<PartitionSpec(std::size_t)>& spec) {
  if (!is_explicit(mesh)) return results;
  for (std::size_t r = 0; r < results.size(); ++r) results[r] = lying_as(results[r], mesh, spec(r));
  return results;
}
/// While it lives nothing is typed: a program of all places is no user's.
struct Untyped {
  Untyped() { begin_axes_as({}, mesh::AxisType::Manual); }
  ~Untyped() { end_axes_as(); }
};

std::string list_of(const AxisList& axes) { return fmt::format("{}", fmt::join(axes, ", ")); }

/// Throws Error where a result varies along an axis that its spec does not
/// name.
void expect_same(std::size_t number, const Type& part, const PartitionSpec& spec,
                 const AxisList& varies, const AxisList& named) {
  AxisList extra;
  for (const std::string& axis : varies)
    if (std::find(named.begin(), named.end(), axis) == named.end()) extra.push_back(axis);
  if (extra.empty()) return;
  fail(kShardMap,
       "result {} ({} on each device) varies along the mesh axis {}, but its "
       "spec {} says that it "
       "does not: name the axis in out_specs, or reduce the result along it "
       "(lax::psum, pmean, "
       "pmax); check_vma = false takes the first device's",
       number, describe(part), list_of(extra), spec.to_string());
}

/// Throws Error where a result that is to be unreduced is the same on all devices along an axis.
void expect_addends(std::size_t number, const Type& part, const PartitionSpec& spec,
                    const AxisList& varies, const AxisList& unreduced) {
  for (const std::string& axis : unreduced)
    if (std::find(varies.begin(), varies.end(), axis) == varies.end())
      fail(kShardMap,
           "result {} ({} on each device) is the same along the mesh axis {}, and its spec {} says "
           "that the devices hold addends (lax::pcast to \"unreduced\" is for what varies)",
           number, describe(part), axis, spec.to_string());
}

/// Throws Error where a result varies along an axis that its spec does not name, by what f's
/// operations say.
void expect_as_specs(const Program& program, const Manual& manual, const std::vector<Dims>& in,
                     const std::vector<Dims>& out, const ShardMap& options) {
  AxisSet names;
  std::vector<AxisSet> arguments;
  for (const mesh::MeshAxis& axis : manual.axes) {
    names.insert(axis.name);
    arguments.push_back({axis.name});
  }
  for (const Dims& dims : in) {
    const AxisList named = named_by(manual, dims);
    arguments.emplace_back(named.begin(), named.end());
  }
  arguments.resize(static_cast<std::size_t>(program.block->num_arguments()));
  const std::vector<AxisSet> along = varying_results(*program.block, arguments, names);
  for (std::size_t r = 0; r < along.size(); ++r) {
    AxisList varies;
    for (const mesh::MeshAxis& axis : manual.axes)
      if (along[r].count(axis.name) > 0) varies.push_back(axis.name);
    const PartitionSpec& spec = options.out_specs[options.out_specs.is_one() ? 0 : r];
    expect_same(r, program.block->results[r]->type(), spec, varies,
                named_or_summed(manual, out[r], spec));
  }
}

/// Arrays that are bound nowhere, put where the program wants them: only
/// outside of traces.
std::vector<Array> placed(std::span<const Array> leaves, const Mesh& mesh,
                          const std::vector<PartitionSpec>& specs) {
  std::vector<Array> out(leaves.begin(), leaves.end());
  if (Trace::current() != nullptr || mesh.size() < 2) return out;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!out[i].is_traced() && !out[i].buffer().committed())
      out[i] = device_put(std::as_const(out[i]), NamedSharding(mesh, specs[i]));
  return out;
}

}  // namespace

bool is_mesh_axis(const std::string& name) { return is_manual_around(name); }
Value* on_own_device(Builder& b, Value* x, const std::string& axis) {
  if (!is_manual_around(axis)) return x;
  // Open dimensions: `mapped_over` cuts the one that it puts in front of them.
  return lying(b, x, around.back()->mesh, Dims(static_cast<std::size_t>(x->rank())), true);
}
bool is_followed(const std::string& name) {
  return std::any_of(around.begin(), around.end(), [&](const Manual* m) {
    return m->follows && std::any_of(m->axes.begin(), m->axes.end(),
                                     [&](const mesh::MeshAxis& a) { return a.name == name; });
  });
}
std::vector<BoundAxis> followed_axes() {
  std::vector<BoundAxis> out;
  for (const Manual* m : around)
    for (const mesh::MeshAxis& axis : m->axes)
      if (m->follows) out.push_back(bound_axis(kShardMap, axis.name));
  return out;
}

// ---- axes
// --------------------------------------------------------------------------------------

ManualScope::ManualScope(const Manual& manual, const std::vector<Array>& places) {
  for (std::size_t i = 0; i < manual.axes.size(); ++i)
    axes_.push_back(std::make_unique<AxisScope>(
        BoundAxis{manual.axes[i].name, manual.axes[i].size, places[i]}));
  around.push_back(&manual);
  AxisList names;
  for (const mesh::MeshAxis& axis : manual.axes) names.push_back(axis.name);
  begin_axes_as(std::move(names), mesh::AxisType::Manual);
}
ManualScope::~ManualScope() {
  end_axes_as();
  around.pop_back();
}

Manual manual_axes(const ShardMap& options) {
  Manual out;
  out.mesh = options.mesh;
  out.follows = options.check_vma;
  if (out.mesh.is_placeholder()) {
    if (around.empty())
      fail(kShardMap,
           "no mesh is given, and no shard_map around has one: "
           "{{.mesh = make_mesh(...)}}");
    out.mesh = around.back()->mesh;
  }
  if (!around.empty() && around.back()->mesh != out.mesh)
    fail(kShardMap, "its mesh {} is not that of the shard_map around, {}", out.mesh.to_string(),
         around.back()->mesh.to_string());
  std::set<std::string> wanted;
  for (const std::string& name : options.axis_names) {
    if (!out.mesh.abstract().find(name))
      fail(kShardMap, "axis_names holds {}, and the mesh is {}", name, out.mesh.to_string());
    if (!wanted.insert(name).second) fail(kShardMap, "axis_names holds {} twice", name);
    if (is_manual_around(name))
      fail(kShardMap,
           "axis_names holds {}, which a shard_map around this one has bound "
           "already",
           name);
  }
  for (const mesh::MeshAxis& axis : out.mesh.axes()) {
    if (is_manual_around(axis.name)) continue;
    if (wanted.empty() || wanted.count(axis.name) > 0)
      out.axes.push_back(axis);
    else
      out.all = false;
  }
  return out;
}

std::vector<Type> part_types(const Manual& manual, std::span<const Array> leaves,
                             const std::vector<std::string>& paths,
                             const std::vector<PartitionSpec>& specs) {
  std::vector<Type> out;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Type& type = leaves[i].type();
    const Dims dims = dims_of(manual, specs[i], type, paths[i]);
    Ints shape = type.shape().sizes();
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const std::int64_t n = pieces(manual.mesh, dims[d]);
      if (shape[d] % n != 0)
        fail(kShardMap,
             "dimension {} of {} ({}) has size {}, which the {} devices along "
             "{} of its spec {} do "
             "not divide",
             d, paths[i], describe(type), shape[d], n, list_of(dims[d]), specs[i].to_string());
      shape[d] /= n;
    }
    out.push_back(type.with(Shape::of(shape)));
    expect_typed(manual, leaves[i], dims, paths[i], specs[i]);
  }
  local_arguments();
  return out;
}

// ---- shard_map
// ---------------------------------------------------------------------------------

std::vector<Array> shard_map(const Program& program, const Manual& manual,
                             std::span<const Array> leaves, const std::vector<PartitionSpec>& specs,
                             const ShardMap& options) {
  const std::size_t results = program.block->results.size(), places = manual.axes.size();
  const bool one = options.out_specs.is_one();
  if (!one && options.out_specs.size() != results)
    fail(kShardMap, "out_specs has {} specs for {} arrays of the result", options.out_specs.size(),
         results);
  const auto spec_of = [&](std::size_t r) -> const PartitionSpec& {
    return options.out_specs[one ? 0 : r];
  };
  std::vector<Dims> in, out;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    in.push_back(dims_of(manual, specs[i], leaves[i].type(), fmt::format("argument {}", i)));
  for (std::size_t r = 0; r < results; ++r)
    out.push_back(dims_of(manual, options.out_specs[one ? 0 : r], program.block->results[r]->type(),
                          fmt::format("result {}", r)));

  if (options.check_vma) expect_as_specs(program, manual, in, out, options);

  // The program of all places, the last axis first, so that the first stands in
  // front.
  std::unique_ptr<ir::Block> block = ir::clone(*program.block);
  std::vector<AxisList> varies(results);
  for (std::size_t a = places; a-- > 0;) {
    std::vector<bool> batched(static_cast<std::size_t>(block->num_arguments()), false);
    batched[a] = true;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const AxisList named = named_by(manual, in[i]);
      batched[places + i] = place_in(named, manual.axes[a].name) < named.size();
    }
    op::BatchedBlock next = mapped_over(*block, manual.axes[a], batched);
    for (std::size_t r = 0; r < results; ++r)
      if (next.batched[r]) varies[r].insert(varies[r].begin(), manual.axes[a].name);
    block = std::move(next.block);
  }
  if (options.check_vma)
    for (std::size_t r = 0; r < results; ++r)
      expect_same(r, program.block->results[r]->type(), spec_of(r), varies[r],
                  named_or_summed(manual, out[r], spec_of(r)));
  for (std::size_t r = 0; r < results; ++r)
    expect_addends(r, program.block->results[r]->type(), spec_of(r), varies[r],
                   unreduced_by(manual, spec_of(r)));

  std::vector<Array> all = [&] {
    const Untyped untyped;
    return emit(
        internal::joined(placed(leaves, manual.mesh, specs), program.captured),
        [&](Builder& b, const Values& v) {
          Values inputs;
          for (const mesh::MeshAxis& axis : manual.axes)
            inputs.push_back(lying(b, op::iota(b, Type(DType::i32, {axis.size}), 0), manual.mesh,
                                   {{axis.name}}, false));
          for (std::size_t i = 0; i < v.size(); ++i)
            inputs.push_back(i < in.size() ? split(b, v[i], manual, in[i]) : v[i]);
          Values all = ir::inline_block(b, *block, inputs);
          for (std::size_t r = 0; r < results; ++r) {
            const AxisList leading = named_or_summed(manual, out[r], spec_of(r)),
                           unreduced = unreduced_by(manual, spec_of(r));
            Value* parts = along(b, all[r], manual, varies[r], leading);
            all[r] =
                joined(b, summed(b, parts, manual, leading, unreduced), manual, out[r], unreduced);
          }
          return all;
        },
        program.weak);
  }();
  return with_out_types(std::move(all), seen(manual.mesh),
                        [&](std::size_t r) { return spec_of(r); });
}

// ---- pmap
// --------------------------------------------------------------------------------------

OverDevices over_devices(std::span<const Array> leaves,
                         const std::vector<std::optional<std::int64_t>>& axes,
                         const Pmap& options) {
  OverDevices out;
  out.mapped = [&] {
    try {
      return split_types(leaves, axes, {.axis_size = options.axis_size});
    } catch (const Error& e) {
      throw Error("pmap", "{}", e.message()).at(e.where());
    }
  }();
  local_arguments();
  std::vector<std::int64_t> devices = options.devices;
  const auto own = static_cast<std::int64_t>(distributed::local_devices().size()),
             all = static_cast<std::int64_t>(strata::devices().size());
  if (devices.empty()) {
    if (out.mapped.size > all)
      fail("pmap", "the mapped axis has {} elements, each for a device, and {} {}", out.mapped.size,
           own == all ? "this process has" : "all processes have", all);
    out.own_rows = own < all && out.mapped.size == own;
    if (out.own_rows && Trace::current() != nullptr)
      fail("pmap",
           "the mapped axis has {} elements, one for each device of this process, which is one of "
           "{}: rows of one's own are given outside of jit and other transforms",
           own, distributed::process_count());
    if (out.own_rows) out.mapped.size = all;
    for (std::int64_t i = 0; i < out.mapped.size; ++i) devices.push_back(i);
  }
  if (static_cast<std::int64_t>(devices.size()) != out.mapped.size)
    fail("pmap", "the mapped axis has {} elements for {} devices", out.mapped.size, devices.size());
  const std::string name = options.axis_name.empty() ? "pmap" : options.axis_name;
  out.mesh = Mesh({{name, out.mapped.size}}, std::move(devices));
  return out;
}

namespace {

/// Of all processes' rows an array over the mesh.
Array of_all(const Array& rows, const OverDevices& over, int at) {
  Ints shape = rows.shape().sizes();
  shape[static_cast<std::size_t>(at)] = over.mapped.size;
  std::vector<mesh::SpecEntry> entries(static_cast<std::size_t>(at) + 1);
  entries.back().axes = {over.mesh.axes()[0].name};
  return distributed::make_array_from_process_local_data(
      NamedSharding(over.mesh, PartitionSpec(std::move(entries))), rows, Sizes(shape));
}
/// The rows of this process, over its own devices.
Array of_own(const Array& all, const OverDevices& over) {
  std::vector<Array> parts;
  std::vector<std::int64_t> devices;
  for (const Shard& s : addressable_shards(all)) {
    parts.push_back(s.data);
    devices.push_back(s.device.id());
  }
  const PartitionSpec spec = named_sharding(all).spec();
  const Mesh own({{over.mesh.axes()[0].name, static_cast<std::int64_t>(parts.size())}},
                 std::move(devices));
  Ints shape = parts[0].shape().sizes();
  for (std::size_t d = 0; d < spec.entries().size(); ++d)
    if (!spec.entries()[d].axes.empty()) shape[d] *= own.size();
  return make_array_from_single_device_arrays(Sizes(shape), NamedSharding(own, spec), parts);
}

}  // namespace

std::vector<Array> pmap(const Program& program, const OverDevices& over,
                        std::span<const Array> leaves, const Pmap& options) {
  if (over.own_rows) {
    OverDevices whole = over;
    whole.own_rows = false;
    std::vector<Array> given(leaves.begin(), leaves.end());
    for (std::size_t i = 0; i < given.size(); ++i)
      if (over.mapped.axes[i]) given[i] = of_all(given[i], over, *over.mapped.axes[i]);
    std::vector<Array> out = pmap(program, whole, given, options);
    for (Array& x : out) x = of_own(x, over);
    return out;
  }
  const VmapOptions as_vmap{.out_axes = options.out_axes};
  const std::size_t results = program.block->results.size();
  check_out_axes(as_vmap, results);
  const mesh::MeshAxis& axis = over.mesh.axes()[0];
  std::vector<bool> batched = {true};
  std::vector<PartitionSpec> specs;
  for (const std::optional<int>& at : over.mapped.axes) {
    batched.push_back(at.has_value());
    std::vector<mesh::SpecEntry> entries(at ? static_cast<std::size_t>(*at) + 1 : 0);
    if (at) entries.back().axes = {axis.name};
    specs.emplace_back(std::move(entries));
  }
  batched.resize(static_cast<std::size_t>(program.block->num_arguments()), false);
  const op::BatchedBlock block = mapped_over(*program.block, axis, batched);
  const Untyped untyped;
  return emit(
      internal::joined(placed(leaves, over.mesh, specs), program.captured),
      [&](Builder& b, const Values& v) {
        const auto first_cut = [&](Value* x) {
          return lying(b, x, over.mesh,
                       leading_dims({axis.name}, static_cast<std::size_t>(x->rank() - 1)), false);
        };
        Values inputs = {first_cut(op::iota(b, Type(DType::i32, {axis.size}), 0))};
        for (std::size_t i = 0; i < v.size(); ++i)
          inputs.push_back(i < leaves.size() && over.mapped.axes[i]
                               ? first_cut(op::move_dim(b, v[i], *over.mapped.axes[i], 0))
                               : v[i]);
        Values all = ir::inline_block(b, *block.block, inputs);
        for (std::size_t r = 0; r < results; ++r) {
          Value* x = block.batched[r] ? all[r] : op::broadcast_leading(b, all[r], over.mapped.size);
          x = first_cut(x);
          const int at = axis_of("pmap", out_axis(as_vmap, r), x->rank());
          Dims dims(static_cast<std::size_t>(x->rank()));
          dims[static_cast<std::size_t>(at)] = {axis.name};
          all[r] = lying(b, op::move_dim(b, x, 0, at), over.mesh, dims, false);
        }
        return all;
      },
      program.weak);
}

}  // namespace strata::internal
