#include "strata/partition/propagate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <unordered_map>

#include "strata/base/check.h"
#include "strata/base/error.h"
#include "strata/op/build.h"
#include "strata/partition/data_flow.h"
#include "strata/partition/rule.h"

namespace strata::spmd {
namespace {

using ir::Block;
using ir::Op;
using ir::Value;

constexpr const char* kAttr = "sdy.sharding";
constexpr int kOpPriorities = 5;

Direction any_of(Direction a, Direction b) {
  return static_cast<Direction>(static_cast<int>(a) | static_cast<int>(b));
}

bool is_shardable(const Value* v) { return v->type().is_tensor() && v->shape().is_static(); }

bool is_annotation(const Op& op) {
  return op.name() == "sdy.sharding_constraint" || op.name() == "sdy.reshard";
}

class Propagator {
 public:
  Propagator(const ir::Function& f, const Meshes& meshes, Shardings& s,
             const PropagationOptions& options)
      : f_(f), meshes_(meshes), s_(s), options_(options), flow_(f.body) {
    collect(f.body);
    for (const Edge& e : flow_.edges) {
      if (e.after->name() == "sdy.manual_computation") manual_edges_[e.owner] = e.after;
      for (std::size_t i = 0; i < e.sources.size(); ++i)
        edge_users_[e.sources[i]].push_back(static_cast<int>(&e - flow_.edges.data()));
    }
    s_.results.resize(f.body.results.size());
  }

  void run() {
    sync_groups();
    std::map<std::int64_t, std::vector<const Value*>> later_values;
    std::map<std::int64_t, std::vector<std::size_t>> later_results;
    Shardings original;
    if (options_.user_priorities) {
      original = s_;
      auto add = [&](const Sharding& s, auto&& note) {
        std::set<std::int64_t> seen;
        for (const DimSharding& d : s.dims)
          if (d.priority.value_or(0) > 0) seen.insert(*d.priority);
        for (std::int64_t p : seen) note(p);
      };
      for (const Value* v : all_values_) {
        auto it = s_.values.find(v);
        if (it == s_.values.end()) continue;
        add(it->second, [&](std::int64_t p) { later_values[p].push_back(v); });
        it->second = first_round(it->second);
      }
      for (std::size_t i = 0; i < s_.results.size(); ++i) {
        if (!s_.results[i]) continue;
        add(*s_.results[i], [&](std::int64_t p) { later_results[p].push_back(i); });
        s_.results[i] = first_round(*s_.results[i]);
      }
    }
    round();
    std::set<std::int64_t> priorities;
    for (const auto& [p, list] : later_values) priorities.insert(p);
    for (const auto& [p, list] : later_results) priorities.insert(p);
    for (std::int64_t p : priorities) {
      for (const Value* v : later_values[p])
        s_.values[v] = with_priority(s_.values[v], original.values.at(v), p);
      for (std::size_t i : later_results[p])
        s_.results[i] = with_priority(*s_.results[i], *original.results[i], p);
      round();
    }
  }

 private:
  // ---- the program -----------------------------------------------------------------------------

  /// Operations in their order, edges behind the operation (and its regions) that they belong to.
  struct Node {
    const Op* op = nullptr;
    const Edge* edge = nullptr;
    std::optional<Rule> rule = std::nullopt;
  };

  void note(const Value* v) { all_values_.push_back(v); }
  void collect(const Block& block, const Op* inside = nullptr) {
    for (const auto& a : block.arguments()) note(a.get());
    if (inside != nullptr)
      add_edges(*inside, [&](const Value* owner) {
        return owner->op() == nullptr && owner->block() == &block;
      });
    for (const auto& op : block.ops()) {
      Node node{.op = op.get(), .rule = rule_of(*op)};
      node_of_[op.get()] = static_cast<int>(nodes_.size());
      nodes_.push_back(std::move(node));
      std::set<const Value*> seen;
      for (const Value* v : op->operands) {
        ++uses_[v];
        if (seen.insert(v).second) users_[v].push_back(node_of_[op.get()]);
      }
      for (const Value* r : op->results()) note(r);
      if (op->name() == "sdy.sharding_group")
        groups_[op->attr<std::int64_t>("group_id")].push_back(op->operand(0));
      for (const auto& region : op->regions) collect(*region, op.get());
      add_edges(*op, [&](const Value* owner) { return owner->op() == op.get(); });
    }
    for (const Value* v : block.results) ++uses_[v];
  }
  template <class F>
  void add_edges(const Op& op, F&& belongs) {
    auto found = flow_.edges_after.find(&op);
    if (found == flow_.edges_after.end()) return;
    for (int i : found->second)
      if (belongs(flow_.edges[static_cast<std::size_t>(i)].owner))
        add_edge(static_cast<std::size_t>(i));
  }
  void add_edge(std::size_t i) {
    Node node{.edge = &flow_.edges[i]};
    const op::Factors& factors = flow_.edges[i].factors;
    node.rule = Rule{factors, std::vector<bool>(factors.kinds.size(), false)};
    edge_node_[&flow_.edges[i]] = static_cast<int>(nodes_.size());
    nodes_.push_back(std::move(node));
  }

