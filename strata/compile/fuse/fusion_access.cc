#include "strata/compile/fuse/fusion_access.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>

#include "strata/compile/kernel/elemental_emitter.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using op::is_reduction;

/// Records what a root's tree reads, with the root at a symbolic index.
class DryRun : public ElementalEmitter {
 public:
  DryRun(loop::Builder& b, const Fusion& fusion) : ElementalEmitter(b), fusion_(fusion) {}
  struct Read {
    const Value* value;
    Index offset;
  };
  std::vector<Read> reads;

  /// The element of a root, which is computed whatever else is.
  Inst* root(const Op& op, int r, std::span<const Index> index) {
    return computed(op.result(r), index);
  }

 protected:
  bool inlined(const Value* v) override { return fusion_.inlined.count(v) != 0; }
  bool known(const Value* v) override { return fusion_.runtime_constants.count(v) == 0; }
  /// A number is not looked into: that it reads its operands in the same place is known, and no
  /// index is made of it.
  Inst* computed(const Value* v, std::span<const Index> index) override {
    const Op& op = *v->op();
    const op::Traits& traits = op::def(op).traits;
    if (!traits.elementwise || traits.takes_complex || !is_float(v->dtype()) ||
        !loop::is_loop_dtype(v->dtype()) || op.operands.empty())
      return ElementalEmitter::computed(v, index);
    for (const Value* operand : op.operands)
      at(operand, operand->rank() == 0 ? std::span<const Index>() : index);
    if (!unknown_) unknown_ = b.parameter(DType::i64, kUnknown, loop::Ref::Mode::in);
    return b.convert(v->dtype(), b.load(unknown_, next_unknown_++ % kUnknown));
  }
  Inst* leaf(const Value* v, std::span<const Index>, const Index& offset) override {
    reads.push_back({v, offset});
    loop::Ref*& ref = refs_[v];
    if (!ref)
      ref = b.parameter(stored_dtype(v->type()),
                        std::max<std::int64_t>(1, stored_shape(v->type()).count()),
                        loop::Ref::Mode::in);
    return b.load(ref, offset);
  }

 private:
  static constexpr std::int64_t kUnknown = 1 << 20;
  const Fusion& fusion_;
  std::unordered_map<const Value*, loop::Ref*> refs_;
  loop::Ref* unknown_ = nullptr;  // its elements stand for numbers
  std::int64_t next_unknown_ = 0;
};

Access::Kind access_kind(const DryRun::Read& read, const Shape& frame,
                         const std::vector<Index>& index, const Index& own) {
  std::int64_t n = count(read.value);
  if (read.offset.is_constant() && n == 1) return Access::Kind::scalar;
  if (read.offset.is_constant()) return Access::Kind::fixed;
  if (read.offset == own && n == frame.count()) return Access::Kind::same;
  Index prefix = 0;
  std::int64_t outer = 1;
  for (int k = 0; k < frame.rank(); ++k) {
    prefix = prefix * frame[k] + index[static_cast<std::size_t>(k)];
    outer *= frame[k];
    if (outer == n && read.offset == prefix) return Access::Kind::leading;
  }
  return Access::Kind::other;
}

/// Whether an offset goes on by one or stays along the last of these variables, and is computed
/// from variables alone.
bool runs_contiguously(const Index& offset, const std::vector<Index>& index) {
  const loop::Inst* last = nullptr;
  std::unordered_set<const loop::Inst*> variables;
  for (const Index& i : index)
    for (const Index::Term& term : i.terms()) variables.insert(last = term.variable);
  return std::all_of(offset.terms().begin(), offset.terms().end(), [&](const Index::Term& term) {
    return variables.count(term.variable) != 0 && (term.variable != last || term.coefficient == 1);
  });
}

/// A place in an array of a shape, of which nothing is known but its bounds.
std::vector<Index> symbolic_index(loop::Builder& b, const Shape& shape) {
  loop::Ref* variables = b.parameter(DType::i64, std::max(1, shape.rank()), loop::Ref::Mode::in);
  std::vector<Index> out;
  for (int i = 0; i < shape.rank(); ++i)
    out.push_back(shape[i] == 1 ? Index(0) : b.index_of(b.load(variables, i), 0, shape[i] - 1));
  return out;
}

/// What the tree of the operation's result `r` reads, as seen from an index of `frame`.
void add_accesses(const Op& op, int r, const Shape& frame, const Fusion& fusion,
                  std::vector<Access>& out) {
  if (frame.count() == 0) return;
  loop::Kernel kernel("dry");
  loop::Builder b(kernel);
  DryRun dry(b, fusion);
  const std::vector<Index> index = symbolic_index(b, frame);
  if (is_reduction(op)) {
    int n = op.num_results();
    for (int i = 0; i < n; ++i) dry.at(op.operand(i), index);
    for (int i = n; i < 2 * n; ++i) dry.at(op.operand(i), {});
  } else if (op::is_interleaving(op)) {
    for (const Value* part : op.operands) dry.at(part, index);
  } else {
    dry.root(op, r, index);
  }
  Index own = linearize(b, frame, index);
  for (const DryRun::Read& read : dry.reads) {
    Access a{access_kind(read, frame, index, own), read.value};
    a.contiguous = a.kind == Access::Kind::same || runs_contiguously(read.offset, index);
    out.push_back(a);
  }
}

