#include "strata/compile/kernel/map/transpose_tiling.h"

#include <algorithm>
#include <array>

#include "strata/compile/fuse/access_strides.h"
#include "strata/compile/fuse/value_uses.h"
#include "strata/compile/kernel/map/flat_transpose_tiling.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

using ir::Value;

// ---- how to cut --------------------------------------------------------------------------------

constexpr std::int64_t kSmall = 1 << 16, kLarge = 1 << 20;  // elements
constexpr int kFewestLanes = 4;                             // of a square

/// How a value runs across: by how many elements places move along y (one, two where parts of
/// complex numbers are side by side, or one back), and along x.
struct Across {
  std::int64_t step, stride;
};

/// Element (o, y, m, x) of the shape outer * rows * middle * columns; the values of `across` are in
/// memory along y.
struct Tiling {
  std::int64_t outer = 1, rows = 1, middle = 1, columns = 1;
  int lanes = 0;           // a square's rows and columns
  int abreast = 1;         // squares that are written together, so that they fill cache lines
  std::int64_t ahead = 0;  // elements by which reads along rows are fetched before they are needed
  std::unordered_map<const Value*, Across> across;
};

/// Squares are as wide as a cache line where registers are, else as registers, with as many side by
/// side as fill a line; arrays that stay in caches have smaller ones, for there less code is worth
/// more. More rows than 16 leave no register to turn them with (2048 x 2048 bf16: 0.98 ms by 32,
/// 0.48 by 16).
void choose_transpose_tiles(Tiling& t, int width, bool large, const CpuTarget& target) {
  const std::int64_t line = 64 / width,
                     widest = std::min<std::int64_t>(16, target.avx512 ? line : 32 / width);
  const std::int64_t most =
      std::min({t.rows, t.columns, large ? widest : std::min<std::int64_t>(8, widest)});
  for (t.lanes = 1; t.lanes * 2 <= most;) t.lanes *= 2;
  if (large && t.lanes == widest && t.columns >= line) t.abreast = static_cast<int>(line / t.lanes);
}

/// What the group's elements read in the dimensions of a shape, those joined that all reads pass as
/// one; y is the first along which a read is contiguous that is not so along the last.
struct Grain {
  std::vector<std::int64_t> sizes;
  std::vector<Read> reads;
  std::size_t y = 0;

  bool is_across(const Read& r, std::size_t d) const {
    return !r.steps.empty() && (r.steps[d] == 1 || r.steps[d] == 2 || r.steps[d] == -1) &&
           std::abs(r.steps.back()) > std::abs(r.steps[d]);
  }
};

std::optional<Grain> grain_of(const Group& group, const Fusion& fusion, const Shape& shape) {
  Grain out{.sizes = larger_than_one(shape)};
  if (out.sizes.size() < 2 || group.outputs.empty()) return std::nullopt;
  out.reads = reads_of(group, fusion, out.sizes);
  join_dimensions(out.sizes, out.reads);
  for (; out.y + 1 < out.sizes.size(); ++out.y)
    if (std::any_of(out.reads.begin(), out.reads.end(),
                    [&](const Read& r) { return out.is_across(r, out.y); }))
      return out;
  return std::nullopt;
}

std::optional<Tiling> choose_tiling(const Group& group, const Grain& grain,
                                    const CpuTarget& target) {
  const auto& [sizes, reads, y] = grain;
  const std::size_t x = sizes.size() - 1;
  Tiling out{.rows = sizes[y], .columns = sizes[x]};
  for (std::size_t d = 0; d < x; ++d)
    if (d != y) (d < y ? out.outer : out.middle) *= sizes[d];
  std::size_t widest = 2;
  for (const Read& r : reads)
    if (grain.is_across(r, y)) out.across.emplace(r.value, Across{r.steps[y], r.steps[x]});
  // It is by its value and the stride of its lanes that a read is known.
  auto is_told_apart = [&](const Read& r, const Across& a) {
    return !r.steps.empty() && grain.is_across(r, grain.y) == (r.steps[x] == a.stride) &&
           (r.steps[x] != a.stride || r.steps[grain.y] == a.step);
  };
  for (const Read& r : reads)
    if (auto found = out.across.find(r.value);
        found != out.across.end() && !is_told_apart(r, found->second))
      out.across.erase(found);
  if (out.across.empty()) return std::nullopt;
  for (const auto& [v, across] : out.across)
    widest = std::max(widest, byte_width(stored_dtype(v->type())));
  choose_transpose_tiles(out, static_cast<int>(widest), group.total >= kSmall, target);
  if (group.total >= kLarge) out.ahead = 2 * out.lanes * out.middle * out.columns;
  return out.lanes < kFewestLanes ? std::nullopt : std::optional(out);
}

