#include "strata/compile/fusion.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "strata/compile/product_result.h"
#include "strata/compile/tree_context.h"
#include "strata/op/reduce_order.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

constexpr std::int64_t kSplitRows = 16;         // fewer rows than this, each longer than
constexpr std::int64_t kSplitLength = 1 << 16;  // this: reduced in two phases, alone
constexpr std::size_t kMostRoots = 96;
// How much arithmetic an element of a kernel may be (op/def.h, Work::flops): what it takes to make machine code grows faster than this,
// and what a pass over memory costs is long since hidden.
constexpr double kMostTree = 1500;   // computed where it is read
constexpr double kMostGroup = 4500;  // in one kernel

/// A constant with different elements lies in memory rather than in code.
bool is_stored_constant(const Op& op) {
  const Literal* literal = constant_literal(op);
  return literal && literal->count() > 1 && !literal->is_splat();
}
bool is_elemental(const Op& op) { return !is_stored_constant(op) && std::holds_alternative<op::Elemental>(op::def(op).lowering); }
bool is_reduction(const Op& op) { return std::holds_alternative<op::Reduction (*)(const Op&)>(op::def(op).lowering); }
bool is_contraction(const Op& op) { return std::holds_alternative<op::Contraction (*)(const Op&)>(op::def(op).lowering); }
bool is_update(const Op& op) { return std::holds_alternative<op::Update>(op::def(op).lowering); }

std::int64_t count(const Value* v) { return v->shape().count(); }

/// Index moves and casts of one array: reading them again costs what reading the array costs.
bool is_view(const Op& op) {
  const op::Traits& t = op::def(op).traits;
  if (!t.cheap && !t.moves_only) return false;
  int arrays = 0;
  for (const Value* v : op.operands) arrays += v->rank() > 0;
  return arrays <= 1;
}

/// Uses of values, and which values must lie in memory whatever else is decided.
struct Uses {
  struct Use {
    const Op* op;
    int operand;
  };
  std::unordered_map<const Value*, std::vector<Use>> of;
  std::unordered_set<const Value*> stored;

  /// The one operation of the block that reads a value which need not lie in memory, or null.
  const Op* only_reader(const Value* v) const {
    auto found = of.find(v);
    return found != of.end() && found->second.size() == 1 && !stored.count(v) ? found->second[0].op : nullptr;
  }

  explicit Uses(const ir::Block& block) {
    for (const auto& op : block.ops()) {
      bool structured = !is_elemental(*op) && !is_reduction(*op) && !is_contraction(*op) && !is_update(*op);
      for (std::size_t i = 0; i < op->operands.size(); ++i) {
        const Value* v = op->operands[i];
        of[v].push_back({op.get(), static_cast<int>(i)});
        if (structured || (is_update(*op) && static_cast<int>(i) < op->num_results())) stored.insert(v);
      }
      for (const auto& region : op->regions)
        for (const Value* v : ir::captures(*region)) stored.insert(v);
    }
    for (const Value* v : block.results) stored.insert(v);
  }
};

/// Arithmetic for one element: of the result, or of what is reduced to it.
double own_weight(const Op& op) {
  std::int64_t elements = 0;
  for (const Value* v : op.results()) elements = std::max(elements, v->type().is_tensor() ? count(v) : 0);
  for (const Value* v : op.operands) elements = std::max(elements, v->type().is_tensor() ? count(v) : 0);
  const op::Cost cost = op::def(op).cost;
  return cost && elements > 0 ? std::max(1.0, cost(op).flops / static_cast<double>(elements)) : 1;
}

/// Arithmetic for one element of each value with the elementwise operations that it is made of, as far as these are in `through`.
std::unordered_map<const Value*, double> tree_weights(const ir::Block& block, const std::unordered_set<const Value*>& through) {
  std::unordered_map<const Value*, double> out;
  for (const auto& op : block.ops()) {
    double weight = own_weight(*op);
    for (const Value* v : op->operands)
      if (through.count(v)) weight += out[v];
    for (const Value* v : op->results()) out[v] = weight;
  }
  return out;
}