  // ---- shardings of values
  // -----------------------------------------------------------------------

  /// Axes over which a body is written for one device, where `v` is an argument or a result of such
  /// a computation: inside they are not seen.
  SubAxes manual_axes(const Value* v) const {
    auto it = manual_edges_.find(v);
    if (it == manual_edges_.end()) return {};
    auto s = s_.values.find(v);
    const std::string* text = text_of(it->second->attrs, "manual_axes");
    if (s == s_.values.end() || text == nullptr) return {};
    const mesh::Mesh* mesh = meshes_.find(s->second.mesh);
    SubAxes out;
    for (const std::string& name : parse_manual_axes(*text))
      if (auto axis = mesh->abstract().find(name))
        out.push_back({static_cast<int>(*axis), 1, mesh->axes()[*axis].size});
    return out;
  }
  static bool is_among(const SubAxis& a, const SubAxes& all) {
    return std::any_of(all.begin(), all.end(), [&](const SubAxis& m) { return m.contains(a); });
  }

  /// A manual body's arguments are seen inside without the manual axes, its results outside with
  /// them.
  bool seen_inside(const Value* v, const Node& by) const {
    if (manual_edges_.count(v) == 0) return false;
    bool is_argument = v->op() == nullptr;
    bool is_its_edge = by.edge != nullptr && by.edge->owner == v;
    return is_argument ? !is_its_edge : is_its_edge;
  }

  std::optional<Sharding> get(const Value* v, const Node& by) const {
    v = flow_.owner(v);
    auto it = s_.values.find(v);
    if (it == s_.values.end()) return std::nullopt;
    if (!seen_inside(v, by)) return it->second;
    SubAxes manual = manual_axes(v);
    Sharding out = it->second;
    auto hide = [&](SubAxes& axes) {
      std::erase_if(axes, [&](const SubAxis& a) { return is_among(a, manual); });
    };
    for (DimSharding& d : out.dims) hide(d.axes);
    hide(out.replicated);
    hide(out.unreduced);
    return out;
  }
  void put(const Value* v, Sharding s, const Node& by) {
    v = flow_.owner(v);
    if (seen_inside(v, by)) {
      SubAxes manual = manual_axes(v);
      const Sharding& old = s_.values.at(v);
      for (std::size_t d = 0; d < s.dims.size(); ++d) {
        SubAxes all;
        for (const SubAxis& a : old.dims[d].axes)
          if (is_among(a, manual)) all.push_back(a);
        for (const SubAxis& a : s.dims[d].axes) all.push_back(a);
        s.dims[d].axes = std::move(all);
      }
      s.replicated = old.replicated;
      s.unreduced = old.unreduced;
    }
    s_.values[v] = std::move(s);
  }

  // ---- groups
  // ------------------------------------------------------------------------------------

  void sync_groups() {
    for (const auto& [id, members] : groups_) {
      std::optional<Sharding> common;
      for (const Value* v : members) {
        group_of_[v] = id;
        auto it = s_.values.find(v);
        if (it == s_.values.end() || (it->second.is_empty() && is_open(it->second)) || common)
          continue;
        common = it->second;
      }
      if (!common) continue;
      for (const Value* v : members) s_.values[v] = *common;
    }
  }
  static bool is_open(const Sharding& s) {
    return std::none_of(s.dims.begin(), s.dims.end(),
                        [](const DimSharding& d) { return d.is_closed; });
  }

  // ---- priorities of the user
  // --------------------------------------------------------------------

