#include "strata/compile/kernel/map/flat_transpose_tiling.h"

#include <algorithm>
#include <numeric>

#include "strata/compile/fuse/value_uses.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

using ir::Value;
using Values = std::unordered_set<const Value*>;

constexpr std::int64_t kFewest = 1 << 14;  // elements
constexpr std::int64_t kLong = 64;  // last dimensions of which squares of them alone leave little
constexpr std::size_t kMostComputed =
    12;  // operations: a square computes them for its columns, too, only to learn where these are

struct Across {
  Values values;             // contiguous along y, none of them read twice
  bool only_across = false;  // nothing else is read
};
/// What runs across; no values where another read is neither along the result's dimensions behind
/// y nor at one place of them.
Across across_of(const std::vector<std::int64_t>& sizes, const std::vector<Read>& reads,
                 std::size_t y) {
  Values across, others;
  for (const Read& r : reads) {
    if (r.steps.empty() || r.guarded) return {};
    bool stays = true, goes_on = r.steps.back() == 1;
    for (std::size_t d = y + 1; d < sizes.size(); ++d) {
      stays &= r.steps[d] == 0;
      goes_on &= d + 1 == sizes.size() || r.steps[d] == r.steps[d + 1] * sizes[d + 1];
    }
    if (stays || goes_on)
      others.insert(r.value);
    else if (r.steps[y] != 1 || !across.insert(r.value).second)
      return {};
  }
  if (std::any_of(across.begin(), across.end(),
                  [&](const Value* v) { return others.count(v) != 0; }))
    return {};
  return {std::move(across), others.empty()};
}

/// Reads what runs across column by column, then gives a square's rows.
class FlatContext : public GroupContext {
 public:
  FlatContext(loop::Builder& b, const Group& group, const Fusion& fusion, BuiltKernel& built,
              const Values& across)
      : GroupContext(b, group, fusion, built), across_(across) {}
  void begin_transpose_tile() { columns_.clear(), transposed_.clear(), row_ = -1; }
  /// What is asked for next is row `j` of the square whose columns were.
  void begin_row(int j) { row_ = j; }

 protected:
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    if (across_.count(v) == 0) return GroupContext::leaf(v, index, offset);
    if (row_ < 0) return columns_[v].emplace_back(b.load(input(v), offset));
    auto [found, missing] = transposed_.try_emplace(v);
    if (missing) found->second = loop::transposed(b, columns_.at(v));
    return found->second[static_cast<std::size_t>(row_)];
  }

 private:
  const Values& across_;
  std::unordered_map<const Value*, std::vector<Inst*>> columns_, transposed_;  // lookup only
  int row_ = -1;
};

class FlatTiles {
 public:
  FlatTiles(const Group& group, const Fusion& fusion, Across reads, int lanes, std::int64_t outer,
            std::int64_t rows, std::int64_t columns)
      : group_(group),
        fusion_(fusion),
        reads_(std::move(reads)),
        lanes_(lanes),
        outer_(outer),
        rows_(rows),
        columns_(columns) {}

  Built build() {
    const std::int64_t down = rows_ / lanes_, left = rows_ - down * lanes_;
    squares(0, down);
    // What only runs across is unchanged by what was stored: squares that end with the last row may
    // overlap those before them.
    if (left > 0) reads_.only_across ? squares(rows_ - lanes_, 1) : rest(rows_ - left);
    return std::move(out_);
  }

 private:
  loop::Kernel& kernel(std::int64_t elements) {
    return add_kernel(out_, "flat_transpose_tiling", group_, elements);
  }

  /// A grid point does a block of squares, strip by strip of columns or along the result's lines;
  /// those that are left at the right end of the result's lines by smaller ones.
  void squares(std::int64_t begin, std::int64_t down) {
    const bool along = goes_along();
    const std::int64_t right = columns_ / lanes_, most = (along ? 256 : 512) / lanes_;
    std::int64_t high = largest_divisor(down, most),
                 wide = along ? largest_divisor(std::max<std::int64_t>(1, right), 512 / lanes_)
                        : right <= 8 ? std::max<std::int64_t>(1, right)
                                     : largest_divisor(right, 4);
    if (high * 4 < std::min(most, down)) high = down;
    const std::int64_t blocks_down = down / high,
                       blocks_right = std::max<std::int64_t>(1, right / wide);
    loop::Kernel& k = kernel(outer_ * down * lanes_ * columns_);
    k.grid = outer_ * blocks_down * blocks_right;
    loop::Builder b(k);
    FlatContext context(b, group_, fusion_, out_.kernels.back(), reads_.values);
    const Index block = b.mod(b.grid(), blocks_right), line = b.div(b.grid(), blocks_right),
                top = b.mod(line, blocks_down) * (high * lanes_) + begin,
                o = b.div(line, blocks_down);
    auto one = [&](const Index& row, const Index& column) {
      square(b, context, o, top + row * lanes_, (block * wide + column) * lanes_, lanes_);
    };
    if (right > 0 && along)
      b.for_(0, high, 1,
             [&](Index row) { b.for_(0, wide, 1, [&](Index column) { one(row, column); }); });
    if (right > 0 && !along)
      b.for_(0, wide, 1,
             [&](Index column) { b.for_(0, high, 1, [&](Index row) { one(row, column); }); });
    if (right * lanes_ == columns_) return;
    const auto left_over = [&] {
      std::int64_t left = right * lanes_;
      for (int lanes = lanes_ / 2; lanes > 0; lanes /= 2)
        for (; left + lanes <= columns_; left += lanes)
          strip(b, context, o, top, high * lanes_, left, lanes);
    };
    if (blocks_right == 1) return left_over();
    b.if_(b.less(block, blocks_right - 1), [] {}, left_over);
  }

