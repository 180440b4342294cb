#include "strata/compile/loops_kernel.h"

#include <algorithm>
#include <array>

#include "strata/compile/combine.h"
#include "strata/compile/fusion_choice.h"
#include "strata/compile/group_reads.h"
#include "strata/compile/reduce_kernel.h"
#include "strata/compile/row_band.h"
#include "strata/compile/row_blocks.h"
#include "strata/compile/short_rows.h"
#include "strata/compile/tile_kernel.h"
#include "strata/loop/lanes.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using loop::Opcode;

constexpr std::int64_t kPointElements = 16384;  // the most elements of one grid point of a map

/// The elements of one grid point of a map of `total`, at most: eight points where that leaves enough for each.
std::int64_t point_elements(std::int64_t total) { return std::clamp<std::int64_t>(total / 8, 1024, kPointElements); }

/// How much arithmetic an element of a large map is: of 32-bit integers, and other.
struct Arithmetic {
  double integers = 0, others = 0;
  std::size_t widest = 4;  // bytes of a float
};
Arithmetic arithmetic_of(const Group& group, const Fusion& fusion) {
  constexpr std::int64_t kMany = 1 << 16;
  constexpr double kRounding = 6;  // to a half, to nearest even
  Arithmetic out;
  if (group.rows || group.total < kMany) return out;
  each_computed(group, fusion, [&](const Op& op) {
    if (!op::def(op).traits.elementwise || count(op.result()) != group.total) return;
    DType t = op.result()->dtype();
    if (!is_integer(t) && !is_bool(t)) out.widest = std::max(out.widest, byte_width(t));
    (is_integer(t) && byte_width(t) == 4 ? out.integers : out.others) += op::def(op).cost(op).flops / static_cast<double>(group.total);
    if (is_float(t) && byte_width(t) == 2 && !op::def(op).traits.moves_only) out.others += kRounding;
  });
  return out;
}

/// By how much more lanes than usual a large map goes: long chains of arithmetic, each step of which waits for the one before with little to do
/// meanwhile, go several side by side. Random bits are nearly all arithmetic of 32-bit integers, and few numbers at a time (2^24 words of Threefry:
/// 27.4 ms with 16 lanes of AVX2, 21.6 with 32; 6.2 with 16 of AVX-512, 5.0 with 32, 3.9 with 64, 2.8 with 128). Functions of floats need more
/// registers, of which AVX2 has too few (2^22 normals: 18.4 ms with 16 lanes, 19.5 with 32; AVX-512 6.5, 3.7 with 32, 2.5 with 64, 3.1 with 128).
int chains_abreast(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  constexpr double kLong = 48;
  const Arithmetic a = arithmetic_of(group, fusion);
  if (a.integers >= kLong && a.others <= a.integers / 8) return target.avx512 ? 8 : 2;
  return target.avx512 && a.widest == 4 && a.integers + a.others >= kLong ? 4 : 1;
}

/// Lanes of a map: registers of 32 bytes hold two or four times as many words of two bytes or one, where nothing wider is computed. Halves are computed
/// with as f32, and truth values as whatever is compared.
int lanes_of_map(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  if (const int abreast = chains_abreast(group, fusion, target); abreast > 1) return abreast * kMapLanes;
  std::size_t widest = 1;
  bool reduces = false;
  auto look = [&](const Value* v, bool computed) {
    if (count(v) <= 1) return;
    widest = std::max(widest, computed && is_float(v->dtype()) ? 4 : byte_width(stored_dtype(v->type())));
  };
  each_computed(group, fusion, [&](const Op& op) {
    reduces |= is_reduction(op);
    for (const Value* v : op.results()) look(v, !op::def(op).traits.moves_only);
    for (const Value* v : op.operands)
      if (!fusion.inlined.count(v)) look(v, !op::def(op).traits.moves_only);
  });
  return reduces ? kMapLanes : kMapLanes * static_cast<int>(4 / std::min<std::size_t>(4, widest));
}

