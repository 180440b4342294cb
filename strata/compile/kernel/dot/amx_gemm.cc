#include "strata/compile/kernel/dot/amx_gemm.h"

#include <algorithm>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/gemm/gemm_operand.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/loop/tiles.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::kTileSide;
using loop::Opcode;
using loop::Ref;

constexpr std::int64_t kStep = 2 * kTileSide;   // elements of k
constexpr std::int64_t kStrip = 2 * kTileSide;  // rows that are stored together
std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }
/// Rows of 32 bits that do not meet in the same lines of a cache: an odd number of them apart.
std::int64_t pitch_of(std::int64_t n) { return round_up(n, 2 * kTileSide) + kTileSide; }
bool is_windows(const Value* v) { return v->op() && op::window_dims(*v->op()); }

class AmxGemm {
 public:
  AmxGemm(const Group& group, const op::Contraction& c, const Fusion& fusion)
      : given_(given_sums(*group.roots.front())),
        left_(group.roots.front()->operand(0), c.lhs_batch, c.lhs_contract),
        right_(group.roots.front()->operand(1), c.rhs_batch, c.rhs_contract) {
    for (GemmOperand* side : {&left_, &right_}) side->minor = minor_dimension(side->value, fusion);
    batch_ = left_.size(left_.batch);
    m_ = left_.size(left_.free);
    n_ = right_.size(right_.free);
    k_ = left_.size(left_.contract);
    built_.kernel = std::make_unique<loop::Kernel>("amx_gemm");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<GemmOutput>(*builder_, group, fusion, built_);
  }

