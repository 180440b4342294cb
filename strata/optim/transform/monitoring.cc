#include "strata/optim/transform/monitoring.h"

#include <algorithm>

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"
#include "strata/optim/rules/trace.h"

namespace strata::optim {

using detail::field;

namespace {
/// An array as a tree of one leaf.
Tree one(Array x) { return Tree({tree::Entry(tree::KeyPath())}, {std::move(x)}); }
}  // namespace

GradientTransformation snapshot(std::string measure_name, Measure measure) {
  const std::string place = "measurement/" + measure_name;
  return detail::rule(
      "snapshot(" + measure_name + ")",
      [=](const Tree& params) { return field(place, measure(params)); },
      [=](const Tree& u, const Tree&, const Tree*, const Extra&) {
        return std::pair(u, field(place, measure(u)));
      });
}
GradientTransformation measure_with_ema(Measure measure, Rate decay, bool debias,
                                        std::optional<DType> accumulator_dtype) {
  const GradientTransformation mean = ema(std::move(decay), debias, accumulator_dtype);
  return chain(stateless("measure()", [=](const Tree& u, const Tree*) { return one(measure(u)); }),
               detail::rule(
                   mean.text(), [=](const Tree& params) { return mean.init(one(measure(params))); },
                   [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
                     return mean.update(u, s, params, extra);
                   }));
}
Monitored::Monitored(std::string name_of, Measure f)
    : name(std::move(name_of)),
      measure(stateless("measure()",
                        [f = std::move(f)](const Tree& u, const Tree*) { return one(f(u)); })) {}

GradientTransformation monitor(std::vector<Monitored> measures) {
  std::string text = "monitor(";
  Needs needs;
  for (const Monitored& m : measures) {
    text += (text.back() == '(' ? "" : ", ") + m.name;
    needs = merged(needs, m.measure.rule().needs());
  }
  const auto place = [](std::size_t i) { return "measure_states/" + std::to_string(i); };
  return detail::rule(
      text + ")", needs,
      [=](const Tree& params) {
        std::vector<Tree> states;
        for (std::size_t i = 0; i < measures.size(); ++i)
          states.push_back(field(place(i), measures[i].measure.init(params)));
        return tree::merge(states);
      },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        std::map<std::string, Tree> found;
        std::vector<Tree> states;
        for (std::size_t i = 0; i < measures.size(); ++i) {
          auto [value, next] = measures[i].measure.update(
              u, s.subtree(place(i)), params, taken(extra, measures[i].measure.rule().needs()));
          found[measures[i].name] = value;
          states.push_back(field(place(i), next));
        }
        std::vector<Tree> all;
        for (const auto& [name, value] : found) all.push_back(field("measurements/" + name, value));
        all.insert(all.end(), states.begin(), states.end());
        return std::pair(u, tree::merge(all));
      });
}

namespace {
GradientTransformation monitor_by_name(Option measures) {
  std::vector<Monitored> all;
  const auto add = [&](const std::string& name, const Option& what) {
    if (const auto* f = what.object<Measure>()) {
      all.emplace_back(name, *f);
    } else {
      GradientTransformation tx;
      read(what, "monitor: measures: " + name, tx);
      all.emplace_back(name, std::move(tx));
    }
  };
  if (const Options* table = measures.table()) {
    for (const auto& [name, what] : *table) add(name, what);
  } else if (const auto* list = measures.as<std::vector<Option>>()) {
    for (const Option& pair : *list) {
      const auto* two = pair.as<std::vector<Option>>();
      if (!two || two->size() != 2)
        throw Error("monitor", "measures is a table, or a list of pairs of a name and a measure");
      std::string name;
      read((*two)[0], "monitor: measures", name);
      add(name, (*two)[1]);
    }
  } else {
    throw Error("monitor", "measures is a table, got {}", measures.text());
  }
  return monitor(std::move(all));
}
}  // namespace

namespace detail {
void add_monitoring(Rules& r) {
  r.add("snapshot", {"measure_name", "measure"}, &snapshot, "", "Keeps a measure of the updates.");
  r.add("measure_with_ema", {"measure", "decay", "debias=true", "accumulator_dtype="},
        &measure_with_ema, "", "The moving mean of a measure of the updates.");
  r.add("monitor", {"measures"}, &monitor_by_name, "", "Keeps several measures of the updates.");
}
}  // namespace detail

}  // namespace strata::optim
