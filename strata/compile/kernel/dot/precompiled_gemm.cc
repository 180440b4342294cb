#include "strata/compile/kernel/dot/precompiled_gemm.h"

#include <algorithm>

#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/loop/kernel/product.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/lowering_kind.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::product::ProductParams;
using loop::product::Role;

constexpr const char* kMark = "strata.precompiled_gemm";

constexpr double kMostWork = 2e9;  // floating-point operations in about kGemmCode
constexpr std::int64_t kMostWindows =
    1 << 19;                            // elements, which take some ten milliseconds to lay out
constexpr double kPointWork = 1 << 16;  // multiplications of a grid point that holds whole products

std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

Role role(const Value* v, const std::vector<int>& dims) {
  Role out;
  for (int d : dims) {
    std::int64_t step = 1;
    for (int below = d + 1; below < v->rank(); ++below) step *= v->shape()[below];
    out.push_back({v->shape()[d], step});
  }
  return out;
}
/// Dimensions of length one are left out, and of two that follow each other in memory, in all roles
/// alike, one is made.
void join_dimensions(std::initializer_list<Role*> roles) {
  std::vector<Role> joined(roles.size());
  for (std::size_t d = 0; d < (*roles.begin())->size(); ++d) {
    const std::int64_t size = (**roles.begin())[d].size;
    if (size == 1) continue;
    auto follows = [&, r = std::size_t{0}](const Role* role) mutable {
      const Role& before = joined[r++];
      return !before.empty() && before.back().step == size * (*role)[d].step;
    };
    const bool all = std::all_of(roles.begin(), roles.end(), follows);
    std::size_t r = 0;
    for (const Role* role : roles) {
      Role& out = joined[r++];
      if (all)
        out.back() = {out.back().size * size, (*role)[d].step};
      else
        out.push_back((*role)[d]);
    }
  }
  std::size_t r = 0;
  for (Role* role : roles) *role = std::move(joined[r++]);
}

/// Small products together, large ones in blocks: at least eight where there is enough.
void choose_blocks(ProductParams& p) {
  const std::int64_t rows = ProductParams::count(p.rows), columns = ProductParams::count(p.columns),
                     terms = ProductParams::count(p.left_k);
  p.row_block = std::clamp<std::int64_t>(rows, 1, loop::product::kRows);
  p.column_block = std::clamp<std::int64_t>(columns, 1, loop::product::kColumns);
  const double work =
      static_cast<double>(rows * columns) * static_cast<double>(std::max<std::int64_t>(1, terms));
  if (rows <= p.row_block && columns <= p.column_block)
    p.together =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(kPointWork / std::max(1.0, work)));
  while (p.grid() < 8 && p.together == 1 && std::max(p.row_block, p.column_block) > 48) {
    std::int64_t& longer = p.row_block > p.column_block ? p.row_block : p.column_block;
    longer = round_up(longer / 2, 16);
  }
}

ProductParams params_of(const Op& op) {
  const op::Contraction c = op::contraction_of(op);
  GemmOperand lhs(op.operand(0), c.lhs_batch, c.lhs_contract),
      rhs(op.operand(1), c.rhs_batch, c.rhs_contract);
  ProductParams p;
  p.result = op.result()->dtype();
  p.accumulator = op::product_accumulator(op);
  std::int64_t rows = lhs.size(lhs.free), columns = rhs.size(rhs.free);
  p.row_step = columns;
  if (columns < 8 && rows >= 4 * columns) {  // the long side runs along the lanes
    std::swap(lhs, rhs);
    std::swap(rows, columns);
    std::swap(p.row_step, p.column_step);
    p.swapped = true;
  }
  p.left = lhs.value->dtype();
  p.right = rhs.value->dtype();
  p.left_batch = role(lhs.value, lhs.batch), p.right_batch = role(rhs.value, rhs.batch);
  p.rows = role(lhs.value, lhs.free), p.columns = role(rhs.value, rhs.free);
  p.left_k = role(lhs.value, lhs.contract), p.right_k = role(rhs.value, rhs.contract);
  join_dimensions({&p.left_batch, &p.right_batch});
  join_dimensions({&p.rows});
  join_dimensions({&p.columns});
  join_dimensions({&p.left_k, &p.right_k});
  choose_blocks(p);
  return p;
}

std::int64_t grid(const Op& op) {
  return op.result()->shape().count() == 0 ? 0 : params_of(op).grid();
}

/// Windows are in memory for the kernel, each element as often as there are windows that hold it.
bool is_large_windows(const Value* v) {
  return v->op() && op::window_dims(*v->op()) && v->shape().count() > kMostWindows;
}

bool suits(const Op& op, const CpuTarget& target) {
  if (!op::is_contraction(op) || op.operands.size() != 2 || !op.result()->shape().is_static())
    return false;
  const DType lhs = op.operand(0)->dtype(), rhs = op.operand(1)->dtype();
  const bool pairs =
      lhs == DType::bf16 && rhs == DType::bf16 && (target.avx512bf16 || target.tiles);
  return !pairs && !op::sum_pieces(op) && !op::sum_chains(op) && !is_large_windows(op.operand(0)) &&
         !is_large_windows(op.operand(1)) &&
         loop::product::takes(lhs, rhs, op.result()->dtype(), op::product_accumulator(op));
}

}  // namespace

std::unique_ptr<ir::Block> with_precompiled_gemms(const ir::Block& block, const CpuTarget& target) {
  double work = 0;
  for (const auto& op : block.ops()) {
    if (std::holds_alternative<op::Structured>(op::def(*op).lowering)) return nullptr;
    if (!op::is_contraction(*op)) continue;
    if (!suits(*op, target)) return nullptr;
    work += op::def(*op).cost(*op).flops;
  }
  if (work == 0 || work > kMostWork) return nullptr;
  std::unique_ptr<ir::Block> out = ir::clone(block);
  for (auto& op : out->ops())
    if (op::is_contraction(*op)) op->attrs.set(kMark, true);
  return out;
}

bool is_precompiled_gemm(const Op& op) { return op.attrs.get_or<bool>(kMark, false); }
bool is_generated_gemm(const Op& op) { return op::is_contraction(op) && !is_precompiled_gemm(op); }

const op::Native& precompiled_gemm() {
  static const op::Native native{.symbol = [](const Op&) { return "strata_product"; },
                                 .grid = grid,
                                 .params = [](const Op& op) { return params_of(op).numbers(); }};
  return native;
}

}  // namespace strata::compile