/// Values at which a long chain of single uses is cut, so that no tree is more than kMostTree.
std::unordered_set<const Value*> cuts(const ir::Block& block) {
  std::unordered_set<const Value*> out;
  std::unordered_map<const Value*, double> weight;
  for (const auto& op : block.ops()) {
    if (!is_elemental(*op)) continue;
    double w = own_weight(*op);
    for (const Value* v : op->operands)
      if (auto made = weight.find(v); made != weight.end()) w += made->second;
    if (w > kMostTree) {
      out.insert(op->result());
      w = 0;
    }
    weight[op->result()] = w;
  }
  return out;
}

/// Products with the reshapes and transpositions that they do as they store.
using Moves = std::unordered_map<const Op*, std::vector<const Op*>>;  // looked up, never walked
Moves moves_of_products(const ir::Block& block, const Uses& uses) {
  Moves out;
  for (const auto& op : block.ops())
    if (is_contraction(*op)) out[op.get()] = moves_behind(*op, [&](const Value* v) { return uses.only_reader(v); });
  return out;
}
/// The operations of all of `moves`.
std::unordered_set<const Op*> moved_by_products(const ir::Block& block, const Moves& moves) {
  std::unordered_set<const Op*> out;
  for (const auto& op : block.ops())
    if (auto found = moves.find(op.get()); found != moves.end()) out.insert(found->second.begin(), found->second.end());
  return out;
}

/// Decides what is computed where it is read. Walks backwards, so that a value's readers are decided before it.
std::unordered_set<const Value*> choose_inlined(const ir::Block& block, const Uses& uses, const std::unordered_set<const Op*>& moved) {
  struct Reading {
    int times = 0;
    bool repeats = false, by_product = false;
  };
  std::unordered_map<const Value*, Reading> reading;
  std::unordered_set<const Value*> inlined;
  std::unordered_map<const Value*, int> size;  // operations in the tree of cheap producers
  for (const auto& op : block.ops()) {
    int n = 1;
    for (const Value* v : op->operands)
      if (v->op() && is_elemental(*v->op())) n += std::min(1000, size[v]);
    for (const Value* v : op->results()) size[v] = is_view(*op) || op->operands.empty() ? n : 0;
  }
  const std::unordered_set<const Value*> cut = cuts(block);
  for (auto it = block.ops().rbegin(); it != block.ops().rend(); ++it) {
    const Op& op = **it;
    if (!is_elemental(op) || moved.count(&op)) continue;
    Value* v = op.result();
    Reading& r = reading[v];
    if (auto found = uses.of.find(v); found != uses.of.end())
      for (const Uses::Use& use : found->second) {
        const Value* user = use.op->num_results() ? use.op->result() : nullptr;
        if (user && inlined.count(user)) {
          const Reading& through = reading[user];
          r.times += through.times;
          r.repeats |= through.repeats;
          r.by_product |= through.by_product;
        } else {
          r.times += 1;
          r.by_product |= is_contraction(*use.op);
        }
        if (user && is_elemental(*use.op)) r.repeats |= count(user) > 2 * count(v);
      }
    // A scalar constant is code where it is computed with, and memory where an address is asked for.
    if (uses.stored.count(v) && !(constant_literal(op) && count(v) == 1)) continue;
    bool view = is_view(op) && size[v] < 40 && (!r.by_product || op::def(op).traits.moves_only);
    bool once = r.times <= 1 && !r.repeats && !r.by_product && !cut.count(v);
    if (view || once) inlined.insert(v);
  }
  return inlined;
}

/// Whether it has an effect, or anything in its regions has.
bool has_effect(const Op& op) {
  bool found = op.info().has_effect;
  for (const auto& region : op.regions) ir::walk(*region, [&](const Op& inner) { found |= inner.info().has_effect; });
  return found;
}

/// How a root reads a value in memory or another root.
struct Access {
  enum class Kind { same, leading, scalar, other } kind;
  const Value* value;
};

/// Records what a root's tree reads, with the root at a symbolic index.
class DryRun : public TreeContext {
 public:
  DryRun(loop::Builder& b, const std::unordered_set<const Value*>& inlined) : TreeContext(b), inlined_(inlined) {}
  struct Read {
    const Value* value;
    Index offset;
  };
  std::vector<Read> reads;

