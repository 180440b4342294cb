#include "strata/compile/kernel/map/small_inner_dim.h"

#include <algorithm>
#include <array>
#include <set>

#include "strata/compile/fuse/access_strides.h"
#include "strata/compile/fuse/value_uses.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

constexpr std::int64_t kLongest = 15, kFewestRows = 16;
constexpr std::int64_t kShortestTransposeTile = 8,
                       kLongestTransposeTile = 32;  // elements of rows that may use squares
constexpr std::int64_t kLookedUp = 4;  // the longest of which each element is read by itself where
                                       // a number says which row it is; longer ones are copied
/// Code for each element of a row is so much more code than for one.
constexpr std::size_t kMostInstructions = 6000;
/// Fewer where rows are longer: each of their elements has code of its own.
int lanes_for(std::int64_t length, std::int64_t square) {
  return square ? static_cast<int>(square) : length > 4 ? 8 : 16;
}
/// Rows of a grid point.
std::int64_t rows_at_point(std::int64_t length) { return length > kLongest ? 1024 : 4096; }

/// Reductions are computed when a row begins; all else where it is asked for.
class ShortRowContext : public GroupContext {
 public:
  using GroupContext::GroupContext;
  /// `square`: rows are so many lanes, and read by squares; 0: they are not.
  void begin_row(const Group& group, const Index& r, std::int64_t length, std::int64_t square) {
    reduced_.clear();
    squares_.clear();
    tile_transpose_ = square;
    length_ = length;
    for (const Op* op : group.roots) {
      if (!is_reduction(*op)) continue;
      std::vector<Inst*> elements;
      for (std::int64_t j = 0; j < length; ++j) {
        begin_element(j);
        elements.push_back(at_offset(op->operand(0), r * length + j));
      }
      reduced_[op->result()] = short_row(b, *op, std::move(elements), at(op->operand(1), {}));
    }
  }
  void begin_element(std::int64_t j) { element_ = j; }

 protected:
  bool inlined(const Value* v) override {
    return !(is_root(v) && is_reduction(*v->op())) && GroupContext::inlined(v);
  }
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    if (auto row = reduced_.find(v); row != reduced_.end()) return row->second;
    STRATA_CHECK(!is_root(v), "a row reads {} before it is reduced", v->op()->name());
    if (Inst* x = tile_transpose_ && b.guards().empty() ? of_transpose_tile(v, offset) : nullptr)
      return x;
    return GroupContext::leaf(v, index, offset);
  }

 private:
  struct Square {
    Index place;  // of its first row's first element
    const loop::Body* body;
    std::vector<Inst*> elements;
  };
  /// The element of each row at `offset`, where rows are one behind the other; null where they are
  /// otherwise. A square is all that is between its first and its last element, whatever of it is
  /// asked for.
  Inst* of_transpose_tile(const Value* v, const Index& offset) {
    const Index lane = lane_of(offset), place = offset - lane * length_;
    if (lane.is_constant() || place.lanes() > 1) return nullptr;
    for (const Square& s : squares_[v])
      if (const Index j = place - s.place; b.is_open(s.body) && j.is_constant() &&
                                           j.constant() >= 0 && j.constant() < tile_transpose_)
        return s.elements[static_cast<std::size_t>(j.constant())];
    if (element_ % tile_transpose_ != 0) return nullptr;
    const Index first = place - (element_ - std::min(element_, length_ - tile_transpose_));
    if (first.min() < 0 || first.max() > stored_shape(v->type()).count() -
                                             (tile_transpose_ - 1) * length_ - tile_transpose_)
      return nullptr;
    std::vector<Inst*> rows;
    for (std::int64_t i = 0; i < tile_transpose_; ++i)
      rows.push_back(b.load(input(v), first + i * length_ + lane));
    squares_[v].push_back({first, b.current(), loop::transposed(b, std::move(rows))});
    return squares_[v].back().elements[static_cast<std::size_t>((place - first).constant())];
  }

  std::unordered_map<const Value*, Inst*> reduced_;
  std::unordered_map<const Value*, std::vector<Square>> squares_;  // lookup only
  std::int64_t element_ = 0, length_ = 0, tile_transpose_ = 0;
};

