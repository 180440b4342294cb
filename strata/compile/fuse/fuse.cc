#include "strata/compile/fuse/fuse.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>

#include "strata/base/stage_times.h"
#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/fuse/inlining.h"
#include "strata/compile/fuse/streaming_results.h"
#include "strata/compile/kernel/dot/precompiled_gemm.h"
#include "strata/compile/kernel/gemm/gemm_output.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/row/transposed_rows.h"
#include "strata/op/reduce/reduce_order.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;
using op::is_reduction;

// Fewer rows than these, each as long as this: reduced in two phases, alone, so that what goes
// before and after them goes to all threads.
constexpr std::int64_t kSplitRows = 16, kSplitLength = (1 << 16) + 1, kFewRows = 2,
                       kSplitFew = 1 << 14;
constexpr std::size_t kMostRoots = 512;
constexpr std::size_t kMostReached =
    4096;  // groups looked at to find whether one depends on another
// How much arithmetic an element of a kernel may be (op/def.h, Work::flops): what it takes to make
// machine code grows faster than this, and what a pass over memory costs is long since hidden.
constexpr double kMostGroup = 1500;
// An epilogue is read and written by tiles rather than in one sweep, and its code stands beside
// each kind of tile.
constexpr double kMostEpilogue = 200;
constexpr std::size_t kMostBeside = 4,
                      kLeastShared = std::size_t{1}
                                     << 14;  // reductions side by side; bytes of what they read
constexpr std::size_t kMostEpilogueRoots = 4, kMostEpilogueArrays = 3;

/// Groups under construction, joined along edges. Each root has a number, in program order, which
/// is also that of the group it begins as. `chosen` says what is inlined and which constants are
/// numbers.
class Grouping {
 public:
  Grouping(const ir::Block& block, const Uses& uses, const Fusion& chosen, const Moves& moves,
           const pass::ConsumedArrays& taken, FusionMode mode)
      : chosen_(chosen),
        inlined_(chosen.inlined),
        uses_(uses),
        taken_(taken),
        mode_(mode),
        weights_(inlined_flops(block, inlined_)) {
    const std::unordered_set<const Op*> moved = ops_moved_by_gemms(block, moves);
    for (const auto& op : block.ops()) {
      if (lies_in_memory(*op) || (is_elemental(*op) && inlined_.count(op->result())) ||
          moved.count(op.get()))
        continue;
      add(*op);
      if (auto found = moves.find(op.get()); found != moves.end()) add_moves(found->second);
    }
    seen_.assign(nodes_.size(), 0);
    for (std::size_t c = 0; c < nodes_.size(); ++c)
      for (int p : producers(static_cast<int>(c))) node(p).consumers.push_back(static_cast<int>(c));
  }