  Built build() {
    Built out;
    choose_blocks();
    loop::Builder& b = *builder_;
    std::int64_t row_blocks = (m_ + mb_ - 1) / mb_, column_blocks = (n_ + nb_ - 1) / nb_;
    built_.kernel->grid = batch_ * row_blocks * column_blocks;
    built_.parallel =
        static_cast<double>(batch_ * m_ * n_) * static_cast<double>(k_) > 16 * kInlineWork;
    const std::int64_t pairs = pairs_of(std::min(k_, kc_));
    a_pitch_ = pitch_of(pairs);
    b_pitch_ = c_pitch_ = pitch_of(nb_);
    transposed_a_ = !left_.contracts_minor();
    transposed_b_ = right_.contracts_minor();
    sums_ = b.scratch(DType::f32, (k_ > kc_ ? round_up(mb_, kTileSide) : kStrip) * c_pitch_);
    a_ = transposed_a_ ? b.scratch(DType::i32, round_up(mb_, kTileSide) * a_pitch_)
                       : b.scratch(DType::bf16, round_up(mb_, kTileSide) * a_pitch_ * 2);
    b_ = b.scratch(DType::i32, pairs * b_pitch_);
    if (transposed_a_) strip_a_ = b.scratch(DType::i32, kTileSide * pitch_of(mb_));
    if (transposed_b_) strip_b_ = b.scratch(DType::bf16, kTileSide * a_pitch_ * 2);
    Index point = b.grid();
    Index column = b.mod(point, column_blocks),
          row = b.mod(b.div(point, column_blocks), row_blocks),
          batch = b.div(point, column_blocks * row_blocks);
    piece(row, m_, mb_, [&](Index m0, std::int64_t rows) {
      piece(column, n_, nb_,
            [&](Index n0, std::int64_t columns) { block(batch, m0, rows, n0, columns); });
    });
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  /// Pairs of k, of whole steps.
  static std::int64_t pairs_of(std::int64_t depth) { return round_up(depth, kStep) / 2; }

  /// Blocks of results that leave room for both operands in the second cache, at least eight of
  /// them where there is enough.
  void choose_blocks() {
    kc_ = k_ <= 768 ? k_ : 512;
    auto even = [](std::int64_t total, std::int64_t most) {
      std::int64_t parts = (total + most - 1) / most;
      return round_up((total + parts - 1) / parts, kTileSide);
    };
    std::int64_t most_m = 256, most_n = 256;
    auto points = [&] { return batch_ * ((m_ + mb_ - 1) / mb_) * ((n_ + nb_ - 1) / nb_); };
    for (;;) {
      mb_ = even(m_, most_m);
      nb_ = even(n_, most_n);
      if (points() >= 8 || std::max(mb_, nb_) <= 64) break;
      (mb_ >= nb_ ? most_m : most_n) /= 2;
    }
    mb_ = std::min(mb_, m_);
    nb_ = std::min(nb_, n_);
  }

  /// `body(begin, length)` for piece `at` of [0, total) in pieces of `size`; a shorter last one is
  /// code of its own.
  void piece(Index at, std::int64_t total, std::int64_t size,
             const std::function<void(Index, std::int64_t)>& body) {
    std::int64_t pieces = (total + size - 1) / size, tail = total - (pieces - 1) * size;
    if (pieces == 1) return body(0, total);
    if (tail == size) return body(at * size, size);
    builder_->if_(
        builder_->less(at, pieces - 1), [&] { body(at * size, size); },
        [&] { body((pieces - 1) * size, tail); });
  }

  void block(Index batch, Index m0, std::int64_t rows, Index n0, std::int64_t columns) {
    if (k_ <= kc_) return part(batch, m0, rows, n0, columns, 0, k_, true, true);
    const std::int64_t whole = k_ / kc_, tail = k_ % kc_, last = tail ? whole : whole - 1;
    part(batch, m0, rows, n0, columns, 0, kc_, true, false);
    if (last > 1)
      builder_->for_(1, last, 1, [&](Index i) {
        part(batch, m0, rows, n0, columns, i * kc_, kc_, false, false);
      });
    part(batch, m0, rows, n0, columns, last * kc_, tail ? tail : kc_, false, true);
  }

  /// Adds what `depth` elements of k give to the sums. After the last ones a few rows at a time are
  /// stored while they are in the first cache.
  void part(Index batch, Index m0, std::int64_t rows, Index n0, std::int64_t columns, Index k0,
            std::int64_t depth, bool first, bool last) {
    lay_left(batch, m0, rows, k0, depth);
    lay_right(batch, n0, columns, k0, depth);
    auto some = [&](Index m, std::int64_t count) {
      loop::Builder& b = *builder_;
      Index sums = first && last ? Index(0) : m * c_pitch_;
      if (first && given_) take_sums(batch, m0 + m, sums, count, n0, columns);
      call(loop::kTileProduct,
           {b.load(sums_, sums), b.load(a_, m * (transposed_a_ ? a_pitch_ : 2 * a_pitch_)),
            b.load(b_, 0)},
           {c_pitch_, a_pitch_, b_pitch_, round_up(count, kTileSide), round_up(columns, kTileSide),
            pairs_of(depth) / kTileSide, first && !given_ ? 1 : 0});
      if (last) store(batch, m0 + m, sums, count, n0, columns);
    };
    if (!last) return some(0, rows);
    const std::int64_t strips = rows / kStrip, rest = rows % kStrip;
    if (strips == 1) some(0, kStrip);
    if (strips > 1) builder_->for_(0, strips, 1, [&](Index i) { some(i * kStrip, kStrip); });
    if (rest) some(strips * kStrip, rest);
  }

  void call(std::string_view name, std::vector<Inst*> args,
            std::initializer_list<std::int64_t> numbers) {
    for (std::int64_t n : numbers) args.push_back(builder_->constant_int(DType::i64, n));
    builder_->call(std::string(name), {DType::i32, 1}, std::move(args));
  }

  Inst* element(const GemmOperand& s, Index batch, Index free, Index k) {
    return context_->at(s.value, s.index(*builder_, batch, free, k));
  }

  /// Elements k and k + 1 as one i32; beyond the depth a zero.
  Inst* pair(const GemmOperand& s, Index batch, Index free, Index k, bool odd_end) {
    loop::Builder& b = *builder_;
    auto half = [&](Index at) {
      return b.convert(DType::ui32, b.bitcast(DType::ui16, element(s, batch, free, at)));
    };
    Inst* low = half(k);
    Inst* both =
        odd_end ? low
                : b.binary(Opcode::or_, low,
                           b.binary(Opcode::shl, half(k + 1), b.constant_int(DType::ui32, 16)));
    return b.bitcast(DType::i32, both);
  }

  /// One row along k, as it is, with zeros up to the step's end.
  void copy_row(const GemmOperand& s, Index batch, Index free, Index k0, std::int64_t depth,
                Ref* to, const Index& at) {
    loop::Builder& b = *builder_;
    b.vector(0, depth, 32, [&](Index k) { b.store(to, at + k, element(s, batch, free, k0 + k)); });
    if (depth % kStep)
      b.vector(depth, round_up(depth, kStep), 32,
               [&](Index k) { b.store(to, at + k, b.constant(DType::bf16, 0)); });
  }
  /// `count` rows of pairs, each of `width` places of the free dimensions; zeros beyond the depth.
  void pair_rows(const GemmOperand& s, Index batch, Index free, std::int64_t width, Index k0,
                 std::int64_t depth, Ref* to, std::int64_t pitch, std::int64_t count) {
    loop::Builder& b = *builder_;
    auto row = [&](Index p, bool odd_end) {
      b.vector(0, width, 16, [&](Index x) {
        b.store(to, p * pitch + x, pair(s, batch, free + x, k0 + p * 2, odd_end));
      });
    };
    const std::int64_t even = depth / 2, known = (depth + 1) / 2;
    if (even == 1) row(0, false);
    if (even > 1) b.for_(0, even, 1, [&](Index p) { row(p, false); });
    if (known > even) row(even, true);
    if (count > known)
      b.for_(known, count, 1, [&](Index p) {
        b.vector(0, width, 16,
                 [&](Index x) { b.store(to, p * pitch + x, b.constant_int(DType::i32, 0)); });
      });
  }

  void lay_left(Index batch, Index m0, std::int64_t rows, Index k0, std::int64_t depth) {
    loop::Builder& b = *builder_;
    if (!transposed_a_) {
      b.for_(0, rows, 1,
             [&](Index m) { copy_row(left_, batch, m0 + m, k0, depth, a_, m * (2 * a_pitch_)); });
      return;
    }
    // 16 pairs of all rows at a time, then turned.
    const std::int64_t pitch = pitch_of(mb_), whole = depth / kStep;
    auto strip = [&](Index step, std::int64_t inside) {
      pair_rows(left_, batch, m0, rows, k0 + step * kStep, inside, strip_a_, pitch, kTileSide);
      call(loop::kTurnSquares, {b.load(a_, step * kTileSide), b.load(strip_a_, 0)},
           {a_pitch_, pitch, kTileSide, round_up(rows, kTileSide)});
    };
    if (whole == 1) strip(0, kStep);
    if (whole > 1) b.for_(0, whole, 1, [&](Index step) { strip(step, kStep); });
    if (depth % kStep) strip(whole, depth % kStep);
  }

  void lay_right(Index batch, Index n0, std::int64_t columns, Index k0, std::int64_t depth) {
    loop::Builder& b = *builder_;
    if (!transposed_b_)
      return pair_rows(right_, batch, n0, columns, k0, depth, b_, b_pitch_, pairs_of(depth));
    // 16 columns of the whole depth at a time, then turned.
    auto strip = [&](Index n, std::int64_t width) {
      b.for_(0, width, 1, [&](Index x) {
        copy_row(right_, batch, n0 + n + x, k0, depth, strip_b_, x * (2 * a_pitch_));
      });
      call(loop::kTurnSquares, {b.load(b_, n), b.load(strip_b_, 0)},
           {b_pitch_, a_pitch_, kTileSide, pairs_of(depth)});
    };
    const std::int64_t whole = columns / kTileSide, tail = columns % kTileSide;
    if (whole == 1) strip(0, kTileSide);
    if (whole > 1) b.for_(0, whole, 1, [&](Index i) { strip(i * kTileSide, kTileSide); });
    if (tail) strip(whole * kTileSide, tail);
  }

  /// Lays the given sums where the products are added; what pads them to whole tiles is never
  /// stored.
  void take_sums(Index batch, Index m0, Index sums, std::int64_t rows, Index n0,
                 std::int64_t columns) {
    loop::Builder& b = *builder_;
    b.for_(0, rows, 1, [&](Index m) {
      b.vector(0, columns, 16, [&](Index x) {
        Index at = (batch * m_ + m0 + m) * n_ + n0 + x;
        b.store(sums_, sums + m * c_pitch_ + x,
                context_->at(given_, delinearize(b, given_->shape(), at)));
      });
    });
  }

  void store(Index batch, Index m0, Index sums, std::int64_t rows, Index n0, std::int64_t columns) {
    loop::Builder& b = *builder_;
    b.for_(0, rows, 1, [&](Index m) {
      b.vector(0, columns, columns >= 32 ? 32 : 16, [&](Index x) {
        Inst* sum = b.load(sums_, sums + m * c_pitch_ + x);
        Index n = n0 + x;
        context_->store((batch * m_ + m0 + m) * n_ + n, n, sum);
      });
    });
  }

  const Value* given_;
  GemmOperand left_, right_;
  std::int64_t batch_ = 1, m_ = 1, n_ = 1, k_ = 1, mb_ = 1, nb_ = 1, kc_ = 1;
  std::int64_t a_pitch_ = 0, b_pitch_ = 0, c_pitch_ = 0;  // of 32 bits
  bool transposed_a_ = false, transposed_b_ = false;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<GemmOutput> context_;
  Ref *sums_ = nullptr, *a_ = nullptr, *b_ = nullptr, *strip_a_ = nullptr, *strip_b_ = nullptr;
};

}  // namespace

bool is_amx_gemm(const Op& product, const op::Contraction& c, const CpuTarget& target) {
  if (!target.tiles || op::product_accumulator(product) != DType::f32) return false;
  const Value *lhs = product.operand(0), *rhs = product.operand(1);
  if (lhs->dtype() != DType::bf16 || rhs->dtype() != DType::bf16 || is_windows(lhs) ||
      is_windows(rhs))
    return false;
  GemmOperand side(lhs, c.lhs_batch, c.lhs_contract);
  return side.size(side.contract) > 0;
}

Built build_amx_gemm(const Group& group, const op::Contraction& contraction, const Fusion& fusion) {
  return AmxGemm(group, contraction, fusion).build();
}

}  // namespace strata::compile