class ShortRows {
 public:
  ShortRows(const Group& group, const Fusion& fusion, std::int64_t rows, std::int64_t square)
      : group_(group),
        fusion_(fusion),
        rows_(rows),
        length_(group.total / rows),
        tile_transpose_(square) {}

  /// As below, where lanes would cross from rows of one place of an outer dimension to those of the
  /// next, `inner` rows further on: each such part by strips of its own.
  Built build_by(std::int64_t inner) {
    const std::int64_t outer = rows_ / inner,
                       per_point = largest_divisor(
                           outer, std::max<std::int64_t>(1, rows_at_point(length_) / inner));
    BuiltKernel& built = add_kernel(outer / per_point);
    loop::Builder b(*built.kernel);
    ShortRowContext context(b, group_, fusion_, built);
    b.for_(0, per_point, 1, [&](Index o) {
      b.vector(0, inner, lanes_for(length_, 0),
               [&](Index i) { row(b, context, (b.grid() * per_point + o) * inner + i, 0); });
    });
    return std::move(out_);
  }

  Built build() {
    const std::int64_t some = rows_together(), points = rows_ / some, last = rows_ % some,
                       rest = tile_transpose_ ? last % tile_transpose_ : 0;
    const bool ends = rows_ * length_ < group_.total;
    if (points > 0) kernel(0, some, points);
    if (last > rest) kernel(points * some, last - rest, 1, ends);
    if (rest > 0) kernel(rows_ - rest, rest, 1);
    if (ends && last == 0) kernel(rows_, 0, 1, ends);
    return std::move(out_);
  }

 private:
  /// Rows of a grid point: as many at each where a number not far below the usual one divides them,
  /// for a shorter last point is a kernel of its own, which one thread runs behind the others. More
  /// than there are where one point does for all.
  std::int64_t rows_together() const {
    const std::int64_t most = rows_at_point(length_),
                       unit = tile_transpose_ ? tile_transpose_ : lanes_for(length_, 0);
    if (rows_ <= most + most / 2) return 2 * most;
    const std::int64_t some =
        rows_ % unit == 0 ? unit * largest_divisor(rows_ / unit, most / unit) : 0;
    return some >= most / 4 ? some : most;
  }
  BuiltKernel& add_kernel(std::int64_t points) {
    out_.kernels.emplace_back();
    BuiltKernel& built = out_.kernels.back();
    built.kernel = std::make_unique<loop::Kernel>("small_inner_dim");
    built.kernel->grid = points;
    built.parallel =
        points > 1 &&
        static_cast<double>(group_.total) * static_cast<double>(group_.roots.size()) > kInlineWork;
    return built;
  }
  /// Rows from `begin` on, so many at each point; `ends`: and the elements behind the last whole
  /// row, of which is known which they are.
  void kernel(std::int64_t begin, std::int64_t rows, std::int64_t points, bool ends = false) {
    BuiltKernel& built = add_kernel(points);
    loop::Builder b(*built.kernel);
    ShortRowContext context(b, group_, fusion_, built);
    const Index first = b.grid() * rows + begin;
    const std::int64_t square =
        tile_transpose_ && rows % tile_transpose_ == 0 ? tile_transpose_ : 0;
    if (rows > 0)
      b.vector(0, rows, lanes_for(length_, tile_transpose_),
               [&](Index i) { row(b, context, first + i, square); });
    if (ends)
      for (std::int64_t x = rows_ * length_; x < group_.total; ++x)
        store_elements(context, group_.outputs, std::array{Index(x)});
    if (square) fetch_a_page_ahead(*built.kernel);
  }
  /// All values of an element before it is stored: a result may be in the memory of an argument
  /// that is read at the same place. Of very short rows all elements are stored in succession,
  /// which machine code does without gaps.
  void row(loop::Builder& b, ShortRowContext& context, const Index& r, std::int64_t square) {
    context.begin_row(group_, r, length_, square);
    std::vector<std::vector<Inst*>> of_row;
    for (const Value* v : group_.outputs)
      if (count(v) == rows_) of_row.push_back(context.stored_at_offset(v, r));
    std::vector<const Value*> whole;
    for (const Value* v : group_.outputs)
      if (count(v) == group_.total) whole.push_back(v);
    const std::int64_t together = length_ < kIrregularStride || square ? length_ : 1;
    for (std::int64_t first = 0; first < length_; first += together) {
      std::vector<std::vector<std::vector<Inst*>>> values(whole.size());
      for (std::int64_t j = first; j < first + together; ++j) {
        context.begin_element(j);
        for (std::size_t i = 0; i < whole.size(); ++i)
          values[i].push_back(context.stored_at_offset(whole[i], r * length_ + j));
      }
      if (square) {
        for (std::size_t i = 0; i < whole.size(); ++i)
          store_transpose_tile(b, context, whole[i], r, values[i]);
        continue;
      }
      for (std::size_t i = 0; i < whole.size(); ++i)
        for (std::int64_t j = 0; j < together; ++j)
          context.store_result(whole[i], r * length_ + first + j,
                               values[i][static_cast<std::size_t>(j)]);
    }
    std::size_t n = 0;
    for (const Value* v : group_.outputs)
      if (count(v) == rows_) context.store_result(v, r, of_row[n++]);
  }

