#include "strata/nn/sharding/sharding.h"

#include <algorithm>
#include <set>

namespace strata::nn {

namespace {
thread_local std::vector<AxisRule> rules_here;

std::string text_of(const std::vector<std::string>& axes) {
  std::string out;
  for (const std::string& axis : axes) out += (out.empty() ? "" : ", ") + axis;
  return axes.empty() ? "none" : out;
}
const AxisRule* find_rule(const std::string& name) {
  const auto it = std::find_if(rules_here.begin(), rules_here.end(),
                               [&](const AxisRule& r) { return r.logical == name; });
  return it == rules_here.end() ? nullptr : &*it;
}
}  // namespace

LogicalAxisRules::LogicalAxisRules(std::vector<AxisRule> rules) : before_(rules_here.size()) {
  for (AxisRule& rule : rules) {
    const AxisRule* other = find_rule(rule.logical);
    if (other && other->mesh != rule.mesh) {
      const std::string was = text_of(other->mesh);
      rules_here.resize(before_);
      throw Error("logical_axis_rules", "{} stands for {} and for {}", rule.logical, was,
                  text_of(rule.mesh));
    }
    if (!other) rules_here.push_back(std::move(rule));
  }
}
LogicalAxisRules::~LogicalAxisRules() { rules_here.resize(before_); }

const std::vector<AxisRule>& current_axis_rules() { return rules_here; }

PartitionSpec partition_spec(const Metadata& notes) {
  PartitionSpec out;
  for (const std::string& name : notes.out_sharding) {
    if (name.empty()) {
      out.emplace_back();
      continue;
    }
    const AxisRule* rule = find_rule(name);
    out.push_back(rule ? rule->mesh : std::vector<std::string>{name});
  }
  return out;
}

std::map<std::string, PartitionSpec> get_partition_spec(const tree::Tree& state) {
  std::map<std::string, PartitionSpec> out;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const tree::Entry& entry = state.entry(i);
    PartitionSpec spec = entry.metadata ? partition_spec(*entry.metadata) : PartitionSpec();
    const Array& value = state.value(i);
    if (value.has_value() && spec.size() > static_cast<std::size_t>(value.ndim()))
      throw Error("get_partition_spec", "{} is {} and has names for {} axes ({})", entry.name,
                  strata::internal::describe(value.type()), spec.size(),
                  text_of(entry.metadata->out_sharding));
    std::set<std::string> used;
    for (const auto& axes : spec)
      for (const std::string& axis : axes)
        if (!used.insert(axis).second)
          throw Error("get_partition_spec", "axis {} of the mesh cuts two dimensions of {} ({})",
                      axis, entry.name, text_of(entry.metadata->out_sharding));
    out.emplace(entry.name, std::move(spec));
  }
  return out;
}

std::map<std::string, NamedSharding> get_named_sharding(const tree::Tree& state, const Mesh& mesh) {
  std::vector<std::string> names;
  for (const auto& [axis, size] : mesh) names.push_back(axis);
  std::map<std::string, NamedSharding> out;
  for (const auto& [path, spec] : get_partition_spec(state)) {
    for (const std::vector<std::string>& axes : spec)
      for (const std::string& axis : axes)
        if (std::find(names.begin(), names.end(), axis) == names.end())
          throw Error("get_named_sharding",
                      "{} is cut along {}, which the mesh ({}) has not; LogicalAxisRules say what "
                      "logical names stand for",
                      path, axis, text_of(names));
    out.emplace(path, NamedSharding{mesh, spec});
  }
  return out;
}

namespace detail {

namespace {
/// The leaves that have axis names, with what f makes of these.
tree::Tree renamed(const tree::Tree& state,
                   const std::function<void(const tree::Entry&, std::vector<std::string>&)>& f) {
  return state
      .filter(tree::where([](const tree::Entry& e, const Array&) {
        return e.metadata && !e.metadata->out_sharding.empty();
      }))
      .with_metadata([&](const tree::Entry& entry) {
        Metadata notes = *entry.metadata;
        f(entry, notes.out_sharding);
        return std::make_shared<const Metadata>(std::move(notes));
      });
}
}  // namespace

tree::Tree add_axis(const tree::Tree& state, std::int64_t axis, const std::string& name) {
  return renamed(state, [&](const tree::Entry&, std::vector<std::string>& names) {
    const auto size = static_cast<std::int64_t>(names.size());
    const std::int64_t at = axis < 0 ? std::max<std::int64_t>(axis + size + 1, 0) : axis;
    if (at > size) names.resize(static_cast<std::size_t>(at));
    names.insert(names.begin() + at, name);
  });
}

tree::Tree remove_axis(const tree::Tree& state, std::int64_t axis, const std::string& name) {
  return renamed(state, [&](const tree::Entry& entry, std::vector<std::string>& names) {
    const auto size = static_cast<std::int64_t>(names.size());
    const std::int64_t at = axis < 0 ? axis + size : axis;
    if (at < 0 || at >= size || names[static_cast<std::size_t>(at)] != name)
      throw Error("remove_axis", "{} has the axes ({}), of which number {} is not {}", entry.name,
                  text_of(names), axis, name);
    names.erase(names.begin() + at);
  });
}

}  // namespace detail

}  // namespace strata::nn
