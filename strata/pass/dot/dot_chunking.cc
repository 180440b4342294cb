#include "strata/pass/dot/dot_chunking.h"

#include <algorithm>

#include "strata/ir/uses.h"
#include "strata/ir/verify.h"
#include "strata/op/build.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/pass/dot/chunk_region.h"
#include "strata/pass/dot/chunked_reduction.h"
#include "strata/pass/loop/build_scan.h"

namespace strata::pass {
namespace {

using ir::Block;
using ir::Builder;
using ir::Ints;
using ir::Op;
using ir::Value;
using ir::Values;

using op::is_contraction;

std::int64_t bytes_of(const Value* v) {
  return v->shape().count() * static_cast<std::int64_t>(byte_width(v->dtype()));
}

/// Whether a product is much larger than what it is made of.
bool is_large(const Op& op, const ChunkOptions& options) {
  if (!is_contraction(op) || op.operands.size() != 2 || !op.result()->shape().is_static())
    return false;
  return bytes_of(op.result()) >= options.large &&
         bytes_of(op.result()) >= bytes_of(op.operand(0)) + bytes_of(op.operand(1));
}

/// The type with dimension d in `parts` parts.
Type part_of(const Type& type, int d, std::int64_t parts) {
  std::vector<Dim> dims = type.shape().dims();
  dims[static_cast<std::size_t>(d)] = Dim(type.shape()[d] / parts);
  return type.with(Shape(std::move(dims)));
}
Shape stacked(const Type& part, std::int64_t parts) {
  std::vector<Dim> dims = part.shape().dims();
  dims.insert(dims.begin(), Dim(parts));
  return Shape(std::move(dims));
}
/// The first two dimensions as one.
Shape unstacked(const Shape& shape) {
  std::vector<Dim> dims(shape.dims().begin() + 1, shape.dims().end());
  dims[0] = Dim(shape[0] * shape[1]);
  return Shape(std::move(dims));
}
/// The loop in place of a set of operations.
class Chunks {
 public:
  Chunks(const Block& block, const ir::Uses& uses, const ChunkRegion& set, std::int64_t parts)
      : uses_(uses), set_(set), parts_(parts) {
    for (const auto& op : block.ops())
      if (set.has(op.get())) inside_.push_back(op.get());
  }

  /// Why the loop cannot be, or an empty text: then `emit` makes it.
  std::string plan() {
    for (const Op* op : inside_)
      for (Value* v : op->operands)
        if (set_.dim(v) >= 0 && !(v->op() && set_.has(v->op())) &&
            std::find(xs_.begin(), xs_.end(), v) == xs_.end())
          xs_.push_back(v);
    for (const Op* op : inside_) {
      if (set_.is_copied(op)) continue;
      for (Value* v : op->results()) {
        if (!is_read_outside(v)) continue;
        (!set_.sums_rows(op) ? stacks_ : is_contraction(*op) ? sums_ : reduced_).push_back(v);
      }
    }
    for (const Values* values : {&xs_, &stacks_})
      for (const Value* v : *values)
        if (!is_outermost(v->shape(), set_.dim(v)))
          return fmt::format("the rows of {} do not follow each other in memory",
                             v->type().to_string());
    try {
      make_body();
    } catch (const Error& e) {
      return e.what();
    }
    std::unique_ptr<Block> alone = ir::clone(body_);
    ir::close_over(*alone);
    Status s = ir::verify(*alone);
    return s.ok() ? std::string() : s.message();
  }

  /// Appends the loop; its results join the map.
  void emit(Builder& b, ir::ValueMap& map) {
    Values carries, xs;
    for (const Value* v : sums_)
      carries.push_back(op::zeros(b, v->type().with(op::product_accumulator(*v->op()))));
    for (Value* v : xs_) xs.push_back(op::reshape(b, map(v), stacked(part(v), parts_)));
    ir::replace_uses(body_, map);
    Values out = build_scan(b, body_, carried_, carries, sliced_, xs, {.length = parts_});
    for (std::size_t i = 0; i < sums_.size(); ++i)
      map.set(sums_[i], op::convert(b, out[i], sums_[i]->dtype()));
    for (std::size_t i = 0; i < stacks_.size(); ++i)
      map.set(stacks_[i], op::reshape(b, out[sums_.size() + i], stacks_[i]->shape()));
    for (std::size_t i = 0; i < reduced_.size(); ++i) {
      const Op& op = *reduced_[i]->op();
      Value* parts = out[sums_.size() + stacks_.size() + i];
      map.set(reduced_[i],
              combine_partial_reductions(b, op, op::reshape(b, parts, unstacked(parts->shape())),
                                         map(op.operand(1))));
    }
  }

