#include "strata/compile/group_reads.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

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

/// Whether a place is computed from what is read, other than from `but`.
bool depends_on_reads(const Index& at, const loop::Ref* but, std::unordered_set<const Inst*>& seen) {
  std::function<bool(const Inst*)> reads = [&](const Inst* inst) {
    if (!seen.insert(inst).second) return false;
    if (inst->code == loop::Opcode::load && !inst->is_variable && inst->ref != but) return true;
    return std::any_of(inst->args.begin(), inst->args.end(), reads) || (!inst->is_variable && depends_on_reads(inst->index, but, seen));
  };
  return std::any_of(at.terms().begin(), at.terms().end(), [&](const Index::Term& t) { return reads(t.variable); });
}

}  // namespace

std::vector<Read> reads_of(const Group& group, const Fusion& fusion, const std::vector<std::int64_t>& sizes) {
  BuiltKernel built;
  loop::Kernel kernel("dry");
  loop::Builder b(kernel);
  ReadContext context(b, group, fusion, built);
  loop::Ref* numbers = b.parameter(DType::i64, static_cast<std::int64_t>(sizes.size()), loop::Ref::Mode::in);
  std::vector<Index> variables;
  Index offset = 0;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    variables.push_back(b.index_of(b.load(numbers, static_cast<std::int64_t>(d)), 0, sizes[d] - 1));
    offset = offset * sizes[d] + variables.back();
  }
  for (const Value* v : group.outputs) context.stored_at_offset(v, offset);
  std::vector<Read> out;
  for (const auto& [value, at, guarded] : context.places) {
    Read read{.value = value, .guarded = guarded};
    Index rest = at;
    for (const Index& variable : variables) {
      std::int64_t step = 0;
      for (const Index::Term& term : at.terms())
        if (Index::of(term.variable) == variable) step = term.coefficient;
      read.steps.push_back(step);
      rest = rest - variable * step;
    }
    if (!rest.is_constant()) read.steps.clear();
    std::unordered_set<const Inst*> seen;
    read.looked_up = depends_on_reads(rest, numbers, seen);
    out.push_back(std::move(read));
  }
  return out;
}

void join_dimensions(std::vector<std::int64_t>& sizes, std::vector<Read>& reads) {
  if (std::any_of(reads.begin(), reads.end(), [](const Read& r) { return r.steps.empty(); })) return;
  for (std::size_t d = sizes.size(); d-- > 1;) {
    if (!std::all_of(reads.begin(), reads.end(), [&](const Read& r) { return r.steps[d - 1] == r.steps[d] * sizes[d]; })) continue;
    sizes[d - 1] *= sizes[d];
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(d));
    for (Read& r : reads) r.steps.erase(r.steps.begin() + static_cast<std::ptrdiff_t>(d - 1));
  }
}

JoinedDimensions joined_dimensions(const Group& group, const Fusion& fusion) {
  JoinedDimensions out;
  for (std::int64_t size : group.roots.back()->result()->shape().sizes())
    if (size > 1) out.sizes.push_back(size);
  std::vector<Read> reads = reads_of(group, fusion, out.sizes);
  for (const Read& r : reads) out.looked_up |= r.looked_up;
  join_dimensions(out.sizes, reads);
  return out;
}

}  // namespace strata::compile