// ---- kernels -----------------------------------------------------------------------------------

/// Reads values that run across a square at a time; a square's rows are asked for one after the
/// other.
class TileContext : public GroupContext {
 public:
  /// Squares of so many `lanes`; what a strip writes is `whole_lines` of the cache.
  TileContext(loop::Builder& b, const Group& group, const Fusion& fusion, BuiltKernel& built,
              const Tiling& tiling, int lanes, bool whole_lines)
      : GroupContext(b, group, fusion, built),
        tiling_(tiling),
        lanes_(lanes),
        whole_lines_(whole_lines) {}
  /// The row asked for next is the first of a square (only then may one be read: the others are
  /// inside of the arrays as well), or another.
  void begin_row(bool first) { first_ = first ? b.current() : nullptr; }
  /// Squares write a line in each of some rows, which memory would be read for before; rows a power
  /// of two apart also push each other out. A part of a line past the caches takes ten times as
  /// long (12 x 256000 f32 to 256000 x 12: 12.5 ms, 0.6 so).
  bool goes_past_caches(const Value* v) const override {
    constexpr std::size_t kMany = 2 * kBeyondThreadCache;
    return whole_lines_ && (v->type().bytes() >= kMany || GroupContext::goes_past_caches(v));
  }

 protected:
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    auto found = tiling_.across.find(v);
    if (found == tiling_.across.end() || !b.guards().empty()) return along(v, index, offset);
    const auto [step, stride] = found->second;
    Index lane = lane_of(offset);
    Index place = offset - lane * stride;
    if (lane.is_constant() || place.lanes() > 1) return along(v, index, offset);
    for (const Square& s : squares_[v]) {
      const Index moved = place - s.place;
      if (!b.is_open(s.body) || !moved.is_constant() || moved.constant() % step != 0) continue;
      if (const std::int64_t row = moved.constant() / step; row >= 0 && row < lanes_)
        return s.rows[static_cast<std::size_t>(row)];
    }
    if (b.current() != first_)
      return GroupContext::leaf(v, index, offset);  // under a condition some rows may not be there
    std::vector<Inst*> columns;
    for (int i = 0; i < lanes_; ++i)
      columns.push_back(b.load(input(v), place + Index(stride * i) + lane * step));
    squares_[v].push_back({place, b.current(), loop::transposed(b, std::move(columns))});
    return squares_[v].back().rows[0];
  }

 private:
  struct Square {
    Index place;  // of its first row, at lane 0
    const loop::Body* body;
    std::vector<Inst*> rows;
  };
  /// A large array that is read along the result's rows is read a line in each row, which nothing
  /// but this fetches in time.
  Inst* along(const Value* v, std::span<const Index> index, const Index& offset) {
    Inst* load = GroupContext::leaf(v, index, offset);
    fetch_ahead(load, tiling_.ahead);
    return load;
  }
  const Tiling& tiling_;
  const int lanes_;
  const bool whole_lines_;
  const loop::Body* first_ = nullptr;
  std::unordered_map<const Value*, std::vector<Square>> squares_;
};

class Tiles {
 public:
  Tiles(const Group& group, const Fusion& fusion, Tiling tiling)
      : group_(group), fusion_(fusion), t_(std::move(tiling)) {}