/// The context of a row kernel: roots are computed here too, at the row at hand.
class RowContext : public KernelContext {
 public:
  RowContext(loop::Builder& b, const Group& group, const Fusion& fusion, BuiltKernel& built) : KernelContext(b, fusion, built) {
    for (const Op* op : group.roots)
      for (const Value* v : op->results()) roots_.insert(v);
  }
  /// Where a value of an earlier pass is read again: `ref` at offset - base.
  void keep(const Value* v, loop::Ref* ref, Index base) { kept_.insert_or_assign(v, std::pair{ref, base}); }
  bool kept(const Value* v) const { return kept_.count(v) != 0; }
  /// Whether an element of v is computed where it is asked for.
  bool computes(const Value* v) { return inlined(v); }
  /// While `f` makes instructions, values that the band settles are computed as outside of it.
  template <class F>
  void outside(const RowBand& band, F f) {
    outside_ = &band;
    f();
    outside_ = nullptr;
  }
  /// The reduced value of the row at hand.
  void set_row(const Value* v, Inst* inst) { rows_[v] = inst; }
  void next_row() {
    kept_.clear();
    rows_.clear();
  }

 protected:
  bool inlined(const Value* v) override {
    if (rows_.count(v)) return false;
    if (kept_.count(v)) return outside_ && outside_->settles(v);
    if (roots_.count(v)) return !is_reduction(*v->op());
    return KernelContext::inlined(v);
  }
  Inst* computed(const Value* v, std::span<const Index> index) override {
    const Value* other = outside_ && outside_->settles(v) ? outside_->chosen(v) : nullptr;
    return other ? at(other, index) : KernelContext::computed(v, index);
  }
  Inst* leaf(const Value* v, std::span<const Index> index, const Index& offset) override {
    if (auto row = rows_.find(v); row != rows_.end()) return row->second;
    if (auto kept = kept_.find(v); kept != kept_.end()) return b.load(kept->second.first, offset - kept->second.second);
    STRATA_CHECK(!roots_.count(v), "a row reads {} before its pass", v->op()->name());
    return KernelContext::leaf(v, index, offset);
  }

 private:
  std::unordered_set<const Value*> roots_;
  std::unordered_map<const Value*, std::pair<loop::Ref*, Index>> kept_;
  std::unordered_map<const Value*, Inst*> rows_;
  const RowBand* outside_ = nullptr;
};

/// The passes of a group: which root is computed when, and what is kept between passes.
struct Passes {
  std::unordered_map<const Value*, int> level;  // of every root's value: reductions before it
  std::unordered_set<const Value*> kept;        // full values that a later pass reads
  int last = 0;

  Passes(const Group& group, const Fusion& fusion) {
    std::unordered_map<const Value*, std::vector<const Value*>> reads;
    for (const Op* op : group.roots) {
      std::vector<const Value*> direct;
      collect(*op, group, fusion, direct);
      int l = 0;
      for (const Value* v : direct) l = std::max(l, level.at(v));
      for (const Value* v : op->results()) {
        level[v] = l + (is_reduction(*op) ? 1 : 0);
        reads[v] = direct;
      }
      last = std::max(last, l);
    }
    for (const Op* op : group.roots) {
      const Value* v = op->result();
      int at = level.at(v) - (is_reduction(*op) ? 1 : 0);
      for (const Value* r : reads.at(v))
        if (!is_reduction(*r->op()) && count(r) == group.total && level.at(r) < at) kept.insert(r);
    }
  }

 private:
  /// Roots of the group that an operation reads through inlined operations.
  static void collect(const Op& op, const Group& group, const Fusion& fusion, std::vector<const Value*>& out) {
    for (const Value* v : op.operands) {
      if (!v->op()) continue;
      if (fusion.inlined.count(v))
        collect(*v->op(), group, fusion, out);
      else if (std::find(group.roots.begin(), group.roots.end(), v->op()) != group.roots.end())
        out.push_back(v);
    }
  }
};

