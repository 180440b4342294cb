#include "strata/compile/kernel/row/transposed_rows.h"

#include <algorithm>
#include <functional>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

constexpr std::int64_t kBytes = 256 << 10;  // of a block of rows
constexpr std::int64_t kTransposeTile = loop::kQuickSquare;

std::int64_t block_bytes(const Value* v, std::int64_t length) {
  return kRowsTogether * length * static_cast<std::int64_t>(byte_width(v->dtype()));
}

/// Adds a value, and those that it is computed of, to `out`, which has each once.
void add_tree(const Value* v, const Fusion& fusion, std::vector<const Value*>& out) {
  if (std::find(out.begin(), out.end(), v) != out.end()) return;
  out.push_back(v);
  if (!v->op() || !fusion.inlined.count(v)) return;
  for (const Value* operand : v->op()->operands) add_tree(operand, fusion, out);
}

/// What the trees of roots that run over `total` elements read at the place of the element itself,
/// and what they read otherwise.
struct Leaves {
  std::vector<const Value*> same, others;
};

Leaves leaves_of(std::span<const Op* const> roots, std::int64_t total, const Fusion& fusion) {
  Leaves out;
  std::unordered_set<const Value*> seen;
  auto is_root = [&](const Value* v) {
    return std::find(roots.begin(), roots.end(), v->op()) != roots.end();
  };
  std::function<void(const Value*)> visit = [&](const Value* v) {
    if (!v->op() || is_root(v) || !fusion.inlined.count(v)) return;
    if (count(v) == total && op::def(*v->op()).traits.elementwise) {
      if (!seen.insert(v).second) return;
      for (const Value* operand : v->op()->operands) visit(operand);
    } else if (count(v) == total && op::def(*v->op()).traits.moves_only) {
      if (seen.insert(v).second) out.same.push_back(v);
    } else {
      add_tree(v, fusion, out.others);
    }
  };
  for (const Op* root : roots) {
    if (!op::is_reduction(*root) && !op::def(*root).traits.elementwise)
      for (const Value* v : root->operands) add_tree(v, fusion, out.others);
    else
      for (const Value* v : root->operands) visit(v);
  }
  return out;
}

}  // namespace

bool TransposedRows::are_strided(const Value* v, std::int64_t length, const Fusion& fusion) {
  if (!fusion.inlined.count(v)) return false;
  const Shape& shape = v->shape();
  int row = shape.rank();
  std::int64_t elements = 1;
  while (elements < length && row > 0) elements *= shape[--row];
  if (elements != length) return false;
  const std::vector<std::int64_t> strides = strides_of_largest(v, fusion);
  const bool moves = std::any_of(strides.begin() + row, strides.end(), [](std::int64_t n) {
    return n != 0;
  });  // what is the same for all of a row's elements is not read again
  while (row > 0 && shape[row - 1] == 1) --row;
  return moves && row > 0 && strides[static_cast<std::size_t>(row - 1)] == 1;
}

bool TransposedRows::fit(const Value* v, std::int64_t length) {
  return block_bytes(v, length) <= kBytes;
}

bool TransposedRows::too_long(std::span<const Op* const> roots, std::int64_t total,
                              std::int64_t length, const Fusion& fusion) {
  if (kRowsTogether * length <= kBytes) return false;
  const Leaves leaves = leaves_of(roots, total, fusion);
  return std::any_of(leaves.same.begin(), leaves.same.end(), [&](const Value* v) {
    return !fit(v, length) && are_strided(v, length, fusion);
  });
}

std::optional<TransposedRows> TransposedRows::of(const RowPasses& rows, const Fusion& fusion) {
  if (rows.rows < kRowsTogether || rows.length < kTransposeTile) return std::nullopt;
  Leaves leaves = leaves_of(rows.group.roots, rows.group.total, fusion);
  std::vector<const Value*> values;
  std::int64_t bytes = 0;
  for (const Value* v : leaves.same) {
    const bool some = !is_complex(v->dtype()) && !is_bool(v->dtype()) &&
                      bytes + block_bytes(v, rows.length) <= kBytes &&
                      are_strided(v, rows.length, fusion);
    if (some) bytes += block_bytes(v, rows.length);
    some ? values.push_back(v) : add_tree(v, fusion, leaves.others);
  }
  // What is read at other places too, of other rows perhaps, stays where it is, and so does what
  // that is made of.
  std::erase_if(values, [&](const Value* v) {
    return std::find(leaves.others.begin(), leaves.others.end(), v) != leaves.others.end();
  });
  return values.empty() ? std::nullopt : std::optional(TransposedRows(std::move(values)));
}

void TransposedRows::bring(RowPasses& rows, const Index& first) {
  loop::Builder& b = rows.b;
  const std::int64_t length = rows.length, squares = length / kTransposeTile;
  for (std::size_t n = 0; n < values_.size(); ++n) {
    if (memory_.size() == n)
      memory_.push_back(b.scratch(values_[n]->dtype(), kRowsTogether * length));
    loop::Ref* const memory = memory_[n];
    auto element = [&](const Index& row, const Index& j) {
      return rows.context.at_offset(values_[n], (first + row) * length + j);
    };
    auto each_part = [&](const std::function<void(std::int64_t row, const Index& lane)>& body) {
      for (std::int64_t row = 0; row < kRowsTogether; row += kTransposeTile)
        b.vector(0, kTransposeTile, kTransposeTile, [&](Index lane) { body(row, lane); });
    };
    b.for_(0, squares, 1, [&](Index square) {
      each_part([&](std::int64_t row, const Index& lane) {
        std::vector<Inst*> columns;
        for (std::int64_t j = 0; j < kTransposeTile; ++j)
          columns.push_back(element(lane + row, square * kTransposeTile + j));
        const std::vector<Inst*> turned = loop::transposed(b, std::move(columns));
        for (std::int64_t i = 0; i < kTransposeTile; ++i)
          b.store(memory, square * kTransposeTile + lane + (row + i) * length,
                  turned[static_cast<std::size_t>(i)]);
      });
    });
    for (std::int64_t j = squares * kTransposeTile; j < length; ++j)
      each_part([&](std::int64_t row, const Index& lane) {
        b.store(memory, (lane + row) * length + j, element(lane + row, j));
      });
  }
}

void TransposedRows::keep(RowContext& context, const Index& first, std::int64_t length) const {
  for (std::size_t n = 0; n < values_.size(); ++n)
    context.keep(values_[n], memory_[n], first * length);
}

}  // namespace strata::compile