  /// Sweeps over the groups in order until nothing joins. A pair that did not join will not, unless
  /// one of the two grows: a group is looked at again only then, so that the sweeps together cost
  /// about what the edges do.
  void join_all() {
    std::vector<char> look(nodes_.size(), 1);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!look[i]) continue;
        look[i] = 0;
        const int c = static_cast<int>(i);
        if (find(c) != c) continue;
        for (int p : producers(c))
          if (try_join(p, c)) {
            changed = true;
            look[i] = 1;
            for (int reader : node(c).consumers) look[static_cast<std::size_t>(find(reader))] = 1;
            break;
          }
      }
    }
  }

  /// What follows a product element by element is computed by its kernel.
  void join_epilogues() {
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      for (int p = static_cast<int>(i);
           node(p).merged_into == p && node(p).group.kind == GroupKind::gemm;) {
        const int joined = join_epilogue(p);
        if (joined < 0) break;
        p = joined;
      }
  }

  /// Groups that read the same large array, each element in its own place, read it once; those that
  /// make results of the block (new parameters, new moments) a smaller one, too.
  void join_readers() {
    std::unordered_map<const Value*, int> last;  // the last root so far that reads it
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const int r = static_cast<int>(i);
      if (!node(find(r)).joinable) continue;
      const std::size_t least = uses_.makes_result(*root(r).op) ? kLeastShared : kBeyondThreadCache;
      for (const Access& a : root(r).reads) {
        if (a.kind != Access::Kind::same || a.value->type().bytes() < least) continue;
        auto [before, is_first] = last.try_emplace(a.value, r);
        if (is_first) continue;
        int p = find(before->second), c = find(r);
        if (node(p).place > node(c).place) std::swap(p, c);
        if (p != c && are_alike(node(p).group, node(c).group)) try_join(p, c);
        before->second = r;
      }
    }
  }

  /// Reductions that stand alone, over the same dimensions of arrays of one shape, read once what
  /// they both read in the same place (the moments of a batch norm; its gradients by scale and
  /// shift).
  void join_reductions() {
    std::unordered_map<const Value*, std::vector<int>> readers;  // the last roots so far
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const int r = static_cast<int>(i);
      if (!stands_alone(r)) continue;
      for (const Access& a : root(r).reads) {
        if (a.kind != Access::Kind::same || a.value->type().bytes() < kLeastShared) continue;
        std::vector<int>& before = readers[a.value];
        for (int other : before)
          if (join_beside(find(other), find(r))) break;
        if (before.size() == kMostBeside) before.erase(before.begin());
        before.push_back(r);
      }
    }
  }

  /// The groups in an order in which they can run: always the one that ends first in the program
  /// among those that can.
  std::vector<Group> finish() {
    std::vector<int> waits(nodes_.size(), 0);  // for how many groups
    std::vector<std::vector<int>> readers(nodes_.size());
    std::priority_queue<std::pair<int, int>, std::vector<std::pair<int, int>>, std::greater<>>
        ready;
    std::size_t live = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const int g = static_cast<int>(i);
      if (find(g) != g) continue;
      ++live;
      for (int p : producers(g)) {
        readers[static_cast<std::size_t>(p)].push_back(g);
        ++waits[i];
      }
      if (waits[i] == 0) ready.emplace(node(g).roots.back(), g);
    }
    note_readers();
    done_.assign(nodes_.size(), 0);
    std::vector<Group> out;
    while (!ready.empty()) {
      const int g = ready.top().second;
      ready.pop();
      find_outputs(g);
      find_own_reads(g);
      find_beside(g);
      done_[static_cast<std::size_t>(g)] = 1;
      out.push_back(std::move(node(g).group));
      for (int r : readers[static_cast<std::size_t>(g)])
        if (--waits[static_cast<std::size_t>(r)] == 0) ready.emplace(node(r).roots.back(), r);
    }
    STRATA_CHECK(out.size() == live, "the groups wait for each other");
    return out;
  }

 private:
  struct Root {
    const Op* op;
    std::vector<Access> reads;
    std::vector<int> after;  // roots that come before, though it reads nothing of theirs: of an
                             // operation with an effect the one before, of one that takes an array
                             // those that read it
  };
  struct Node {
    Group group;
    std::vector<int> roots;  // numbers of group.roots, ascending
    std::vector<int>
        consumers;      // groups that read it: as they were when they began, some several times
    double weight = 0;  // of what the roots compute, what is inlined included
    bool joinable = false;
    int merged_into;
    int place;  // in an order in which each group comes after what it needs, kept as groups join
  };
  Node& node(int g) { return nodes_[static_cast<std::size_t>(g)]; }
  const Node& node(int g) const { return nodes_[static_cast<std::size_t>(g)]; }
  const Root& root(int r) const { return roots_[static_cast<std::size_t>(r)]; }

  void add(const Op& op) {
    const int number = static_cast<int>(nodes_.size());
    Group g;
    g.roots = {&op};
    std::vector<Access> reads;
    bool joinable = false;
    if (is_elemental(op) || op::is_interleaving(op)) {
      g.total = count(op.result());
      joinable = g.total > 0;
      reads = accesses(op, chosen_);
    } else if (is_reduction(op)) {
      const op::Reduction reduction = reduction_of(op);
      g.total = count(op.operand(0));
      std::int64_t rows = count(op.result());
      bool trailing = reduces_trailing(op.operand(0)->shape(), reduction.dims);
      const std::int64_t length = g.total / std::max<std::int64_t>(1, rows);
      bool split = rows < kSplitRows && length >= (rows < kFewRows ? kSplitFew : kSplitLength);
      bool along_memory = op::reduce_order(op.operand(0)->type(), reduction.dims).lanes > 1;
      bool plain = reduction.combiner != op::Combiner::region;
      joinable =
          plain && along_memory && trailing && !split && g.total > 0 && rows > 0 && rows < g.total;
      // Long rows across memory are reduced by lines, and neither brought together nor read again
      // element by element.
      if (joinable && !TransposedRows::fit(op.operand(0), g.total / rows) &&
          TransposedRows::are_strided(op.operand(0), g.total / rows, chosen_))
        joinable = false;
      if (joinable) g.rows = rows;
      reads = g.total > 0 ? accesses(op, chosen_) : tree_reads(op);
      for (const auto& region : op.regions)
        for (const Value* v : ir::captures(*region)) reads.push_back({Access::Kind::other, v});
    } else if (is_generated_gemm(op)) {
      g.kind = GroupKind::gemm;
      reads = tree_reads(op);
    } else if (is_update(op)) {
      g.kind = GroupKind::update;
      reads = tree_reads(op);
    } else {
      g.kind = GroupKind::custom;
      reads = tree_reads(op);
    }
    // What an index of its own range shows to be unread (a branch never taken there) may be read
    // after all where the kernel knows less, so that it has to be there; constants are.
    std::unordered_set<const Value*> known;
    for (const Access& a : reads) known.insert(a.value);
    for (const Value* v : read_through(op, inlined_))
      if (!known.count(v) && !(v->op() && (lies_in_memory(*v->op()) || constant_literal(*v->op()))))
        reads.push_back({Access::Kind::other, v});
    for (const Access& a : reads) {
      g.flat &= a.kind == Access::Kind::same || a.kind == Access::Kind::scalar;
      g.linear &= a.kind == Access::Kind::same || a.kind == Access::Kind::scalar ||
                  a.kind == Access::Kind::fixed;
    }
    joinable &= mode_ == FusionMode::full || !is_small(op);
    Root r{&op, std::move(reads), {}};
    if (op::has_effect(op)) {
      if (last_effect_ >= 0) r.after.push_back(last_effect_);
      last_effect_ = number;
    }
    for (const Value* v : taken_.of(op))
      for (int reader : readers_[v]) r.after.push_back(reader);
    for (const Access& a : r.reads)
      if (taken_.has(a.value)) readers_[a.value].push_back(number);
    for (const Value* v : op.results()) made_by_[v] = number;
    roots_.push_back(std::move(r));
    nodes_.push_back({std::move(g),
                      {number},
                      {},
                      op.num_results() ? weights_.at(op.result()) : 1,
                      joinable,
                      number,
                      number});
  }

  /// Whether an operation is no root because its result is not computed: a constant, or a slice of
  /// an argument.
  bool lies_in_memory(const Op& op) const {
    return is_stored_constant(op) ||
           (op.num_results() == 1 &&
            (chosen_.runtime_constants.count(op.result()) || chosen_.slices.count(op.result())));
  }

  /// The group added last, a product, does `moves` too.
  void add_moves(const std::vector<const Op*>& moves) {
    int number = static_cast<int>(nodes_.size()) - 1;
    for (const Op* op : moves) {
      nodes_.back().group.roots.push_back(op);
      made_by_[op->result()] = number;
    }
  }

  std::vector<Access> tree_reads(const Op& op) {
    std::vector<Access> out;
    for (const Value* v : read_through(op, inlined_)) out.push_back({Access::Kind::other, v});
    return out;
  }

  int find(int g) {
    while (node(g).merged_into != g)
      g = node(g).merged_into = node(node(g).merged_into).merged_into;
    return g;
  }
  int maker(const Value* v) {
    auto it = made_by_.find(v);
    return it == made_by_.end() ? -1 : find(it->second);
  }
  /// Groups whose values this one reads, in order, each once; and the one whose effect comes before
  /// this one's.
  std::vector<int> producers(int c) {
    std::vector<int> out;
    ++turn_;
    seen_[static_cast<std::size_t>(c)] = turn_;
    auto add = [&](int p) {
      if (p < 0 || seen_[static_cast<std::size_t>(p)] == turn_) return;
      seen_[static_cast<std::size_t>(p)] = turn_;
      out.push_back(p);
    };
    for (int r : node(c).roots) {
      for (int before : root(r).after) add(find(before));
      for (const Access& a : root(r).reads) add(maker(a.value));
    }
    return out;
  }

  /// What has to move in the order when p is joined to c: what c needs and what needs p, between
  /// the two.
  struct Between {
    std::vector<int> before, after;
  };
  /// Nothing where c depends on p through a third group, or where it would take long to find out.
  std::optional<Between> between(int p, int c) {
    Between out;
    std::unordered_set<int> reached;
    bool circle = false;
    auto need = [&](int g) {
      for (int q : producers(g)) {
        if (q == p ? g != c : node(q).place > node(p).place && reached.insert(q).second) {
          circle |= q == p;
          out.before.push_back(q);
        }
      }
    };
    need(c);
    for (std::size_t i = 0; i < out.before.size() && !circle; ++i) {
      if (out.before.size() > kMostReached) return std::nullopt;
      need(out.before[i]);
    }
    if (circle) return std::nullopt;
    int end = node(p).place;
    for (int g : out.before) end = std::max(end, node(g).place);
    auto readers = [&](int g) {
      for (int reader : node(g).consumers)
        if (int q = find(reader); q != g && node(q).place < end && reached.insert(q).second)
          out.after.push_back(q);
    };
    if (!out.before.empty()) readers(p);
    for (std::size_t i = 0; i < out.after.size(); ++i) {
      if (out.after.size() > kMostReached) return std::nullopt;
      readers(out.after[i]);
    }
    return out;
  }
  /// Gives what c needs, then c, then what needs p the places that these and p had.
  void reorder(int p, int c, Between& moved) {
    auto by_place = [&](int a, int b) { return node(a).place < node(b).place; };
    std::sort(moved.before.begin(), moved.before.end(), by_place);
    std::sort(moved.after.begin(), moved.after.end(), by_place);
    std::vector<int> order = moved.before, places{node(p).place};
    order.push_back(c);
    order.insert(order.end(), moved.after.begin(), moved.after.end());
    for (int g : order)
      if (g != c) places.push_back(node(g).place);
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < order.size(); ++i) node(order[i]).place = places[i];
  }

  /// Whether groups run over the same elements in the same order, whatever they read.
  static bool are_alike(const Group& p, const Group& c) {
    return p.total == c.total && (p.rows == c.rows || p.rows == 0 || c.rows == 0) &&
           (p.rows || p.flat) && (c.rows || c.flat);
  }

  static bool is_full(const Op& op, std::int64_t total) {
    return (is_reduction(op) ? count(op.operand(0)) : count(op.result())) == total;
  }

  bool try_join(int p, int c) {
    Node &from = node(p), &into = node(c);
    const Group &P = from.group, &C = into.group;
    if (!from.joinable || !into.joinable) return false;
    if (P.roots.size() + C.roots.size() > kMostRoots || from.weight + into.weight > kMostGroup)
      return false;
    std::int64_t total = 0, rows = 0;
    if (P.total == C.total) {
      if (P.rows && C.rows && P.rows != C.rows) return false;
      total = P.total;
      rows = std::max(P.rows, C.rows);
    } else if (P.rows == 0 && P.total < C.total &&
               (P.total > 1 ? C.rows == 0 || C.rows == P.total : C.rows == 1)) {
      total = C.total;  // P makes one value per row of C; a scalar alone is no reason to make
                        // everything one row
      rows = P.total;
    } else if (C.rows == 0 && P.rows == C.total) {
      total = P.total;  // C works on P's row results
      rows = P.rows;
    } else {
      return false;
    }
    if (rows && (total % rows != 0 || total / rows < 2)) return false;
    if (rows && P.rows == 0 && C.rows == 0 &&
        TransposedRows::too_long(C.roots, total, total / rows, chosen_))
      return false;  // a map by tiles
    for (int r : into.roots)
      for (const Access& a : root(r).reads) {
        if (maker(a.value) != p) continue;
        bool full_reader = is_full(*root(r).op, total), full_value = count(a.value) == total;
        if (full_reader == full_value
                ? a.kind != Access::Kind::same &&
                      !(count(a.value) == 1 && a.kind == Access::Kind::scalar && rows == 1)
                : !(full_reader && count(a.value) == rows &&
                    (a.kind == Access::Kind::leading ||
                     (rows == 1 && a.kind == Access::Kind::scalar))))
          return false;
      }
    std::optional<Between> moved = between(p, c);
    if (!moved) return false;
    reorder(p, c, *moved);
    Group joined;
    joined.total = total;
    joined.rows = rows;
    joined.flat = P.flat && C.flat && rows == 0;
    joined.linear = P.linear && C.linear && rows == 0;
    merge_nodes(p, c);
    for (int r : into.roots) joined.roots.push_back(root(r).op);
    into.group = std::move(joined);
    return true;
  }

  /// Whether a root is a reduction that no loops are joined with, of which several can be one
  /// kernel.
  bool stands_alone(int r) const {
    const Op& op = *root(r).op;
    return is_reduction(op) && !node(r).joinable &&
           reduction_of(op).combiner != op::Combiner::region && node(r).group.total > 0 &&
           (mode_ == FusionMode::full || !is_small(op));
  }
  bool are_alike(const Node& p, const Node& c) const {
    return std::all_of(p.roots.begin(), p.roots.end(), [&](int x) {
      return std::all_of(c.roots.begin(), c.roots.end(),
                         [&](int y) { return reduce_alike(*root(x).op, *root(y).op); });
    });
  }

  /// Joins groups of reductions, all of them alike, unless one depends on the other.
  bool join_beside(int p, int c) {
    if (p == c) return true;
    if (node(p).place > node(c).place) std::swap(p, c);
    Node &from = node(p), &into = node(c);
    if (from.roots.size() + into.roots.size() > kMostBeside ||
        from.weight + into.weight > kMostGroup || !are_alike(from, into))
      return false;
    const std::vector<int> needed = producers(c);
    if (std::find(needed.begin(), needed.end(), p) != needed.end()) return false;
    std::optional<Between> moved = between(p, c);
    if (!moved) return false;
    reorder(p, c, *moved);
    Group joined;
    joined.total = into.group.total;
    joined.flat = from.group.flat && into.group.flat;
    joined.linear = from.group.linear && into.group.linear;
    merge_nodes(p, c);
    for (int r : into.roots) joined.roots.push_back(root(r).op);
    into.group = std::move(joined);
    return true;
  }

  /// Joins product p with the first of its readers that may be its epilogue; the group they become,
  /// or -1.
  int join_epilogue(int p) {
    std::vector<int> readers;
    for (int r : node(p).consumers) readers.push_back(find(r));
    std::sort(readers.begin(), readers.end());
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    for (int c : readers) {
      if (c == p || !may_follow(p, c)) continue;
      std::optional<Between> moved = between(p, c);
      if (!moved) continue;
      reorder(p, c, *moved);
      Node &from = node(p), &into = node(c);
      Group joined = std::move(from.group);
      joined.flat = into.group.flat && (joined.epilogue == 0 || joined.flat);
      joined.epilogue += into.group.roots.size();
      joined.epilogue_flops += into.weight;
      joined.roots.insert(joined.roots.end(), into.group.roots.begin(), into.group.roots.end());
      into.group = std::move(joined);
      merge_nodes(p, c);
      into.joinable = false;
      return c;
    }
    return -1;
  }

  /// Whether loops c compute, element by element where product p stores them, from p's results and
  /// little else.
  bool may_follow(int p, int c) {
    const Group &P = node(p).group, &C = node(c).group;
    const Value* value = P.gemm_value();
    if (C.kind != GroupKind::loops || !node(c).joinable || C.rows != 0 || C.total != count(value) ||
        is_complex(value->dtype()))
      return false;
    const double flops = P.epilogue_flops + node(c).weight;
    if (P.epilogue + C.roots.size() > kMostEpilogueRoots || flops > kMostEpilogue ||
        !fuses_epilogue(*P.roots.front(), flops))
      return false;
    std::unordered_set<const Value*> arrays;
    for (int r : node(c).roots) {
      const Op& op = *root(r).op;
      if (!is_elemental(op) || !root(r).after.empty()) return false;
      for (const Value* v : op.results())
        if (count(v) != C.total || is_complex(v->dtype())) return false;
      for (const Access& a : root(r).reads) {
        const int made = maker(a.value);
        if (made == p || made == c) {
          if (a.kind != Access::Kind::same) return false;
          continue;
        }
        if (a.kind != Access::Kind::scalar && a.kind != Access::Kind::fixed && !a.contiguous)
          return false;
        if (4 * count(a.value) > C.total) arrays.insert(a.value);
      }
    }
    return arrays.size() <= kMostEpilogueArrays;
  }

  /// Node p is part of c from now on.
  void merge_nodes(int p, int c) {
    Node &from = node(p), &into = node(c);
    std::vector<int> numbers;
    std::merge(from.roots.begin(), from.roots.end(), into.roots.begin(), into.roots.end(),
               std::back_inserter(numbers));
    into.roots = std::move(numbers);
    into.weight += from.weight;
    if (from.consumers.size() > into.consumers.size()) from.consumers.swap(into.consumers);
    into.consumers.insert(into.consumers.end(), from.consumers.begin(), from.consumers.end());
    from = {{}, {}, {}, 0, false, c, -1};
  }

  /// Which values are read by a group that does not make them.
  void note_readers() {
    for (std::size_t r = 0; r < roots_.size(); ++r)
      for (const Access& a : roots_[r].reads)
        if (int m = maker(a.value); m >= 0 && m != find(static_cast<int>(r)))
          read_elsewhere_.insert(a.value);
  }

  void find_outputs(int number) {
    Group& g = node(number).group;
    if (g.kind == GroupKind::gemm && g.epilogue == 0) return g.outputs.push_back(g.gemm_value());
    if (g.kind == GroupKind::gemm)
      if (const Value* v = g.gemm_value();
          uses_.stored.count(v) != 0 || read_elsewhere_.count(v) != 0)
        g.outputs.push_back(v);
    for (const Op* op :
         g.kind == GroupKind::gemm ? g.epilogue_roots() : std::span<const Op* const>(g.roots)) {
      bool needed = g.kind != GroupKind::loops && g.kind != GroupKind::gemm;
      for (const Value* v : op->results())
        needed |= uses_.stored.count(v) != 0 || read_elsewhere_.count(v) != 0;
      if (!needed) continue;  // all results of an operation are written, or none
      for (const Value* v : op->results()) g.outputs.push_back(v);
    }
  }

  void find_own_reads(int number) {
    Group& g = node(number).group;
    if (g.kind != GroupKind::loops || g.rows != 0) return;
    std::unordered_map<const Value*, std::pair<int, bool>>
        reads;  // by how many roots, and whether all in their own place
    std::vector<std::pair<const Value*, const Op*>> found;
    for (int r : node(number).roots) {
      std::unordered_set<const Value*> seen;
      for (const Access& a : root(r).reads) {
        auto& [roots, own] = reads.try_emplace(a.value, 0, true).first->second;
        own &= a.kind == Access::Kind::same;
        if (!seen.insert(a.value).second) continue;
        ++roots;
        found.emplace_back(a.value, root(r).op);
      }
    }
    std::erase_if(found,
                  [&](const auto& read) { return reads.at(read.first) != std::pair(1, true); });
    g.own_reads = std::move(found);
  }

  /// Whether a value is made before the group that comes next in the order.
  bool is_there(const Value* v) {
    const int made = maker(v);
    return made >= 0 ? done_[static_cast<std::size_t>(made)] != 0 : !v->op();
  }

  /// Large arrays that loops which read the product's results read in the same place.
  void find_beside(int number) {
    Group& g = node(number).group;
    if (g.kind != GroupKind::gemm) return;
    auto is_full = [&](const Access& a) {
      return a.kind == Access::Kind::same && count(a.value) == count(g.gemm_value());
    };
    for (int r : node(number).consumers) {
      const int reader = find(r);
      if (reader == number || node(reader).group.kind != GroupKind::loops) continue;
      std::vector<Access> reads;
      for (int i : node(reader).roots)
        std::copy_if(root(i).reads.begin(), root(i).reads.end(), std::back_inserter(reads),
                     is_full);
      if (std::none_of(reads.begin(), reads.end(),
                       [&](const Access& a) { return maker(a.value) == number; }))
        continue;
      for (const Access& a : reads)
        if (is_there(a.value) && a.value->type().bytes() >= kBeyondL2 &&
            std::find(g.co_reads.begin(), g.co_reads.end(), a.value) == g.co_reads.end())
          g.co_reads.push_back(a.value);
    }
  }

  const Fusion& chosen_;
  const std::unordered_set<const Value*>& inlined_;
  const Uses& uses_;
  const pass::ConsumedArrays& taken_;
  FusionMode mode_;
  std::unordered_map<const Value*, double> weights_;
  std::vector<Root> roots_;
  std::vector<Node> nodes_;
  int last_effect_ = -1;  // the last operation with an effect so far
  std::unordered_map<const Value*, std::vector<int>> readers_;  // of arrays that are taken, so far
                                                                // (lookup only)
  std::unordered_map<const Value*, int> made_by_;
  std::unordered_set<const Value*> read_elsewhere_;
  std::vector<char> done_;  // by finish(): groups that are in the order
  std::vector<int> seen_;   // by producers(): in which turn
  int turn_ = 0;
};

}  // namespace