class RowKernel {
 public:
  RowKernel(const Group& group, const Fusion& fusion, std::int64_t rows, const CpuTarget& target, bool any_size, BuiltKernel& built)
      : lanes_(lanes_of_map(group, fusion, target)),
        group_(group),
        passes_(group, fusion),
        rows_(rows),
        length_(group.total / rows),
        band_(RowBand::of(group, fusion, length_)),
        any_size_(any_size),
        b_(*built.kernel),
        context_(b_, group, fusion, built) {}

  void build() {
    if (goes_abreast()) return build_abreast();
    loop::Kernel& kernel = b_.kernel();
    const std::int64_t most = rows_of_point(rows_, length_, point_elements(group_.total));
    std::int64_t per_point = largest_divisor(rows_, most);
    if (per_point * 4 < most) per_point = most;
    kernel.grid = (rows_ + per_point - 1) / per_point;
    Index first = b_.grid() * per_point;
    if (rows_ % per_point == 0) {
      b_.for_(0, per_point, 1, [&](Index i) { row(first + i); });
    } else {  // the last point has fewer rows
      b_.for_(0, per_point, 1, [&](Index i) {
        Index r = first + i;
        b_.if_(b_.less(r, rows_), [&] { row(b_.index_of(b_.value(r), 0, rows_ - 1)); });
      });
    }
  }

 private:
  void row(Index r) {
    context_.next_row();
    ahead_.clear();
    Index base = r * length_;
    for (int pass = 0; pass <= passes_.last; ++pass) {
      row_values(r, pass);
      const auto [reductions, wanted] = of_pass(pass);
      const std::size_t begin = b_.kernel().arena.size();
      if (!reductions.empty() || !wanted.empty()) run_pass(r, base, reductions, wanted);
      if (pass > 0)
        look_ahead(base, begin);
      else if (!reductions.empty())
        fetch_a_page_ahead(b_.kernel(), begin);
      // a row value of the last reductions may be all that is left
      if (pass == passes_.last) row_values(r, pass + 1);
    }
  }

  // ---- rows abreast
  /// So many rows are reduced together: what their lanes took is turned in registers, so that a total is a lane, and what is one number per row a vector. To bring the lanes of one row
  /// together, and to compute with one number, takes as long as a short row itself (the log-sum-exp of 50000 rows of 50: 1.10 ms row by row).
  static constexpr std::int64_t kAbreast = 16, kShortestAbreast = 33, kLongestAbreast = 256;
  /// Longer rows of which whole strips are written stay in registers from pass to pass, one by one (softmax of 18750 x 128: 0.50 ms, 0.55 abreast; of 37500 x 64 0.68, 0.52).
  static constexpr std::int64_t kLongestStored = 100;

  bool goes_abreast() const {
    if (any_size_ || band_ || length_ < kShortestAbreast || length_ > kLongestAbreast || rows_ < 4 * kAbreast) return false;
    int sums = 0, extrema = 0;
    bool stores_wide = false, halves = false;
    for (const Op* op : group_.roots) {
      for (const Value* v : op->results()) {
        if (is_complex(v->dtype())) return false;
        stores_wide |= count(v) == group_.total && is_output(v) && byte_width(v->dtype()) > 2;
        halves |= count(v) == group_.total && is_output(v) && byte_width(v->dtype()) == 2;
      }
      if (!is_reduction(*op)) continue;
      const DType dtype = op->operand(0)->dtype();
      const op::Combiner combiner = reduction_of(*op).combiner;
      if (byte_width(accumulator(dtype)) > 4) return false;
      (is_float(dtype) && (combiner == op::Combiner::min || combiner == op::Combiner::max) ? extrema : sums) += 1;
    }
    if (stores_wide && length_ > kLongestStored) return false;
    return extrema > 0 || sums > 1 || (sums > 0 && halves);  // one sum's lanes are soon brought together
  }

