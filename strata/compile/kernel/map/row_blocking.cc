#include "strata/compile/kernel/map/row_blocking.h"

#include <array>
#include <numeric>

#include "strata/compile/fuse/value_uses.h"

namespace strata::compile {
namespace {

using ir::Value;

constexpr std::int64_t kShortest = 3, kLongest = 12, kFewestBlocks = 4;
constexpr std::size_t kMostInstructions = 4000;  // of all strips of a block

class RowBlocks {
 public:
  RowBlocks(const Group& group, const Fusion& fusion, std::int64_t length)
      : group_(group),
        fusion_(fusion),
        length_(length),
        size_(std::lcm<std::int64_t>(length, kMapLanes)) {}

  std::int64_t strips() const { return size_ / kMapLanes; }
  std::int64_t blocks() const { return group_.total / size_; }

  Built build() {
    const std::int64_t most = std::min(blocks(), kPointElements / size_), points = blocks() / most;
    {
      loop::Builder b(kernel(points * most * size_));
      GroupContext context(b, group_, fusion_, out_.kernels.back());
      b.kernel().grid = points;
      b.for_(0, most, 1, [&](Index i) { block(b, context, (b.grid() * most + i) * size_); });
    }
    const std::int64_t rest = group_.total - points * most * size_;
    if (rest == 0) return std::move(out_);
    loop::Builder b(kernel(rest));
    GroupContext context(b, group_, fusion_, out_.kernels.back());
    b.kernel().grid = 1;
    const std::int64_t begin = group_.total - rest, whole = rest / size_;
    if (whole) b.for_(0, whole, 1, [&](Index i) { block(b, context, i * size_ + begin); });
    if (const std::int64_t rows = rest % size_ / length_)
      b.for_(0, rows, 1, [&](Index i) {
        b.vector(0, length_, kMapLanes,
                 [&](Index j) { element(context, i * length_ + j + (begin + whole * size_)); });
      });
    return std::move(out_);
  }

 private:
  loop::Kernel& kernel(std::int64_t elements) {
    return add_kernel(out_, "row_blocking", group_, elements);
  }
  void block(loop::Builder& b, GroupContext& context, const Index& begin) {
    for (std::int64_t s = 0; s < strips(); ++s)
      b.vector(0, kMapLanes, kMapLanes,
               [&](Index lane) { element(context, begin + lane + s * kMapLanes); });
  }
  void element(GroupContext& context, const Index& at) {
    store_elements(context, group_.outputs, std::array{at});
  }

  const Group& group_;
  const Fusion& fusion_;
  const std::int64_t length_, size_;
  Built out_;
};

}  // namespace

std::optional<Built> build_row_blocks(const Group& group, const Fusion& fusion,
                                      const JoinedDimensions& dimensions,
                                      const loop::Kernel& by_elements) {
  for (const Value* v : group.outputs)
    if (count(v) != group.total) return std::nullopt;
  const std::vector<std::int64_t>& sizes = dimensions.sizes;
  if (dimensions.is_gather || sizes.size() < 2 || sizes.back() < kShortest ||
      sizes.back() > kLongest || kMapLanes % sizes.back() == 0)
    return std::nullopt;
  RowBlocks rows(group, fusion, sizes.back());
  if (rows.blocks() < kFewestBlocks ||
      by_elements.arena.size() * static_cast<std::size_t>(rows.strips()) > kMostInstructions)
    return std::nullopt;
  return rows.build();
}

}  // namespace strata::compile
