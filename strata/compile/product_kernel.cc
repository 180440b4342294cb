#include "strata/compile/product_kernel.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "strata/compile/fusion_access.h"
#include "strata/compile/narrow_product.h"
#include "strata/compile/product_axis.h"
#include "strata/compile/product_result.h"
#include "strata/compile/product_side.h"
#include "strata/compile/tile_product.h"
#include "strata/compile/window_product.h"
#include "strata/loop/lanes.h"
#include "strata/op/combiner.h"
#include "strata/op/dot_general.h"
#include "strata/op/windows.h"
#include "strata/transform/needed_band.h"
#include "strata/transform/zero_blocks.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

/// Rows so many bytes apart, or a multiple of it, share a few sets of a cache.
constexpr std::int64_t kFarRow = 8192;

/// A sum of more steps than this has operands beyond the caches, whatever the few rows and columns.
constexpr std::int64_t kFarSum = 4096;
/// A product over no more than this, or with no more columns, is thin.
constexpr std::int64_t kThin = 128;
/// Bytes of a block of rows that are passed on, the fewest rows for which the other side is laid out, and how many blocks give many threads work.
constexpr std::int64_t kPart = 512 << 10, kFewRows = 64, kManyParts = 16;

class Product {
 public:
  Product(const Group& group, const op::Contraction& c, const Fusion& fusion, const CpuTarget& target)
      : op_(*group.roots.front()),
        group_(group),
        value_(group.product_value()),
        left_(op_.operand(0), c.lhs_batch, c.lhs_contract),
        right_(op_.operand(1), c.rhs_batch, c.rhs_contract) {
    for (ProductSide* side : {&left_, &right_}) side->minor = minor_dimension(side->value, fusion);
    batch_ = left_.size(left_.batch);
    m_ = left_.size(left_.free);
    n_ = right_.size(right_.free);
    k_ = left_.size(left_.contract);
    acc_ = op::product_accumulator(op_);
    pairs_ = target.avx512bf16 && op_.operand(0)->dtype() == DType::bf16 && op_.operand(1)->dtype() == DType::bf16 &&
             acc_ == DType::f32;
    halves_ = acc_ == DType::i32 && is_short(op_.operand(0)->dtype()) && is_short(op_.operand(1)->dtype()) && k_ > 0 && k_ % 2 == 0;
    // Few columns: the long side lies along the lanes. Windows are packed rather than looked for again and again.
    bool windows = left_.value->op() && op::window_dims(*left_.value->op());
    if ((n_ < 8 && m_ >= 4 * n_) || windows) {
      swapped_ = true;
      std::swap(left_, right_);
      std::swap(m_, n_);
    }
    note_band(c);
    for (std::int64_t side : op_.attrs.get_or<ir::Ints>(transform::kZeroSides, {})) (side == swapped_ ? left_has_zeros_ : right_has_zeros_) = true;
    in_place_ = k_ > kFarSum && lies_by_steps(left_, fusion) && lies_by_steps(right_, fusion);
    choose_tile(target);
    built_.kernel = std::make_unique<loop::Kernel>("product");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<ProductContext>(*builder_, group, fusion, built_);
  }