 protected:
  bool inlined(const Value* v) override { return inlined_.count(v) != 0; }
  Inst* leaf(const Value* v, std::span<const Index>, const Index& offset) override {
    reads.push_back({v, offset});
    loop::Ref*& ref = refs_[v];
    if (!ref) ref = b.parameter(stored_dtype(v->type()), std::max<std::int64_t>(1, stored_shape(v->type()).count()), loop::Ref::Mode::in);
    return b.load(ref, offset);
  }

 private:
  const std::unordered_set<const Value*>& inlined_;
  std::unordered_map<const Value*, loop::Ref*> refs_;
};

Access::Kind access_kind(const DryRun::Read& read, const Shape& frame, const std::vector<Index>& index, const Index& own) {
  std::int64_t n = count(read.value);
  if (read.offset.is_constant() && n == 1) return Access::Kind::scalar;
  if (read.offset == own && n == frame.count()) return Access::Kind::same;
  Index prefix = 0;
  std::int64_t outer = 1;
  for (int k = 0; k < frame.rank(); ++k) {
    prefix = prefix * frame[k] + index[static_cast<std::size_t>(k)];
    outer *= frame[k];
    if (outer == n && read.offset == prefix) return Access::Kind::leading;
  }
  return Access::Kind::other;
}

/// What the tree of the operation's result `r` reads, as seen from an index of `frame`.
void add_accesses(const Op& op, int r, const Shape& frame, const std::unordered_set<const Value*>& inlined, std::vector<Access>& out) {
  if (frame.count() == 0) return;
  loop::Kernel kernel("dry");
  loop::Builder b(kernel);
  DryRun dry(b, inlined);
  loop::Ref* variables = b.parameter(DType::i64, std::max(1, frame.rank()), loop::Ref::Mode::in);
  std::vector<Index> index;
  for (int i = 0; i < frame.rank(); ++i) index.push_back(frame[i] == 1 ? Index(0) : b.index_of(b.load(variables, i), 0, frame[i] - 1));
  if (is_reduction(op)) {
    int n = op.num_results();
    for (int i = 0; i < n; ++i) dry.at(op.operand(i), index);
    for (int i = n; i < 2 * n; ++i) dry.at(op.operand(i), {});
  } else {
    std::get<op::Elemental>(op::def(op).lowering).element(dry, op, r, index);
  }
  Index own = linearize(b, frame, index);
  for (const DryRun::Read& read : dry.reads) out.push_back({access_kind(read, frame, index, own), read.value});
}

std::vector<Access> accesses(const Op& op, const std::unordered_set<const Value*>& inlined) {
  std::vector<Access> out;
  if (is_reduction(op)) {
    add_accesses(op, 0, op.operand(0)->shape(), inlined, out);
    return out;
  }
  for (int r = 0; r < op.num_results(); ++r) {
    std::size_t before = out.size();
    add_accesses(op, r, op.result(r)->shape(), inlined, out);
    // Results of another shape than the first have no place in its loops.
    for (std::size_t i = before; i < out.size() && !(op.result(r)->shape() == op.result()->shape()); ++i)
      if (out[i].kind != Access::Kind::scalar) out[i].kind = Access::Kind::other;
  }
  return out;
}

std::vector<const Value*> read_through(const Op& op, const std::unordered_set<const Value*>& inlined) {
  std::vector<const Value*> out;
  std::unordered_set<const Value*> seen;
  std::function<void(const Value*)> visit = [&](const Value* v) {
    if (!seen.insert(v).second) return;
    if (!inlined.count(v)) return out.push_back(v);
    for (const Value* o : v->op()->operands) visit(o);
  };
  for (const Value* v : op.operands) visit(v);
  for (const auto& region : op.regions)
    for (const Value* v : ir::captures(*region)) visit(v);
  return out;
}