  /// The last point does the rows that are left, one by one.
  void build_abreast() {
    const std::int64_t blocks = rows_ / kAbreast, rest = rows_ % kAbreast;
    const std::int64_t per_point = largest_divisor(blocks, std::max<std::int64_t>(1, rows_of_point(rows_, length_, point_elements(group_.total)) / kAbreast)), points = blocks / per_point;
    b_.kernel().grid = points + (rest > 0 ? 1 : 0);
    auto whole = [&] { b_.for_(0, per_point, 1, [&](Index i) { rows_abreast((b_.grid() * per_point + i) * kAbreast); }); };
    if (rest == 0) return whole();
    b_.if_(b_.less(b_.grid(), points), whole, [&] { b_.for_(0, rest, 1, [&](Index i) { row(i + blocks * kAbreast); }); });
  }

  void rows_abreast(Index first) {
    context_.next_row();
    for (int pass = 0; pass <= passes_.last; ++pass) {
      row_values_abreast(first, pass);
      const auto [reductions, wanted] = of_pass(pass);
      const std::size_t begin = b_.kernel().arena.size();
      if (!reductions.empty() || !wanted.empty()) run_pass_abreast(first, reductions, wanted);
      if (pass == 0 && !reductions.empty()) fetch_a_page_ahead(b_.kernel(), begin);
      if (pass == passes_.last) row_values_abreast(first, pass + 1);
    }
  }

  /// As `row_values`, in lanes.
  void row_values_abreast(const Index& first, int pass) {
    for (const Op* op : group_.roots) {
      const Value* v = op->result();
      if (is_reduction(*op) || count(v) == group_.total || passes_.level.at(v) != pass) continue;
      b_.vector(0, kAbreast, kAbreast, [&](Index lane) { row_value(v, first, lane, context_.at_offset(v, first + lane)); });
      context_.keep(v, scratch(v, kAbreast), first);
    }
  }
  void row_value(const Value* v, const Index& first, const Index& lane, Inst* value) {
    b_.store(scratch(v, kAbreast), lane, value);
    if (is_output(v)) context_.store_result(v, first + lane, std::array{value});
  }

  void run_pass_abreast(const Index& first, const std::vector<const Op*>& reductions, const std::vector<const Value*>& wanted) {
    constexpr std::int64_t kLanes = 32;
    const Index origin = first * length_;
    const Targets targets = targets_of(wanted, kAbreast * length_);
    std::vector<loop::Ref*> parts;
    for (const Op* op : reductions) parts.push_back(b_.scratch(accumulator(op->operand(0)->dtype()), kAbreast * kLanes));
    b_.for_(0, kAbreast, 1, [&](Index i) {
      const Index base = (first + i) * length_;
      if (reductions.empty()) return b_.vector(0, length_, lanes_, [&](Index j) { store_targets(targets, base, origin, j); });
      std::vector<LaneTotals> lanes;
      for (const Op* op : reductions) lanes.emplace_back(b_, reduction_of(*op).combiner, op->operand(0)->dtype(), static_cast<int>(kLanes));
      b_.vector(0, length_, static_cast<int>(kLanes), [&](Index j) {
        for (std::size_t n = 0; n < reductions.size(); ++n) lanes[n].add(context_.at_offset(reductions[n]->operand(0), base + j));
        store_targets(targets, base, origin, j);
      });
      b_.vector(0, kLanes, static_cast<int>(kLanes), [&](Index lane) {
        for (std::size_t n = 0; n < reductions.size(); ++n) b_.store(parts[n], i * kLanes + lane, lanes[n].lane_totals());
      });
    });
    for (std::size_t n = 0; n < reductions.size(); ++n) {
      const Op& op = *reductions[n];
      const loop::Opcode code = op::opcode(reduction_of(op).combiner, op.operand(0)->dtype());
      b_.vector(0, kAbreast, kAbreast, [&](Index lane) {
        std::vector<Inst*> sums;
        for (std::int64_t i = 0; i < kAbreast; ++i) sums.push_back(b_.binary(code, b_.load(parts[n], lane + i * kLanes), b_.load(parts[n], lane + (i * kLanes + kLanes / 2))));
        sums = loop::transposed(b_, std::move(sums));
        for (std::size_t half = sums.size() / 2; half >= 1; half /= 2)
          for (std::size_t l = 0; l < half; ++l) sums[l] = b_.binary(code, sums[l], sums[l + half]);
        Inst* total = b_.binary(code, neutral(b_, reduction_of(op).combiner, op.operand(0)->dtype()), sums[0]);
        row_value(op.result(), first, lane, finished(b_, op, context_.at(op.operand(static_cast<int>(op.operands.size()) / 2), {}), total));
      });
      context_.keep(op.result(), scratch(op.result(), kAbreast), first);
    }
    keep_targets(targets, origin);
  }