Fusion fuse(const ir::Block& block, FusionMode mode) {
  Stage stage("  fuse");
  const Uses uses(block);
  const pass::ConsumedArrays taken(block);
  Moves moves = output_moves_of_gemms(block, uses);
  Fusion out;
  {
    Stage chooses("    inline");
    out.inlined = choose_inlined(block, uses, ops_moved_by_gemms(block, moves), taken, mode);
    if (mode == FusionMode::separate_small)
      out.runtime_constants = find_runtime_constants(block, uses);
    for (const Value* v : out.runtime_constants) out.inlined.erase(v);
    out.slices = slices_of_arguments(block, uses, out);
    for (const auto& [v, slice] : out.slices) out.inlined.erase(v);
  }
  {
    Stage groups("    group");
    Grouping grouping(block, uses, out, moves, taken, mode);
    grouping.join_all();
    grouping.join_epilogues();
    grouping.join_readers();
    grouping.join_all();
    grouping.join_reductions();
    out.groups = grouping.finish();
  }
  out.streaming_results = find_streaming_results(block, out);
  for (const auto& op : block.ops())
    if (is_stored_constant(*op) ||
        (constant_literal(*op) &&
         (out.runtime_constants.count(op->result()) ||
          (out.inlined.count(op->result()) && uses.stored.count(op->result())))))
      out.constants.push_back(op->result());
  return out;
}

}  // namespace strata::compile