/// Groups under construction, joined along edges.
class Grouping {
 public:
  Grouping(const ir::Block& block, const Uses& uses, const std::unordered_set<const Value*>& inlined, const Moves& moves)
      : inlined_(inlined), uses_(uses), weights_(tree_weights(block, inlined)) {
    const std::unordered_set<const Op*> moved = moved_by_products(block, moves);
    for (const auto& op : block.ops()) {
      if (is_stored_constant(*op) || (is_elemental(*op) && inlined.count(op->result())) || moved.count(op.get())) continue;
      add(*op);
      if (auto found = moves.find(op.get()); found != moves.end()) add_moves(found->second);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) merged_into_.push_back(static_cast<int>(g));
  }

  void join_all() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t c = 0; c < groups_.size(); ++c) {
        if (merged_into_[c] != static_cast<int>(c)) continue;
        for (int p : producers(static_cast<int>(c)))
          if (try_join(p, static_cast<int>(c))) {
            changed = true;
            break;
          }
      }
    }
  }

  Fusion finish() {
    Fusion out;
    std::vector<int> live;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (merged_into_[g] == static_cast<int>(g)) live.push_back(static_cast<int>(g));
    std::map<int, std::vector<int>> needs;
    for (int g : live) needs[g] = producers(g);
    std::unordered_set<int> done;
    while (done.size() < live.size()) {  // the group that stands first in the program among those that can run
      int next = -1;
      for (int g : live) {
        if (done.count(g)) continue;
        bool ready = std::all_of(needs[g].begin(), needs[g].end(), [&](int p) { return done.count(p) != 0; });
        if (ready && (next < 0 || last_position(g) < last_position(next))) next = g;
      }
      STRATA_CHECK(next >= 0, "the groups wait for each other");
      done.insert(next);
      out.groups.push_back(std::move(groups_[static_cast<std::size_t>(next)]));
      find_outputs(out.groups.back(), next);
      order_.push_back(next);
    }
    return out;
  }

 private:
  void add(const Op& op) {
    Group g;
    g.roots = {&op};
    position_[&op] = static_cast<int>(groups_.size());
    std::vector<Access> reads;
    bool joinable = false;
    if (is_elemental(op)) {
      g.total = count(op.result());
      joinable = g.total > 0;
      reads = accesses(op, inlined_);
    } else if (is_reduction(op)) {
      auto reduction = (*std::get<op::Reduction (*)(const Op&)>(op::def(op).lowering))(op);
      g.total = count(op.operand(0));
      std::int64_t rows = count(op.result());
      bool trailing = reduces_trailing(op.operand(0)->shape(), reduction.dims);
      bool split = rows < kSplitRows && g.total / std::max<std::int64_t>(1, rows) > kSplitLength;
      bool along_memory = op::reduce_order(op.operand(0)->type(), reduction.dims).lanes > 1;
      bool plain = reduction.combiner != op::Combiner::region;
      joinable = plain && along_memory && trailing && !split && g.total > 0 && rows > 0 && rows < g.total;
      if (joinable) g.rows = rows;
      reads = g.total > 0 ? accesses(op, inlined_) : tree_reads(op);
      for (const auto& region : op.regions)
        for (const Value* v : ir::captures(*region)) reads.push_back({Access::Kind::other, v});
    } else if (is_contraction(op)) {
      g.kind = GroupKind::product;
      reads = tree_reads(op);
    } else if (is_update(op)) {
      g.kind = GroupKind::update;
      reads = tree_reads(op);
    } else {
      g.kind = GroupKind::structured;
      reads = tree_reads(op);
    }
    // What an index of its own range shows to be unread (a branch never taken there) may be read after all where the kernel
    // knows less, so that it has to be there.
    for (const Value* v : read_through(op, inlined_))
      if (std::none_of(reads.begin(), reads.end(), [&](const Access& a) { return a.value == v; })) reads.push_back({Access::Kind::other, v});
    for (const Access& a : reads) g.flat &= a.kind == Access::Kind::same || a.kind == Access::Kind::scalar;
    int number = static_cast<int>(groups_.size());
    if (has_effect(op)) {
      if (last_effect_ >= 0) after_[&op] = last_effect_;
      last_effect_ = number;
    }
    for (const Value* v : op.results()) made_by_[v] = number;
    reads_[&op] = std::move(reads);
    roots_.push_back(&op);
    joinable_.push_back(joinable);
    groups_.push_back(std::move(g));
  }

  /// The group added last, a product, does `moves` too.
  void add_moves(const std::vector<const Op*>& moves) {
    int number = static_cast<int>(groups_.size()) - 1;
    for (const Op* op : moves) {
      groups_.back().roots.push_back(op);
      position_[op] = number;
      made_by_[op->result()] = number;
      reads_[op] = {};
    }
  }

  std::vector<Access> tree_reads(const Op& op) {
    std::vector<Access> out;
    for (const Value* v : read_through(op, inlined_)) out.push_back({Access::Kind::other, v});
    return out;
  }

  int find(int g) const {
    while (merged_into_[static_cast<std::size_t>(g)] != g) g = merged_into_[static_cast<std::size_t>(g)];
    return g;
  }
  int maker(const Value* v) const {
    auto it = made_by_.find(v);
    return it == made_by_.end() ? -1 : find(it->second);
  }
  /// Groups whose values this one reads, in order, each once; and the one whose effect comes before this one's.
  std::vector<int> producers(int c) const {
    std::vector<int> out;
    for (const Op* op : groups_[static_cast<std::size_t>(c)].roots) {
      if (auto effect = after_.find(op); effect != after_.end()) out.push_back(find(effect->second));
      for (const Access& a : reads_.at(op)) {
        int p = maker(a.value);
        if (p >= 0 && p != c && std::find(out.begin(), out.end(), p) == out.end()) out.push_back(p);
      }
    }
    return out;
  }
  double weight(const Group& g) const {
    double out = 0;
    for (const Op* op : g.roots) out += op->num_results() ? weights_.at(op->result()) : 1;
    return out;
  }
  int last_position(int g) const { return position_.at(groups_[static_cast<std::size_t>(g)].roots.back()); }

  /// Whether c depends on p through a third group.
  bool depends_indirectly(int c, int p) const {
    std::vector<int> stack;
    std::unordered_set<int> seen;
    for (int q : producers(c))
      if (q != p) stack.push_back(q);
    while (!stack.empty()) {
      int g = stack.back();
      stack.pop_back();
      if (g == p) return true;
      if (!seen.insert(g).second) continue;
      for (int q : producers(g)) stack.push_back(q);
    }
    return false;
  }

  static bool is_full(const Op& op, std::int64_t total) { return (is_reduction(op) ? count(op.operand(0)) : count(op.result())) == total; }

  bool try_join(int p, int c) {
    const Group& P = groups_[static_cast<std::size_t>(p)];
    const Group& C = groups_[static_cast<std::size_t>(c)];
    if (!joinable_[static_cast<std::size_t>(p)] || !joinable_[static_cast<std::size_t>(c)]) return false;
    if (P.roots.size() + C.roots.size() > kMostRoots || weight(P) + weight(C) > kMostGroup) return false;
    std::int64_t total = 0, rows = 0;
    if (P.total == C.total) {
      if (P.rows && C.rows && P.rows != C.rows) return false;
      total = P.total;
      rows = std::max(P.rows, C.rows);
    } else if (P.rows == 0 && P.total < C.total && (P.total > 1 ? C.rows == 0 || C.rows == P.total : C.rows == 1)) {
      total = C.total;  // P makes one value per row of C; a scalar alone is no reason to make everything one row
      rows = P.total;
    } else if (C.rows == 0 && P.rows == C.total) {
      total = P.total;  // C works on P's row results
      rows = P.rows;
    } else {
      return false;
    }
    if (rows && (total % rows != 0 || total / rows < 2)) return false;
    for (const Op* op : C.roots)
      for (const Access& a : reads_.at(op)) {
        if (maker(a.value) != p) continue;
        bool full_reader = is_full(*op, total), full_value = count(a.value) == total;
        if (full_reader == full_value
                ? a.kind != Access::Kind::same && !(count(a.value) == 1 && a.kind == Access::Kind::scalar && rows == 1)
                : !(full_reader && count(a.value) == rows &&
                    (a.kind == Access::Kind::leading || (rows == 1 && a.kind == Access::Kind::scalar))))
          return false;
      }
    if (depends_indirectly(c, p)) return false;
    Group joined;
    joined.total = total;
    joined.rows = rows;
    joined.flat = P.flat && C.flat && rows == 0;
    joined.roots = P.roots;
    joined.roots.insert(joined.roots.end(), C.roots.begin(), C.roots.end());
    std::sort(joined.roots.begin(), joined.roots.end(), [&](const Op* a, const Op* b) { return position_.at(a) < position_.at(b); });
    groups_[static_cast<std::size_t>(c)] = std::move(joined);
    merged_into_[static_cast<std::size_t>(p)] = c;
    return true;
  }

  void find_outputs(Group& g, int number) {
    if (g.kind == GroupKind::product) return g.outputs.push_back(g.roots.back()->result());
    for (const Op* op : g.roots) {
      bool needed = g.kind != GroupKind::loops;
      for (const Value* v : op->results()) {
        needed |= uses_.stored.count(v) != 0;
        for (const auto& [reader, reads] : reader_list(v)) needed |= reads && reader != number;
      }
      if (!needed) continue;  // all results of an operation are written, or none
      for (const Value* v : op->results()) g.outputs.push_back(v);
    }
  }
  /// Groups that read v.
  std::map<int, bool> reader_list(const Value* v) {
    if (readers_.empty())
      for (const Op* op : roots_)
        for (const Access& a : reads_.at(op)) readers_[a.value].emplace(find(position_.at(op)), true);
    auto it = readers_.find(v);
    return it == readers_.end() ? std::map<int, bool>{} : it->second;
  }

  const std::unordered_set<const Value*>& inlined_;
  const Uses& uses_;
  std::unordered_map<const Value*, double> weights_;  // of what a root computes, what is inlined included
  std::vector<Group> groups_;
  std::vector<bool> joinable_;
  std::vector<const Op*> roots_;  // program order
  std::vector<int> merged_into_, order_;
  int last_effect_ = -1;                       // the group of the last operation with an effect so far
  std::unordered_map<const Op*, int> after_;  // of operations with effects: the group of the one before
  std::unordered_map<const Op*, int> position_;
  std::unordered_map<const Op*, std::vector<Access>> reads_;
  std::unordered_map<const Value*, int> made_by_;
  std::unordered_map<const Value*, std::map<int, bool>> readers_;
};

}  // namespace