  /// Dimensions of later rounds begin empty and closed, their axes as replicated.
  static Sharding first_round(Sharding s) {
    for (DimSharding& d : s.dims) {
      if (d.priority.value_or(0) > 0) {
        s.replicated.insert(s.replicated.end(), d.axes.begin(), d.axes.end());
        d = {.is_closed = true};
      }
      d.priority.reset();
    }
    std::sort(s.replicated.begin(), s.replicated.end());
    return s;
  }
  static Sharding with_priority(Sharding s, const Sharding& original, std::int64_t priority) {
    SubAxes seen;
    for (std::size_t d = 0; d < s.dims.size(); ++d) {
      if (original.dims[d].priority.value_or(0) != priority) continue;
      s.dims[d] = original.dims[d];
      s.dims[d].priority.reset();
      seen.insert(seen.end(), s.dims[d].axes.begin(), s.dims[d].axes.end());
    }
    std::erase_if(s.replicated,
                  [&](const SubAxis& a) { return std::count(seen.begin(), seen.end(), a) > 0; });
    return s;
  }

  // ---- rounds
  // ------------------------------------------------------------------------------------

  void round() {
    for (int priority = options_.op_priorities ? 0 : kOpPriorities - 1; priority < kOpPriorities;
         ++priority)
      for (Strategy strategy : options_.strategies) fixpoint(priority, strategy);
  }

  void fixpoint(int priority, Strategy strategy) {
    results_of_function(strategy);
    std::vector<int> list;
    std::vector<bool> queued(nodes_.size(), true);
    for (int i = static_cast<int>(nodes_.size()); i-- > 0;) list.push_back(i);
    while (!list.empty()) {
      int at = list.back();
      list.pop_back();
      queued[static_cast<std::size_t>(at)] = false;
      visit(at, priority, strategy, [&](int other) {
        if (other == at || queued[static_cast<std::size_t>(other)]) return;
        queued[static_cast<std::size_t>(other)] = true;
        list.push_back(other);
      });
    }
    results_of_function(strategy);
  }

  Direction allowed(const Node& node, int f, int priority) const {
    if (node.op != nullptr && node.op->name() == "sdy.propagation_barrier") {
      const std::string& way = node.op->attr<std::string>("allowed_direction");
      return way == "FORWARD"    ? Direction::forward
             : way == "BACKWARD" ? Direction::backward
             : way == "BOTH"     ? Direction::both
                                 : Direction::none;
    }
    if (node.rule->blocked[static_cast<std::size_t>(f)]) return Direction::none;
    Direction out = Direction::none;
    for (int p = 0; p <= priority; ++p) out = any_of(out, of_priority(node, f, p));
    return out;
  }

  Direction of_priority(const Node& node, int f, int priority) const {
    bool is_broadcast = node.op != nullptr && node.op->name() == "stablehlo.broadcast_in_dim";
    switch (priority) {
      case 0:
      case 1: {
        Direction out = pass_through(node);
        return priority == 0 && has_shared_operand(node) ? Direction::none : out;
      }
      case 2:
        if (node.rule->factors.kinds[static_cast<std::size_t>(f)] != 'p') return Direction::none;
        return is_broadcast ? Direction::backward : Direction::both;
      case 3: return is_broadcast ? Direction::backward : Direction::both;
      default: return Direction::both;
    }
  }
  static Direction pass_through(const Node& node) {
    if (node.op == nullptr) return Direction::both;
    const std::string& name = node.op->name();
    if (op::def(*node.op).traits.elementwise || name == "stablehlo.custom_call" ||
        name == "stablehlo.reshape" || name == "stablehlo.transpose")
      return Direction::both;
    if (name == "stablehlo.dynamic_slice" || name == "stablehlo.dynamic_update_slice")
      return Direction::forward;
    return Direction::none;
  }
  /// An edge has one operand, its owner's value, which the owner is asked for.
  bool has_shared_operand(const Node& node) const {
    auto shared = [&](const Value* v) {
      auto it = uses_.find(v);
      return v->rank() > 0 && it != uses_.end() && it->second > 1;
    };
    if (node.edge != nullptr) return false;
    return std::any_of(node.op->operands.begin(), node.op->operands.end(), shared);
  }

