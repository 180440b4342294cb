#include "strata/compile/short_rows.h"

#include <algorithm>

#include "strata/compile/combine.h"
#include "strata/compile/fusion_choice.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

constexpr std::int64_t kLongest = 12, kFewestRows = 1024;
/// Code for each element of a row is so much more code than for one.
constexpr std::size_t kMostInstructions = 6000;
/// Fewer where rows are longer: each of their elements has code of its own.
int lanes_for(std::int64_t length) { return length > 4 ? 8 : 16; }
constexpr std::int64_t kPointRows = 4096;

/// Whether lanes are at places one after the other, or at one.
bool is_beside(const Index& index) {
  return std::all_of(index.terms().begin(), index.terms().end(),
                     [](const Index::Term& t) { return t.variable->type.lanes == 1 || (t.variable->is_variable && t.coefficient == 1); });
}

/// Reductions are computed when a row begins; all else where it is asked for.
class ShortRowContext : public GroupContext {
 public:
  using GroupContext::GroupContext;
  void begin_row(const Group& group, const Index& r, std::int64_t length) {
    reduced_.clear();
    for (const Op* op : group.roots) {
      if (!is_reduction(*op)) continue;
      std::vector<Inst*> elements;
      for (std::int64_t j = 0; j < length; ++j) elements.push_back(at_offset(op->operand(0), r * length + j));
      reduced_[op->result()] = short_row(b, *op, std::move(elements), at(op->operand(1), {}));
    }
  }

 protected:
  bool inlined(const Value* v) override { return !(is_root(v) && is_reduction(*v->op())) && GroupContext::inlined(v); }
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    if (auto row = reduced_.find(v); row != reduced_.end()) return row->second;
    STRATA_CHECK(!is_root(v), "a row reads {} before it is reduced", v->op()->name());
    return GroupContext::leaf(v, index, offset);
  }

 private:
  std::unordered_map<const Value*, Inst*> reduced_;
};

class ShortRows {
 public:
  ShortRows(const Group& group, const Fusion& fusion, std::int64_t rows) : group_(group), fusion_(fusion), rows_(rows), length_(group.total / rows) {}

  Built build() {
    const std::int64_t points = rows_ / kPointRows;
    if (points > 0) kernel(0, kPointRows, points);
    if (rows_ % kPointRows) kernel(points * kPointRows, rows_ % kPointRows, 1);
    return std::move(out_);
  }

 private:
  /// Rows from `begin` on, so many at each point.
  void kernel(std::int64_t begin, std::int64_t rows, std::int64_t points) {
    out_.kernels.emplace_back();
    BuiltKernel& built = out_.kernels.back();
    built.kernel = std::make_unique<loop::Kernel>("short_rows");
    built.kernel->grid = points;
    built.parallel = points > 1 && static_cast<double>(group_.total) * static_cast<double>(group_.roots.size()) > kInlineWork;
    loop::Builder b(*built.kernel);
    ShortRowContext context(b, group_, fusion_, built);
    const Index first = b.grid() * rows + begin;
    b.vector(0, rows, lanes_for(length_), [&](Index i) { row(context, first + i); });
  }
  /// All values of an element before it is stored: a result may lie in the memory of an argument that is read at the same place.
  void row(ShortRowContext& context, const Index& r) {
    context.begin_row(group_, r, length_);
    std::vector<Inst*> of_row;
    for (const Value* v : group_.outputs)
      if (count(v) == rows_) of_row.push_back(context.at_offset(v, r));
    for (std::int64_t j = 0; j < length_; ++j) {
      std::vector<Inst*> values;
      for (const Value* v : group_.outputs)
        if (count(v) == group_.total) values.push_back(context.at_offset(v, r * length_ + j));
      std::size_t n = 0;
      for (const Value* v : group_.outputs)
        if (count(v) == group_.total) context.store_result(v, r * length_ + j, values[n++]);
    }
    std::size_t n = 0;
    for (const Value* v : group_.outputs)
      if (count(v) == rows_) context.store_result(v, r, of_row[n++]);
  }

  const Group& group_;
  const Fusion& fusion_;
  std::int64_t rows_, length_;
  Built out_;
};

/// The rows of a group: those that it has, or those of the shape of its last root.
std::int64_t rows_of(const Group& group) {
  if (group.rows) return group.rows;
  const Shape& shape = group.roots.back()->result()->shape();
  for (int d = shape.rank() - 1; d >= 0; --d)
    if (shape[d] > 1) return group.total / shape[d];
  return group.total;
}

/// Instructions that a strip takes for each of its lanes, places that lie apart counted one by one.
double strip_cost(const loop::Kernel& kernel, int lanes) {
  double out = 0;
  for (const Inst& inst : kernel.arena) {
    if (inst.is_variable || inst.code == Opcode::constant) continue;
    const bool apart = (inst.code == Opcode::load || inst.code == Opcode::store) && !is_beside(inst.index);
    out += apart ? lanes : 1;
  }
  return out / lanes;
}

}  // namespace

std::optional<Built> build_short_rows(const Group& group, const Fusion& fusion, const loop::Kernel& by_elements) {
  if (group.total == 0 || (group.linear && group.rows == 0)) return std::nullopt;
  const std::int64_t rows = rows_of(group), length = group.total / rows;
  if (rows < kFewestRows || length < 2 || length > kLongest || by_elements.arena.size() * static_cast<std::size_t>(length) > kMostInstructions) return std::nullopt;
  for (const Value* v : group.outputs)
    if (count(v) != group.total && count(v) != (group.rows ? rows : group.total)) return std::nullopt;
  Built out = ShortRows(group, fusion, rows).build();
  // A strip is as many rows here, and as many elements there; one value per row has no lanes there at all.
  if (group.rows == 0 && strip_cost(*out.kernels.front().kernel, lanes_for(length)) >= static_cast<double>(length) * strip_cost(by_elements, kMapLanes)) return std::nullopt;
  return out;
}

}  // namespace strata::compile
