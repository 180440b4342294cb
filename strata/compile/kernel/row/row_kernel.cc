#include "strata/compile/kernel/row/row_kernel.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "strata/compile/fuse/value_uses.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/row/interleaved_rows.h"
#include "strata/compile/kernel/row/row_passes.h"
#include "strata/loop/pieces.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

/// Whether places are computed alike, but for a number that is added last.
class SameTerms {
 public:
  bool operator()(const Index& a, const Index& b) {
    return std::equal(a.terms().begin(), a.terms().end(), b.terms().begin(), b.terms().end(),
                      [&](const Index::Term& s, const Index::Term& t) {
                        return s.coefficient == t.coefficient && same(s.variable, t.variable);
                      });
  }
  /// Instructions that were alike.
  std::size_t count() const { return found_.size(); }

 private:
  bool same(const Inst* x, const Inst* y) {
    if (x == y) return true;
    if (auto it = found_.find(x); it != found_.end() && it->second == y) return true;
    if (x->code != y->code || x->type != y->type || x->bits != y->bits ||
        x->compare != y->compare || x->callee != y->callee || x->ref != y->ref || x->is_variable ||
        y->is_variable)
      return false;
    if (x->index.constant() != y->index.constant() || !(*this)(x->index, y->index)) return false;
    if (!std::equal(x->args.begin(), x->args.end(), y->args.begin(), y->args.end(),
                    [&](const Inst* a, const Inst* b) { return same(a, b); }))
      return false;
    found_[x] = y;
    return true;
  }
  std::unordered_map<const Inst*, const Inst*> found_;  // lookup only
};

/// What the first pass of a row stores, keeps and reduces.
std::vector<const Value*> order_reads_before_updates(const RowPasses& rows) {
  auto [reductions, out] = rows.of_pass(0);
  for (const Op* op : reductions)
    out.insert(out.end(), op->operands.begin(),
               op->operands.begin() + static_cast<std::ptrdiff_t>(op->operands.size() / 2));
  return out;
}

/// Of the places that numbers say (RowContext::is_gather) which are a row's, one element after the
/// other, where its number says and not those of the row before one row on. Nothing where there are
/// none, or it takes long to say where.
std::vector<bool> rows_looked_up(const Group& group, const Fusion& fusion, std::int64_t number) {
  BuiltKernel dry;
  dry.kernel = std::make_unique<loop::Kernel>("dry");
  RowPasses rows(group, fusion, number, dry);
  constexpr std::size_t kLong = 64,
                        kMany = 512;  // instructions that say where a row is; and of all that its
                                      // first element takes, of which LLVM leaves the others out
  if (rows.length == 1) return {};
  const Index row = rows.b.grid();
  auto places = [&](const Index& at) {
    return rows.context.is_gather(order_reads_before_updates(rows), at);
  };
  const auto first = places(row * rows.length);
  if (first.empty() || dry.kernel->arena.size() > kMany) return {};
  // What all elements of a row read at one place is computed once: not all of the first places are
  // asked for again.
  const auto second = places(row * rows.length + 1), next = places((row + 1) * rows.length);
  auto goes_on = [&](const RowContext::Place& at, const RowContext::Place& behind) {
    SameTerms same;
    return behind.value == at.value && behind.offset.constant() == at.offset.constant() + 1 &&
           same(at.offset, behind.offset) && same.count() <= kLong;
  };
  auto is_foreseen = [](const RowContext::Place& at, const RowContext::Place& in_next) {
    return in_next.value == at.value && SameTerms()(at.offset, in_next.offset);
  };
  std::vector<bool> out;
  for (const RowContext::Place& at : first)
    out.push_back(
        std::any_of(second.begin(), second.end(), [&](const auto& p) { return goes_on(at, p); }) &&
        std::none_of(next.begin(), next.end(), [&](const auto& p) { return is_foreseen(at, p); }));
  if (std::find(out.begin(), out.end(), true) == out.end()) out.clear();
  return out;
}

class RowKernel {
 public:
  RowKernel(const Group& group, const Fusion& fusion, std::int64_t rows, int lanes, bool any_size,
            std::vector<bool> is_gather, BuiltKernel& built)
      : lanes_(lanes),
        any_size_(any_size),
        looked_up_(std::move(is_gather)),
        rows_(group, fusion, rows, built),
        band_(MaskedRowBand::of(group, fusion, rows_.length)),
        b_(rows_.b),
        context_(rows_.context) {
    if (!any_size_ && !band_ && looked_up_.empty()) transposed_ = TransposedRows::of(rows_, fusion);
  }