  Built build() {
    cover({0, t_.rows}, {0, t_.columns}, t_.lanes, t_.abreast);
    return std::move(out_);
  }

 private:
  static constexpr std::int64_t kFewest = 1 << 14;
  static constexpr std::int64_t
      kFewestPoints = 16,
      kFewestDown = 4,
      kFewestColumns =
          64;  // of blocks: enough of them, and not less than so many squares and columns in one

  struct Range {
    std::int64_t begin, end;
    std::int64_t size() const { return end - begin; }
  };
  std::int64_t elements_of(const Range& rows, const Range& columns) const {
    return rows.size() * columns.size() * t_.outer * t_.middle;
  }

  /// Squares, then smaller ones of the rows and columns that these leave, where there are many, and
  /// the rest element by element.
  void cover(const Range& rows, const Range& columns, int lanes, int abreast) {
    while (lanes > rows.size() || lanes > columns.size()) lanes /= 2;
    if (lanes < t_.lanes || std::int64_t{lanes} * abreast > columns.size()) abreast = 1;
    if (rows.size() == 0 || columns.size() == 0) return;
    if (lanes < kFewestLanes || elements_of(rows, columns) < kFewest) return rest(rows, columns);
    const std::int64_t wide = std::int64_t{lanes} * abreast,
                       bottom = rows.begin + rows.size() / lanes * lanes,
                       right = columns.begin + columns.size() / wide * wide;
    squares({rows.begin, bottom}, {columns.begin, right}, lanes, abreast);
    cover({bottom, rows.end}, columns, lanes, abreast);
    cover({rows.begin, bottom}, {right, columns.end}, lanes, abreast);
  }

  loop::Kernel& kernel(std::int64_t elements) {
    return add_kernel(out_, "transpose_tiling", group_, elements);
  }

  /// A grid point does a block of squares: the most rows and columns of one, and whether it goes
  /// from square to square along the result's rows.
  struct Walk {
    std::int64_t rows, columns;
    bool along_rows;
  };
  /// Memory is fastest at reading along what is in a row: with wide registers blocks of 2 KB by
  /// 64 rows went at a copy's speed, those of 512 bytes by 128 rows at half of it. In caches it is
  /// writing that counts, a line behind another in each of a few rows, while lines are read at a
  /// time; where these are far apart, rows of whole pages (Zen 5, two threads, ms along what is
  /// read, so: 4096 x 300 f32 0.26, 0.12; 1024 x 1024 0.29, 0.12; 1024 x 64 x 64 turned round 1.05,
  /// 0.45; 2048 x 2048 bf16 0.43, 0.34).
  Walk walk_of(bool streams, int abreast) const {
    auto is_far = [](const Value* v) { return v->type().bytes() >= kBeyondCaches; };
    bool far = std::any_of(group_.outputs.begin(), group_.outputs.end(), is_far), apart = false;
    for (const auto& [v, across] : t_.across) {
      far = far || is_far(v);
      apart = apart || std::abs(across.stride) > 2 * t_.rows * std::abs(across.step);
    }
    if (far) return {512, 64, false};
    if (streams && abreast > 1) return {512, 64, true};
    return apart ? Walk{16, 1024, true} : Walk{512, 256, true};
  }