  // ---- what passes have in common
  /// Reductions of a pass, and full values to store or keep in it.
  std::pair<std::vector<const Op*>, std::vector<const Value*>> of_pass(int pass) const {
    std::pair<std::vector<const Op*>, std::vector<const Value*>> out;
    for (const Op* op : group_.roots) {
      const Value* v = op->result();
      if (is_reduction(*op)) {
        if (passes_.level.at(v) - 1 == pass) out.first.push_back(op);
      } else if (count(v) == group_.total && passes_.level.at(v) == pass && (is_output(v) || passes_.kept.count(v))) {
        out.second.push_back(v);
      }
    }
    return out;
  }
  /// Full values, and where they are kept for a later pass, if they are.
  using Targets = std::vector<std::pair<const Value*, loop::Ref*>>;
  Targets targets_of(const std::vector<const Value*>& wanted, std::int64_t elements) {
    Targets out;
    for (const Value* v : wanted) out.push_back({v, !passes_.kept.count(v) ? nullptr : kept_in_result(v) ? context_.output(v) : scratch(v, elements)});
    return out;
  }
  /// All values before all stores: a result may lie in the memory of an argument that is read at the same place. `origin`: where what is kept begins.
  void store_targets(const Targets& targets, const Index& base, const Index& origin, const Index& j) {
    std::vector<std::vector<Inst*>> values;
    for (auto& [v, ref] : targets) values.push_back(context_.stored_at_offset(v, base + j));
    for (std::size_t i = 0; i < targets.size(); ++i) {
      auto& [v, ref] = targets[i];
      if (ref) b_.store(ref, kept_in_result(v) ? base + j : base + j - origin, values[i][0]);
      if (is_output(v) && !kept_in_result(v)) context_.store_result(v, base + j, values[i]);
    }
  }
  void keep_targets(const Targets& targets, const Index& origin) {
    for (auto& [v, ref] : targets)
      if (ref) context_.keep(v, ref, kept_in_result(v) ? Index(0) : origin);
  }

  /// Computes and stores the roots of one element per row that belong to this pass.
  void row_values(Index r, int pass) {
    for (const Op* op : group_.roots) {
      const Value* v = op->result();
      if (is_reduction(*op) || count(v) == group_.total || passes_.level.at(v) != pass) continue;
      const std::vector<Inst*> stored = context_.stored_at_offset(v, r);
      if (stored.size() == 1) context_.set_row(v, stored[0]);
      if (is_output(v)) context_.store_result(v, r, stored);
    }
  }

  void run_pass(Index r, Index base, const std::vector<const Op*>& reductions, const std::vector<const Value*>& wanted) {
    const Targets targets = targets_of(wanted, length_);
    auto element = [&](Index j) { store_targets(targets, base, base, j); };
    const std::function<void(Index, std::function<void()>)> by_band = band_for(r, reductions, wanted);
    if (reductions.empty() && !by_band && !any_size_ && is_joined()) {
      // A shorter last strip by itself: of a strip that may be any, it is not known that the parts of its places stay inside of their dimensions.
      const std::int64_t whole = length_ / lanes_ * lanes_;
      if (whole) b_.vector(0, whole, lanes_, element);
      if (whole < length_) b_.vector(whole, length_, lanes_, element);
    } else if (reductions.empty()) {
      b_.vector(0, length_, lanes_, [&](Index j) { by_band ? by_band(j, [&] { element(j); }) : element(j); });
    } else {
      auto element_of = [&](const Value* v, Index j) { return context_.at_offset(v, base + j); };
      RowReductions all(b_, reductions, length_, element_of, is_light(reductions, wanted));
      all.run(element, by_band);
      for (const Op* op : reductions) {
        const Value* v = op->result();
        Inst* result = all.result(*op, context_.at(op->operand(static_cast<int>(op->operands.size()) / 2), {}));
        context_.set_row(v, result);
        if (is_output(v)) b_.store(context_.output(v), r, result);
      }
    }
    keep_targets(targets, base);
  }