  void build() {
    if (!any_size_ && !band_ && can_interleave_rows(rows_))
      return build_interleaved_rows(rows_, lanes_, transposed_ ? &*transposed_ : nullptr,
                                    [&](Index r) { row(r); });
    if (transposed_)
      return each_block_of_rows(
          rows_, [&](Index first) { transposed_block(first); }, [&](Index r) { row(r); });
    const std::int64_t most = rows_of_point(rows_.rows, rows_.length, rows_.point);
    std::int64_t per_point = largest_divisor(rows_.rows, most);
    if (per_point * 4 < most) per_point = most;
    b_.kernel().grid = (rows_.rows + per_point - 1) / per_point;
    Index first = b_.grid() * per_point;
    if (rows_.rows % per_point == 0) {
      b_.for_(0, per_point, 1, [&](Index i) { row(first + i); });
    } else {  // the last point has fewer rows
      b_.for_(0, per_point, 1, [&](Index i) {
        Index r = first + i;
        b_.if_(b_.less(r, rows_.rows), [&] { row(b_.index_of(b_.value(r), 0, rows_.rows - 1)); });
      });
    }
  }

 private:
  void transposed_block(const Index& first) {
    context_.next_row();
    transposed_->bring(rows_, first);
    b_.for_(0, kRowsTogether, 1, [&](Index i) { row(first + i, first); });
  }

  /// `first`: of the block that is brought together, if it is.
  void row(Index r, std::optional<Index> first = std::nullopt) {
    context_.next_row();
    if (first) transposed_->keep(context_, *first, rows_.length);
    ahead_.clear();
    Index base = r * rows_.length;
    if (!looked_up_.empty()) fetch_later_row(r);
    for (int pass = 0; pass <= rows_.last(); ++pass) {
      row_values(r, pass);
      const auto [reductions, wanted] = rows_.of_pass(pass);
      const std::size_t begin = b_.kernel().arena.size();
      if (!reductions.empty() || !wanted.empty()) run_pass(r, base, reductions, wanted);
      if (pass > 0)
        look_ahead(base, begin);
      else if (!reductions.empty())
        fetch_a_page_ahead(b_.kernel(), begin);
      // a row value of the last reductions may be all that is left
      if (pass == rows_.last()) row_values(r, pass + 1);
    }
  }