  /// Whole squares, in strips of those that are abreast.
  void squares(const Range& rows, const Range& columns, int lanes, int abreast) {
    const std::int64_t strip = std::int64_t{lanes} * abreast, down = rows.size() / lanes,
                       right = columns.size() / strip;
    const bool whole_lines = std::all_of(
        group_.outputs.begin(), group_.outputs.end(),
        [&](const Value* v) { return fills_lines(v->type(), t_.columns, columns.begin, strip); });
    loop::Kernel& k = kernel(elements_of(rows, columns));
    loop::Builder b(k);
    TileContext context(b, group_, fusion_, out_.kernels.back(), t_, lanes, whole_lines);
    const Walk walk =
        walk_of(std::any_of(group_.outputs.begin(), group_.outputs.end(),
                            [&](const Value* v) { return context.goes_past_caches(v); }),
                abreast);
    const std::int64_t most = std::max<std::int64_t>(1, walk.rows / lanes);
    std::int64_t high = largest_divisor(down, most),
                 wide = largest_divisor(right, std::max<std::int64_t>(1, walk.columns / strip));
    if (high * 4 < std::min(most, down)) high = down;
    auto points = [&] { return t_.outer * t_.middle * (down / high) * (right / wide); };
    while (walk.along_rows && points() < kFewestPoints && high > kFewestDown)
      high = largest_divisor(down, high / 2);
    while (walk.along_rows && points() < kFewestPoints && wide * strip > kFewestColumns)
      wide = largest_divisor(right, wide / 2);
    const std::int64_t blocks_down = down / high, blocks_right = right / wide;
    k.grid = points();
    Index g = b.grid(), block_x = b.mod(g, blocks_right), line = b.div(g, blocks_right);
    Index block_y = b.mod(line, blocks_down), plane = b.div(line, blocks_down);
    Index m = b.mod(plane, t_.middle), o = b.div(plane, t_.middle);
    b.for_(0, walk.along_rows ? high : wide, 1, [&](Index outer) {
      b.for_(0, walk.along_rows ? wide : high, 1, [&](Index inner) {
        const auto& [row, column] =
            walk.along_rows ? std::pair(outer, inner) : std::pair(inner, outer);
        Index left = (block_x * wide + column) * strip + columns.begin,
              top = (block_y * high + row) * lanes + rows.begin;
        b.vector(left, left + lanes, lanes, [&](Index x) {
          std::vector<Index> places;
          for (std::int64_t j = 0; j < lanes; ++j)
            for (int s = 0; s < abreast; ++s)
              places.push_back(offset(o, top + j, m, x + std::int64_t{s} * lanes));
          store_elements(context, group_.outputs, places, [&](std::size_t i) {
            context.begin_row(i < static_cast<std::size_t>(abreast));
          });
        });
      });
    });
  }

  /// What no square covers, element by element.
  void rest(const Range& rows, const Range& columns) {
    std::int64_t high =
        largest_divisor(rows.size(), std::max<std::int64_t>(1, kPointElements / columns.size()));
    std::int64_t blocks = rows.size() / high;
    loop::Kernel& k = kernel(elements_of(rows, columns));
    k.grid = t_.outer * t_.middle * blocks;
    loop::Builder b(k);
    GroupContext context(b, group_, fusion_, out_.kernels.back());
    Index g = b.grid(), plane = b.div(g, blocks), y0 = b.mod(g, blocks) * high + rows.begin;
    Index m = b.mod(plane, t_.middle), o = b.div(plane, t_.middle);
    b.for_(0, high, 1, [&](Index i) {
      b.vector(columns.begin, columns.end, 16, [&](Index x) {
        store_elements(context, group_.outputs, std::array{offset(o, y0 + i, m, x)});
      });
    });
  }

  Index offset(const Index& o, const Index& y, const Index& m, const Index& x) const {
    return ((o * t_.rows + y) * t_.middle + m) * t_.columns + x;
  }

  const Group& group_;
  const Fusion& fusion_;
  Tiling t_;
  Built out_;
};

}  // namespace

std::optional<Built> build_transpose_tiles(const Group& group, const Fusion& fusion,
                                           const CpuTarget& target) {
  for (const Shape& shape : shapes_of(group, fusion)) {
    const std::optional<Grain> grain = grain_of(group, fusion, shape);
    if (!grain) continue;
    if (std::optional<Built> flat =
            build_flat_transpose_tiles(group, fusion, grain->sizes, grain->reads, grain->y, target))
      return flat;
    if (std::optional<Tiling> tiling = choose_tiling(group, *grain, target))
      return Tiles(group, fusion, std::move(*tiling)).build();
  }
  return std::nullopt;
}

}  // namespace strata::compile
