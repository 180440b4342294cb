#include "strata/compile/fuse/access_strides.h"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_set>

#include "strata/compile/fuse/value_uses.h"
#include "strata/loop/semantics.h"

namespace strata::compile {
namespace {

using ir::Value;

/// Notes what a group reads for one element of its shape.
class ReadContext : public GroupContext {
 public:
  using GroupContext::GroupContext;
  struct Place {
    const Value* value;
    Index at;
    bool guarded;
  };
  std::vector<Place> places;

 protected:
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    places.push_back({v, offset, b.current() != outside_ || !b.guards().empty()});
    return GroupContext::leaf(v, index, offset);
  }

 private:
  const loop::Body* const outside_ = b.current();
};

/// What a group computes for one element, whose number is taken apart by `sizes`.
struct DryRun {
  DryRun(const Group& group, const Fusion& fusion, const std::vector<std::int64_t>& sizes) {
    Index offset = 0;
    numbers = b.parameter(DType::i64, static_cast<std::int64_t>(sizes.size()), loop::Ref::Mode::in);
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      variables.push_back(
          b.index_of(b.load(numbers, static_cast<std::int64_t>(d)), 0, sizes[d] - 1));
      offset = offset * sizes[d] + variables.back();
    }
    ReadContext context(b, group, fusion, built);
    for (const Value* v : group.outputs) context.stored_at_offset(v, offset);
    places = std::move(context.places);
  }

  BuiltKernel built;
  loop::Kernel kernel{"dry"};
  loop::Builder b{kernel};
  loop::Ref* numbers;
  std::vector<Index> variables;  // of each dimension
  std::vector<ReadContext::Place> places;
};

/// Whether a place is computed from what is read, other than from `but`.
bool depends_on_reads(const Index& at, const loop::Ref* but,
                      std::unordered_set<const Inst*>& seen) {
  std::function<bool(const Inst*)> reads = [&](const Inst* inst) {
    if (!seen.insert(inst).second) return false;
    if (inst->code == loop::Opcode::load && !inst->is_variable && inst->ref != but) return true;
    return std::any_of(inst->args.begin(), inst->args.end(), reads) ||
           (!inst->is_variable && depends_on_reads(inst->index, but, seen));
  };
  return std::any_of(at.terms().begin(), at.terms().end(),
                     [&](const Index::Term& t) { return reads(t.variable); });
}

std::vector<Read> reads_of(const DryRun& dry) {
  std::vector<Read> out;
  for (const auto& [value, at, guarded] : dry.places) {
    Read read{.value = value, .guarded = guarded};
    Index rest = at;
    for (const Index& variable : dry.variables) {
      std::int64_t step = 0;
      for (const Index::Term& term : at.terms())
        if (Index::of(term.variable) == variable) step = term.coefficient;
      read.steps.push_back(step);
      rest = rest - variable * step;
    }
    if (!rest.is_constant()) read.steps.clear();
    std::unordered_set<const Inst*> seen;
    read.is_gather = depends_on_reads(rest, dry.numbers, seen);
    out.push_back(std::move(read));
  }
  return out;
}

/// Comparisons of a dimension's place with a number.
std::vector<std::vector<std::int64_t>> joints_of(const DryRun& dry,
                                                 const std::vector<std::int64_t>& sizes) {
  std::vector<std::set<std::int64_t>> found(sizes.size());
  for (const Inst& inst : dry.kernel.arena) {
    if (inst.code != loop::Opcode::cmp || inst.args[1]->code != loop::Opcode::constant ||
        !is_integer(inst.args[1]->type.dtype))
      continue;
    const Inst* place = inst.args[0];
    while (place->code == loop::Opcode::convert) place = place->args[0];
    const bool before = inst.compare == loop::Compare::lt || inst.compare == loop::Compare::ge;
    if (!before && inst.compare != loop::Compare::le && inst.compare != loop::Compare::gt) continue;
    const std::int64_t joint =
        loop::semantics::as_int(inst.args[1]->type.dtype, inst.args[1]->bits) + (before ? 0 : 1);
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if (dry.variables[d].terms().size() == 1 && dry.variables[d].terms()[0].variable == place &&
          joint > 0 && joint < sizes[d])
        found[d].insert(joint);
  }
  std::vector<std::vector<std::int64_t>> out;
  for (const auto& joints : found) out.emplace_back(joints.begin(), joints.end());
  return out;
}

bool any_looked_up(const std::vector<Read>& reads) {
  return std::any_of(reads.begin(), reads.end(), [](const Read& r) { return r.is_gather; });
}

}  // namespace

bool depends_on_reads(const Index& at) {
  std::unordered_set<const Inst*> seen;
  return depends_on_reads(at, nullptr, seen);
}

