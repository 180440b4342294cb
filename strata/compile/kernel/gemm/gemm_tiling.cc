#include "strata/compile/kernel/gemm/gemm_tiling.h"

#include <algorithm>

#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/kernel/dot/gemv.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/op/linalg/dot_general.h"
#include "strata/op/reduce/windows.h"
#include "strata/pass/dot/block_sparsity.h"

namespace strata::compile {
namespace {

/// Rows so many bytes apart, or a multiple of it, share a few sets of a cache.
constexpr std::int64_t kFarRow = 8192;
/// Lines so many bytes apart, or a multiple of it, share half of the first cache's sets or fewer.
constexpr std::int64_t kSharedSets = 2048;

/// A sum of more steps than this has operands beyond the caches, whatever the few rows and columns.
constexpr std::int64_t kFarSum = 4096;
/// A product over no more than this, or with no more columns, is thin.
constexpr std::int64_t kThin = 128;
/// Bytes of a block of rows that are passed on, the fewest rows for which the other side is laid
/// out, and how many blocks give many threads work.
constexpr std::int64_t kPart = 512 << 10, kFewRows = 64, kManyParts = 16;
/// The fewest rows and columns of a block that is one of many.
constexpr std::int64_t kLeastRows = 64, kLeastColumns = 32;

/// Integers that a pair of i16 holds.
bool is_short(DType t) { return t == DType::i8 || t == DType::ui8 || t == DType::i16; }
bool is_byte(const GemmOperand& s) { return byte_width(s.value->dtype()) == 1; }

}  // namespace

GemmTiling::GemmTiling(const Group& group, const op::Contraction& c, const Fusion& fusion,
                       const CpuTarget& target)
    : product(*group.roots.front()),
      lhs(product.operand(0), c.lhs_batch, c.lhs_contract),
      rhs(product.operand(1), c.rhs_batch, c.rhs_contract),
      accumulator(op::product_accumulator(product)),
      chains(op::sum_chains(product)),
      group_(group),
      fusion_(fusion) {
  for (GemmOperand* side : {&lhs, &rhs}) side->minor = minor_dimension(side->value, fusion);
  batch = lhs.size(lhs.batch);
  m = lhs.size(lhs.free);
  n = rhs.size(rhs.free);
  k = lhs.size(lhs.contract);
  // Few columns: the long side runs along the lanes. Windows are packed rather than looked for
  // again and again.
  const bool windows = lhs.value->op() && op::window_dims(*lhs.value->op());
  if ((n < 8 && m >= 4 * n && !rows_stay()) || windows) {
    swapped = true;
    std::swap(lhs, rhs);
    std::swap(m, n);
  }
  if (sums_bf16_pairs(product, target)) kind = TermKind::pairs;
  const bool shorts = accumulator == DType::i32 && is_short(lhs.value->dtype()) &&
                      is_short(rhs.value->dtype()) && k > 0;
  if (shorts)
    kind = sums_byte_quads(target) ? TermKind::quads
           : k % 2 == 0            ? TermKind::halves
                                   : TermKind::single;
  lhs.flips = is(TermKind::quads) && lhs.value->dtype() == rhs.value->dtype();
  band = GemmMaskBand::of(product, c, swapped);
  for (std::int64_t side : product.attrs.get_or<ir::Ints>(pass::kZeroBlockSides, {}))
    (side == swapped ? lhs_is_sparse : rhs_is_sparse) = true;
  in_place = k > kFarSum && is_contiguous_by_steps(lhs) && is_contiguous_by_steps(rhs);
  choose_tile(target);
  choose_order(target);
  choose_depth();
  pack_lhs = stages_left();
  choose_blocks();
  choose_ahead();
  if (rhs_prepacked || lhs_prepacked) choose_blocks();
  if (pack_rhs) rhs.ahead = fetched_ahead(rhs);
  if (pack_lhs) lhs.ahead = fetched_ahead(lhs);
}

/// Whether few columns leave lanes idle rather than that long rows from beyond the caches are
/// turned, each for so few (2000 x 1500 by 1500 x 3 on a Zen 3: 0.87 ms turned, 0.49 so).
bool GemmTiling::rows_stay() const {
  constexpr std::int64_t kLongRow = 512, kFar = 2 << 20;  // elements, bytes
  if (n == 1 || k < kLongRow || !lhs.contracts_minor() || group_.epilogue > 0) return false;
  return lhs.value->dtype() == accumulator && byte_width(accumulator) == 4 &&
         lhs.value->type().bytes() >= kFar;
}

bool GemmTiling::is_parallel() const {
  const double elements = static_cast<double>(batch * m * n);
  return elements *
             (static_cast<double>(std::max<std::int64_t>(1, k)) + 16 * group_.epilogue_flops) >
         (is_thin() ? 4 : 16) * kInlineWork;
}

/// Few rows read the right side where it is, by pairs.
bool GemmTiling::sums_byte_quads(const CpuTarget& target) const {
  return target.vnni && k % 4 == 0 && is_byte(lhs) && is_byte(rhs) &&
         (m > register_tile(accumulator, target).rows || rhs.contracts_minor());
}

/// Whether a right side that runs along the sum is read from memory, once: then by long rows, few
/// at a time, as memory is fastest at.
bool GemmTiling::streams() const {
  constexpr std::int64_t kBeyondCaches = 8 << 20;  // bytes
  return is_thin() && (pack_rhs || transpose_in_registers) && bytes_of(rhs, n * k) >= kBeyondCaches;
}

/// Whether a side is step after step of the sum, each a few lines of the cache: what one tile
/// reads of a step is most of what is there.
bool GemmTiling::is_contiguous_by_steps(const GemmOperand& s) const {
  constexpr std::int64_t kFewLines = 256;  // bytes
  auto only = [&](const std::vector<int>& dims) {
    int out = -1, many = 0;
    for (int d : dims)
      if (s.value->shape()[d] > 1) out = d, ++many;
    return many == 1 ? out : -1;
  };
  const int step = only(s.contract), element = only(s.free);
  if (step < 0 || element < 0 || !is(TermKind::single) || s.value->dtype() != accumulator)
    return false;
  const std::vector<std::int64_t> strides = strides_in_memory(s.value, fusion_);
  auto at = [&](int d) { return strides[static_cast<std::size_t>(d)]; };
  return !strides.empty() && at(element) == 1 && at(step) > 0 &&
         at(step) * byte_width(accumulator) <= kFewLines;
}

/// Whether the left side is laid out anew: pairs that are not along k are woven together. Where
/// more than one tile reads them, narrow elements are widened once, those that are computed, or are
/// where no stride says, are computed once (patches of 16 x 16 x 3 of an image by 768 x 384: 31 ms
/// in each tile, 15 so), and those that a tile would find in as many lines as it takes steps, or in
/// rows so far apart that they push each other out of the caches, are brought together.
bool GemmTiling::stages_left() const {
  if (k == 0) return false;
  if (is(TermKind::pairs)) return !lhs.contracts_minor() || k % 2 != 0;
  if (is(TermKind::halves) || is(TermKind::quads)) return true;
  if (in_place || n <= tile.lanes) return false;
  const bool far = k > kc && bytes_of(lhs, k) % kFarRow == 0,
             computed =
                 fusion_.inlined.count(lhs.value) && strides_in_memory(lhs.value, fusion_).empty();
  return computed || byte_width(lhs.value->dtype()) < byte_width(accumulator) ||
         !lhs.contracts_minor() || far || sums_in_pieces(lhs);
}

/// Whether a sum's terms are in several pieces, whose places each tile would find anew step by step
/// (heads that are joined: 512 x 256 of eight heads by 256 x 256 on two threads of a Zen 3: 0.75
/// ms, 0.47 so).
bool GemmTiling::sums_in_pieces(const GemmOperand& s) const {
  const std::vector<std::int64_t> strides = strides_in_memory(s.value, fusion_);
  if (strides.empty()) return false;
  std::int64_t next = 0;  // from which a dimension goes on
  for (std::size_t i = s.contract.size(); i-- > 0;) {
    const std::int64_t size = s.value->shape()[s.contract[i]],
                       stride = strides[static_cast<std::size_t>(s.contract[i])];
    if (size == 1) continue;
    if (next && stride != next) return true;
    next = stride * size;
  }
  return false;
}

/// By how many elements what is laid out of a side that runs along its free dimensions is fetched
/// ahead: rows of a block are a few lines each, which nothing else fetches in time (softmax's
/// probabilities, transposed, by the values, 256 of 256 x 256 bf16: 2.8 ms without, 2.1 with).
std::int64_t GemmTiling::fetched_ahead(const GemmOperand& s) const {
  constexpr std::int64_t kRows = 16;
  if (s.contracts_minor() || s.contract.empty() || s.value->type().bytes() < kBeyondL2) return 0;
  const std::vector<std::int64_t> strides = strides_in_memory(s.value, fusion_);
  return strides.empty() ? 0
                         : kRows * std::max<std::int64_t>(
                                       0, strides[static_cast<std::size_t>(s.contract.back())]);
}

/// Columns that stay neighbours where the result goes, or equal parts of such: a transposition
/// behind a product may put others between them. All where that is so of all, or of a few.
std::int64_t GemmTiling::columns_together() const {
  constexpr std::int64_t kMany = 1 << 14, kBlock = 512, kFew = 32;
  if (group_.moves().empty() || swapped || rhs.free.size() < 2) return n;
  loop::Kernel nothing("places");  // of constants no instruction is made
  loop::Builder b(nothing);
  auto lands = [&](std::int64_t column) {
    return output_offset(b, group_.moves(), column, column).constant();
  };
  const std::int64_t first = lands(0);
  std::int64_t run = 1;
  while (run < std::min(n, kMany) && lands(run) == first + run) ++run;
  if (run == n || n % run != 0) return n;
  const std::int64_t out = largest_divisor(run, kBlock);
  return out < kFew && out < run ? n : out;
}

/// Finds which columns are to stay together, and a tile for them: one that does not cross, where
/// that is no more work than to store a tile's elements one by one, which takes so many cycles
/// each, in which tiles go as many steps with each lane.
Tile GemmTiling::part_columns(const CpuTarget& target) {
  constexpr double kCycles = 1.5, kStepsACycle = 32;
  together_ = columns_together();
  const Tile wide = narrow_tile(register_tile(accumulator, target), together_, target),
             half{std::min(2 * wide.rows, 16), std::max(4, wide.lanes / 2)};
  auto left_over = [&](const Tile& t) {
    return static_cast<double>((together_ + t.lanes - 1) / t.lanes * t.lanes) /
               static_cast<double>(together_) -
           1;
  };
  const Tile least = left_over(half) < left_over(wide) ? half : wide;
  if (together_ < n && left_over(least) * static_cast<double>(k) / kStepsACycle <= kCycles)
    return least;
  together_ = n;
  return narrow_tile(register_tile(accumulator, target), n, target);
}

/// Few columns leave registers for more rows; few rows for more columns, which then are read where
/// they are, since none is read twice.
void GemmTiling::choose_tile(const CpuTarget& target) {
  tile = part_columns(target);
  transpose_in_registers = m == 1 && rhs.contracts_minor() && byte_width(accumulator) == 4 &&
                           is(TermKind::single) && !band && !lhs_is_sparse && !rhs_is_sparse &&
                           n >= kGemvColumns && k >= kShortGemvColumns;
  if (transpose_in_registers) tile.lanes = 2 * kGemvColumns;
  pack_rhs = !transpose_in_registers && !in_place &&
             (is(TermKind::quads) || (is(TermKind::pairs) && k % 2 != 0) || rhs.contracts_minor() ||
              m > tile.rows);
  while (!pack_rhs && !transpose_in_registers && !in_place && tile.rows >= 2 * m &&
         4 * tile.lanes <= n)
    tile = {tile.rows / 2, tile.lanes * 2};
}

/// The time of a product that spreads is that of its stores. Down the columns, lines that two tiles
/// share are fetched for each, and lines of rows whose distance is a multiple of kSharedSets push
/// each other out; along the rows neither is so (2000 x 16 by 16 x 1500: 2.0 ms, 0.9 so; by 16 x
/// 2048: 2.4 and 1.2). Past the caches go halves of lines, for which such rows are as bad, unless a
/// register holds a line.
void GemmTiling::choose_order(const CpuTarget& target) {
  if (swapped || !group_.moves().empty() || !spreads()) return;
  const std::int64_t row = n * static_cast<std::int64_t>(byte_width(group_.gemm_value()->dtype()));
  keep_in_caches = row % kSharedSets == 0 && !target.avx512;
  row_major_tiles = row % kCacheLine != 0 || keep_in_caches;
}

/// Steps of k: a tile begins and ends with its sums in memory, so many for one that does not in the
/// time of a few. Parts of equal length where k has such a divisor, for their code is one. A sum
/// that uses chains begins a part with each group of them.
void GemmTiling::choose_depth() {
  constexpr std::int64_t kDepth = 4096;  // bytes of a row
  const std::int64_t deep =
      kDepth / std::max<std::int64_t>(4, byte_width(accumulator)) * per_step(kind);
  if (chains && (in_place || pack_rhs))
    return void(kc = std::clamp<std::int64_t>(k, 1, chains->group));
  const std::int64_t most = in_place ? 128 : !pack_rhs ? k : deep;
  kc = k <= most + 128 ? std::max<std::int64_t>(1, k) : most;
  if (k <= kc) return;
  const std::int64_t least_parts = (k + most - 1) / most;
  for (std::int64_t parts = least_parts; parts <= 2 * least_parts; ++parts)
    if (k % (4 * parts) == 0) return void(kc = k / parts);
}

void GemmTiling::choose_blocks() {
  mc = std::min(padded_rows(m), padded_rows(pack_rhs && !rhs_prepacked ? 512 : 256));
  nc = is_parted() ? together_ : std::min(padded(n), streams() ? tile.lanes : padded(256));
  auto points = [&] { return batch * row_blocks() * column_blocks(); };
  // At least eight blocks where there is enough, halved where that costs less: a row of blocks lays
  // the right side out anew for each, a column the left side.
  const double right_cost = rhs_prepacked ? 0.3
                            : pack_rhs    ? 1
                                          : 0.1,
               left_cost = lhs_prepacked ? 0.3
                           : pack_lhs    ? 1
                                         : 0.1;
  auto cost = [&](std::int64_t rows, std::int64_t columns) {
    return right_cost / static_cast<double>(rows) + left_cost / static_cast<double>(columns);
  };
  const std::int64_t least_rows = in_place ? tile.rows : kLeastRows;
  while (points() < (in_place ? 4 : 8) &&
         static_cast<double>(batch * m * n) * static_cast<double>(k) >=
             static_cast<double>(points()) * 2 * kInlineWork) {
    // Blocks of one tile's columns lay the left side out for little: only where there is one block.
    const std::int64_t least_columns =
        points() > 1 ? 2 * tile.lanes : std::max<std::int64_t>(tile.lanes, kLeastColumns);
    const bool halves_rows = mc > least_rows, halves_columns = nc > least_columns && !is_parted();
    if (!halves_rows && !halves_columns) break;
    if (halves_rows && (!halves_columns || cost(mc / 2, nc) <= cost(mc, nc / 2)))
      mc = padded_rows(mc / 2);
    else
      nc = padded(nc / 2);
  }
  if (in_place && !is_parted()) nc = tile.lanes;  // nothing is laid out anew for each
  mc = std::min(mc, m);
  nc = std::min(nc, n);
  leave_parts_small();
}

/// Whether the result is much larger than what a thin product is made of.
bool GemmTiling::spreads() const { return k <= kThin && m * n >= 2 * (m * k + n * k); }
bool GemmTiling::leaves_parts_small() const {
  const bool gathers = n <= kThin && m * k >= 2 * (m * n + n * k) && lhs.contracts_minor();
  return spreads() || gathers;
}

/// What is much larger than what it is made of (attention's scores), and what reads such, uses
/// equal blocks of so few rows that the blocks of launches one after another stay in caches
/// (tile_pipelines.h), and that there are enough of them. Best by a multiple of the rows at a point
/// of a map, or a part of them, for chains take whole points of both.
void GemmTiling::leave_parts_small() {
  if (!leaves_parts_small()) return;
  const std::int64_t row = std::max(n, k) * static_cast<std::int64_t>(byte_width(accumulator));
  const std::int64_t most = std::max(kFewRows, std::min(kPart / row, batch * m / kManyParts));
  if (m <= most || batch * m * row < 2 * kPart) return;
  const std::int64_t of_maps =
      largest_divisor(batch * m, rows_of_point(batch * m, std::max(n, k), kPointElements));
  for (bool in_step : {true, false})
    for (std::int64_t rows = most; rows >= kFewRows / 2; --rows)
      if (rows < mc && m % rows == 0 && (!in_step || rows % of_maps == 0 || of_maps % rows == 0))
        return void(mc = rows);
}

/// Sides that several blocks would lay out again are laid out by a kernel of their own, once.
void GemmTiling::choose_ahead() {
  constexpr std::int64_t kTimes = 3, kFew = 64 << 10, kMostBytes = 32 << 20;
  if ((leaves_parts_small() && batch > 1) || !is_parallel()) return;
  auto pays = [&](std::int64_t times, std::int64_t elements) {
    return times >= kTimes && (times - 1) * elements >= kFew &&
           elements * byte_width(accumulator) <= kMostBytes;
  };
  rhs_prepacked =
      k > 0 && pack_rhs && !is_parted() && pays(row_blocks(), laid_out_elements(padded(n)));
  lhs_prepacked = pack_lhs && pays(column_blocks(), laid_out_elements(padded_rows(m)));
}

}  // namespace strata::compile
