#include "strata/compile/short_rows.h"

#include <algorithm>
#include <array>

#include "strata/compile/combine.h"
#include "strata/compile/fusion_choice.h"
#include "strata/compile/group_reads.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

constexpr std::int64_t kLongest = 15, kFewestRows = 16;
/// So many rows together, of that many elements to twice as many, that are reduced: squares of them are read and written along memory, and turned in registers. A second square ends where
/// the row does, and may begin inside of the first.
constexpr std::int64_t kSquare = 16;
bool goes_by_squares(std::int64_t length) { return length >= kSquare && length <= 2 * kSquare; }
constexpr std::int64_t kLookedUp = 4;  // the longest of which each element is read by itself where a number says which row it is; longer ones are copied
/// Code for each element of a row is so much more code than for one.
constexpr std::size_t kMostInstructions = 6000;
/// Fewer where rows are longer: each of their elements has code of its own.
int lanes_for(std::int64_t length) { return length > 4 && !goes_by_squares(length) ? 8 : 16; }
/// Rows of a grid point.
std::int64_t rows_at_point(std::int64_t length) { return length > kLongest ? 1024 : 4096; }

/// Reductions are computed when a row begins; all else where it is asked for.
class ShortRowContext : public GroupContext {
 public:
  using GroupContext::GroupContext;
  /// `squares`: rows are kSquare lanes.
  void begin_row(const Group& group, const Index& r, std::int64_t length, bool squares) {
    reduced_.clear();
    squares_.clear();
    reads_squares_ = squares;
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
  bool inlined(const Value* v) override { return !(is_root(v) && is_reduction(*v->op())) && GroupContext::inlined(v); }
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    if (auto row = reduced_.find(v); row != reduced_.end()) return row->second;
    STRATA_CHECK(!is_root(v), "a row reads {} before it is reduced", v->op()->name());
    if (Inst* x = reads_squares_ && b.guards().empty() ? of_square(v, offset) : nullptr) return x;
    return GroupContext::leaf(v, index, offset);
  }

 private:
  struct Square {
    Index place;  // of its first row's first element
    const loop::Body* body;
    std::vector<Inst*> elements;
  };
  /// The element of each row at `offset`, where rows lie one behind the other; null where they lie otherwise. A square is all that lies between its first and its last element, whatever
  /// of it is asked for.
  Inst* of_square(const Value* v, const Index& offset) {
    const Index lane = lane_of(offset), place = offset - lane * length_;
    if (lane.is_constant() || place.lanes() > 1) return nullptr;
    for (const Square& s : squares_[v])
      if (const Index j = place - s.place; b.is_open(s.body) && j.is_constant() && j.constant() >= 0 && j.constant() < kSquare) return s.elements[static_cast<std::size_t>(j.constant())];
    if (element_ % kSquare != 0) return nullptr;
    const Index first = place - (element_ - std::min(element_, length_ - kSquare));
    if (first.min() < 0 || first.max() > stored_shape(v->type()).count() - (kSquare - 1) * length_ - kSquare) return nullptr;
    std::vector<Inst*> rows;
    for (std::int64_t i = 0; i < kSquare; ++i) rows.push_back(b.load(input(v), first + i * length_ + lane));
    squares_[v].push_back({first, b.current(), loop::transposed(b, std::move(rows))});
    return squares_[v].back().elements[static_cast<std::size_t>((place - first).constant())];
  }

  std::unordered_map<const Value*, Inst*> reduced_;
  std::unordered_map<const Value*, std::vector<Square>> squares_;  // lookup only
  bool reads_squares_ = false;
  std::int64_t element_ = 0, length_ = 0;
};

class ShortRows {
 public:
  ShortRows(const Group& group, const Fusion& fusion, std::int64_t rows) : group_(group), fusion_(fusion), rows_(rows), length_(group.total / rows) {}

