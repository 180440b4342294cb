#include "strata/compile/kernel/map/piecewise_rows.h"

#include <algorithm>
#include <array>

#include "strata/compile/fuse/value_uses.h"
#include "strata/loop/pieces.h"

namespace strata::compile {
namespace {

using ir::Value;

constexpr std::int64_t kFewestRows = 8, kShortestRow = 48, kShortestLoop = 5;
constexpr std::size_t kMostInstructions = 4000;  // of all pieces

class PiecewiseRows {
 public:
  PiecewiseRows(const Group& group, const Fusion& fusion, const SegmentedDimensions& dimensions,
                int lanes)
      : group_(group), fusion_(fusion), sizes_(dimensions.sizes), lanes_(lanes) {
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      ends_.push_back(dimensions.joints[d]);
      ends_.back().push_back(sizes_[d]);
      if (dimensions.joints[d].empty()) continue;
      if (first_ < 0) first_ = static_cast<std::ptrdiff_t>(d);
      last_ = static_cast<std::ptrdiff_t>(d);
    }
    if (first_ < 0) return;
    for (std::ptrdiff_t d = 0; d < std::ssize(sizes_); ++d)
      (d < first_ ? outer_ : row_) *= sizes_[static_cast<std::size_t>(d)];
    for (std::ptrdiff_t d = last_ + 1; d < std::ssize(sizes_); ++d)
      inner_ *= sizes_[static_cast<std::size_t>(d)];
  }

  bool has_joints() const { return first_ >= 0; }
  std::int64_t row() const { return row_; }
  std::size_t pieces() const {
    std::size_t out = 1;
    for (const auto& ends : ends_) out *= ends.size();
    return out;
  }

  Built build() {
    if (outer_ >= kFewestRows) {
      by_rows(outer_, row_, [&](loop::Builder& b, GroupContext& context, const Index& row) {
        dimension(b, context, first_, row);
      });
      return std::move(out_);
    }
    each_piece(first_, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t size = sizes_[static_cast<std::size_t>(first_)],
                         rows = outer_ * (end - begin);
      if (first_ == last_) return long_run(begin * inner_, (end - begin) * inner_);
      by_rows(rows, row_ / size, [&](loop::Builder& b, GroupContext& context, const Index& row) {
        dimension(b, context, first_ + 1,
                  b.div(row, end - begin) * size + b.mod(row, end - begin) + begin);
      });
    });
    return std::move(out_);
  }

 private:
  using Row = std::function<void(loop::Builder&, GroupContext&, const Index&)>;

  /// A kernel of so many rows, each of `length` elements.
  void by_rows(std::int64_t rows, std::int64_t length, const Row& row) {
    const std::int64_t some = std::clamp<std::int64_t>(kPointElements / length, 1, rows);
    loop::Builder b(add_kernel(out_, "piecewise_rows", group_, rows * length));
    GroupContext context(b, group_, fusion_, out_.kernels.back());
    b.kernel().grid = (rows + some - 1) / some;
    for_piece(b, b.grid(), rows, some, [&](const Index& begin, std::int64_t n) {
      b.for_(0, n, 1, [&](Index i) { row(b, context, begin + i); });
    });
  }

  /// A kernel of elements [begin, begin + length) of each of a few long rows.
  void long_run(std::int64_t begin, std::int64_t length) {
    const std::int64_t some = std::min(length, kPointElements), points = (length + some - 1) / some;
    loop::Builder b(add_kernel(out_, "piecewise_rows", group_, outer_ * length));
    GroupContext context(b, group_, fusion_, out_.kernels.back());
    b.kernel().grid = outer_ * points;
    for_piece(b, b.mod(b.grid(), points), length, some, [&](const Index& at, std::int64_t n) {
      run(b, context, b.div(b.grid(), points) * row_ + begin + at, n);
    });
  }

  void each_piece(std::ptrdiff_t d,
                  const std::function<void(std::int64_t, std::int64_t)>& body) const {
    std::int64_t begin = 0;
    for (std::int64_t end : ends_[static_cast<std::size_t>(d)]) {
      body(begin, end);
      begin = end;
    }
  }

  /// Whether all that a piece reads is behind each other, in one row after another of those
  /// behind the last joint; what is read again and again does not.
  bool goes_on(std::int64_t begin, std::int64_t end) const {
    if (end - begin == 1 || inner_ < kShortestLoop) return true;
    BuiltKernel built;
    loop::Kernel kernel("dry");
    loop::Builder b(kernel);
    GroupContext context(b, group_, fusion_, built);
    run(b, context, begin * inner_, (end - begin) * inner_);
    return has_contiguous_access(kernel);
  }

  /// All elements at place `before` of the dimensions before d.
  void dimension(loop::Builder& b, GroupContext& context, std::ptrdiff_t d, const Index& before) {
    each_piece(d, [&](std::int64_t begin, std::int64_t end) {
      const Index first = before * sizes_[static_cast<std::size_t>(d)] + begin;
      if (d == last_ && goes_on(begin, end))
        return run(b, context, first * inner_, (end - begin) * inner_);
      if (d == last_)
        return b.for_(0, end - begin, 1,
                      [&](Index i) { run(b, context, (first + i) * inner_, inner_); });
      b.for_(0, end - begin, 1, [&](Index i) { dimension(b, context, d + 1, first + i); });
    });
  }

  /// Neighbours; a shorter last strip by itself, whose places are known to stay inside of their
  /// dimensions, and which is no wider than it must be: a piece may be one element.
  void run(loop::Builder& b, GroupContext& context, const Index& begin, std::int64_t length) const {
    const std::int64_t whole = length / lanes_ * lanes_;
    auto element = [&](Index j) { store_elements(context, group_.outputs, std::array{begin + j}); };
    if (whole) b.vector(0, whole, lanes_, element);
    if (whole < length) b.vector(whole, length, loop::lanes_for(length - whole, lanes_), element);
  }

  const Group& group_;
  const Fusion& fusion_;
  const std::vector<std::int64_t>& sizes_;
  const int lanes_;
  std::vector<std::vector<std::int64_t>> ends_;  // of the pieces of each dimension
  std::ptrdiff_t first_ = -1, last_ = -1;        // dimensions that have joints
  std::int64_t outer_ = 1, row_ = 1,
               inner_ = 1;  // elements before the first of them, from it on, behind the last
  Built out_;
};

/// Whether it is asked anywhere where an element is.
bool asks(const loop::Kernel& kernel) {
  return std::any_of(kernel.arena.begin(), kernel.arena.end(), [](const Inst& inst) {
    return inst.code == loop::Opcode::cmp && is_integer(inst.args[0]->type.dtype);
  });
}

}  // namespace

std::optional<Built> build_piecewise_rows(const Group& group, const Fusion& fusion, int lanes,
                                          const loop::Kernel& by_elements) {
  for (const Value* v : group.outputs)
    if (count(v) != group.total) return std::nullopt;
  if (!asks(by_elements)) return std::nullopt;
  const SegmentedDimensions dimensions = segmented_dimensions(group, fusion);
  PiecewiseRows rows(group, fusion, dimensions, lanes);
  if (dimensions.is_gather || !rows.has_joints() || rows.row() < kShortestRow ||
      by_elements.arena.size() * rows.pieces() > kMostInstructions)
    return std::nullopt;
  return rows.build();
}

}  // namespace strata::compile