  /// The mesh of all shardings there are; null when there is none or they differ.
  const std::string* common_mesh(const std::vector<std::optional<Sharding>>& all) const {
    const std::string* out = nullptr;
    for (const auto& s : all) {
      if (!s) continue;
      const mesh::Mesh* mesh = meshes_.find(s->mesh);
      if (mesh == nullptr || mesh->is_maximal()) return nullptr;
      if (mesh->is_placeholder()) continue;
      if (out == nullptr)
        out = &s->mesh;
      else if (*out != s->mesh && !(*meshes_.find(*out) == *mesh))
        return nullptr;
    }
    return out;
  }

  template <class Notify>
  void visit(int at, int priority, Strategy strategy, Notify&& notify) {
    const Node& node = nodes_[static_cast<std::size_t>(at)];
    if (!node.rule) return;
    std::vector<const Value*> values;
    if (node.edge != nullptr) {
      values = node.edge->sources;
      values.push_back(node.edge->owner);
    } else {
      values.assign(node.op->operands.begin(), node.op->operands.end());
      for (const Value* r : node.op->results()) values.push_back(r);
    }
    std::vector<std::optional<Sharding>> tensors;
    for (const Value* v : values) tensors.push_back(get(v, node));
    const std::string* found = common_mesh(tensors);
    if (found == nullptr) return;
    std::string mesh = *found;
    const std::vector<std::optional<Sharding>> before = tensors;
    bool elementwise = node.op != nullptr && op::def(*node.op).traits.elementwise;
    std::vector<bool> changed = spread(
        node.rule->factors, elementwise, strategy,
        [&](int f) { return allowed(node, f, priority); }, mesh, tensors);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!changed[i]) continue;
      put(values[i], *tensors[i], node);
      pass_origins(values, before, values[i], *tensors[i]);
      modified(flow_.owner(values[i]), notify);
      auto group = group_of_.find(values[i]);
      if (group == group_of_.end()) continue;
      for (const Value* member : groups_.at(group->second)) {
        if (member == values[i]) continue;
        put(member, *tensors[i], node);
        modified(flow_.owner(member), notify);
      }
    }
  }

  /// Axes that are new in a sharding came from the first tensor that had them.
  void pass_origins(const std::vector<const Value*>& values,
                    const std::vector<std::optional<Sharding>>& before, const Value* v,
                    const Sharding& now) {
    for (const DimSharding& d : now.dims)
      for (const SubAxis& a : d.axes)
        for (std::size_t i = 0; i < values.size(); ++i) {
          auto origin = s_.origins.find({flow_.owner(values[i]), a.axis});
          if (!before[i] || origin == s_.origins.end()) continue;
          std::string by = origin->second;
          s_.origins.try_emplace({flow_.owner(v), a.axis}, std::move(by));
          break;
        }
  }

  /// Puts what a value's sharding touches back on the list.
  template <class Notify>
  void modified(const Value* owner, Notify&& notify) {
    if (auto found = flow_.edge_of.find(owner); found != flow_.edge_of.end()) {
      const Edge& e = flow_.edges[static_cast<std::size_t>(found->second)];
      for (const Value* target : e.targets) notify_users(target, notify);
      notify(edge_node_.at(&e));
    }
    if (owner->op() != nullptr) notify(node_of_.at(owner->op()));
    notify_users(owner, notify);
  }
  template <class Notify>
  void notify_users(const Value* v, Notify&& notify) {
    if (auto it = edge_users_.find(v); it != edge_users_.end())
      for (int e : it->second) notify(edge_node_.at(&flow_.edges[static_cast<std::size_t>(e)]));
    if (auto it = users_.find(v); it != users_.end())
      for (auto user = it->second.rbegin(); user != it->second.rend(); ++user) notify(*user);
  }

  void results_of_function(Strategy strategy) {
    Node none;
    for (std::size_t i = 0; i < f_.body.results.size(); ++i) {
      const Value* v = f_.body.results[i];
      if (!is_shardable(v)) continue;
      op::Factors factors;
      std::vector<std::vector<int>> dims;
      for (int d = 0; d < v->rank(); ++d) {
        dims.push_back({d});
        factors.kinds += 'p';
        factors.sizes.push_back(v->shape()[d]);
      }
      factors.operands = {dims};
      factors.results = {dims};
      std::vector<std::optional<Sharding>> tensors{get(v, none), s_.results[i]};
      const std::string* found = common_mesh(tensors);
      if (found == nullptr) continue;
      std::string mesh = *found;
      std::vector<bool> changed =
          spread(factors, false, strategy, [](int) { return Direction::both; }, mesh, tensors);
      if (changed[0]) {
        put(v, *tensors[0], none);
        for (const DimSharding& d : tensors[0]->dims)
          for (const SubAxis& a : d.axes)
            s_.origins.try_emplace({flow_.owner(v), a.axis}, fmt::format("result {}", i));
      }
      if (changed[1]) s_.results[i] = tensors[1];
    }
  }