  Built build() {
    const std::int64_t some = rows_at_point(length_), points = rows_ / some, last = rows_ % some, rest = goes_by_squares(length_) ? last % kSquare : 0;
    const bool ends = rows_ * length_ < group_.total;
    if (points > 0) kernel(0, some, points);
    if (last > rest) kernel(points * some, last - rest, 1, ends);
    if (rest > 0) kernel(rows_ - rest, rest, 1);
    if (ends && last == 0) kernel(rows_, 0, 1, ends);
    return std::move(out_);
  }

 private:
  /// Rows from `begin` on, so many at each point; `ends`: and the elements behind the last whole row, of which is known which they are.
  void kernel(std::int64_t begin, std::int64_t rows, std::int64_t points, bool ends = false) {
    out_.kernels.emplace_back();
    BuiltKernel& built = out_.kernels.back();
    built.kernel = std::make_unique<loop::Kernel>("short_rows");
    built.kernel->grid = points;
    built.parallel = points > 1 && static_cast<double>(group_.total) * static_cast<double>(group_.roots.size()) > kInlineWork;
    loop::Builder b(*built.kernel);
    ShortRowContext context(b, group_, fusion_, built);
    const Index first = b.grid() * rows + begin;
    const bool squares = goes_by_squares(length_) && rows % kSquare == 0;
    if (rows > 0) b.vector(0, rows, lanes_for(length_), [&](Index i) { row(b, context, first + i, squares); });
    if (ends)
      for (std::int64_t x = rows_ * length_; x < group_.total; ++x) store_elements(context, group_.outputs, std::array{Index(x)});
    if (squares) fetch_a_page_ahead(*built.kernel);
  }
  /// All values of an element before it is stored: a result may lie in the memory of an argument that is read at the same place. Of very short rows
  /// all elements are stored in succession, which machine code does without gaps.
  void row(loop::Builder& b, ShortRowContext& context, const Index& r, bool squares) {
    context.begin_row(group_, r, length_, squares);
    std::vector<std::vector<Inst*>> of_row;
    for (const Value* v : group_.outputs)
      if (count(v) == rows_) of_row.push_back(context.stored_at_offset(v, r));
    std::vector<const Value*> whole;
    for (const Value* v : group_.outputs)
      if (count(v) == group_.total) whole.push_back(v);
    const std::int64_t together = length_ < kFarLanes || squares ? length_ : 1;
    for (std::int64_t first = 0; first < length_; first += together) {
      std::vector<std::vector<std::vector<Inst*>>> values(whole.size());
      for (std::int64_t j = first; j < first + together; ++j) {
        context.begin_element(j);
        for (std::size_t i = 0; i < whole.size(); ++i) values[i].push_back(context.stored_at_offset(whole[i], r * length_ + j));
      }
      if (squares) {
        for (std::size_t i = 0; i < whole.size(); ++i) store_square(b, context, whole[i], r, values[i]);
        continue;
      }
      for (std::size_t i = 0; i < whole.size(); ++i)
        for (std::int64_t j = 0; j < together; ++j) context.store_result(whole[i], r * length_ + first + j, values[i][static_cast<std::size_t>(j)]);
    }
    std::size_t n = 0;
    for (const Value* v : group_.outputs)
      if (count(v) == rows_) context.store_result(v, r, of_row[n++]);
  }

  void store_square(loop::Builder& b, ShortRowContext& context, const Value* v, const Index& r, const std::vector<std::vector<Inst*>>& of_elements) {
    const Index lane = lane_of(r);
    for (std::int64_t begin = 0; begin < length_; begin += kSquare) {
      const std::int64_t j = std::min(begin, length_ - kSquare);
      std::vector<Inst*> elements;
      for (std::int64_t e = j; e < j + kSquare; ++e) elements.push_back(of_elements[static_cast<std::size_t>(e)][0]);
      const std::vector<Inst*> rows = loop::transposed(b, std::move(elements));
      for (std::int64_t i = 0; i < kSquare; ++i) {
        Inst* const row[] = {rows[static_cast<std::size_t>(i)]};
        context.store_result(v, (r - lane + i) * length_ + j + lane, row);
      }
    }
  }