  /// Down a strip each tile writes other cache lines, which evict each other where they are a large
  /// power of two apart; along the result's lines, reads walk from line to line (2 x 1024 x
  /// 768 i8 turned round, two threads of a Zen 5: 0.23 ms down, 0.04 along the result's lines; 3 x
  /// 1000 x 300: 0.022 down, 0.047 along).
  bool goes_along() const {
    constexpr std::int64_t kFar = 1024;  // bytes
    auto is_far = [](const Value* v) { return v->type().bytes() >= kBeyondCaches; };
    const auto& outputs = group_.outputs;
    if (std::any_of(outputs.begin(), outputs.end(), is_far) ||
        std::any_of(reads_.values.begin(), reads_.values.end(), is_far))
      return false;
    return std::any_of(outputs.begin(), outputs.end(), [&](const Value* v) {
      return columns_ * static_cast<std::int64_t>(byte_width(stored_dtype(v->type()))) % kFar == 0;
    });
  }

  /// So many columns from `left` on, of so many rows from `top` on. Where they are fewer than four,
  /// lanes go down a column.
  void strip(loop::Builder& b, FlatContext& context, const Index& o, const Index& top,
             std::int64_t rows, const Index& left, int lanes) {
    if (lanes >= 4)
      return b.for_(0, rows, lanes, [&](Index y) { square(b, context, o, top + y, left, lanes); });
    for (int i = 0; i < lanes; ++i)
      b.vector(0, rows, lanes_, [&](Index y) {
        context.begin_transpose_tile();
        elements(context, {offset(o, top + y, left + i)});
      });
  }
  void square(loop::Builder& b, FlatContext& context, const Index& o, const Index& top,
              const Index& left, int lanes) {
    b.vector(left, left + lanes, lanes, [&](Index x) {
      context.begin_transpose_tile();
      for (int i = 0; i < lanes; ++i)
        for (const Value* v : group_.outputs)
          context.stored_at_offset(v, offset(o, top + (x - left), left + i));
      std::vector<Index> places;
      for (int j = 0; j < lanes; ++j) places.push_back(offset(o, top + j, x));
      elements(context, places);
    });
  }

  /// The rows that no square covers, element by element.
  void rest(std::int64_t begin) {
    const std::int64_t count = rows_ - begin,
                       width = largest_divisor(columns_,
                                               std::max<std::int64_t>(1, kPointElements / count)),
                       blocks = columns_ / width;
    loop::Kernel& k = kernel(count * outer_ * columns_);
    k.grid = outer_ * blocks;
    loop::Builder b(k);
    FlatContext context(b, group_, fusion_, out_.kernels.back(), reads_.values);
    const Index o = b.div(b.grid(), blocks), left = b.mod(b.grid(), blocks) * width;
    b.for_(0, width, 1, [&](Index x) {
      b.vector(0, count, lanes_, [&](Index y) {
        context.begin_transpose_tile();
        elements(context, {offset(o, y + begin, left + x)});
      });
    });
  }

  Index offset(const Index& o, const Index& y, const Index& x) const {
    return (o * rows_ + y) * columns_ + x;
  }
  /// One place alone is of no square.
  void elements(FlatContext& context, const std::vector<Index>& places) {
    store_elements(context, group_.outputs, places, [&](std::size_t j) {
      if (places.size() > 1) context.begin_row(static_cast<int>(j));
    });
  }

  const Group& group_;
  const Fusion& fusion_;
  const Across reads_;
  const int lanes_;
  const std::int64_t outer_, rows_, columns_;
  Built out_;
};

}  // namespace

std::optional<Built> build_flat_transpose_tiles(const Group& group, const Fusion& fusion,
                                                const std::vector<std::int64_t>& dimensions,
                                                const std::vector<Read>& reads, std::size_t y,
                                                const CpuTarget& target) {
  const auto behind = dimensions.begin() + static_cast<std::ptrdiff_t>(y) + 1;
  if (group.total < kFewest || dimensions.end() - behind < 2 || dimensions.back() >= kLong)
    return std::nullopt;
  Across across = across_of(dimensions, reads, y);
  std::size_t width = 1, computed = 0;
  for (const Value* v : across.values) width = std::max(width, byte_width(stored_dtype(v->type())));
  each_computed(group, fusion, [&](const ir::Op&) { ++computed; });
  const int most = static_cast<int>(std::min<std::size_t>(16, (target.avx512 ? 64 : 32) / width));
  int lanes = most;
  const std::int64_t rows = dimensions[y];
  // Few rows by one launch of smaller squares rather than by two (24 x 100 x 24 i32, both ends
  // exchanged: 0.017 ms, 0.005 so).
  while (lanes > 4 &&
         (rows < lanes || (rows < 4 * lanes && rows % lanes != 0 && rows % (lanes / 2) == 0)))
    lanes /= 2;
  const std::int64_t columns =
      std::accumulate(behind, dimensions.end(), std::int64_t{1}, std::multiplies<>());
  if (across.values.empty() || computed > kMostComputed || lanes < 4 ||
      dimensions.back() % lanes == 0 || columns < lanes || (rows < most && rows % lanes != 0))
    return std::nullopt;
  const std::int64_t outer =
      std::accumulate(dimensions.begin(), behind - 1, std::int64_t{1}, std::multiplies<>());
  return FlatTiles(group, fusion, std::move(across), lanes, outer, rows, columns).build();
}

}  // namespace strata::compile