  const Op* last() const { return inside_.back(); }

 private:
  bool is_read_outside(const Value* v) const {
    const auto uses = uses_.of(v);
    return uses_.is_result(v) || std::any_of(uses.begin(), uses.end(),
                                             [&](const auto& use) { return !set_.has(use.op); });
  }
  Type part(const Value* v) const { return part_of(v->type(), set_.dim(v), parts_); }

  void make_body() {
    Builder b(body_);
    ir::ValueMap map;
    for (const Value* v : sums_)
      carried_.push_back(body_.add_argument(v->type().with(op::product_accumulator(*v->op()))));
    for (const Value* v : xs_) {
      sliced_.push_back(body_.add_argument(part(v)));
      map.set(v, sliced_.back());
    }
    for (const Op* op : inside_) {
      b.set_location(op->where);
      take_free_values(b, *op, map);
      if (set_.sums_rows(op))
        sum(b, *op, map);
      else
        make_part(b, *op, map);
    }
    for (const Values* values : {&sums_, &stacks_, &reduced_})
      for (Value* v : *values) body_.results.push_back(map(v));
  }

  /// What needs no operand and no memory (an iota) is made where it is read.
  void take_free_values(Builder& b, const Op& op, ir::ValueMap& map) {
    for (const Value* v : op.operands) {
      const Op* maker = v->op();
      if (!maker || map.find(v) || !maker->operands.empty() || !maker->regions.empty() ||
          maker->info().has_effect)
        continue;
      if (op::def(*maker).traits.cheap && !maker->attrs.has("value")) ir::clone(b, *maker, map);
    }
  }

  /// The product goes on from the carry, which is what the body gives in the product's place; over
  /// very many rows, whose sum uses chains, those of the chunk are added to it. A reduction
  /// gives its chunks.
  void sum(Builder& b, const Op& op, ir::ValueMap& map) {
    if (!is_contraction(op))
      return map.set(op.result(), partial_reduction(b, op, map(op.operand(0))));
    auto at = std::find(sums_.begin(), sums_.end(), op.result());
    if (at == sums_.end()) return;  // nobody reads it
    op::Contraction c = op::contraction_of(op);
    auto ints = [](const std::vector<int>& dims) { return Ints(dims.begin(), dims.end()); };
    Value* carry = carried_[static_cast<std::size_t>(at - sums_.begin())];
    const op::DotDims dims{ints(c.lhs_batch), ints(c.rhs_batch), ints(c.lhs_contract),
                           ints(c.rhs_contract)};
    Value *l = map(op.operand(0)), *r = map(op.operand(1));
    if (!op::sum_pieces(op) || !is_float(carry->dtype()))
      return map.set(op.result(), op::dot_add(b, l, r, carry, dims));
    Value* product = op::dot_general(b, l, r, dims, carry->dtype());
    op::set_chains(*product->op(), {});
    map.set(op.result(), op::add(b, carry, product));
  }

  /// The operation on the chunk: of the same attributes, but where they say how many rows there
  /// are.
  void make_part(Builder& b, const Op& op, ir::ValueMap& map) {
    std::vector<Type> types;
    for (const Value* v : op.results()) types.push_back(part(v));
    std::vector<std::unique_ptr<Block>> regions;
    for (const auto& region : op.regions) regions.push_back(ir::clone(*region));
    Op& made = b.create(op.info(), map(Values(op.operands)), attrs_of_part(op), std::move(regions),
                        std::move(types));
    for (int r = 0; r < op.num_results(); ++r) map.set(op.result(r), made.result(r));
  }
  ir::Attrs attrs_of_part(const Op& op) const {
    ir::Attrs attrs = op.attrs;
    const int d = op.operands.empty() ? -1 : set_.dim(op.operand(0));
    if (d < 0) return attrs;
    for (const char* sizes : {"limit_indices", "slice_sizes"}) {
      if (!attrs.has(sizes)) continue;
      Ints list = op.attr<Ints>(sizes);
      std::int64_t& size = list[static_cast<std::size_t>(d)];
      if (size == op.operand(0)->shape()[d]) size /= parts_;
      attrs.set(sizes, list);
    }
    return attrs;
  }