  const Group& group_;
  const Fusion& fusion_;
  std::int64_t rows_, length_;
  Built out_;
};

/// Whether the rows are squares, and all of their reductions of floats or integers that lanes turn.
bool are_squares(const Group& group, std::int64_t length) {
  if (!goes_by_squares(length) || group.rows == 0) return false;
  for (const Value* v : group.outputs)
    if (is_complex(v->dtype())) return false;
  return std::any_of(group.roots.begin(), group.roots.end(), [](const Op* op) { return is_reduction(*op); }) &&
         std::all_of(group.roots.begin(), group.roots.end(), [](const Op* op) { return !is_reduction(*op) || byte_width(op->operand(0)->dtype()) <= 4; });
}

/// The rows of a group: those that it has, those of the shape of its last root, or where that has long ones those of which `by_elements` asks which of
/// their elements a lane has: the shape was another once (pairs that are joined to one dimension; two arrays that are put between each other, of which one may be an element longer).
std::int64_t rows_of(const Group& group, const loop::Kernel& by_elements) {
  if (group.rows) return group.rows;
  const Shape& shape = group.roots.back()->result()->shape();
  std::int64_t last = 1, asked = 0;
  for (int d = shape.rank() - 1; d >= 0 && last == 1; --d) last = shape[d];
  if (last <= kLongest) return group.total / last;
  for (const Inst& inst : by_elements.arena) {
    if (inst.code != Opcode::rem || inst.type.lanes == 1 || inst.type.dtype != DType::i64 || inst.args[1]->code != Opcode::constant) continue;
    const auto length = static_cast<std::int64_t>(inst.args[1]->bits);
    if (length <= kLongest && length > asked && (group.total % length == 0 || last == group.total)) asked = length;
  }
  return asked > 1 ? group.total / asked : group.total;
}

/// Instructions that a strip takes for each of its lanes. Places a few elements apart are read and left out or are filled by turns; others that do not
/// lie one after the other are counted one by one.
double strip_cost(const loop::Kernel& kernel, int lanes) {
  double out = 0;
  for (const Inst& inst : kernel.arena) {
    if (inst.is_variable || inst.code == Opcode::constant) continue;
    const bool is_access = inst.code == Opcode::load || inst.code == Opcode::store;
    const std::int64_t step = is_access ? lanes_apart(inst.index) : 1;
    out += step >= kFarLanes ? lanes : static_cast<double>(std::max<std::int64_t>(1, inst.code == Opcode::store ? std::min<std::int64_t>(2, step) : step));
  }
  return out / lanes;
}

}  // namespace

std::optional<Built> build_short_rows(const Group& group, const Fusion& fusion, const loop::Kernel& by_elements) {
  if (group.total == 0 || (group.rows == 0 && (group.linear || reads_on(by_elements)))) return std::nullopt;
  const std::int64_t rows = rows_of(group, by_elements), length = group.total / rows;
  if (rows < kFewestRows || length < 2 || (length > kLongest && !are_squares(group, length)) || by_elements.arena.size() * static_cast<std::size_t>(length) > kMostInstructions) return std::nullopt;
  if (length > kLookedUp && std::none_of(group.roots.begin(), group.roots.end(), [](const Op* op) { return is_reduction(*op); }) && looks_up(group, fusion)) return std::nullopt;
  for (const Value* v : group.outputs)
    if (count(v) != group.total && count(v) != (group.rows ? rows : group.total)) return std::nullopt;
  Built out = ShortRows(group, fusion, rows).build();
  // A strip is as many rows here, and as many elements there; one value per row has no lanes there at all.
  if (group.rows == 0 && strip_cost(*out.kernels.front().kernel, lanes_for(length)) >= static_cast<double>(length) * strip_cost(by_elements, kMapLanes)) return std::nullopt;
  return out;
}

}  // namespace strata::compile