  /// Makes a strip's code twice, for strips that a mask's band leaves out and for others, where the former is less work; nothing else.
  std::function<void(Index, std::function<void()>)> band_for(const Index& r, const std::vector<const Op*>& reductions, const std::vector<const Value*>& wanted) {
    const bool reduces = std::any_of(reductions.begin(), reductions.end(), [&](const Op* op) { return band_ && band_->settles(op->operand(0)); });
    const bool stores = std::any_of(wanted.begin(), wanted.end(), [&](const Value* v) { return band_ && band_->settles(v); });
    if (!reduces && !stores) return nullptr;
    return [this, r](const Index& j, const std::function<void()>& strip) {
      if (length_ % j.lanes() != 0) return strip();
      b_.if_(band_->leaves_out(b_, r, j.at_first_lane(), j.lanes()), [&] { context_.outside(*band_, strip); }, strip);
    };
  }

  /// While a later pass computes for long on a row that the first one read, memory has nothing to do: the next row is fetched meanwhile (softmax of
  /// 4096 x 4096 f32 on two threads: 7.5 ms without, 6.2 with). A pass that is soon over gains nothing (layer norm). `begin`: the pass' first instruction.
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
      if (inst.ref->mode != loop::Ref::Mode::in || inst.ref->size != group_.total || inst.ref->size * width < static_cast<std::int64_t>(kReadOnce) || length_ * width > kMostRow) continue;
      if (!ahead_.count(inst.ref) && is_along_row(inst.index - base)) again.push_back(&inst);
    }
    if (work < kLong) return;
    for (Inst* load : again)
      if (ahead_.insert(load->ref).second) load->ahead = length_;
  }
  /// Whether places from a row's begin on are those of a strip's lanes, one after the other.
  static bool is_along_row(const Index& at) {
    return at.constant() == 0 && at.terms().size() == 2 && std::all_of(at.terms().begin(), at.terms().end(), [](const Index::Term& t) {
             return t.variable->loop && t.coefficient == (t.variable->type.lanes > 1 ? 1 : t.variable->loop->lanes);
           });
  }

  /// Whether a pass does little more than read: it stores nothing, and few operations stand before its reductions.
  bool is_light(const std::vector<const Op*>& reductions, const std::vector<const Value*>& wanted) {
    int few = 4;
    for (const Op* op : reductions) count_inlined(*op->operand(0), few);
    return wanted.empty() && few >= 0;
  }
  void count_inlined(const Value& v, int& left) {
    if (!context_.computes(&v) || --left < 0) return;
    for (const Value* operand : v.op()->operands) count_inlined(*operand, left);
  }

  /// Whether a row is several dimensions.
  bool is_joined() const {
    std::int64_t last = 1;
    const Shape& shape = group_.roots.back()->result()->shape();
    for (int d = shape.rank(); d-- > 0 && last == 1;) last = shape[d];
    return length_ > last;
  }

  loop::Ref* scratch(const Value* v, std::int64_t elements) {
    loop::Ref*& ref = scratch_[v];
    if (!ref || ref->size < elements) ref = b_.scratch(v->dtype(), elements);
    return ref;
  }
  /// Whether a later pass reads a result where it lies. What goes past the caches is kept beside.
  bool kept_in_result(const Value* v) const {
    const bool fits = length_ * static_cast<std::int64_t>(byte_width(v->dtype())) <= kMostRow;
    return is_output(v) && passes_.kept.count(v) != 0 && !(fits && context_.goes_past_caches(v));
  }
  bool is_output(const Value* v) const { return std::find(group_.outputs.begin(), group_.outputs.end(), v) != group_.outputs.end(); }

  static constexpr std::int64_t kMostRow = 128 << 10;  // bytes that stay in the second cache

  const int lanes_;  // of maps
  const Group& group_;
  Passes passes_;
  std::int64_t rows_, length_;
  const std::optional<RowBand> band_;
  const bool any_size_;
  loop::Builder b_;
  RowContext context_;
  std::unordered_map<const Value*, loop::Ref*> scratch_;
  std::unordered_set<const loop::Ref*> ahead_;  // read again while their next row is fetched, in the row at hand
};