  const ir::Uses& uses_;
  const ChunkRegion& set_;
  std::int64_t parts_;
  std::vector<const Op*> inside_;        // in order
  Values xs_, sums_, stacks_, reduced_;  // of the block: read by rows, given as sums of products,
                                         // by rows, and as reductions of rows
  Block body_;
  Values carried_, sliced_;  // arguments of the body
};

/// The least number of chunks that makes them small enough, of those that leave rows enough; 1:
/// none.
std::int64_t number_of_chunks(const Op& product, const ChunkRegion& set,
                              const ChunkOptions& options) {
  op::Contraction c = op::contraction_of(product);
  const Value* side = set.dim(product.operand(0)) >= 0 ? product.operand(0) : product.operand(1);
  std::int64_t rows = side->shape().count();
  for (int d : side == product.operand(0) ? c.lhs_contract : c.rhs_contract)
    rows /= side->shape()[d];
  std::int64_t best = 1;
  for (std::int64_t n = 2; n <= set.parts() && rows / n >= options.rows; ++n) {
    if (set.parts() % n != 0) continue;
    best = n;
    if (bytes_of(product.result()) / n <= options.chunk) break;
  }
  return best;
}

/// Puts the set's loop in the place of its last operation: all that it reads was made before, all
/// that reads it comes later or is moved.
void replace(Block& block, const ChunkRegion& set, Chunks& chunks) {
  std::vector<std::unique_ptr<Op>> ops = std::move(block.ops()), dead, later;
  block.ops().clear();
  Builder b(block);
  ir::ValueMap map;
  std::unordered_set<const Op*> waiting;  // behind the set, but written before its last operation
  auto put = [&](std::unique_ptr<Op> op) {
    op->operands = map(op->operands);
    for (auto& region : op->regions) ir::replace_uses(*region, map);
    block.append(std::move(op));
  };
  auto waits = [&](const Op& op) {
    auto comes_later = [&](const Value* v) {
      return v->op() && (waiting.count(v->op()) || set.is_own(v->op()));
    };
    if (std::any_of(op.operands.begin(), op.operands.end(), comes_later)) return true;
    return std::any_of(op.regions.begin(), op.regions.end(), [&](const auto& region) {
      Values captured = ir::captures(*region);
      return std::any_of(captured.begin(), captured.end(), comes_later);
    });
  };
  bool done = false;
  for (auto& op : ops) {
    const Op* now = op.get();
    const bool own = set.is_own(now);
    if (own) {
      dead.push_back(std::move(op));
    } else if (!done && waits(*now)) {
      waiting.insert(now);
      later.push_back(std::move(op));
    } else {
      put(std::move(op));
    }
    if (now != chunks.last()) continue;
    chunks.emit(b, map);
    done = true;
    for (auto& waited : later) put(std::move(waited));
    later.clear();
  }
  block.results = map(block.results);
}

std::string named(const Op& op) {
  return fmt::format("{} -> {}", op.name(), op.result()->type().to_string());
}

/// Chunks one product with what belongs to it; with `absorb`, also with other large ones
/// (chunk_region.h). Why not, or an empty text.
std::string chunk(Block& block, const ir::Uses& uses, const Op& product, bool absorb,
                  const ChunkOptions& options, std::int64_t* parts) {
  ChunkRegion set(block, uses, product.result()->shape().count() / 2);
  if (!set.grow(product, absorb)) return set.why();
  *parts = number_of_chunks(product, set, options);
  if (*parts < 2) return "too few rows";
  Chunks chunks(block, uses, set, *parts);
  std::string why = chunks.plan();
  if (why.empty()) replace(block, set, chunks);
  return why;
}

/// The same, and a line about it. Returns whether the block changed.
bool chunk(Block& block, const ir::Uses& uses, const Op& product, const ChunkOptions& options,
           std::vector<std::string>& said) {
  const std::string name = named(product);  // the product may be gone afterwards
  std::int64_t parts = 1;
  std::string why = chunk(block, uses, product, true, options, &parts);
  if (!why.empty()) why = chunk(block, uses, product, false, options, &parts);
  said.push_back(why.empty() ? fmt::format("chunked: {}: {} chunks of rows", name, parts)
                             : fmt::format("not chunked: {}: {}", name, why));
  return why.empty();
}

}  // namespace

std::vector<std::string> chunk_dots(Block& block, const ChunkOptions& options) {
  std::vector<std::string> said;
  for (const auto& op : block.ops()) {
    if (!std::holds_alternative<op::Structured>(op::def(*op).lowering)) continue;
    for (auto& region : op->regions)
      for (std::string& line : chunk_dots(*region, options)) said.push_back(std::move(line));
  }
  std::unordered_set<const Op*> asked;
  for (bool changed = true; changed;) {
    changed = false;
    Values large;
    for (const auto& op : block.ops())
      if (is_large(*op, options) && !asked.count(op.get())) large.push_back(op->result());
    if (large.empty()) break;
    const ir::Uses uses(block);
    for (const Value* v : large) {
      asked.insert(v->op());
      if ((changed = chunk(block, uses, *v->op(), options, said))) break;
    }
  }
  return said;
}

}  // namespace strata::pass