  Built build() {
    Built out;
    if (batch_ * m_ * n_ == 0) return out;
    choose_blocks();
    loop::Builder& b = *builder_;
    std::int64_t row_blocks = (m_ + mb_ - 1) / mb_, column_blocks = (n_ + nb_ - 1) / nb_;
    built_.kernel->grid = batch_ * row_blocks * column_blocks;
    const double elements = static_cast<double>(batch_ * m_ * n_);
    built_.parallel = elements * (static_cast<double>(std::max<std::int64_t>(1, k_)) + 16 * group_.epilogue_flops) > (is_thin() ? 4 : 16) * kInlineWork;
    if (k_ > 0 && packs_) panel_ = b.scratch(pairs_ ? DType::i32 : acc_, k_block_steps() * padded(nb_));
    if (k_ > kc_ && (acc_ != value_->dtype() || group_.epilogue > 0)) sums_ = b.scratch(acc_, mb_ * padded(nb_));
    if (context_->loops_over_rows()) done_ = b.scratch(acc_, tile_.rows * tile_.lanes);
    if (stages_left()) staged_ = b.scratch(pairs_ ? DType::i32 : acc_, k_block_steps() * ((mb_ + tile_.rows - 1) / tile_.rows * tile_.rows));
    Index point = b.grid();
    batch_at_ = b.div(point, column_blocks * row_blocks);
    rows_ = {b.mod(b.div(point, column_blocks), row_blocks), m_, mb_, tile_.rows};
    columns_ = {b.mod(point, column_blocks), n_, nb_, tile_.lanes};
    block();
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  std::int64_t padded(std::int64_t n) const { return (n + tile_.lanes - 1) / tile_.lanes * tile_.lanes; }
  /// Integers that a pair of i16 holds.
  static bool is_short(DType t) { return t == DType::i8 || t == DType::ui8 || t == DType::i16; }
  /// Steps of k in one block: pairs count once.
  std::int64_t steps(std::int64_t k) const { return pairs_ || halves_ ? (k + 1) / 2 : k; }
  std::int64_t k_block_steps() const { return std::max<std::int64_t>(1, steps(std::min(k_, kc_))); }
  /// Whether each number of a side is read for one step, which then takes several times as long: a matrix and a vector.
  bool is_thin() const { return std::min(m_, n_) == 1; }
  /// Whether a right side that lies along the sum is read from memory, once: then by long rows, few at a time, as memory is fastest at.
  bool streams() const {
    constexpr std::int64_t kPastCaches = 8 << 20;  // bytes
    return is_thin() && (packs_ || turns_) && n_ * k_ * static_cast<std::int64_t>(byte_width(right_.value->dtype())) >= kPastCaches;
  }
  /// Whether a side lies step after step of the sum, each a few lines of the cache: what one tile reads of a step is most of what is there.
  bool lies_by_steps(const ProductSide& s, const Fusion& fusion) const {
    constexpr std::int64_t kFewLines = 256;  // bytes
    auto only = [&](const std::vector<int>& dims) {
      int out = -1, many = 0;
      for (int d : dims)
        if (s.value->shape()[d] > 1) out = d, ++many;
      return many == 1 ? out : -1;
    };
    const int step = only(s.contract), element = only(s.free);
    if (step < 0 || element < 0 || pairs_ || halves_ || s.value->dtype() != acc_) return false;
    const std::vector<std::int64_t> strides = strides_in_memory(s.value, fusion);
    auto at = [&](int d) { return strides[static_cast<std::size_t>(d)]; };
    return !strides.empty() && at(element) == 1 && at(step) > 0 && at(step) * byte_width(acc_) <= kFewLines;
  }
  /// Whether the left side is laid out anew: pairs that do not lie along k are woven together. Where more than one tile reads them, narrow
  /// elements are widened once, and those that a tile would find in as many lines as it takes steps, or in rows so far apart that they
  /// push each other out of the caches, are brought together.
  bool stages_left() const {
    if (k_ == 0) return false;
    if (pairs_) return !left_.contracts_minor() || k_ % 2 != 0;
    if (halves_) return true;
    if (in_place_ || n_ <= tile_.lanes) return false;
    std::int64_t row = k_ * static_cast<std::int64_t>(byte_width(left_.value->dtype()));
    bool far = k_ > kc_ && row % kFarRow == 0;
    return byte_width(left_.value->dtype()) < byte_width(acc_) || !left_.contracts_minor() || far;
  }

  /// Few columns leave registers for more rows; few rows for more columns, which then are read where they lie, since none is read twice.
  void choose_tile(const CpuTarget& target) {
    tile_ = register_tile(acc_, target);
    if (n_ <= tile_.lanes / 2) tile_ = {tile_.rows * 2, tile_.lanes / 2};
    turns_ = m_ == 1 && right_.contracts_minor() && byte_width(acc_) == 4 && !pairs_ && !halves_ && !band_ && !left_has_zeros_ && !right_has_zeros_ &&
             n_ >= kSquare && k_ >= 4 * kBehind;
    if (turns_) tile_.lanes = 2 * kSquare;
    packs_ = !turns_ && !in_place_ && (pairs_ || right_.contracts_minor() || m_ > tile_.rows);
    while (!packs_ && !turns_ && !in_place_ && tile_.rows >= 2 * m_ && tile_.lanes < n_) tile_ = {tile_.rows / 2, tile_.lanes * 2};
  }

  /// The most steps of k whose panels the caches hold; parts of equal length where k has such a divisor, for their code is one.
  void choose_depth() {
    const std::int64_t most = in_place_ ? 128 : !packs_ ? k_ : pairs_ ? 512 : halves_ ? 768 : 384;
    kc_ = k_ <= most + 128 ? std::max<std::int64_t>(1, k_) : most;
    if (k_ <= kc_) return;
    const std::int64_t least_parts = (k_ + most - 1) / most;
    for (std::int64_t parts = least_parts; parts <= 2 * least_parts; ++parts)
      if (k_ % (4 * parts) == 0) return void(kc_ = k_ / parts);
  }

  void choose_blocks() {
    choose_depth();
    auto round = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
    mb_ = std::min(round(m_, tile_.rows), round(512, tile_.rows));
    nb_ = std::min(padded(n_), streams() ? tile_.lanes : padded(256));
    auto points = [&] { return batch_ * ((m_ + mb_ - 1) / mb_) * ((n_ + nb_ - 1) / nb_); };
    // At least eight blocks where there is enough, halved where that costs less: a row of blocks lays the right side out anew for each, a
    // column the left side.
    const double right_cost = packs_ ? 1 : 0.1, left_cost = stages_left() ? 1 : 0.1;
    auto cost = [&](std::int64_t rows, std::int64_t columns) {
      return right_cost / static_cast<double>(rows) + left_cost / static_cast<double>(columns);
    };
    while (points() < 8) {
      const bool halves_rows = mb_ > 64, halves_columns = nb_ > 2 * tile_.lanes;
      if (!halves_rows && !halves_columns) break;
      if (halves_rows && (!halves_columns || cost(mb_ / 2, nb_) <= cost(mb_, nb_ / 2)))
        mb_ = round(mb_ / 2, tile_.rows);
      else
        nb_ = padded(nb_ / 2);
    }
    if (in_place_) nb_ = tile_.lanes;  // nothing is laid out anew for each
    mb_ = std::min(mb_, m_);
    nb_ = std::min(nb_, n_);
    leave_parts_small();
  }

  /// What is much larger than what it is made of (attention's scores), and what reads such, goes by equal blocks of so few rows that the
  /// blocks of launches one after another stay in caches (chains.h), and that there are enough of them.
  void leave_parts_small() {
    const bool spreads = k_ <= kThin && m_ * n_ >= 2 * (m_ * k_ + n_ * k_), gathers = n_ <= kThin && m_ * k_ >= 2 * (m_ * n_ + n_ * k_) && left_.contracts_minor();
    if (!spreads && !gathers) return;
    const std::int64_t row = std::max(n_, k_) * static_cast<std::int64_t>(byte_width(acc_));
    const std::int64_t most = std::max(kFewRows, std::min(kPart / row, batch_ * m_ / kManyParts));
    if (m_ <= most || batch_ * m_ * row < 2 * kPart) return;
    for (std::int64_t rows = most; rows >= kFewRows / 2; --rows)
      if (rows < mb_ && m_ % rows == 0) return void(mb_ = rows);
  }

  void each_tile(const ProductAxis& axis, const std::function<void(const ProductPiece&)>& body) { compile::each_tile(*builder_, axis, body); }

  /// Loops over [0, total) in pieces of `size`, the last one shorter.
  void sweep(std::int64_t total, std::int64_t size, const std::function<void(Index, std::int64_t)>& body) {
    std::int64_t whole = total / size;
    if (whole == 1)
      body(0, size);
    else if (whole > 1)
      builder_->for_(0, whole, 1, [&](Index i) { body(i * size, size); });
    if (total % size) body(whole * size, total % size);
  }

  /// A part of the sum: steps [k0, k0 + depth), where it is one of `parts`.
  struct Part {
    Index number, k0;
    std::int64_t depth, parts;
  };

  /// All of k for one block, in parts; a shorter last one is code of its own.
  void block() {
    if (k_ <= kc_ && band_) return banded_block();
    if (k_ <= kc_) return part({0, 0, k_, 1});
    const std::int64_t whole = k_ / kc_, tail = k_ % kc_, parts = whole + (tail != 0);
    builder_->for_(0, whole, 1, [&](Index i) { part({i, i * kc_, kc_, parts}); });
    if (tail) part({whole, whole * kc_, tail, parts});
  }

  void part(const Part& p) {
    if (k_ > 0 && packs_) pack_right(p);
    if (stages_left()) stage_left(p);
    each_tile(columns_, [&](const ProductPiece& n) {
      each_tile(rows_, [&](const ProductPiece& m) { turns_ ? turned_tile(m, n, p) : band_ && p.parts == 1 ? banded_tile(m, n, p) : tile(m, n, p); });
    });
  }

  // ---- a band of needed elements (transform/needed_band.h)
  struct Span {
    std::int64_t low, high;  // of column - row
  };
  /// Takes the mark where its dimensions are the only ones of the rows and of the columns.
  void note_band(const op::Contraction& c) {
    const ir::Ints mark = op_.attrs.get_or<ir::Ints>(transform::kNeededBand, {});
    if (mark.empty()) return;
    const Shape& shape = op_.result()->shape();
    const auto batch = static_cast<std::int64_t>(c.lhs_batch.size());
    const std::int64_t rows_end = batch + op_.operand(0)->rank() - batch - static_cast<std::int64_t>(c.lhs_contract.size());
    auto is_only = [&](std::int64_t d) {
      const std::int64_t begin = d < rows_end ? batch : rows_end, end = d < rows_end ? rows_end : shape.rank();
      for (std::int64_t i = begin; i < end; ++i)
        if (i != d && shape[static_cast<int>(i)] != 1) return false;
      return d >= batch;
    };
    if (!is_only(mark[0]) || !is_only(mark[1]) || (mark[0] < rows_end) == (mark[1] < rows_end)) return;
    band_ = Span{mark[2], mark[3]};
    if ((mark[0] >= rows_end) != swapped_) band_ = Span{-mark[3], -mark[2]};
  }
  /// Whether any of so many rows and columns from here is needed.
  Inst* is_needed(const Index& row, const Index& rows, const Index& column, const Index& columns) {
    loop::Builder& b = *builder_;
    Inst* reaches = b.less(Index(band_->low), column + columns - row);
    return b.binary(Opcode::and_, reaches, b.less(column - row - rows, Index(band_->high)));
  }
  void banded_block() {
    loop::Builder& b = *builder_;
    Inst* needed = is_needed(rows_.begin(), by_block(b, rows_, rows_.block, rows_.last()), columns_.begin(),
                             by_block(b, columns_, columns_.block, columns_.last()));
    b.if_(needed, [&] { part({0, 0, k_, 1}); }, [&] {
      each_tile(columns_, [&](const ProductPiece& n) {
        each_tile(rows_, [&](const ProductPiece& m) { put_zeros(m, n); });
      });
    });
  }
  void banded_tile(const ProductPiece& m, const ProductPiece& n, const Part& p) {
    builder_->if_(is_needed(m.place, m.length, n.place, n.length), [&] { tile(m, n, p); }, [&] { put_zeros(m, n); });
  }
  /// And what follows from zeros, where the product has an epilogue.
  void put_zeros(const ProductPiece& m, const ProductPiece& n) {
    loop::Builder& b = *builder_;
    b.vector(0, n.length, tile_.lanes, [&](Index x) {
      b.for_(0, m.length, 1, [&](Index r) { context_->store(product_offset(m.place + r, n.place + x), n.place + x, b.constant(acc_, 0.0)); });
    });
  }

  Inst* element(const ProductSide& s, Index free, Index k) { return context_->at(s.value, s.index(*builder_, batch_at_, free, k)); }
  Inst* widened(const ProductSide& s, Index free, Index k) { return builder_->convert(acc_, element(s, free, k)); }

  /// Two bf16 elements, k and k + 1, as one i32; beyond the depth a zero.
  Inst* pair(const ProductSide& s, Index free, Index k, bool odd_end) {
    loop::Builder& b = *builder_;
    auto half = [&](Index at) { return b.convert(DType::ui32, b.bitcast(DType::ui16, element(s, free, at))); };
    Inst* low = half(k);
    Inst* both = odd_end ? low : b.binary(Opcode::or_, low, b.binary(Opcode::shl, half(k + 1), b.constant_int(DType::ui32, 16)));
    return b.bitcast(DType::i32, both);
  }

  /// What a side has at step s of a part: an element, or (of short integers) that of the part's first half and that of its second as one i32: both lie
  /// beside others of theirs, which a pair of neighbours does not.
  Inst* term(const ProductSide& side, Index free, const Part& p, Index s) {
    if (!halves_) return widened(side, free, p.k0 + s);
    loop::Builder& b = *builder_;
    auto half = [&](Index k) { return b.convert(DType::ui32, b.bitcast(DType::ui16, b.convert(DType::i16, element(side, free, k)))); };
    Inst* high = b.binary(Opcode::shl, half(p.k0 + s + steps(p.depth)), b.constant_int(DType::ui32, 16));
    return b.bitcast(DType::i32, b.binary(Opcode::or_, half(p.k0 + s), high));
  }

  void pack_right(const Part& p) {
    loop::Builder& b = *builder_;
    const std::int64_t lanes = tile_.lanes, count = steps(p.depth);
    each_tile(columns_, [&](const ProductPiece& n) {
      Index base = n.local * count;  // panel n / lanes
      auto put = [&](Index s, Index x, bool odd_end) {
        Inst* v = pairs_ ? pair(right_, n.place + x, p.k0 + s * 2, odd_end) : term(right_, n.place + x, p, s);
        b.store(panel_, base + s * lanes + x, v);
      };
      std::int64_t even = pairs_ ? p.depth / 2 : count;
      if (right_.contracts_minor() && !pairs_ && byte_width(acc_) == 4 && n.length % kSquare == 0) {
        pack_turned(n, p, base);
      } else if (right_.contracts_minor()) {
        // A few steps of all columns at a time, so that the lines written stay in the first cache.
        sweep(even, 16, [&](Index s, std::int64_t some) {
          b.for_(0, n.length, 1, [&](Index x) {
            for (std::int64_t u = 0; u < some; ++u) put(s + u, x, false);
          });
        });
        if (even < count) b.for_(0, n.length, 1, [&](Index x) { put(even, x, true); });
      } else {
        auto row = [&](Index s, bool odd_end) { b.vector(0, n.length, tile_.lanes, [&](Index x) { put(s, x, odd_end); }); };
        if (even) b.for_(0, even, 1, [&](Index s) { row(s, false); });
        if (even < count) row(even, true);
      }
    });
  }

  static constexpr int kSquare = 8;  // larger ones take LLVM ten times as long
  static constexpr std::int64_t kBehind = 256;
  /// Elements that lie along k, read so, turned in registers by squares and written along the columns.
  void pack_turned(const ProductPiece& n, const Part& p, const Index& base) {
    loop::Builder& b = *builder_;
    const std::int64_t count = steps(p.depth), turned = count / kSquare * kSquare;
    auto each = [&](std::int64_t times, const std::function<void(Index)>& body) {
      if (times == 1) body(0);
      if (times > 1) b.for_(0, times, 1, body);
    };
    each(n.length / kSquare, [&](Index square) {
      Index x = square * kSquare;
      each(count / kSquare, [&](Index strip) {
        b.vector(0, kSquare, kSquare, [&](Index lane) {
          std::vector<Inst*> columns;
          for (int i = 0; i < kSquare; ++i) columns.push_back(term(right_, n.place + x + i, p, strip * kSquare + lane));
          std::vector<Inst*> steps = loop::transposed(b, columns);
          for (int i = 0; i < kSquare; ++i)
            b.store(panel_, base + (strip * kSquare + i) * tile_.lanes + x + lane, steps[static_cast<std::size_t>(i)]);
        });
      });
      for (std::int64_t s = turned; s < count; ++s)
        b.vector(0, kSquare, kSquare, [&](Index lane) { b.store(panel_, base + s * tile_.lanes + x + lane, term(right_, n.place + x + lane, p, s)); });
    });
  }

  /// Where row r of the tile at row m is laid at step s: ones that lie along k stay so, others are [tile][step][row].
  Index staged_at(Index m, Index r, Index s) const { return m * k_block_steps() + (stages_rows() ? r * k_block_steps() + s : s * tile_.rows + r); }
  bool stages_rows() const { return !pairs_ && left_.contracts_minor(); }

  void stage_left(const Part& p) {
    loop::Builder& b = *builder_;
    if (stages_rows()) {
      b.for_(0, by_block(b, rows_, rows_.block, rows_.last()), 1, [&](Index m) {
        b.vector(0, steps(p.depth), 16, [&](Index s) { b.store(staged_, staged_at(m, 0, s), term(left_, rows_.begin() + m, p, s)); });
      });
      return;
    }
    // A few steps of a tile at a time: what is read is read again by the next tile, what is written lies together.
    constexpr std::int64_t kSteps = 8;
    const std::int64_t even = pairs_ ? p.depth / 2 : steps(p.depth), strips = even / kSteps;
    auto strip = [&](Index from, std::int64_t some) {
      each_tile(rows_, [&](const ProductPiece& m) {
        auto step = [&](Index u) { stage_step(m, p, from + u, false); };
        if (some == 1) return step(0);
        b.for_(0, some, 1, step);
      });
    };
    if (strips > 0) b.for_(0, strips, 1, [&](Index i) { strip(i * kSteps, kSteps); });
    if (even % kSteps) strip(strips * kSteps, even % kSteps);
    if (pairs_ && p.depth % 2) each_tile(rows_, [&](const ProductPiece& m) { stage_step(m, p, even, true); });
  }

  /// One step of a tile's rows, by powers of two of them, so that no lane is masked.
  void stage_step(const ProductPiece& m, const Part& p, Index s, bool odd_end) {
    loop::Builder& b = *builder_;
    for (std::int64_t done = 0; done < m.length;) {
      int lanes = 1;
      while (2 * lanes <= m.length - done) lanes *= 2;
      b.vector(done, done + lanes, lanes, [&](Index r) {
        Inst* v = pairs_ ? pair(left_, m.place + r, p.k0 + s * 2, odd_end) : term(left_, m.place + r, p, s);
        b.store(staged_, staged_at(m.local, r, s), v);
      });
      done += lanes;
    }
  }

  /// The left element(s) of row r of the tile at m, at step s, uniform.
  Inst* left(const ProductPiece& m, std::int64_t r, const Part& p, Index s) {
    if (staged_) return builder_->load(staged_, staged_at(m.local, r, s));
    if (!pairs_) return widened(left_, m.place + r, p.k0 + s);
    return pair(left_, m.place + r, p.k0 + s * 2, false);
  }

  // ---- blocks of zeros (transform/zero_blocks.h)
  static constexpr int kLook = 16;  // steps of k that are zeros together

  /// Whether a tile looks which terms of this part are zeros.
  bool looks(const Part& p) const {
    return (left_has_zeros_ || (right_has_zeros_ && panel_)) && !pairs_ && is_float(acc_) && p.depth % kLook == 0 && p.depth >= 4 * kLook;
  }
  /// Whether in one side of a tile any of kLook steps from s on is no zero.
  Inst* any_term(const ProductPiece& m, const ProductPiece& n, const Part& p, const Index& s) {
    loop::Builder& b = *builder_;
    Inst* found = b.local(b.constant_int(DType::i1, 0));
    auto note = [&](Inst* x) {
      Inst* some = b.compare(loop::Compare::ne, x, b.constant(acc_, 0.0));
      return b.set(found, b.binary(Opcode::or_, b.get(found), b.reduce(Opcode::or_, some)));
    };
    auto columns = [&](Index u) { b.vector(0, n.length, tile_.lanes, [&](Index x) { note(b.load(panel_, n.local * p.depth + (s + u) * tile_.lanes + x)); }); };
    auto rows = [&](Index u) { b.vector(0, m.length, 8, [&](Index r) { note(b.load(staged_, staged_at(m.local, r, s + u))); }); };
    auto row = [&](Index r) {
      b.vector(0, kLook, kLook, [&](Index u) { note(staged_ ? b.load(staged_, staged_at(m.local, r, s + u)) : widened(left_, m.place + r, p.k0 + s + u)); });
    };
    // One of them tells that there is no block of zeros where none is.
    auto each = [&](std::int64_t count, const std::function<void(Index)>& look) {
      look(count - 1);
      b.if_(b.unary(Opcode::not_, b.get(found)), [&] { b.for_(0, count - 1, 1, look); });
    };
    if (!left_has_zeros_)
      each(kLook, columns);
    else if (staged_ && !stages_rows())
      each(kLook, rows);
    else if (m.length > 1)
      each(m.length, row);
    else
      row(0);
    return b.get(found);
  }
  /// [first, last) of the part's steps / kLook, outside of which all terms of a tile are zeros. Looks at no more than those and two more.
  std::pair<Index, Index> terms(const ProductPiece& m, const ProductPiece& n, const Part& p) {
    loop::Builder& b = *builder_;
    const std::int64_t all = p.depth / kLook;
    auto number = [&](std::int64_t x) { return b.constant_int(DType::i64, x); };
    Inst *first = b.local(number(0)), *last = b.local(number(all));
    auto is_zero = [&](Inst* at) {
      Inst* inside = b.binary(Opcode::min, b.binary(Opcode::max, at, number(0)), number(all - 1));
      Inst* some = any_term(m, n, p, b.index_of(inside, 0, all - 1) * kLook);
      return b.binary(Opcode::and_, b.compare(loop::Compare::lt, b.get(first), b.get(last)), b.unary(Opcode::not_, some));
    };
    auto before_last = [&] { return b.binary(Opcode::sub, b.get(last), number(1)); };
    b.while_([&] { return is_zero(before_last()); }, [&] { b.set(last, before_last()); });
    b.while_([&] { return is_zero(b.get(first)); }, [&] { b.set(first, b.binary(Opcode::add, b.get(first), number(1))); });
    return {b.index_of(b.get(first), 0, all), b.index_of(b.get(last), 0, all)};
  }

  void tile(const ProductPiece& m, const ProductPiece& n, const Part& p) {
    loop::Builder& b = *builder_;
    const std::int64_t count = p.depth ? steps(p.depth) : 0;
    const std::int64_t unroll = count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
    Index first = 0, last = count / unroll;
    if (looks(p)) {
      std::tie(first, last) = terms(m, n, p);
      first = first * (kLook / unroll), last = last * (kLook / unroll);
    }
    b.vector(0, n.length, tile_.lanes, [&](Index x) {
      std::vector<Inst*> sums;
      auto begin = [&](std::int64_t r) { return initial(m.place + r, n.place + x); };
      const bool given = given_sums(op_) != nullptr;
      for (std::int64_t r = 0; r < m.length; ++r) sums.push_back(b.local(given && p.parts == 1 ? begin(r) : b.constant(acc_, 0.0), tile_.lanes));
      auto each_set = [&](const std::function<Inst*(std::int64_t)>& value) {
        for (std::int64_t r = 0; r < m.length; ++r) b.set(sums[static_cast<std::size_t>(r)], value(r));
      };
      auto go_on = [&] { each_set([&](std::int64_t r) { return previous(m, r, n, x); }); };
      if (p.parts > 1 && given) b.if_(b.less(0, p.number), go_on, [&] { each_set(begin); });
      if (p.parts > 1 && !given) b.if_(b.less(0, p.number), go_on);
      auto step = [&](Index s) {
        Inst* right = packs_ ? b.load(panel_, n.local * count + s * tile_.lanes + x) : term(right_, n.place + x, p, s);
        for (std::int64_t r = 0; r < m.length; ++r) {
          Inst* sum = b.get(sums[static_cast<std::size_t>(r)]);
          b.set(sums[static_cast<std::size_t>(r)], multiply_add(left(m, r, p, s), right, sum));
        }
      };
      if (count)
        b.for_(first, last, 1, [&](Index i) {
          for (std::int64_t u = 0; u < unroll; ++u) step(i * unroll + u);
        });
      auto each_sum = [&](const std::function<void(std::int64_t, Inst*)>& store) {
        for (std::int64_t r = 0; r < m.length; ++r) store(r, b.get(sums[static_cast<std::size_t>(r)]));
      };
      auto finish = [&] {
        auto store = [&](const Index& row, Inst* sum) { context_->store(product_offset(m.place + row, n.place + x), n.place + x, sum); };
        if (!done_ || m.length == 1) return each_sum(store);
        each_sum([&](std::int64_t r, Inst* sum) { b.store(done_, Index(r * tile_.lanes) + x, sum); });
        b.for_(0, m.length, 1, [&](Index r) { store(r, b.load(done_, r * tile_.lanes + x)); });
      };
      if (!sums_) return finish();
      b.if_(b.less(p.number, p.parts - 1), [&] { each_sum([&](std::int64_t r, Inst* sum) { b.store(sums_, sum_at(m, r, n, x), sum); }); }, finish);
    });
  }

  /// A row of results where the right side lies along the sum and is read once: by squares that are turned in registers and added at once, as many
  /// steps as a line of the cache has, of eight columns and then of eight more, so that their chains go side by side. The second eight are kBehind steps
  /// behind the first: columns a power of two apart share a set of the first cache, which has room for eight lines. (Side by side LLVM mixes the squares
  /// of both, and spills.)
  void turned_tile(const ProductPiece& m, const ProductPiece& n, const Part& p) {
    constexpr std::int64_t kLine = 2 * kSquare;
    loop::Builder& b = *builder_;
    const std::int64_t lines = p.depth / kLine, groups = n.length / kSquare, behind = groups > 1 ? kBehind / kLine : 0;
    if (groups)
      b.vector(0, kSquare, kSquare, [&](Index lane) {
        std::vector<Inst*> sums;
        auto column = [&](std::int64_t g) { return n.place + g * kSquare; };
        for (std::int64_t g = 0; g < groups; ++g) sums.push_back(b.local(initial(m.place, column(g) + lane), kSquare));
        auto add = [&](std::int64_t g, Index s, Inst* right) {
          Inst*& sum = sums[static_cast<std::size_t>(g)];
          b.set(sum, multiply_add(left(m, 0, p, s), right, b.get(sum)));
        };
        auto line = [&](std::int64_t g, Index at) {
          for (Index s = at * kLine; Index square : {s, s + kSquare}) {
            std::vector<Inst*> columns;
            for (int i = 0; i < kSquare; ++i) columns.push_back(term(right_, column(g) + i, p, square + lane));
            std::vector<Inst*> steps = loop::transposed(b, columns);
            for (int i = 0; i < kSquare; ++i) add(g, square + i, steps[static_cast<std::size_t>(i)]);
          }
        };
        if (behind) b.for_(0, behind, 1, [&](Index i) { line(0, i); });
        b.for_(behind, lines, 1, [&](Index i) {
          for (std::int64_t g = 0; g < groups; ++g) line(g, g ? i - behind : i);
        });
        if (behind) b.for_(lines - behind, lines, 1, [&](Index i) { line(1, i); });
        for (std::int64_t s = lines * kLine; s < p.depth; ++s)
          for (std::int64_t g = 0; g < groups; ++g) add(g, s, term(right_, column(g) + lane, p, s));
        for (std::int64_t g = 0; g < groups; ++g)
          context_->store(product_offset(m.place, column(g) + lane), column(g) + lane, b.get(sums[static_cast<std::size_t>(g)]));
      });
    const std::int64_t done = groups * kSquare;
    if (done < n.length) tile(m, {n.local + done, n.place + done, n.length - done}, p);
  }

  /// What a chain begins from: zero, or the sum that the operation was given.
  Inst* initial(Index m, Index n) {
    const Value* sums = given_sums(op_);
    if (!sums) return builder_->constant(acc_, 0.0);
    return context_->at(sums, delinearize(*builder_, sums->shape(), product_offset(m, n)));
  }
  Index sum_at(const ProductPiece& m, std::int64_t r, const ProductPiece& n, Index x) const { return (m.local + r) * padded(nb_) + n.local + x; }
  /// What the parts before this one have summed.
  Inst* previous(const ProductPiece& m, std::int64_t r, const ProductPiece& n, Index x) {
    if (sums_) return builder_->load(sums_, sum_at(m, r, n, x));
    return builder_->load(context_->output(value_), result_offset(m.place + r, n.place + x));
  }
  Inst* multiply_add(Inst* a, Inst* c, Inst* sum) {
    loop::Builder& b = *builder_;
    if (pairs_ || halves_) return b.dot2(sum, a, c);
    if (is_float(acc_)) return b.fma(a, c, sum);
    return b.binary(op::opcode(op::Combiner::add, acc_), sum, b.binary(op::opcode(op::Combiner::mul, acc_), a, c));
  }
  Index product_offset(Index m, Index n) const { return swapped_ ? (batch_at_ * n_ + n) * m_ + m : (batch_at_ * m_ + m) * n_ + n; }
  Index result_offset(Index m, Index n) { return landing(*builder_, group_.moves(), product_offset(m, n), n); }

  const Op& op_;
  const Group& group_;
  const Value* value_;
  ProductSide left_, right_;
  std::int64_t batch_ = 1, m_ = 1, n_ = 1, k_ = 1, mb_ = 1, nb_ = 1, kc_ = 1;
  DType acc_ = DType::f32;
  bool pairs_ = false, halves_ = false, swapped_ = false, packs_ = true, left_has_zeros_ = false, right_has_zeros_ = false;
  bool in_place_ = false;  // both sides are read where they lie
  bool turns_ = false;     // squares of the right side, rather than packing it
  std::optional<Span> band_;
  Tile tile_;
  ProductAxis rows_, columns_;
  Index batch_at_;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<ProductContext> context_;
  loop::Ref *panel_ = nullptr, *sums_ = nullptr, *staged_ = nullptr, *done_ = nullptr;
};

}  // namespace

Tile register_tile(DType accumulator, const CpuTarget& target) {
  int lanes = byte_width(accumulator) > 4 ? 16 : 32;
  return target.avx512 ? Tile{8, lanes} : Tile{6, lanes / 2};
}

Built build_product(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  const Op& op = *group.roots.front();
  if (op.result()->shape().count() == 0) return {};
  if (!given_sums(op) && is_narrow(op)) return build_narrow_product(group, fusion);
  if (!given_sums(op) && takes_windows(op, fusion)) return build_window_product(group, fusion, target);
  op::Contraction c = std::get<op::Contraction (*)(const Op&)>(op::def(op).lowering)(op);
  if (takes_tiles(op, c, target)) return build_tile_product(group, c, fusion);
  return Product(group, c, fusion, target).build();
}

}  // namespace strata::compile
