#include "strata/compile/kernel/dot/accumulating_scan_gemm.h"

#include <algorithm>

#include "strata/compile/kernel/gemm/gemm_axis.h"
#include "strata/compile/kernel/gemm/gemm_terms.h"
#include "strata/compile/kernel/gemm/register_tile.h"
#include "strata/pass/loop/accumulating_scan.h"

namespace strata::compile {
namespace {

using loop::Opcode;
using pass::AccumulatingScan;

class AccumulatingScanGemm {
 public:
  AccumulatingScanGemm(const AccumulatingScan& sum, const ir::Value* result, const Fusion& fusion,
                       const CpuTarget& target)
      : sum_(sum),
        result_(result),
        acc_(result->dtype()),
        rows_(result->shape()[0]),
        columns_(result->shape()[1]),
        terms_(sum.right->shape()[1]) {
    tile_ = narrow_tile(register_tile(acc_, target), columns_, target);
    built_.kernel = std::make_unique<loop::Kernel>("accumulating_scan_gemm");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<KernelContext>(*builder_, fusion, built_);
  }

  Built build() {
    loop::Builder& b = *builder_;
    choose_blocks();
    const std::int64_t row_blocks = (rows_ + row_block_ - 1) / row_block_,
                       column_blocks = (columns_ + column_block_ - 1) / column_block_;
    b.kernel().grid = row_blocks * column_blocks;
    built_.parallel =
        static_cast<double>(sum_.turns * terms_) * static_cast<double>(rows_ * columns_) >
        16 * kInlineWork;
    left_ = context_->input(sum_.left), right_ = context_->input(sum_.right);
    sums_ = b.scratch(acc_, row_block_ * padded_columns());
    loop::Ref *initial = context_->input(sum_.initial), *result = context_->output(result_);
    const Index point = b.grid();
    const GemmAxis rows{b.div(point, column_blocks), rows_, row_block_, tile_.rows},
        columns{b.mod(point, column_blocks), columns_, column_block_, tile_.lanes};
    auto block =
        [&](const std::function<void(const GemmAxisRange& m, const GemmAxisRange& n)>& tile) {
          each_tile(b, columns, [&](const GemmAxisRange& n) {
            each_tile(b, rows, [&](const GemmAxisRange& m) { tile(m, n); });
          });
        };
    auto move = [&](const std::function<void(const GemmAxisRange& m, std::int64_t r,
                                             const GemmAxisRange& n, const Index& x)>& element) {
      block([&](const GemmAxisRange& m, const GemmAxisRange& n) {
        b.vector(0, n.length, tile_.lanes, [&](Index x) {
          for (std::int64_t r = 0; r < m.length; ++r) element(m, r, n, x);
        });
      });
    };
    move([&](const GemmAxisRange& m, std::int64_t r, const GemmAxisRange& n, const Index& x) {
      b.store(sums_, in_block(m, r, n, x), b.load(initial, place(m, r, n, x)));
    });
    const std::int64_t some = turns_together(), rest = sum_.turns % some;
    auto turns = [&](const Index& first, std::int64_t count) {
      block([&](const GemmAxisRange& m, const GemmAxisRange& n) { add(m, n, first, count); });
    };
    b.for_(0, sum_.turns / some, 1, [&](Index i) { turns(i * some, some); });
    if (rest) turns(sum_.turns - rest, rest);
    move([&](const GemmAxisRange& m, std::int64_t r, const GemmAxisRange& n, const Index& x) {
      b.store(result, place(m, r, n, x), b.load(sums_, in_block(m, r, n, x)));
    });
    Built out;
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  /// Equal blocks whose sums take half of the first cache at most, and smaller ones while there are
  /// few.
  void choose_blocks() {
    constexpr std::int64_t kCache = 16 << 10, kMostRows = 32, kFew = 4;
    auto parts = [](std::int64_t n, std::int64_t part) { return (n + part - 1) / part; };
    const std::int64_t row_tiles = parts(rows_, tile_.rows),
                       column_tiles = parts(columns_, tile_.lanes);
    const std::int64_t tile_bytes = static_cast<std::int64_t>(tile_.rows) * tile_.lanes *
                                    static_cast<std::int64_t>(byte_width(acc_)),
                       most_rows = kMostRows / tile_.rows;
    std::int64_t row_blocks = parts(row_tiles, most_rows),
                 column_blocks = parts(
                     column_tiles, std::max<std::int64_t>(1, kCache / (tile_bytes * most_rows)));
    while (row_blocks * column_blocks < kFew) {
      const std::int64_t down = parts(row_tiles, row_blocks),
                         rhs = parts(column_tiles, column_blocks);
      if (down == 1 && rhs == 1) break;
      ++(rhs == 1 || (down > 1 && down * tile_.rows >= rhs * tile_.lanes) ? row_blocks
                                                                          : column_blocks);
    }
    row_block_ = std::min(rows_, parts(row_tiles, row_blocks) * tile_.rows),
    column_block_ = std::min(columns_, parts(column_tiles, column_blocks) * tile_.lanes);
  }
  /// Turns whose slices, as a block reads them, take a quarter of the first cache.
  std::int64_t turns_together() const {
    constexpr std::int64_t kCache = 8 << 10;
    const std::int64_t bytes =
        terms_ * (row_block_ + column_block_) * static_cast<std::int64_t>(byte_width(acc_));
    return std::clamp<std::int64_t>(kCache / bytes, 1, sum_.turns);
  }

  /// Sums are together while they grow: rows of the result a power of two apart would share few
  /// sets of a cache.
  std::int64_t padded_columns() const {
    return (column_block_ + tile_.lanes - 1) / tile_.lanes * tile_.lanes;
  }
  Index in_block(const GemmAxisRange& m, std::int64_t r, const GemmAxisRange& n,
                 const Index& x) const {
    return (m.local + r) * padded_columns() + n.local + x;
  }
  Index place(const GemmAxisRange& m, std::int64_t r, const GemmAxisRange& n,
              const Index& x) const {
    return (m.place + r) * columns_ + n.place + x;
  }
  Index in_left(const Index& turn, const Index& k, const Index& row) const {
    return turn * (terms_ * rows_) +
           (sum_.left_contracts_first ? k * rows_ + row : row * terms_ + k);
  }

  /// What `count` turns add to a tile.
  void add(const GemmAxisRange& m, const GemmAxisRange& n, const Index& first, std::int64_t count) {
    loop::Builder& b = *builder_;
    b.vector(0, n.length, tile_.lanes, [&](Index x) {
      std::vector<Inst*> all, sums;
      for (std::int64_t r = 0; r < m.length; ++r) {
        all.push_back(b.local(b.load(sums_, in_block(m, r, n, x)), tile_.lanes));
        sums.push_back(b.local(b.constant(acc_, 0.0), tile_.lanes));
      }
      b.for_(0, count, 1, [&](Index i) {
        const Index turn = sum_.reverse ? Index(sum_.turns - 1) - first - i : first + i;
        for (Inst* sum : sums) b.set(sum, b.constant(acc_, 0.0));
        const Index soon = sum_.reverse ? turn - count : turn + count;
        auto step = [&](const Index& k) {
          b.fetch(right_, (soon * terms_ + k) * columns_ + n.place);
          b.fetch(left_, in_left(soon, k, m.place));
          Inst* rhs = b.load(right_, (turn * terms_ + k) * columns_ + n.place + x);
          for (std::int64_t r = 0; r < m.length; ++r) {
            Inst* sum = sums[static_cast<std::size_t>(r)];
            b.set(sum, multiply_add(b, TermKind::single, acc_,
                                    b.load(left_, in_left(turn, k, m.place + r)), rhs, b.get(sum)));
          }
        };
        const std::int64_t unroll = terms_ % 4 == 0 ? 4 : terms_ % 2 == 0 ? 2 : 1;
        b.for_(0, terms_ / unroll, 1, [&](Index k) {
          for (std::int64_t u = 0; u < unroll; ++u) step(k * unroll + u);
        });
        for (std::size_t r = 0; r < all.size(); ++r) {
          Inst *carry = b.get(all[r]), *product = b.get(sums[r]);
          b.set(all[r], sum_.carry_first ? b.binary(Opcode::add, carry, product)
                                         : b.binary(Opcode::add, product, carry));
        }
      });
      for (std::int64_t r = 0; r < m.length; ++r)
        b.store(sums_, in_block(m, r, n, x), b.get(all[static_cast<std::size_t>(r)]));
    });
  }

  const AccumulatingScan sum_;
  const ir::Value* result_;
  DType acc_;
  std::int64_t rows_, columns_, terms_, row_block_ = 1, column_block_ = 1;
  Tile tile_;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<KernelContext> context_;
  loop::Ref *left_ = nullptr, *right_ = nullptr, *sums_ = nullptr;
};

}  // namespace

std::optional<Built> build_accumulating_scan_gemm(const ir::Op& op, const Fusion& fusion,
                                                  const CpuTarget& target) {
  const auto sum = AccumulatingScan::of(op);
  if (!sum) return std::nullopt;
  return AccumulatingScanGemm(*sum, op.result(), fusion, target).build();
}

}  // namespace strata::compile