std::vector<Read> reads_of(const Group& group, const Fusion& fusion,
                           const std::vector<std::int64_t>& sizes) {
  return reads_of(DryRun(group, fusion, sizes));
}

std::vector<std::int64_t> larger_than_one(const Shape& shape) {
  std::vector<std::int64_t> out = shape.sizes();
  std::erase_if(out, [](std::int64_t size) { return size <= 1; });
  return out;
}

bool has_gathers(const Group& group, const Fusion& fusion) {
  return any_looked_up(
      reads_of(group, fusion, larger_than_one(group.roots.back()->result()->shape())));
}

void join_dimensions(std::vector<std::int64_t>& sizes, std::vector<Read>& reads,
                     const std::function<bool(std::size_t)>& joins) {
  if (std::any_of(reads.begin(), reads.end(), [](const Read& r) { return r.steps.empty(); }))
    return;
  for (std::size_t d = sizes.size(); d-- > 1;) {
    if (!std::all_of(reads.begin(), reads.end(),
                     [&](const Read& r) { return r.steps[d - 1] == r.steps[d] * sizes[d]; }) ||
        (joins && !joins(d)))
      continue;
    sizes[d - 1] *= sizes[d];
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d));
    for (Read& r : reads) r.steps.erase(r.steps.begin() + static_cast<std::ptrdiff_t>(d - 1));
  }
}

std::vector<Shape> shapes_of(const Group& group, const Fusion& fusion) {
  constexpr std::size_t kMost = 16;
  std::vector<Shape> out{group.roots.back()->result()->shape()};
  std::vector<const ir::Value*> open{group.roots.back()->result()};
  for (std::size_t i = 0; i < open.size() && i < kMost; ++i) {
    const ir::Op& op = *open[i]->op();
    const bool reshapes = op.name() == "stablehlo.reshape";
    for (const ir::Value* v : op.operands) {
      if (count(v) != group.total) continue;
      if (reshapes) out.push_back(v->shape());
      if (fusion.inlined.count(v) && v->op() && (reshapes || op::def(op).traits.elementwise))
        open.push_back(v);
    }
  }
  return out;
}

JoinedDimensions joined_dimensions(const Group& group, const Fusion& fusion) {
  struct Seen {
    JoinedDimensions joined;
    bool by_steps = false;  // whether reads move by steps along these dimensions
  };
  auto seen = [&](const Shape& shape) {
    Seen out{{shape, larger_than_one(shape)}};
    std::vector<Read> reads = reads_of(group, fusion, out.joined.sizes);
    out.by_steps = std::none_of(reads.begin(), reads.end(),
                                [](const Read& r) { return r.steps.empty() && !r.is_gather; });
    out.joined.is_gather = any_looked_up(reads);
    join_dimensions(out.joined.sizes, reads);
    return out;
  };
  const std::vector<Shape> shapes = shapes_of(group, fusion);
  Seen out = seen(shapes.front());
  for (std::size_t i = 1; i < shapes.size() && !out.by_steps; ++i)
    if (Seen other = seen(shapes[i]);
        other.by_steps && !other.joined.sizes.empty() && other.joined.sizes.back() >= kMapLanes)
      out = std::move(other);
  return std::move(out.joined);
}

SegmentedDimensions segmented_dimensions(const Group& group, const Fusion& fusion) {
  const Shape& shape = group.roots.back()->result()->shape();
  SegmentedDimensions out{{shape, larger_than_one(shape)}};
  const DryRun dry(group, fusion, out.sizes);
  std::vector<Read> reads = reads_of(dry);
  out.is_gather = any_looked_up(reads);
  out.joints = joints_of(dry, out.sizes);
  join_dimensions(out.sizes, reads, [&](std::size_t d) {
    if (!out.joints[d].empty() || !out.joints[d - 1].empty()) return false;
    out.joints.erase(out.joints.begin() + static_cast<std::ptrdiff_t>(d));
    return true;
  });
  return out;
}

std::int64_t lane_stride(const Index& index) {
  std::int64_t out = 0;
  for (const Index::Term& t : index.terms())
    if (t.variable->type.lanes > 1)
      out = t.variable->is_variable && t.coefficient > 0 && t.coefficient < kIrregularStride &&
                    out == 0
                ? t.coefficient
                : kIrregularStride;
  return out;
}

bool has_contiguous_access(const loop::Kernel& kernel) {
  for (const Inst& inst : kernel.arena)
    if ((inst.code == loop::Opcode::load || inst.code == loop::Opcode::store) &&
        lane_stride(inst.index) > 1)
      return false;
  return true;
}

}  // namespace strata::compile
