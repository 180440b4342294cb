#include "strata/compile/product_kernel.h"

#include <algorithm>

#include "strata/compile/narrow_product.h"
#include "strata/compile/product_result.h"
#include "strata/compile/product_side.h"
#include "strata/compile/tile_product.h"
#include "strata/compile/window_product.h"
#include "strata/loop/lanes.h"
#include "strata/op/combiner.h"
#include "strata/op/dot_general.h"
#include "strata/op/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

/// Rows so many bytes apart, or a multiple of it, share a few sets of a cache.
constexpr std::int64_t kFarRow = 8192;

class Product {
 public:
  Product(const Group& group, const op::Contraction& c, const Fusion& fusion, const CpuTarget& target)
      : op_(*group.roots.front()),
        moves_(group.roots.begin() + 1, group.roots.end()),
        result_(group.roots.back()->result()),
        left_(op_.operand(0), c.lhs_batch, c.lhs_contract),
        right_(op_.operand(1), c.rhs_batch, c.rhs_contract) {
    batch_ = left_.size(left_.batch);
    m_ = left_.size(left_.free);
    n_ = right_.size(right_.free);
    k_ = left_.size(left_.contract);
    acc_ = op::product_accumulator(op_);
    pairs_ = target.avx512bf16 && op_.operand(0)->dtype() == DType::bf16 && op_.operand(1)->dtype() == DType::bf16 &&
             acc_ == DType::f32;
    // Few columns: the long side lies along the lanes. Windows are packed rather than looked for again and again.
    bool windows = left_.value->op() && op::window_dims(*left_.value->op());
    if ((n_ < 8 && m_ >= 4 * n_) || windows) {
      swapped_ = true;
      std::swap(left_, right_);
      std::swap(m_, n_);
    }
    choose_tile(target);
    built_.kernel = std::make_unique<loop::Kernel>("product");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<KernelContext>(*builder_, fusion, built_);
  }