  void store_transpose_tile(loop::Builder& b, ShortRowContext& context, const Value* v,
                            const Index& r, const std::vector<std::vector<Inst*>>& of_elements) {
    const Index lane = lane_of(r);
    for (std::int64_t begin = 0; begin < length_; begin += tile_transpose_) {
      const std::int64_t j = std::min(begin, length_ - tile_transpose_);
      std::vector<Inst*> elements;
      for (std::int64_t e = j; e < j + tile_transpose_; ++e)
        elements.push_back(of_elements[static_cast<std::size_t>(e)][0]);
      const std::vector<Inst*> rows = loop::transposed(b, std::move(elements));
      for (std::int64_t i = 0; i < tile_transpose_; ++i) {
        Inst* const row[] = {rows[static_cast<std::size_t>(i)]};
        context.store_result(v, (r - lane + i) * length_ + j + lane, row);
      }
    }
  }

  const Group& group_;
  const Fusion& fusion_;
  std::int64_t rows_, length_, tile_transpose_;
  Built out_;
};

/// How many rows go together, of that many elements or more, that are reduced: squares of them are
/// read and written along memory, and turned in registers. A row's last square ends where it does,
/// and may begin inside of the one before. As many as registers hold; 0 where there are no
/// reductions, or any of what lanes do not turn.
std::int64_t transpose_tile_of(const Group& group, std::int64_t length, const CpuTarget& target) {
  if (length < kShortestTransposeTile || length > kLongestTransposeTile || group.rows == 0)
    return 0;
  for (const Value* v : group.outputs)
    if (is_complex(v->dtype())) return 0;
  const bool turns = std::any_of(group.roots.begin(), group.roots.end(),
                                 [](const Op* op) { return is_reduction(*op); }) &&
                     std::all_of(group.roots.begin(), group.roots.end(), [](const Op* op) {
                       return !is_reduction(*op) || byte_width(op->operand(0)->dtype()) <= 4;
                     });
  return !turns ? 0 : target.avx512 && length >= 16 ? 16 : 8;
}