  /// No processor foresees rows that are where numbers say: they are fetched a page of results
  /// before they are read (2^20 rows of 64 of 65536: 43 ms without, 17 with; two threads of a Zen
  /// 3).
  void fetch_later_row(const Index& r) {
    constexpr std::int64_t
        kAhead = 4096,
        kMostRows = 16,
        kMostLines =
            8;  // bytes; beyond so many lines of a row the processor has seen where it goes
    const std::vector<const Value*> first = order_reads_before_updates(rows_);
    const std::int64_t row =
        rows_.length * static_cast<std::int64_t>(byte_width(stored_dtype(first.front()->type())));
    const std::int64_t rows = std::clamp<std::int64_t>(kAhead / row, 1, kMostRows);
    const Index later = b_.index_of(
        b_.binary(Opcode::min, b_.value(r + rows), b_.constant_int(DType::i64, rows_.rows - 1)), 0,
        rows_.rows - 1);
    const auto places = context_.is_gather(first, later * rows_.length);
    STRATA_CHECK(places.size() == looked_up_.size(),
                 "a row is read at {} places that numbers say, a later one at {}",
                 looked_up_.size(), places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!looked_up_[i]) continue;
      const auto [value, offset] = places[i];
      const std::int64_t line =
          kCacheLine / static_cast<std::int64_t>(byte_width(stored_dtype(value->type())));
      for (std::int64_t at = 0; at < std::min(rows_.length, kMostLines * line); at += line)
        b_.fetch(context_.input(value), offset + at);
    }
  }

  /// Computes and stores the roots of one element per row that belong to this pass.
  void row_values(const Index& r, int pass) {
    for (const Value* v : rows_.row_values(pass)) {
      const std::vector<Inst*> stored = context_.stored_at_offset(v, r);
      if (stored.size() == 1) context_.set_row(v, stored[0]);
      if (rows_.is_output(v)) context_.store_result(v, r, stored);
    }
  }

  void run_pass(Index r, Index base, const std::vector<const Op*>& reductions,
                const std::vector<const Value*>& wanted) {
    const RowPasses::Targets targets = rows_.targets_of(wanted, rows_.length);
    auto element = [&](Index j) { rows_.store_targets(targets, base, base, j); };
    const std::function<void(Index, std::function<void()>)> by_band =
        band_for(r, reductions, wanted);
    if (reductions.empty() && !by_band && !any_size_ && !is_last_dimension()) {
      // A shorter last strip by itself: of a strip that may be any, it is not known that the parts
      // of its places stay inside of their dimensions.
      const std::int64_t whole = rows_.length / lanes_ * lanes_;
      if (whole) b_.vector(0, whole, lanes_, element);
      if (whole < rows_.length)
        b_.vector(whole, rows_.length, loop::lanes_for(rows_.length - whole, lanes_), element);
    } else if (reductions.empty()) {
      b_.vector(0, rows_.length, loop::lanes_for(rows_.length, lanes_),
                [&](Index j) { by_band ? by_band(j, [&] { element(j); }) : element(j); });
    } else {
      auto element_of = [&](const Value* v, Index j) { return context_.at_offset(v, base + j); };
      RowReductions all(b_, reductions, rows_.length, element_of, is_light(reductions, wanted));
      all.run(element, by_band);
      for (const Op* op : reductions) {
        const Value* v = op->result();
        Inst* result = all.result(
            *op, context_.at(op->operand(static_cast<int>(op->operands.size()) / 2), {}));
        context_.set_row(v, result);
        if (rows_.is_output(v)) b_.store(context_.output(v), r, result);
      }
    }
    rows_.keep_targets(targets, base);
  }

  /// Makes a strip's code twice, for strips that a mask's band leaves out and for others, where the
  /// former is less work; nothing else.
  std::function<void(Index, std::function<void()>)> band_for(
      const Index& r, const std::vector<const Op*>& reductions,
      const std::vector<const Value*>& wanted) {
    const bool reduces = std::any_of(reductions.begin(), reductions.end(), [&](const Op* op) {
      return band_ && band_->settles(op->operand(0));
    });
    const bool stores = std::any_of(wanted.begin(), wanted.end(),
                                    [&](const Value* v) { return band_ && band_->settles(v); });
    if (!reduces && !stores) return nullptr;
    return [this, r](const Index& j, const std::function<void()>& strip) {
      if (rows_.length % j.lanes() != 0) return strip();
      b_.if_(
          band_->leaves_out(b_, r, j.at_first_lane(), j.lanes()),
          [&] { context_.outside(*band_, strip); }, strip);
    };
  }

  /// While a later pass computes for long on a row that the first one read, memory has nothing to
  /// do: the next row is fetched meanwhile (softmax of 4096 x 4096 f32 on two threads: 7.5 ms
  /// without, 6.2 with). A pass that is soon over gains nothing (layer norm). `begin`: the pass'
  /// first instruction.
  void look_ahead(const Index& base, std::size_t begin) {
    constexpr int kLong = 16;  // instructions on vectors
    std::vector<Inst*> again;
    int work = 0;
    std::deque<Inst>& arena = b_.kernel().arena;
    for (std::size_t i = begin; i < arena.size(); ++i) {
      Inst& inst = arena[i];
      if (inst.type.lanes == 1 || inst.is_variable) continue;
      if (inst.code != Opcode::load) {
        ++work;
        continue;
      }
      const auto width = static_cast<std::int64_t>(byte_width(inst.ref->dtype));
      if (inst.ref->mode != loop::Ref::Mode::in || inst.ref->size != rows_.group.total ||
          inst.ref->size * width < static_cast<std::int64_t>(kBeyondThreadCache) ||
          rows_.length * width > RowPasses::kMostRow)
        continue;
      if (!ahead_.count(inst.ref) && is_along_row(inst.index - base)) again.push_back(&inst);
    }
    if (work < kLong) return;
    for (Inst* load : again)
      if (ahead_.insert(load->ref).second) load->ahead = rows_.length;
  }
  /// Whether places from a row's begin on are those of a strip's lanes, one after the other.
  static bool is_along_row(const Index& at) {
    return at.constant() == 0 && at.terms().size() == 2 &&
           std::all_of(at.terms().begin(), at.terms().end(), [](const Index::Term& t) {
             return t.variable->loop &&
                    t.coefficient == (t.variable->type.lanes > 1 ? 1 : t.variable->loop->lanes);
           });
  }

  /// Whether a pass does little more than read: it stores nothing, and few operations stand before
  /// its reductions.
  bool is_light(const std::vector<const Op*>& reductions, const std::vector<const Value*>& wanted) {
    int few = 4;
    for (const Op* op : reductions) count_inlined(*op->operand(0), few);
    return wanted.empty() && few >= 0;
  }
  void count_inlined(const Value& v, int& left) {
    if (!context_.computes(&v) || --left < 0) return;
    for (const Value* operand : v.op()->operands) count_inlined(*operand, left);
  }

  /// Whether a row is the last dimension of more than one element, not several of them nor a part.
  bool is_last_dimension() const {
    std::int64_t last = 1;
    const Shape& shape = rows_.group.roots.back()->result()->shape();
    for (int d = shape.rank(); d-- > 0 && last == 1;) last = shape[d];
    return rows_.length == last;
  }

  const int lanes_;  // of maps
  const bool any_size_;
  const std::vector<bool>
      looked_up_;  // of the places that numbers say, which are a row's; empty where none are
  RowPasses rows_;
  const std::optional<MaskedRowBand> band_;
  std::optional<TransposedRows> transposed_;
  loop::Builder& b_;
  RowContext& context_;
  std::unordered_set<const loop::Ref*>
      ahead_;  // read again while their next row is fetched, in the row at hand
};

}  // namespace

void build_row_kernel(const Group& group, const Fusion& fusion, std::int64_t rows, int lanes,
                      bool any_size, bool has_gathers, BuiltKernel& built) {
  const std::vector<bool> is_gather =
      has_gathers ? rows_looked_up(group, fusion, rows) : std::vector<bool>();
  RowKernel(group, fusion, rows, lanes, any_size, is_gather, built).build();
}

}  // namespace strata::compile
