#include "strata/compile/product_kernel.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "strata/compile/batch_lanes.h"
#include "strata/compile/fusion_access.h"
#include "strata/compile/narrow_product.h"
#include "strata/compile/product_fetch.h"
#include "strata/compile/product_layout.h"
#include "strata/compile/product_result.h"
#include "strata/compile/product_rows.h"
#include "strata/compile/row_dots.h"
#include "strata/compile/tile_product.h"
#include "strata/compile/window_product.h"
#include "strata/loop/lanes.h"
#include "strata/op/dot_general.h"
#include "strata/op/lowering_kind.h"
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

/// Lines so many bytes apart, or a multiple of it, share half of the first cache's sets or fewer.
constexpr std::int64_t kSharedSets = 2048;

/// A sum of more steps than this has operands beyond the caches, whatever the few rows and columns.
constexpr std::int64_t kFarSum = 4096;
/// A product over no more than this, or with no more columns, is thin.
constexpr std::int64_t kThin = 128;
/// Bytes of a block of rows that are passed on, the fewest rows for which the other side is laid out, and how many blocks give many threads work.
constexpr std::int64_t kPart = 512 << 10, kFewRows = 64, kManyParts = 16;
/// The fewest rows and columns of a block that is one of many.
constexpr std::int64_t kLeastRows = 64, kLeastColumns = 32;

class Product {
 public:
  Product(const Group& group, const op::Contraction& c, const Fusion& fusion, const CpuTarget& target)
      : op_(*group.roots.front()),
        group_(group),
        fusion_(fusion),
        value_(group.product_value()),
        left_(op_.operand(0), c.lhs_batch, c.lhs_contract),
        right_(op_.operand(1), c.rhs_batch, c.rhs_contract) {
    for (ProductSide* side : {&left_, &right_}) side->minor = minor_dimension(side->value, fusion);
    batch_ = left_.size(left_.batch);
    m_ = left_.size(left_.free);
    n_ = right_.size(right_.free);
    k_ = left_.size(left_.contract);
    acc_ = op::product_accumulator(op_);
    if (takes_pairs(op_, target)) kind_ = TermKind::pairs;
    const bool shorts = acc_ == DType::i32 && is_short(op_.operand(0)->dtype()) && is_short(op_.operand(1)->dtype()) && k_ > 0;
    // Few columns: the long side lies along the lanes. Windows are packed rather than looked for again and again.
    bool windows = left_.value->op() && op::window_dims(*left_.value->op());
    if ((n_ < 8 && m_ >= 4 * n_ && !rows_stay()) || windows) {
      swapped_ = true;
      std::swap(left_, right_);
      std::swap(m_, n_);
    }
    if (shorts) kind_ = goes_by_quads(target) ? TermKind::quads : k_ % 2 == 0 ? TermKind::halves : TermKind::single;
    left_.flips = is(TermKind::quads) && left_.value->dtype() == right_.value->dtype();
    note_band(c);
    for (std::int64_t side : op_.attrs.get_or<ir::Ints>(transform::kZeroSides, {})) (side == swapped_ ? left_has_zeros_ : right_has_zeros_) = true;
    in_place_ = k_ > kFarSum && lies_by_steps(left_, fusion) && lies_by_steps(right_, fusion);
    built_.kernel = std::make_unique<loop::Kernel>("product");
    builder_ = std::make_unique<loop::Builder>(*built_.kernel);
    context_ = std::make_unique<ProductContext>(*builder_, group, fusion, built_);
    choose_tile(target);
    choose_order(target);
  }

  Built build() {
    Built out;
    if (batch_ * m_ * n_ == 0) return out;
    laid_left_ = SideLayout(tile_.rows, !is(TermKind::pairs) && left_.contracts_minor());
    laid_right_ = SideLayout(tile_.lanes, false);
    choose_depth();
    choose_blocks();
    choose_ahead();
    if (right_ahead_ || left_ahead_) choose_blocks();
    if (!swapped_) context_->fetch_ahead(by_rows_ ? tile_.lanes : tile_.rows * n_);
    if (packs_) right_.ahead = fetched_ahead(right_);
    if (stages_left()) left_.ahead = fetched_ahead(left_);
    if (right_ahead_) out.kernels.push_back(lay_out(right_, n_, laid_right_, out));
    if (left_ahead_) out.kernels.push_back(lay_out(left_, m_, laid_left_, out));
    loop::Builder& b = *builder_;
    std::int64_t row_blocks = (m_ + mb_ - 1) / mb_, column_blocks = (n_ + nb_ - 1) / nb_;
    built_.kernel->grid = batch_ * row_blocks * column_blocks;
    built_.parallel = is_parallel();
    if (k_ > kc_ && (acc_ != value_->dtype() || group_.epilogue > 0 || context_->streams_results())) sums_ = b.scratch(acc_, mb_ * padded(nb_));
    if (context_->loops_over_rows()) done_ = b.scratch(acc_, tile_.rows * tile_.lanes);
    Index point = b.grid();
    batch_at_ = b.div(point, column_blocks * row_blocks);
    rows_ = {b.mod(b.div(point, column_blocks), row_blocks), m_, mb_, tile_.rows};
    columns_ = {b.mod(point, column_blocks), n_, nb_, tile_.lanes};
    terms_.emplace(*context_, batch_at_, acc_, kind_);
    if (right_ahead_)
      hold_all(laid_right_, *context_, batch_at_, n_, 0, loop::Ref::Mode::in);
    else if (k_ > 0 && packs_)
      laid_right_.hold_block(b.scratch(terms_->dtype(), k_block_steps() * laid_right_.padded(nb_)));
    if (left_ahead_)
      hold_all(laid_left_, *context_, batch_at_, m_, right_ahead_, loop::Ref::Mode::in);
    else if (stages_left())
      laid_left_.hold_block(b.scratch(terms_->dtype(), k_block_steps() * laid_left_.padded(mb_)));
    block();
    out.kernels.push_back(std::move(built_));
    return out;
  }