  const ir::Function& f_;
  const Meshes& meshes_;
  Shardings& s_;
  PropagationOptions options_;
  DataFlow flow_;
  std::vector<const Value*> all_values_;
  std::vector<Node> nodes_;
  // Looked up only.
  std::unordered_map<const Op*, int> node_of_;
  std::unordered_map<const Edge*, int> edge_node_;
  std::unordered_map<const Value*, std::vector<int>> users_, edge_users_;
  std::unordered_map<const Value*, int> uses_;
  std::unordered_map<const Value*, const Op*> manual_edges_;
  std::unordered_map<const Value*, std::int64_t> group_of_;
  std::map<std::int64_t, std::vector<const Value*>> groups_;
};

std::vector<Type> types_of(const auto& values) {
  std::vector<Type> out;
  for (const Value* v : values) out.push_back(v->type());
  return out;
}

}  // namespace

Shardings read_shardings(const ir::Function& f, Meshes& meshes) {
  Shardings out;
  auto annotated = [&](const Value* v, Sharding s, const std::string& who) {
    out.origins[{v, -1}] = who;
    for (const DimSharding& d : s.dims)
      for (const SubAxis& a : d.axes) out.origins[{v, a.axis}] = who;
    out.values[v] = std::move(s);
  };
  auto name_of = [](const Op& op) {
    return op.where.empty() ? op.name() : fmt::format("{} at {}", op.name(), op.where.text());
  };
  out.results.resize(f.body.results.size());
  for (std::size_t i = 0; i < f.arg_attrs.size(); ++i)
    if (const std::string* text = text_of(f.arg_attrs[i], kAttr)) {
      const Value* v = f.body.argument(static_cast<int>(i));
      annotated(v, parse_sharding(*text, v->type(), meshes), fmt::format("argument {}", i));
    }
  for (std::size_t i = 0; i < f.result_attrs.size() && i < out.results.size(); ++i)
    if (const std::string* text = text_of(f.result_attrs[i], kAttr))
      out.results[i] = parse_sharding(*text, f.body.results[i]->type(), meshes);
  ir::walk(f.body, [&](const Op& op) {
    if (is_annotation(op)) {
      if (const std::string* text = text_of(op.attrs, "sharding"))
        annotated(op.result(), parse_sharding(*text, op.result()->type(), meshes), name_of(op));
    } else if (op.name() == "sdy.manual_computation") {
      const Block& body = op.region(0);
      if (const std::string* text = text_of(op.attrs, "in_shardings")) {
        std::vector<Sharding> all = parse_shardings(*text, types_of(op.operands), meshes);
        for (std::size_t i = 0; i < all.size(); ++i)
          annotated(body.argument(static_cast<int>(i)), all[i], name_of(op));
      }
      if (const std::string* text = text_of(op.attrs, "out_shardings")) {
        std::vector<Sharding> all = parse_shardings(*text, types_of(op.results()), meshes);
        for (std::size_t i = 0; i < all.size(); ++i)
          annotated(op.result(static_cast<int>(i)), all[i], name_of(op));
      }
    } else if (const std::string* text = text_of(op.attrs, kAttr);
               text != nullptr && op.num_results() > 0) {
      std::vector<Sharding> all;
      if (text->find("sharding_per_value") != std::string::npos)
        all = parse_shardings(*text, types_of(op.results()), meshes);
      else
        all.assign(1, parse_sharding(*text, op.result()->type(), meshes));
      for (std::size_t i = 0; i < all.size(); ++i)
        annotated(op.result(static_cast<int>(i)), all[i], name_of(op));
    }
  });
  return out;
}