/// By what lanes divide their places, and ask for the remainder.
std::set<std::int64_t> divisors_of_lanes(const loop::Kernel& kernel) {
  std::set<std::int64_t> out;
  for (const Inst& inst : kernel.arena)
    if (inst.code == Opcode::rem && inst.type.lanes > 1 && inst.type.dtype == DType::i64 &&
        inst.args[1]->code == Opcode::constant)
      out.insert(static_cast<std::int64_t>(inst.args[1]->bits));
  return out;
}

/// The rows of a group: those that it has, those of the shape of its last root, or where that has
/// long ones those of which `by_elements` asks which of their elements a lane has: the shape was
/// another once (pairs that are joined to one dimension; two arrays that are put between each
/// other, of which one may be an element longer).
std::int64_t rows_of(const Group& group, const loop::Kernel& by_elements) {
  if (group.rows) return group.rows;
  const Shape& shape = group.roots.back()->result()->shape();
  std::int64_t last = 1, asked = 0;
  for (int d = shape.rank() - 1; d >= 0 && last == 1; --d) last = shape[d];
  if (last <= kLongest) return group.total / last;
  for (const std::int64_t length : divisors_of_lanes(by_elements))
    if (length <= kLongest && length > asked && (group.total % length == 0 || last == group.total))
      asked = length;
  return asked > 1 ? group.total / asked : group.total;
}

/// Instructions that a strip takes for each of its lanes. Places a few elements apart are read and
/// left out or are filled by turns; others that are not one after the other are counted one by
/// one.
double strip_cost(const loop::Kernel& kernel, int lanes) {
  double out = 0;
  for (const Inst& inst : kernel.arena) {
    if (inst.is_variable || inst.code == Opcode::constant) continue;
    const bool is_access = inst.code == Opcode::load || inst.code == Opcode::store;
    const std::int64_t step = is_access ? lane_stride(inst.index) : 1;
    out += step >= kIrregularStride
               ? lanes
               : static_cast<double>(std::max<std::int64_t>(
                     1, inst.code == Opcode::store ? std::min<std::int64_t>(2, step) : step));
  }
  return out / lanes;
}

}  // namespace

std::optional<Built> build_small_inner_dim(const Group& group, const Fusion& fusion,
                                           const CpuTarget& target,
                                           const loop::Kernel& by_elements) {
  if (group.total == 0 || (group.rows == 0 && (group.linear || has_contiguous_access(by_elements))))
    return std::nullopt;
  const std::int64_t rows = rows_of(group, by_elements), length = group.total / rows,
                     square = transpose_tile_of(group, length, target);
  if (rows < kFewestRows || length < 2 || (length > kLongest && square == 0) ||
      by_elements.arena.size() * static_cast<std::size_t>(length) > kMostInstructions)
    return std::nullopt;
  if (length > kLookedUp &&
      std::none_of(group.roots.begin(), group.roots.end(),
                   [](const Op* op) { return is_reduction(*op); }) &&
      has_gathers(group, fusion))
    return std::nullopt;
  for (const Value* v : group.outputs)
    if (count(v) != group.total && count(v) != (group.rows ? rows : group.total))
      return std::nullopt;
  Built out = ShortRows(group, fusion, rows, square).build();
  auto cost = [&](const Built& built, std::int64_t by_transpose_tiles) {
    return strip_cost(*built.kernels.front().kernel, lanes_for(length, by_transpose_tiles));
  };
  double least = cost(out, square);
  for (const std::int64_t inner : divisors_of_lanes(*out.kernels.front().kernel)) {
    if (rows % inner != 0 || rows == inner || inner < kFewestRows || rows * length != group.total)
      continue;
    Built apart = ShortRows(group, fusion, rows, 0).build_by(inner);
    if (const double other = cost(apart, 0); other < least) out = std::move(apart), least = other;
  }
  // A strip is as many rows here, and as many elements there; one value per row has no lanes there
  // at all.
  if (group.rows == 0 && least >= static_cast<double>(length) * strip_cost(by_elements, kMapLanes))
    return std::nullopt;
  return out;
}

}  // namespace strata::compile