 private:
  /// Whether few columns leave lanes idle rather than that long rows from beyond the caches are turned, each for so few (2000 x 1500 by 1500 x 3 on a Zen 3: 0.87 ms turned, 0.49 so).
  bool rows_stay() const {
    constexpr std::int64_t kLongRow = 512, kFar = 2 << 20;  // elements, bytes
    if (n_ == 1 || k_ < kLongRow || !left_.contracts_minor() || group_.epilogue > 0) return false;
    return left_.value->dtype() == acc_ && byte_width(acc_) == 4 && left_.value->type().bytes() >= kFar;
  }
  bool is_parallel() const {
    const double elements = static_cast<double>(batch_ * m_ * n_);
    return elements * (static_cast<double>(std::max<std::int64_t>(1, k_)) + 16 * group_.epilogue_flops) > (is_thin() ? 4 : 16) * kInlineWork;
  }
  std::int64_t padded(std::int64_t n) const { return (n + tile_.lanes - 1) / tile_.lanes * tile_.lanes; }
  /// Integers that a pair of i16 holds.
  static bool is_short(DType t) { return t == DType::i8 || t == DType::ui8 || t == DType::i16; }
  static bool is_byte(const ProductSide& s) { return byte_width(s.value->dtype()) == 1; }
  bool is(TermKind kind) const { return kind_ == kind; }
  /// Few rows read the right side where it lies, by pairs.
  bool goes_by_quads(const CpuTarget& target) const {
    return target.vnni && k_ % 4 == 0 && is_byte(left_) && is_byte(right_) && (m_ > register_tile(acc_, target).rows || right_.contracts_minor());
  }
  /// Steps of k in one block: pairs count once.
  std::int64_t steps(std::int64_t k) const { return steps_of(kind_, k); }
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
    if (step < 0 || element < 0 || !is(TermKind::single) || s.value->dtype() != acc_) return false;
    const std::vector<std::int64_t> strides = strides_in_memory(s.value, fusion);
    auto at = [&](int d) { return strides[static_cast<std::size_t>(d)]; };
    return !strides.empty() && at(element) == 1 && at(step) > 0 && at(step) * byte_width(acc_) <= kFewLines;
  }
  /// Whether the left side is laid out anew: pairs that do not lie along k are woven together. Where more than one tile reads them, narrow
  /// elements are widened once, those that are computed, or lie where no stride says, are computed once (patches of 16 x 16 x 3 of an image by 768 x 384: 31 ms in each tile, 15 so), and those that a tile
  /// would find in as many lines as it takes steps, or in rows so far apart that they push each other out of the caches, are brought together.
  bool stages_left() const {
    if (k_ == 0) return false;
    if (is(TermKind::pairs)) return !left_.contracts_minor() || k_ % 2 != 0;
    if (is(TermKind::halves) || is(TermKind::quads)) return true;
    if (in_place_ || n_ <= tile_.lanes) return false;
    std::int64_t row = k_ * static_cast<std::int64_t>(byte_width(left_.value->dtype()));
    bool far = k_ > kc_ && row % kFarRow == 0, computed = fusion_.inlined.count(left_.value) && strides_in_memory(left_.value, fusion_).empty();
    return computed || byte_width(left_.value->dtype()) < byte_width(acc_) || !left_.contracts_minor() || far || sums_in_pieces(left_);
  }

  /// Whether a sum's terms lie in several pieces, whose places each tile would find anew step by step (heads that are joined: 512 x 256 of eight heads by 256 x 256 on two threads of a
  /// Zen 3: 0.75 ms, 0.47 so).
  bool sums_in_pieces(const ProductSide& s) const {
    const std::vector<std::int64_t> strides = strides_in_memory(s.value, fusion_);
    if (strides.empty()) return false;
    std::int64_t next = 0;  // from which a dimension goes on
    for (std::size_t i = s.contract.size(); i-- > 0;) {
      const std::int64_t size = s.value->shape()[s.contract[i]], stride = strides[static_cast<std::size_t>(s.contract[i])];
      if (size == 1) continue;
      if (next && stride != next) return true;
      next = stride * size;
    }
    return false;
  }

  /// By how many elements what is laid out of a side that lies along its free dimensions is fetched ahead: rows of a block are a few lines each, which
  /// nothing else fetches in time (softmax's probabilities, transposed, by the values, 256 of 256 x 256 bf16: 2.8 ms without, 2.1 with).
  std::int64_t fetched_ahead(const ProductSide& s) const {
    constexpr std::int64_t kRows = 16;
    if (s.contracts_minor() || s.contract.empty() || s.value->type().bytes() < kFarArray) return 0;
    const std::vector<std::int64_t> strides = strides_in_memory(s.value, fusion_);
    return strides.empty() ? 0 : kRows * std::max<std::int64_t>(0, strides[static_cast<std::size_t>(s.contract.back())]);
  }

  /// Columns that stay neighbours where the result goes, or equal parts of such: a transposition behind a product may put others between them. All where that is so of all, or of a few.
  std::int64_t columns_together() {
    constexpr std::int64_t kMany = 1 << 14, kBlock = 512, kFew = 32;
    if (group_.moves().empty() || swapped_ || right_.free.size() < 2) return n_;
    auto lands = [&](std::int64_t n) { return landing(*builder_, group_.moves(), product_offset(0, n), n).constant(); };
    const std::int64_t first = lands(0);
    std::int64_t run = 1;
    while (run < std::min(n_, kMany) && lands(run) == first + run) ++run;
    if (run == n_ || n_ % run != 0) return n_;
    const std::int64_t out = largest_divisor(run, kBlock);
    return out < kFew && out < run ? n_ : out;
  }
  /// Whether tiles would cross from columns that stay together to others: each block has those of one place then, and ends with a shorter tile.
  bool parted() const { return together_ < n_ && together_ % tile_.lanes != 0; }
  /// Finds which columns are to stay together, and a tile for them: one that does not cross, where that is no more work than to store a tile's elements one by one, which takes so many cycles each, in which tiles
  /// go as many steps with each lane.
  Tile part_columns(const CpuTarget& target) {
    constexpr double kCycles = 1.5, kStepsACycle = 32;
    together_ = columns_together();
    const Tile wide = narrow_tile(register_tile(acc_, target), together_, target), half{std::min(2 * wide.rows, 16), std::max(4, wide.lanes / 2)};
    auto left_over = [&](const Tile& t) { return static_cast<double>((together_ + t.lanes - 1) / t.lanes * t.lanes) / static_cast<double>(together_) - 1; };
    const Tile least = left_over(half) < left_over(wide) ? half : wide;
    if (together_ < n_ && left_over(least) * static_cast<double>(k_) / kStepsACycle <= kCycles) return least;
    together_ = n_;
    return narrow_tile(register_tile(acc_, target), n_, target);
  }

  /// Few columns leave registers for more rows; few rows for more columns, which then are read where they lie, since none is read twice.
  void choose_tile(const CpuTarget& target) {
    tile_ = part_columns(target);
    turns_ = m_ == 1 && right_.contracts_minor() && byte_width(acc_) == 4 && is(TermKind::single) && !band_ && !left_has_zeros_ && !right_has_zeros_ &&
             n_ >= kSquare && k_ >= kShortTurned;
    if (turns_) tile_.lanes = 2 * kSquare;
    packs_ = !turns_ && !in_place_ && (is(TermKind::quads) || (is(TermKind::pairs) && k_ % 2 != 0) || right_.contracts_minor() || m_ > tile_.rows);
    while (!packs_ && !turns_ && !in_place_ && tile_.rows >= 2 * m_ && 4 * tile_.lanes <= n_) tile_ = {tile_.rows / 2, tile_.lanes * 2};
  }

  /// The time of a product that spreads is that of its stores. Down the columns, lines that two tiles share are fetched for each, and lines of rows
  /// whose distance is a multiple of kSharedSets push each other out; along the rows neither is so (2000 x 16 by 16 x 1500: 2.0 ms, 0.9 so; by 16 x 2048: 2.4 and 1.2). Past the caches go halves of lines,
  /// for which such rows are as bad, unless a register holds a line.
  void choose_order(const CpuTarget& target) {
    if (swapped_ || !group_.moves().empty() || !spreads()) return;
    const std::int64_t row = n_ * static_cast<std::int64_t>(byte_width(value_->dtype()));
    const bool shares_sets = row % kSharedSets == 0 && !target.avx512;
    by_rows_ = row % kCacheLine != 0 || shares_sets;
    if (shares_sets) context_->keep_in_caches();
  }

  /// Steps of k: a tile begins and ends with its sums in memory, so many for one that does not in the time of a few. Parts of equal length where k has
  /// such a divisor, for their code is one.
  void choose_depth() {
    constexpr std::int64_t kDepth = 4096;  // bytes of a row
    const std::int64_t deep = kDepth / std::max<std::int64_t>(4, byte_width(acc_)) * per_step(kind_);
    const std::int64_t most = in_place_ ? 128 : !packs_ ? k_ : deep;
    kc_ = k_ <= most + 128 ? std::max<std::int64_t>(1, k_) : most;
    if (k_ <= kc_) return;
    const std::int64_t least_parts = (k_ + most - 1) / most;
    for (std::int64_t parts = least_parts; parts <= 2 * least_parts; ++parts)
      if (k_ % (4 * parts) == 0) return void(kc_ = k_ / parts);
  }

  void choose_blocks() {
    auto round = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
    mb_ = std::min(round(m_, tile_.rows), round(packs_ && !right_ahead_ ? 512 : 256, tile_.rows));
    nb_ = parted() ? together_ : std::min(padded(n_), streams() ? tile_.lanes : padded(256));
    auto points = [&] { return batch_ * ((m_ + mb_ - 1) / mb_) * ((n_ + nb_ - 1) / nb_); };
    // At least eight blocks where there is enough, halved where that costs less: a row of blocks lays the right side out anew for each, a
    // column the left side.
    const double right_cost = right_ahead_ ? 0.3 : packs_ ? 1 : 0.1, left_cost = left_ahead_ ? 0.3 : stages_left() ? 1 : 0.1;
    auto cost = [&](std::int64_t rows, std::int64_t columns) {
      return right_cost / static_cast<double>(rows) + left_cost / static_cast<double>(columns);
    };
    const std::int64_t least_rows = in_place_ ? tile_.rows : kLeastRows;
    while (points() < (in_place_ ? 4 : 8) && static_cast<double>(batch_ * m_ * n_) * static_cast<double>(k_) >= static_cast<double>(points()) * 2 * kInlineWork) {
      // Blocks of one tile's columns lay the left side out for little: only where there is one block.
      const std::int64_t least_columns = points() > 1 ? 2 * tile_.lanes : std::max<std::int64_t>(tile_.lanes, kLeastColumns);
      const bool halves_rows = mb_ > least_rows, halves_columns = nb_ > least_columns && !parted();
      if (!halves_rows && !halves_columns) break;
      if (halves_rows && (!halves_columns || cost(mb_ / 2, nb_) <= cost(mb_, nb_ / 2)))
        mb_ = round(mb_ / 2, tile_.rows);
      else
        nb_ = padded(nb_ / 2);
    }
    if (in_place_ && !parted()) nb_ = tile_.lanes;  // nothing is laid out anew for each
    mb_ = std::min(mb_, m_);
    nb_ = std::min(nb_, n_);
    leave_parts_small();
  }

  /// Whether the result is much larger than what a thin product is made of.
  bool spreads() const { return k_ <= kThin && m_ * n_ >= 2 * (m_ * k_ + n_ * k_); }
  bool leaves_parts_small() const {
    const bool gathers = n_ <= kThin && m_ * k_ >= 2 * (m_ * n_ + n_ * k_) && left_.contracts_minor();
    return spreads() || gathers;
  }
  /// What is much larger than what it is made of (attention's scores), and what reads such, goes by equal blocks of so few rows that the
  /// blocks of launches one after another stay in caches (chains.h), and that there are enough of them. Best by a multiple of the rows at a point of a map, or a part of them, for chains take whole points of both.
  void leave_parts_small() {
    if (!leaves_parts_small()) return;
    const std::int64_t row = std::max(n_, k_) * static_cast<std::int64_t>(byte_width(acc_));
    const std::int64_t most = std::max(kFewRows, std::min(kPart / row, batch_ * m_ / kManyParts));
    if (m_ <= most || batch_ * m_ * row < 2 * kPart) return;
    const std::int64_t of_maps = largest_divisor(batch_ * m_, rows_of_point(batch_ * m_, std::max(n_, k_), kPointElements));
    for (bool in_step : {true, false})
      for (std::int64_t rows = most; rows >= kFewRows / 2; --rows)
        if (rows < mb_ && m_ % rows == 0 && (!in_step || rows % of_maps == 0 || of_maps % rows == 0)) return void(mb_ = rows);
  }

  // ---- sides that a kernel of their own lays out, once

  std::int64_t parts() const { return (k_ + kc_ - 1) / kc_; }
  /// Steps of all parts; whole parts have an even depth where two elements are a step.
  std::int64_t all_steps() const { return k_ / kc_ * steps(kc_) + steps(k_ % kc_); }
  std::int64_t laid_out_elements(const SideLayout& layout, std::int64_t free) const { return batch_ * layout.padded(free) * all_steps(); }

  /// Those that several blocks would lay out again.
  void choose_ahead() {
    constexpr std::int64_t kTimes = 3, kFew = 64 << 10, kMostBytes = 32 << 20;
    if ((leaves_parts_small() && batch_ > 1) || !is_parallel()) return;
    auto pays = [&](std::int64_t times, const SideLayout& layout, std::int64_t free) {
      const std::int64_t elements = laid_out_elements(layout, free);
      return times >= kTimes && (times - 1) * elements >= kFew && elements * byte_width(acc_) <= kMostBytes;
    };
    right_ahead_ = k_ > 0 && packs_ && !parted() && pays((m_ + mb_ - 1) / mb_, laid_right_, n_);
    left_ahead_ = stages_left() && pays((n_ + nb_ - 1) / nb_, laid_left_, m_);
  }

  void hold_all(SideLayout& layout, KernelContext& context, const Index& batch, std::int64_t free, int temporary, loop::Ref::Mode mode) const {
    layout.hold_all(context.temporary(temporary, is(TermKind::pairs) ? DType::i32 : acc_, laid_out_elements(layout, free), mode), batch, free, all_steps(), steps(kc_));
  }

  /// A kernel that lays a side out, in the next of the build's temporaries.
  BuiltKernel lay_out(const ProductSide& side, std::int64_t free, SideLayout layout, Built& out) const {
    BuiltKernel built;
    built.kernel = std::make_unique<loop::Kernel>("lay_out");
    built.parallel = true;
    loop::Builder b(*built.kernel);
    KernelContext context(b, fusion_, built);
    const bool columns = &side == &right_;
    const std::int64_t tile = columns ? tile_.lanes : tile_.rows, tiles = layout.padded(free) / tile;
    std::int64_t block = std::min<std::int64_t>(tiles, (256 + tile - 1) / tile);
    while (block > 4 && batch_ * parts() * ((tiles + block - 1) / block) < 16) block = (block + 1) / 2;
    const std::int64_t blocks = (tiles + block - 1) / block, whole = k_ / kc_, tail = k_ % kc_;
    built.kernel->grid = batch_ * parts() * blocks;
    const Index point = b.grid(), batch = b.div(point, blocks * parts()), number = b.mod(b.div(point, blocks), parts());
    const ProductAxis axis{b.mod(point, blocks), free, blocks == 1 ? free : block * tile, tile};
    const ProductTerms terms(context, batch, acc_, kind_);
    hold_all(layout, context, batch, free, static_cast<int>(out.temporaries.size()), loop::Ref::Mode::out);
    out.temporaries.push_back(laid_out_elements(layout, free) * static_cast<std::int64_t>(byte_width(terms.dtype())));
    auto fill = [&](const ProductPart& part) { columns ? layout.fill_columns(b, terms, side, axis, part) : layout.fill_rows(b, terms, side, axis, part); };
    auto fill_whole = [&](const Index& at) { fill({at, at * kc_, kc_, parts()}); };
    auto fill_tail = [&] { fill({whole, whole * kc_, tail, parts()}); };
    if (whole == 0)
      fill_tail();
    else if (tail == 0)
      fill_whole(number);
    else
      b.if_(b.less(number, whole), [&] { fill_whole(b.index_of(b.binary(Opcode::min, b.value(number), b.constant_int(DType::i64, whole - 1)), 0, whole - 1)); }, fill_tail);
    return built;
  }

  void each_tile(const ProductAxis& axis, const std::function<void(const ProductPiece&)>& body) { compile::each_tile(*builder_, axis, body); }

  /// All of k for one block, in parts; a shorter last one is code of its own.
  void block() {
    if (k_ <= kc_ && band_) return banded_block();
    if (k_ <= kc_) return part({0, 0, k_, 1});
    const std::int64_t whole = k_ / kc_, tail = k_ % kc_, parts = whole + (tail != 0);
    builder_->for_(0, whole, 1, [&](Index i) { part({i, i * kc_, kc_, parts}); });
    if (tail) part({whole, whole * kc_, tail, parts});
  }

  void part(const ProductPart& p) {
    if (laid_right_.memory() && !right_ahead_) laid_right_.fill_columns(*builder_, *terms_, right_, columns_, p);
    if (laid_left_.memory() && !left_ahead_) laid_left_.fill_rows(*builder_, *terms_, left_, rows_, p);
    note_next(p);
    if (left_.flips) each_tile(columns_, [&](const ProductPiece& n) { sum_column(n, p); });
    auto compute = [&](const ProductPiece& m, const ProductPiece& n) { turns_ ? turned_tile(m, n, p) : band_ && p.parts == 1 ? banded_tile(m, n, p) : tile(m, n, p); };
    if (by_rows_)
      each_tile(rows_, [&](const ProductPiece& m) { each_tile(columns_, [&](const ProductPiece& n) { compute(m, n); }); });
    else
      each_tile(columns_, [&](const ProductPiece& n) { each_tile(rows_, [&](const ProductPiece& m) { compute(m, n); }); });
  }

  // ---- bytes of one sign
  /// What the other signs of the left side change in a column's sums, the same in all rows: (a + 128) b is 128 b more than a b.
  void sum_column(const ProductPiece& n, const ProductPart& p) {
    loop::Builder& b = *builder_;
    if (!shift_) shift_ = b.scratch(DType::i32, padded(nb_));
    const bool is_signed = left_.value->dtype() == DType::i8;
    Inst* ones = b.constant_int(DType::i32, 0x01010101);
    b.vector(0, n.length, tile_.lanes, [&](Index x) {
      Inst* sum = b.local(b.constant_int(DType::i32, 0), tile_.lanes);
      b.for_(0, steps(p.depth), 1, [&](Index s) {
        Inst* right = load_right(n, x, s, p);
        b.set(sum, is_signed ? b.dot4(b.get(sum), ones, right) : b.dot4(b.get(sum), right, ones));
      });
      b.store(shift_, n.local + x, b.binary(Opcode::mul, b.get(sum), b.constant_int(DType::i32, is_signed ? -128 : 128)));
    });
  }
  Inst* add_product(Inst* left, Inst* right, Inst* sum) const {
    const bool right_is_unsigned = is(TermKind::quads) && right_.value->dtype() == DType::ui8;
    return multiply_add(*builder_, kind_, acc_, right_is_unsigned ? right : left, right_is_unsigned ? left : right, sum);
  }

  // ---- what is laid out next (product_fetch.h)
  struct Next {
    SideFetch side;
    loop::Ref* memory;
    Index begin;
  };

  std::int64_t row_tiles() const { return (mb_ + tile_.rows - 1) / tile_.rows; }
  std::int64_t column_tiles() const { return (nb_ + tile_.lanes - 1) / tile_.lanes; }

  /// What is fetched while the tiles of a part are computed: the next part of the block, or the first one of the next block, which mostly is this thread's (base/thread_pool.h).
  void note_next(const ProductPart& p) {
    next_.clear();
    if (is(TermKind::halves) || is(TermKind::quads) || turns_ || p.depth == 0) return;
    loop::Builder& b = *builder_;
    const Index there = b.grid() + 1;
    Inst* stays = p.parts > 1 ? b.less(p.number, p.parts - 1) : nullptr;
    auto next = [&](const Index& here, const Index& in_other, std::int64_t most) {
      return stays ? b.index_of(b.select(stays, b.value(here), b.value(in_other)), 0, most) : in_other;
    };
    auto note = [&](const ProductSide& side, const ProductAxis& axis, const Index& in_other) {
      auto found = SideFetch::of(side, fusion_, axis.block, row_tiles() * column_tiles(), turn(p) * per_step(kind_));
      if (!found) return;
      const Index batch = next(batch_at_, b.div(there, rows_.blocks() * columns_.blocks()), batch_), block = next(axis.at, in_other, axis.blocks() - 1);
      const Index k = stays ? next(p.k0 + p.depth, 0, k_) : Index(0);
      next_.push_back({*found, context_->input(found->array()), found->begin(b, batch, block * axis.block, k)});
    };
    if (laid_left_.memory() ? !left_ahead_ : !left_.contracts_minor()) note(left_, rows_, b.mod(b.div(there, columns_.blocks()), rows_.blocks()));
    if (laid_right_.memory() && !right_ahead_) note(right_, columns_, b.mod(there, columns_.blocks()));
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
  void banded_tile(const ProductPiece& m, const ProductPiece& n, const ProductPart& p) {
    builder_->if_(is_needed(m.place, m.length, n.place, n.length), [&] { tile(m, n, p); }, [&] { put_zeros(m, n); });
  }
  /// And what follows from zeros, where the product has an epilogue.
  void put_zeros(const ProductPiece& m, const ProductPiece& n) {
    loop::Builder& b = *builder_;
    b.vector(0, n.length, tile_.lanes, [&](Index x) {
      b.for_(0, m.length, 1, [&](Index r) { context_->store(product_offset(m.place + r, n.place + x), n.place + x, b.constant(acc_, 0.0)); });
    });
  }

  Inst* load_left(const ProductPiece& m, const Index& r, const Index& s, const ProductPart& p) {
    return builder_->load(laid_left_.memory(), laid_left_.at(m, r, s, p, steps(p.depth)));
  }
  Inst* load_right(const ProductPiece& n, const Index& x, const Index& s, const ProductPart& p) {
    return builder_->load(laid_right_.memory(), laid_right_.at(n, x, s, p, steps(p.depth)));
  }
  /// The left element(s) of row r of the tile at m, at step s.
  Inst* left(const ProductPiece& m, const Index& r, const ProductPart& p, const Index& s) {
    return laid_left_.memory() ? load_left(m, r, s, p) : terms_->at(left_, m.place + r, p, s);
  }

  // ---- blocks of zeros (transform/zero_blocks.h)
  static constexpr int kLook = 16;  // steps of the sum that are zeros together

  /// Whether a tile looks which terms of this part are zeros.
  bool looks(const ProductPart& p) const {
    const std::int64_t count = steps(p.depth);
    return (left_has_zeros_ || (right_has_zeros_ && laid_right_.memory())) && !(is(TermKind::pairs) && (p.depth % 2 != 0 || given_sums(op_))) && is_float(acc_) && count % kLook == 0 && count >= 4 * kLook;
  }
  /// Whether in one side of a tile any of kLook steps from s on is no zero.
  Inst* any_term(const ProductPiece& m, const ProductPiece& n, const ProductPart& p, const Index& s) {
    loop::Builder& b = *builder_;
    Inst* found = b.local(b.constant_int(DType::i1, 0));
    auto note = [&](Inst* x) {
      Inst* some = b.compare(loop::Compare::ne, x, is(TermKind::pairs) ? b.constant_int(DType::i32, 0) : b.constant(acc_, 0.0));
      return b.set(found, b.binary(Opcode::or_, b.get(found), b.reduce(Opcode::or_, some)));
    };
    auto columns = [&](Index u) { b.vector(0, n.length, tile_.lanes, [&](Index x) { note(load_right(n, x, s + u, p)); }); };
    auto rows = [&](Index u) { b.vector(0, m.length, 8, [&](Index r) { note(left(m, r, p, s + u)); }); };
    auto row = [&](Index r) { b.vector(0, kLook, kLook, [&](Index u) { note(left(m, r, p, s + u)); }); };
    const bool rows_are_neighbours = laid_left_.memory() ? !laid_left_.by_rows() : !left_.contracts_minor();
    // One of them tells that there is no block of zeros where none is.
    auto each = [&](std::int64_t count, const std::function<void(Index)>& look) {
      look(count - 1);
      b.if_(b.unary(Opcode::not_, b.get(found)), [&] { b.for_(0, count - 1, 1, look); });
    };
    if (!left_has_zeros_)
      each(kLook, columns);
    else if (rows_are_neighbours)
      each(kLook, rows);
    else if (m.length > 1)
      each(m.length, row);
    else
      row(0);
    return b.get(found);
  }
  /// [first, last) of the part's steps / kLook, outside of which all terms of a tile are zeros. Looks at no more than those and two more.
  std::pair<Index, Index> terms(const ProductPiece& m, const ProductPiece& n, const ProductPart& p) {
    loop::Builder& b = *builder_;
    const std::int64_t all = steps(p.depth) / kLook;
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

  /// Steps of the sum whose code is written out.
  std::int64_t turn(const ProductPart& p) const {
    const std::int64_t count = steps(p.depth);
    return count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1;
  }

  void tile(const ProductPiece& m, const ProductPiece& n, const ProductPart& p) {
    loop::Builder& b = *builder_;
    const std::int64_t count = p.depth ? steps(p.depth) : 0;
    const std::int64_t unroll = turn(p);
    const Index row_tile = b.div(m.local, tile_.rows), column_tile = b.div(n.local, tile_.lanes);
    const Index number = by_rows_ ? row_tile * column_tiles() + column_tile : column_tile * row_tiles() + row_tile;
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
      if (shift_) {
        Inst* shift = b.load(shift_, n.local + x);
        each_set([&](std::int64_t r) { return b.binary(Opcode::add, b.get(sums[static_cast<std::size_t>(r)]), shift); });
      }
      auto step = [&](Index s) {
        Inst* right = packs_ ? load_right(n, x, s, p) : terms_->at(right_, n.place + x, p, s);
        for (std::int64_t r = 0; r < m.length; ++r) {
          Inst* sum = b.get(sums[static_cast<std::size_t>(r)]);
          b.set(sums[static_cast<std::size_t>(r)], add_product(left(m, r, p, s), right, sum));
        }
      };
      if (count)
        b.for_(first, last, 1, [&](Index i) {
          for (std::int64_t u = 0; u < unroll; ++u) step(i * unroll + u);
          for (const Next& next : next_) next.side.fetch(b, next.memory, next.begin, number, i);
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

  static constexpr int kSquare = loop::kQuickSquare;
  static constexpr std::int64_t kBehind = 256, kShortTurned = 64;

  /// A row of results where the right side lies along the sum and is read once: by squares that are turned in registers and added at once, as many
  /// steps as a line of the cache has, of eight columns and then of eight more, so that their chains go side by side. The second eight are kBehind steps
  /// behind the first: columns a power of two apart share a set of the first cache, which has room for eight lines. (Side by side LLVM mixes the squares
  /// of both, and spills.)
  void turned_tile(const ProductPiece& m, const ProductPiece& n, const ProductPart& p) {
    constexpr std::int64_t kLine = 2 * kSquare;
    loop::Builder& b = *builder_;
    const std::int64_t lines = p.depth / kLine, groups = n.length / kSquare, behind = groups > 1 && k_ >= 4 * kBehind ? kBehind / kLine : 0;
    loop::Ref* rows = groups ? bring_rows(b, *terms_, right_, n.place, groups * kSquare, p) : nullptr;
    if (groups)
      b.vector(0, kSquare, kSquare, [&](Index lane) {
        std::vector<Inst*> sums;
        auto column = [&](std::int64_t g) { return n.place + g * kSquare; };
        for (std::int64_t g = 0; g < groups; ++g) sums.push_back(b.local(initial(m.place, column(g) + lane), kSquare));
        auto add = [&](std::int64_t g, Index s, Inst* right) {
          Inst*& sum = sums[static_cast<std::size_t>(g)];
          b.set(sum, multiply_add(b, terms_->kind(), acc_, left(m, 0, p, s), right, b.get(sum)));
        };
        auto line = [&](std::int64_t g, Index at) {
          for (Index s = at * kLine; Index square : {s, s + kSquare}) {
            std::vector<Inst*> columns;
            for (int i = 0; i < kSquare; ++i)
              columns.push_back(rows ? b.load(rows, square + lane + (g * kSquare + i) * p.depth) : terms_->at(right_, column(g) + i, p, square + lane));
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
          for (std::int64_t g = 0; g < groups; ++g) add(g, s, terms_->at(right_, column(g) + lane, p, s));
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
    return context_->beside(sums, product_offset(m, n));
  }
  Index sum_at(const ProductPiece& m, std::int64_t r, const ProductPiece& n, Index x) const { return (m.local + r) * padded(nb_) + n.local + x; }
  /// What the parts before this one have summed.
  Inst* previous(const ProductPiece& m, std::int64_t r, const ProductPiece& n, Index x) {
    if (sums_) return builder_->load(sums_, sum_at(m, r, n, x));
    return builder_->load(context_->output(value_), result_offset(m.place + r, n.place + x));
  }
  Index product_offset(Index m, Index n) const { return swapped_ ? (batch_at_ * n_ + n) * m_ + m : (batch_at_ * m_ + m) * n_ + n; }
  Index result_offset(Index m, Index n) { return landing(*builder_, group_.moves(), product_offset(m, n), n); }

  const Op& op_;
  const Group& group_;
  const Fusion& fusion_;
  const Value* value_;
  ProductSide left_, right_;
  std::int64_t batch_ = 1, m_ = 1, n_ = 1, k_ = 1, mb_ = 1, nb_ = 1, kc_ = 1;
  DType acc_ = DType::f32;
  TermKind kind_ = TermKind::single;
  bool swapped_ = false, packs_ = true, left_has_zeros_ = false, right_has_zeros_ = false;
  bool right_ahead_ = false, left_ahead_ = false;  // laid out by kernels before this one
  std::int64_t together_ = 1;  // columns that tiles do not cross from; all where they need not mind
  bool in_place_ = false;  // both sides are read where they lie
  bool by_rows_ = false;   // tiles follow each other along the rows, else down the columns
  bool turns_ = false;     // squares of the right side, rather than packing it
  std::optional<Span> band_;
  Tile tile_;
  ProductAxis rows_, columns_;
  Index batch_at_;
  BuiltKernel built_;
  std::unique_ptr<loop::Builder> builder_;
  std::unique_ptr<ProductContext> context_;
  loop::Ref *sums_ = nullptr, *done_ = nullptr, *shift_ = nullptr;
  std::optional<ProductTerms> terms_;
  std::vector<Next> next_;
  SideLayout laid_left_{1, false}, laid_right_{1, false};  // of a side that is not, there is no memory
};

}  // namespace

Tile register_tile(DType accumulator, const CpuTarget& target) {
  int lanes = byte_width(accumulator) > 4 ? 16 : 32;
  return target.avx512 ? Tile{8, lanes} : Tile{6, lanes / 2};
}

Tile narrow_tile(Tile tile, std::int64_t columns, const CpuTarget& target) {
  constexpr int kFewLanes = 4;
  for (const int most = target.avx512 ? 16 : 8; columns <= tile.lanes / 2 && tile.lanes > kFewLanes;) tile = {std::min(most, 2 * tile.rows), tile.lanes / 2};
  return tile;
}

Built build_product(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  const Op& op = *group.roots.front();
  if (op.result()->shape().count() == 0) return {};
  if (!given_sums(op) && is_narrow(op)) return build_narrow_product(group, fusion);
  if (!given_sums(op) && takes_windows(op, fusion)) return build_window_product(group, fusion, target);
  op::Contraction c = op::contraction_of(op);
  if (takes_batch_lanes(op)) return build_batch_lanes(group, c, fusion, target);
  if (takes_tiles(op, c, target)) return build_tile_product(group, c, fusion);
  if (is_row_dots(op, c)) return build_row_dots(group, c, fusion, target);
  return Product(group, c, fusion, target).build();
}

}  // namespace strata::compile