void apply_constraints(const ir::Function& f, Shardings& shardings) {
  struct Use {
    const Value* input;
    const Value* constrained;  // whose sharding it is
  };
  std::vector<Use> uses;
  std::unordered_map<const Value*, std::vector<const Value*>> of_input;
  ir::walk(f.body, [&](const Op& op) {
    if (op.name() == "sdy.sharding_constraint") uses.push_back({op.operand(0), op.result()});
    if (op.name() == "sdy.manual_computation")
      for (std::size_t i = 0; i < op.operands.size(); ++i)
        uses.push_back({op.operands[i], op.region(0).argument(static_cast<int>(i))});
  });
  for (const Use& u : uses) of_input[u.input].push_back(u.constrained);
  DataFlow flow(f.body);
  std::set<const Value*> carried;
  for (const Edge& e : flow.edges) carried.insert(e.owner);
  for (const Use& u : uses) {
    auto found = shardings.values.find(u.constrained);
    if (found == shardings.values.end() || !is_shardable(u.input)) continue;
    const Sharding s = found->second;
    bool differs =
        std::any_of(of_input[u.input].begin(), of_input[u.input].end(), [&](const Value* v) {
          auto other = shardings.values.find(v);
          return other == shardings.values.end() || other->second != s;
        });
    bool is_open = std::any_of(s.dims.begin(), s.dims.end(),
                               [](const DimSharding& d) { return !d.is_closed; });
    // What becomes addends here may be cut over these axes before.
    if (!s.unreduced.empty()) continue;
    if (differs || is_open || shardings.values.count(u.input) > 0 || carried.count(u.input) > 0 ||
        flow.owner_of.count(u.input) > 0)
      continue;
    shardings.values[u.input] = s;
    for (const DimSharding& d : s.dims)
      for (const SubAxis& a : d.axes)
        if (auto who = shardings.origins.find({u.constrained, a.axis});
            who != shardings.origins.end()) {
          std::string by = who->second;
          shardings.origins.try_emplace({u.input, a.axis}, std::move(by));
        }
  }
}

void propagate(const ir::Function& f, const Meshes& meshes, Shardings& shardings,
               const PropagationOptions& options) {
  Propagator(f, meshes, shardings, options).run();
}

void write_shardings(ir::Function& f, const Meshes& meshes, const Shardings& shardings) {
  auto text = [&](const Sharding& s) { return ir::Opaque{to_mesh(s, meshes).to_attribute()}; };
  auto find = [&](const Value* v) -> const Sharding* {
    auto it = shardings.values.find(v);
    return it == shardings.values.end() ? nullptr : &it->second;
  };
  f.arg_attrs.resize(static_cast<std::size_t>(f.body.num_arguments()));
  f.result_attrs.resize(f.body.results.size());
  for (int i = 0; i < f.body.num_arguments(); ++i)
    if (const Sharding* s = find(f.body.argument(i)))
      f.arg_attrs[static_cast<std::size_t>(i)].set(kAttr, text(*s));
  for (std::size_t i = 0; i < f.result_attrs.size(); ++i)
    if (i < shardings.results.size() && shardings.results[i])
      f.result_attrs[i].set(kAttr, text(*shardings.results[i]));
  auto write = [&](Op& op) {
    auto all = [&](const auto& values) {
      std::vector<mesh::TensorSharding> out;
      const Sharding* any = nullptr;
      for (const Value* v : values)
        if (any == nullptr) any = find(v);
      if (any == nullptr) return out;
      for (const Value* v : values) {
        const Sharding* s = find(v);
        auto rank = static_cast<std::size_t>(v->type().is_tensor() ? v->rank() : 0);
        Sharding open{any->mesh, std::vector<DimSharding>(rank)};
        out.push_back(to_mesh(s != nullptr ? *s : open, meshes));
      }
      return out;
    };
    if (is_annotation(op)) {
      if (const Sharding* s = find(op.result())) op.attrs.set("sharding", text(*s));
      return;
    }
    std::vector<mesh::TensorSharding> results = all(op.results());
    if (op.name() == "sdy.manual_computation") {
      std::vector<mesh::TensorSharding> operands = all(op.region(0).argument_values());
      if (!operands.empty())
        op.attrs.set("in_shardings", ir::Opaque{mesh::per_value_attribute(operands)});
      if (!results.empty())
        op.attrs.set("out_shardings", ir::Opaque{mesh::per_value_attribute(results)});
    } else if (!results.empty()) {
      op.attrs.set(kAttr, ir::Opaque{mesh::per_value_attribute(results)});
    }
  };
  std::function<void(Block&)> visit = [&](Block& block) {
    for (const auto& op : block.ops()) {
      write(*op);
      for (const auto& region : op->regions) visit(*region);
    }
  };
  visit(f.body);
}

}  // namespace strata::spmd