const Literal* constant_literal(const Op& op) {
  if (!op.operands.empty() || op.num_results() != 1) return nullptr;
  const ir::Attr* attr = op.attrs.find("value");
  return attr ? std::get_if<Literal>(attr) : nullptr;
}

std::vector<const Value*> reads(const Op& op, const Fusion& fusion) { return read_through(op, fusion.inlined); }

bool reduces_trailing(const Shape& operand, const std::vector<int>& dims) {
  std::vector<bool> reduced(static_cast<std::size_t>(operand.rank()), false);
  for (int d : dims) reduced[static_cast<std::size_t>(d)] = true;
  bool seen = false;
  for (int i = 0; i < operand.rank(); ++i) {
    if (operand[i] == 1) continue;
    if (reduced[static_cast<std::size_t>(i)])
      seen = true;
    else if (seen)
      return false;
  }
  return true;
}

Fusion fuse(const ir::Block& block) {
  Uses uses(block);
  Moves moves = moves_of_products(block, uses);
  std::unordered_set<const Value*> inlined = choose_inlined(block, uses, moved_by_products(block, moves));
  Grouping grouping(block, uses, inlined, moves);
  grouping.join_all();
  Fusion out = grouping.finish();
  for (const auto& op : block.ops())
    if (is_stored_constant(*op) || (constant_literal(*op) && inlined.count(op->result()) && uses.stored.count(op->result())))
      out.constants.push_back(op->result());
  out.inlined = std::move(inlined);
  return out;
}

std::string explain(const Fusion& fusion) {
  std::string out;
  for (const Group& g : fusion.groups) {
    static const char* kinds[] = {"loops", "product", "update", "structured"};
    out += fmt::format("{} total={} rows={}{}:", kinds[static_cast<int>(g.kind)], g.total, g.rows, g.flat ? " flat" : "");
    for (const ir::Op* op : g.roots) out += " " + op->name();
    out += fmt::format(" -> {} stored\n", g.outputs.size());
  }
  return out;
}

}  // namespace strata::compile