  Built build() {
    Built out;
    if (batch_ * m_ * n_ == 0) return out;
    choose_blocks();
    loop::Builder& b = *builder_;
    std::int64_t row_blocks = (m_ + mb_ - 1) / mb_, column_blocks = (n_ + nb_ - 1) / nb_;
    built_.kernel->grid = batch_ * row_blocks * column_blocks;
    built_.parallel = static_cast<double>(batch_ * m_ * n_) * static_cast<double>(std::max<std::int64_t>(1, k_)) > 16 * kInlineWork;
    if (k_ > 0 && packs_) panel_ = b.scratch(pairs_ ? DType::i32 : acc_, k_block_steps() * padded(nb_));
    if (k_ > kc_ && acc_ != result_->dtype()) sums_ = b.scratch(acc_, mb_ * padded(nb_));
    if (stages_left()) staged_ = b.scratch(pairs_ ? DType::i32 : acc_, k_block_steps() * ((mb_ + tile_.rows - 1) / tile_.rows * tile_.rows));
    Index point = b.grid();
    Index column = b.mod(point, column_blocks), row = b.mod(b.div(point, column_blocks), row_blocks),
          batch = b.div(point, column_blocks * row_blocks);
    piece(row, m_, mb_, [&](Index m0, std::int64_t rows) {
      piece(column, n_, nb_, [&](Index n0, std::int64_t columns) { block(batch, m0, rows, n0, columns); });
    });
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  std::int64_t padded(std::int64_t n) const { return (n + tile_.lanes - 1) / tile_.lanes * tile_.lanes; }
  /// Steps of k in one block: pairs count once.
  std::int64_t steps(std::int64_t k) const { return pairs_ ? (k + 1) / 2 : k; }
  std::int64_t k_block_steps() const { return std::max<std::int64_t>(1, steps(std::min(k_, kc_))); }
  /// Whether the left side is laid out anew: pairs that do not lie along k are woven together. Where more than one tile reads them, narrow
  /// elements are widened once, and those that a tile would find in as many lines as it takes steps, or in rows so far apart that they
  /// push each other out of the caches, are brought together.
  bool stages_left() const {
    if (k_ == 0) return false;
    if (pairs_) return !left_.contracts_minor() || k_ % 2 != 0;
    if (n_ <= tile_.lanes) return false;
    std::int64_t row = k_ * static_cast<std::int64_t>(byte_width(left_.value->dtype()));
    bool far = k_ > kc_ && row % kFarRow == 0;
    return byte_width(left_.value->dtype()) < byte_width(acc_) || !left_.contracts_minor() || far;
  }

  /// Few columns leave registers for more rows; few rows for more columns, which then are read where they lie, since none is read twice.
  void choose_tile(const CpuTarget& target) {
    tile_ = register_tile(acc_, target);
    if (n_ <= tile_.lanes / 2) tile_ = {tile_.rows * 2, tile_.lanes / 2};
    packs_ = pairs_ || right_.contracts_minor() || m_ > tile_.rows;
    while (!packs_ && tile_.rows >= 2 * m_ && tile_.lanes < n_) tile_ = {tile_.rows / 2, tile_.lanes * 2};
  }

  void choose_blocks() {
    std::int64_t most_k = !packs_ ? k_ : pairs_ ? 512 : 384;
    kc_ = k_ <= most_k + 128 ? std::max<std::int64_t>(1, k_) : (k_ % 256 == 0 ? 256 : most_k);
    if (pairs_ && k_ > most_k + 128 && k_ % 512 == 0) kc_ = 512;
    auto round = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
    mb_ = std::min(round(m_, tile_.rows), round(512, tile_.rows));
    nb_ = std::min(padded(n_), padded(256));
    auto points = [&] { return batch_ * ((m_ + mb_ - 1) / mb_) * ((n_ + nb_ - 1) / nb_); };
    while (points() < 8 && mb_ > 64) mb_ = round(mb_ / 2, tile_.rows);
    while (points() < 8 && nb_ > 2 * tile_.lanes) nb_ = padded(nb_ / 2);
    mb_ = std::min(mb_, m_);
    nb_ = std::min(nb_, n_);
  }

  /// `body(begin, length)` for piece `at` of [0, total) in pieces of `size`; a shorter last one is code of its own.
  void piece(Index at, std::int64_t total, std::int64_t size, const std::function<void(Index, std::int64_t)>& body) {
    std::int64_t pieces = (total + size - 1) / size, tail = total - (pieces - 1) * size;
    if (pieces == 1) return body(0, total);
    if (tail == size) return body(at * size, size);
    builder_->if_(builder_->less(at, pieces - 1), [&] { body(at * size, size); }, [&] { body((pieces - 1) * size, tail); });
  }

  /// Loops over [0, total) in pieces of `size`, the last one shorter.
  void sweep(std::int64_t total, std::int64_t size, const std::function<void(Index, std::int64_t)>& body) {
    std::int64_t whole = total / size;
    if (whole == 1)
      body(0, size);
    else if (whole > 1)
      builder_->for_(0, whole, 1, [&](Index i) { body(i * size, size); });
    if (total % size) body(whole * size, total % size);
  }

  void block(Index batch, Index m0, std::int64_t rows, Index n0, std::int64_t columns) {
    if (k_ == 0) {
      tiles(batch, m0, rows, n0, columns, 0, 0, true, true);
      return;
    }
    if (k_ <= kc_) return part(batch, m0, rows, n0, columns, 0, k_, true, true);
    std::int64_t whole = k_ / kc_, tail = k_ % kc_;
    part(batch, m0, rows, n0, columns, 0, kc_, true, false);
    std::int64_t middle_end = tail ? whole : whole - 1;
    if (middle_end > 1) builder_->for_(1, middle_end, 1, [&](Index i) { part(batch, m0, rows, n0, columns, i * kc_, kc_, false, false); });
    part(batch, m0, rows, n0, columns, middle_end * kc_, tail ? tail : kc_, false, true);
  }

  void part(Index batch, Index m0, std::int64_t rows, Index n0, std::int64_t columns, Index k0, std::int64_t depth, bool first, bool last) {
    if (packs_) pack_right(batch, n0, columns, k0, depth);
    if (stages_left()) stage_left(batch, m0, rows, k0, depth);
    tiles(batch, m0, rows, n0, columns, k0, depth, first, last);
  }

  Inst* element(const ProductSide& s, Index batch, Index free, Index k) { return context_->at(s.value, s.index(*builder_, batch, free, k)); }
  Inst* widened(const ProductSide& s, Index batch, Index free, Index k) { return builder_->convert(acc_, element(s, batch, free, k)); }

  /// Two bf16 elements, k and k + 1, as one i32; beyond the depth a zero.
  Inst* pair(const ProductSide& s, Index batch, Index free, Index k, bool odd_end) {
    loop::Builder& b = *builder_;
    auto half = [&](Index at) { return b.convert(DType::ui32, b.bitcast(DType::ui16, element(s, batch, free, at))); };
    Inst* low = half(k);
    Inst* both = odd_end ? low : b.binary(Opcode::or_, low, b.binary(Opcode::shl, half(k + 1), b.constant_int(DType::ui32, 16)));
    return b.bitcast(DType::i32, both);
  }

  void pack_right(Index batch, Index n0, std::int64_t columns, Index k0, std::int64_t depth) {
    loop::Builder& b = *builder_;
    std::int64_t lanes = tile_.lanes, count = steps(depth);
    sweep(columns, lanes, [&](Index n, std::int64_t width) {
      Index base = n * count;  // panel n / lanes
      auto put = [&](Index s, Index x, bool odd_end) {
        Inst* v = pairs_ ? pair(right_, batch, n0 + n + x, k0 + s * 2, odd_end) : widened(right_, batch, n0 + n + x, k0 + s);
        b.store(panel_, base + s * lanes + x, v);
      };
      std::int64_t even = pairs_ ? depth / 2 : count;
      if (right_.contracts_minor() && !pairs_ && byte_width(acc_) == 4 && width % kSquare == 0) {
        pack_turned(batch, n0 + n, width, k0, count, base);
      } else if (right_.contracts_minor()) {
        // A few steps of all columns at a time, so that the lines written stay in the first cache.
        sweep(even, 16, [&](Index s, std::int64_t some) {
          b.for_(0, width, 1, [&](Index x) {
            for (std::int64_t u = 0; u < some; ++u) put(s + u, x, false);
          });
        });
        if (even < count) b.for_(0, width, 1, [&](Index x) { put(even, x, true); });
      } else {
        auto row = [&](Index s, bool odd_end) { b.vector(0, width, tile_.lanes, [&](Index x) { put(s, x, odd_end); }); };
        if (even) b.for_(0, even, 1, [&](Index s) { row(s, false); });
        if (even < count) row(even, true);
      }
    });
  }

  static constexpr int kSquare = 16;
  /// Elements that lie along k, read so, turned in registers by squares and written along the columns.
  void pack_turned(Index batch, Index n0, std::int64_t width, Index k0, std::int64_t count, const Index& base) {
    loop::Builder& b = *builder_;
    auto each = [&](std::int64_t times, const std::function<void(Index)>& body) {
      if (times == 1) body(0);
      if (times > 1) b.for_(0, times, 1, body);
    };
    each(width / kSquare, [&](Index square) {
      Index x = square * kSquare;
      each(count / kSquare, [&](Index strip) {
        b.vector(0, kSquare, kSquare, [&](Index lane) {
          std::vector<Inst*> columns;
          for (int i = 0; i < kSquare; ++i) columns.push_back(widened(right_, batch, n0 + x + i, k0 + strip * kSquare + lane));
          std::vector<Inst*> steps = loop::transposed(b, columns);
          for (int i = 0; i < kSquare; ++i)
            b.store(panel_, base + (strip * kSquare + i) * tile_.lanes + x + lane, steps[static_cast<std::size_t>(i)]);
        });
      });
      for (std::int64_t s = count / kSquare * kSquare; s < count; ++s)
        b.vector(0, kSquare, kSquare, [&](Index lane) { b.store(panel_, base + s * tile_.lanes + x + lane, widened(right_, batch, n0 + x + lane, k0 + s)); });
    });
  }

  /// Where row r of the tile at row m is laid at step s: ones that lie along k stay so, others are [tile][step][row].
  Index staged_at(Index m, Index r, Index s) const { return m * k_block_steps() + (stages_rows() ? r * k_block_steps() + s : s * tile_.rows + r); }
  bool stages_rows() const { return !pairs_ && left_.contracts_minor(); }

  void stage_left(Index batch, Index m0, std::int64_t rows, Index k0, std::int64_t depth) {
    loop::Builder& b = *builder_;
    if (stages_rows()) {
      b.for_(0, rows, 1, [&](Index m) {
        b.vector(0, depth, 16, [&](Index s) { b.store(staged_, staged_at(m, 0, s), widened(left_, batch, m0 + m, k0 + s)); });
      });
      return;
    }
    int lanes = 1;
    while (lanes < tile_.rows) lanes *= 2;
    auto row = [&](Index s, bool odd_end) {
      sweep(rows, tile_.rows, [&](Index m, std::int64_t height) {
        b.vector(0, height, lanes, [&](Index r) {
          b.store(staged_, staged_at(m, r, s), pairs_ ? pair(left_, batch, m0 + m + r, k0 + s * 2, odd_end) : widened(left_, batch, m0 + m + r, k0 + s));
        });
      });
    };
    if (!pairs_) return b.for_(0, depth, 1, [&](Index s) { row(s, false); });
    if (depth / 2) b.for_(0, depth / 2, 1, [&](Index s) { row(s, false); });
    if (depth % 2) row(depth / 2, true);
  }

  void tiles(Index batch, Index m0, std::int64_t rows, Index n0, std::int64_t columns, Index k0, std::int64_t depth, bool first,
             bool last) {
    sweep(columns, tile_.lanes, [&](Index n, std::int64_t width) {
      sweep(rows, tile_.rows, [&](Index m, std::int64_t height) { tile(batch, m0, m, height, n0, n, width, k0, depth, first, last); });
    });
  }

  /// The left element(s) of row m + r of the tile at m, at step s, uniform.
  Inst* left(Index batch, Index m0, Index m, std::int64_t r, Index k0, Index s) {
    loop::Builder& b = *builder_;
    if (staged_) return b.load(staged_, staged_at(m, r, s));
    if (!pairs_) return widened(left_, batch, m0 + m + r, k0 + s);
    return pair(left_, batch, m0 + m + r, k0 + s * 2, false);
  }

  void tile(Index batch, Index m0, Index m, std::int64_t height, Index n0, Index n, std::int64_t width, Index k0, std::int64_t depth,
            bool first, bool last) {
    loop::Builder& b = *builder_;
    std::int64_t count = depth ? steps(depth) : 0;
    b.vector(0, width, tile_.lanes, [&](Index x) {
      std::vector<Inst*> sums;
      for (std::int64_t r = 0; r < height; ++r)
        sums.push_back(b.local(first ? b.constant(acc_, 0.0) : previous(batch, m0, m + r, n0, n + x), tile_.lanes));
      auto step = [&](Index s) {
        Inst* right = packs_ ? b.load(panel_, n * count + s * tile_.lanes + x) : widened(right_, batch, n0 + n + x, k0 + s);
        for (std::int64_t r = 0; r < height; ++r) {
          Inst* sum = b.get(sums[static_cast<std::size_t>(r)]);
          b.set(sums[static_cast<std::size_t>(r)], multiply_add(left(batch, m0, m, r, k0, s), right, sum));
        }
      };
      std::int64_t unroll = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
      if (count)
        b.for_(0, count / unroll, 1, [&](Index i) {
          for (std::int64_t u = 0; u < unroll; ++u) step(i * unroll + u);
        });
      for (std::int64_t r = 0; r < height; ++r) {
        Inst* sum = b.get(sums[static_cast<std::size_t>(r)]);
        if (last)
          b.store(context_->output(result_), result_offset(batch, m0 + m + r, n0 + n + x), b.convert(result_->dtype(), sum));
        else if (sums_)
          b.store(sums_, (m + r) * padded(nb_) + n + x, sum);
        else
          b.store(context_->output(result_), result_offset(batch, m0 + m + r, n0 + n + x), sum);
      }
    });
  }

  Inst* previous(Index batch, Index m0, Index m, Index n0, Index n) {
    if (sums_) return builder_->load(sums_, m * padded(nb_) + n);
    return builder_->load(context_->output(result_), result_offset(batch, m0 + m, n0 + n));
  }
  Inst* multiply_add(Inst* a, Inst* c, Inst* sum) {
    loop::Builder& b = *builder_;
    if (pairs_) return b.dot2(sum, a, c);
    if (is_float(acc_)) return b.fma(a, c, sum);
    return b.binary(op::opcode(op::Combiner::add, acc_), sum, b.binary(op::opcode(op::Combiner::mul, acc_), a, c));
  }
  Index result_offset(Index batch, Index m, Index n) {
    return landing(*builder_, moves_, swapped_ ? (batch * n_ + n) * m_ + m : (batch * m_ + m) * n_ + n, n);
  }

  const Op& op_;
  std::vector<const Op*> moves_;
  const Value* result_;
  ProductSide left_, right_;
  std::int64_t batch_ = 1, m_ = 1, n_ = 1, k_ = 1, mb_ = 1, nb_ = 1, kc_ = 1;
  DType acc_ = DType::f32;
  bool pairs_ = false, swapped_ = false, packs_ = true;
  Tile tile_;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<KernelContext> context_;
  loop::Ref *panel_ = nullptr, *sums_ = nullptr, *staged_ = nullptr;
};

}  // namespace

Tile register_tile(DType accumulator, const CpuTarget& target) {
  int lanes = byte_width(accumulator) > 4 ? 16 : 32;
  return target.avx512 ? Tile{8, lanes} : Tile{6, lanes / 2};
}

Built build_product(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  const Op& op = *group.roots.front();
  if (op.result()->shape().count() == 0) return {};
  if (is_narrow(op)) return build_narrow_product(group, fusion);
  if (takes_windows(op, fusion)) return build_window_product(group, fusion, target);
  op::Contraction c = std::get<op::Contraction (*)(const Op&)>(op::def(op).lowering)(op);
  if (takes_tiles(op, c, target)) return build_tile_product(group, c, fusion);
  return Product(group, c, fusion, target).build();
}

}  // namespace strata::compile