/// Where the operation's result is in an argument of the block, if it does.
std::optional<ArgumentSlice> slice_of_argument(const ir::Block& block, const Op& op,
                                               const Fusion& fusion) {
  constexpr std::int64_t kLeast = 256;  // elements: of fewer ones a kernel may read many
  if (!op::def(op).traits.moves_only || !is_elemental(op) || op.num_results() != 1 ||
      op.operands.empty())
    return std::nullopt;
  const Value *v = op.result(), *from = op.operand(0);
  if (from->op() || from->block() != &block || !(v->dtype() == from->dtype()) ||
      is_complex(v->dtype()))
    return std::nullopt;
  if (count(v) < kLeast || count(v) >= count(from)) return std::nullopt;
  loop::Kernel kernel("dry");
  loop::Builder b(kernel);
  DryRun dry(b, fusion);
  const Shape& shape = v->shape();
  const std::vector<Index> index = symbolic_index(b, shape);
  const loop::Inst* element = dry.root(op, 0, index);
  if (dry.reads.size() != 1 || dry.reads[0].value != from || element->code != loop::Opcode::load ||
      !element->args.empty())
    return std::nullopt;
  const Index begin = dry.reads[0].offset - linearize(b, shape, index);
  if (!begin.is_constant() || begin.constant() < 0 || begin.constant() + count(v) > count(from))
    return std::nullopt;
  return ArgumentSlice{from, begin.constant()};
}

}  // namespace

std::unordered_map<const Value*, ArgumentSlice> slices_of_arguments(const ir::Block& block,
                                                                    const Uses& uses,
                                                                    const Fusion& fusion) {
  std::unordered_map<const Value*, ArgumentSlice> out;
  for (const auto& op : block.ops()) {
    if (op->num_results() != 1 || uses.stored.count(op->result())) continue;
    if (auto slice = slice_of_argument(block, *op, fusion)) out.emplace(op->result(), *slice);
  }
  return out;
}

std::vector<Access> accesses(const Op& op, const Fusion& fusion) {
  std::vector<Access> out;
  if (is_reduction(op)) {
    add_accesses(op, 0, op.operand(0)->shape(), fusion, out);
    return out;
  }
  for (int r = 0; r < op.num_results(); ++r) {
    std::size_t before = out.size();
    add_accesses(op, r, op.result(r)->shape(), fusion, out);
    // Results of another shape than the first have no place in its loops.
    for (std::size_t i = before; i < out.size() && !(op.result(r)->shape() == op.result()->shape());
         ++i)
      if (out[i].kind != Access::Kind::scalar) out[i].kind = Access::Kind::other;
  }
  return out;
}

std::vector<std::int64_t> strides_of_largest(const Value* v, const Fusion& fusion) {
  const Shape& shape = v->shape();
  std::vector<std::int64_t> out(static_cast<std::size_t>(shape.rank()));
  if (shape.count() == 0) return out;
  if (!fusion.inlined.count(v)) return shape.strides();
  loop::Kernel kernel("dry");
  loop::Builder b(kernel);
  DryRun dry(b, fusion);
  const std::vector<Index> index = symbolic_index(b, shape);
  dry.at(v, index);
  std::int64_t largest = 1;
  for (const DryRun::Read& read : dry.reads) {
    if (count(read.value) <= largest) continue;
    std::vector<std::int64_t> strides(out.size());
    for (std::size_t d = 0; d < strides.size(); ++d)
      for (const Index::Term& term : read.offset.terms())
        if (Index::of(term.variable) == index[d]) strides[d] = term.coefficient;
    if (std::find(strides.begin(), strides.end(), 1) != strides.end())
      out = strides, largest = count(read.value);
  }
  return out;
}

int minor_dimension(const Value* v, const Fusion& fusion) {
  const std::vector<std::int64_t> strides = strides_of_largest(v, fusion);
  int out = -1;
  for (int d = 0; d < v->rank(); ++d)
    if (v->shape()[d] > 1 && strides[static_cast<std::size_t>(d)] == 1) out = d;
  return out;
}

std::optional<Placement> placement(const Value* v, const Fusion& fusion) {
  const Shape& shape = v->shape();
  if (shape.count() == 0) return {};
  loop::Kernel kernel("dry");
  loop::Builder b(kernel);
  DryRun dry(b, fusion);
  const std::vector<Index> index = symbolic_index(b, shape);
  const Value* array = v;
  Index offset = linearize(b, shape, index);
  if (fusion.inlined.count(v)) {
    const loop::Inst* element = dry.at(v, index);
    if (dry.reads.size() != 1 || element->code != loop::Opcode::load || !element->args.empty())
      return {};
    array = dry.reads[0].value;
    offset = dry.reads[0].offset;
  }
  Placement out{array, offset.constant(),
                std::vector<std::int64_t>(static_cast<std::size_t>(shape.rank()))};
  std::size_t known = 0;
  for (std::size_t d = 0; d < out.strides.size(); ++d)
    for (const Index::Term& term : offset.terms())
      if (Index::of(term.variable) == index[d]) out.strides[d] = term.coefficient, ++known;
  return known == offset.terms().size() ? std::optional(out) : std::nullopt;
}

std::vector<std::int64_t> strides_in_memory(const Value* v, const Fusion& fusion) {
  std::optional<Placement> found = placement(v, fusion);
  return found ? std::move(found->strides) : std::vector<std::int64_t>();
}

std::vector<const Value*> read_through(const Op& op,
                                       const std::unordered_set<const Value*>& inlined) {
  std::vector<const Value*> out;
  std::unordered_set<const Value*> seen;
  std::function<void(const Value*)> visit = [&](const Value* v) {
    if (!seen.insert(v).second) return;
    if (!inlined.count(v)) return out.push_back(v);
    for (const Value* o : v->op()->operands) visit(o);
  };
  for (const Value* v : op.operands) visit(v);
  for (const auto& region : op.regions)
    for (const Value* v : ir::captures(*region)) visit(v);
  return out;
}

std::vector<const Value*> reads(const Op& op, const Fusion& fusion) {
  return read_through(op, fusion.inlined);
}

}  // namespace strata::compile