/// A part of `length` that a grid point of a map of `total` can take; all of it where no divisor is large enough to be worth a point.
std::int64_t part_of(std::int64_t length, std::int64_t total) {
  const std::int64_t most = point_elements(total);
  if (length <= most) return length;
  std::int64_t part = largest_divisor(length, most);
  return part >= 512 ? part : length;
}

/// Rows for a group without any: all in one when every access is at the element's own place or at one that stays, else the
/// leading dimensions, so that the trailing ones (at least a strip or two) make the inner loop, or a part of the last. Where the last is no whole strips, lanes
/// would cross from row to row, each on its own: such rows are strips and a shorter one (40000 x 50 f32 with a row added: 0.37 ms across, 0.09 so). So are those that are looked up.
/// Where `joined` is null not: all is linear, or code is for any size, of which each such length would have its own.
std::int64_t rows_of_map(const Group& group, const JoinedDimensions* joined) {
  if (group.linear)
    if (std::int64_t length = part_of(group.total, group.total); length <= kPointElements) return group.total / length;
  constexpr std::int64_t kShortest = 6;
  auto goes_on = [&](std::int64_t length) {  // whether all is read on behind so many elements as if it were one dimension
    std::int64_t end = 1;
    for (auto last = joined->sizes.rbegin(); last != joined->sizes.rend() && end < length; ++last) end *= *last;
    return end != length;
  };
  auto ends = [&](std::int64_t length) { return joined && length >= kShortest && (length % kMapLanes != 0 || joined->looked_up) && !goes_on(length); };
  const Shape& shape = group.roots.back()->result()->shape();
  std::int64_t length = 1;
  for (int i = shape.rank() - 1; i >= 0 && length < 64 && !ends(length); --i) length *= shape[i];
  return group.total / std::max<std::int64_t>(1, part_of(length, group.total));
}

}  // namespace

Built build_loops(const Group& group, const Fusion& fusion, const CpuTarget& target, bool any_size) {
  const Op& first = *group.roots.front();
  if (is_reduction(first) && group.rows == 0) return build_reductions(group.roots, fusion);
  Built out;
  if (group.total == 0) return out;
  if (group.rows == 0 && !group.flat)
    if (auto tiles = build_tiles(group, fusion, target)) return std::move(*tiles);
  BuiltKernel built;
  built.kernel = std::make_unique<loop::Kernel>(std::string(first.name().substr(first.name().find('.') + 1)));
  std::optional<JoinedDimensions> joined;
  if (group.rows == 0 && !group.linear && !any_size) joined = joined_dimensions(group, fusion);
  std::int64_t rows = group.rows ? group.rows : rows_of_map(group, joined ? &*joined : nullptr);
  RowKernel(group, fusion, rows, target, any_size, built).build();
  if (joined)
    if (auto blocks = build_row_blocks(group, fusion, *joined, *built.kernel)) return std::move(*blocks);
  if (!any_size)
    if (auto short_rows = build_short_rows(group, fusion, *built.kernel)) return std::move(*short_rows);
  built.parallel = static_cast<double>(group.total) * static_cast<double>(group.roots.size()) > kInlineWork;
  out.kernels.push_back(std::move(built));
  return out;
}

}  // namespace strata::compile
