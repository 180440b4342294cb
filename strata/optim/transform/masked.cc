#include "strata/optim/transform/masked.h"

#include <set>

#include "strata/optim/registry.h"
#include "strata/optim/rule.h"

namespace strata::optim {

namespace {

/// The leaves of `all` in its order, with values of `some` where it has them.
Tree put_back(const Tree& all, const Tree& some) {
  return all.map([&](const tree::Entry& e, const Array& old) {
    const std::optional<std::size_t> at = some.find(e.name);
    return at ? some.value(*at) : old;
  });
}
/// The leaves of `t` that stand at the paths of `like`.
Tree only(const Tree& t, const Tree& like) {
  return t.filter(tree::where(
      [&](const tree::Entry& e, const Array&) { return like.contains(e.name); }, "paths"));
}

class Partition : public Rule {
 public:
  Partition(std::map<std::string, GradientTransformation> transforms, Labels labels)
      : transforms_(std::move(transforms)), labels_(std::move(labels)) {}
  std::string text() const override {
    std::string out = "partition(";
    for (const auto& [label, tx] : transforms_)
      out += (out.back() == '(' ? "" : ", ") + label + ": " + tx.text();
    return out + ")";
  }
  Needs needs() const override {
    Needs all;
    for (const auto& [label, tx] : transforms_) all = merged(all, tx.rule().needs());
    return all;
  }
  Tree init(const Tree& params) const override {
    check(params);
    std::vector<Tree> states;
    for (const auto& [label, tx] : transforms_)
      states.push_back(tx.init(params.filter(of(label))).below(place(label)));
    return tree::merge(states);
  }
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& state, const Tree* params,
                               const Extra& extra) const override {
    check(updates);
    Tree u = updates;
    std::vector<Tree> states;
    for (const auto& [label, tx] : transforms_) {
      const Tree mine = updates.filter(of(label));
      Extra inside = extra;
      if (extra.grad) inside.grad = only(*extra.grad, mine);
      Tree p;
      if (params) p = only(*params, mine);
      auto [next, after] = tx.update(mine, state.subtree(place(label)), params ? &p : nullptr,
                                     taken(inside, tx.rule().needs()));
      u = put_back(u, next);
      states.push_back(after.below(place(label)));
    }
    return {std::move(u), tree::merge(states)};
  }

 private:
  static std::string place(const std::string& label) {
    return "inner_states/" + label + "/inner_state";
  }
  tree::Filter of(const std::string& label) const {
    return tree::where(
        [this, label](const tree::Entry& e, const Array& x) { return labels_(e, x) == label; },
        "label " + label);
  }
  void check(const Tree& t) const {
    for (std::size_t i = 0; i < t.size(); ++i) {
      const std::string label = labels_(t.entry(i), t.value(i));
      if (transforms_.contains(label)) continue;
      std::string known;
      for (const auto& [name, tx] : transforms_) known += (known.empty() ? "" : ", ") + name;
      throw Error("partition", "the label {} of {} has no transformation; there are {}", label,
                  t.entry(i).name, known);
    }
  }
  std::map<std::string, GradientTransformation> transforms_;
  Labels labels_;
};

}  // namespace

tree::Filter of_rank(int axes) {
  return tree::where([axes](const tree::Entry&, const Array& x) { return x.ndim() >= axes; },
                     "leaves of " + std::to_string(axes) + " axes or more");
}

GradientTransformation masked(GradientTransformation inner, tree::Filter mask) {
  const Needs needs = inner.rule().needs();
  std::string text = "masked(" + inner.text() + ", " + mask.text() + ")";
  return detail::rule(
      std::move(text), needs,
      [=](const Tree& params) { return inner.init(params.filter(mask)).below("inner_state"); },
      [=](const Tree& u, const Tree& s, const Tree* params, const Extra& extra) {
        const Tree mine = u.filter(mask);
        Tree p;
        if (params) p = only(*params, mine);
        Extra inside = extra;
        if (extra.grad) inside.grad = only(*extra.grad, mine);
        auto [next, after] =
            inner.update(mine, s.subtree("inner_state"), params ? &p : nullptr, inside);
        return std::pair(put_back(u, next), after.below("inner_state"));
      });
}
GradientTransformation masked(GradientTransformation inner, const Mask& mask) {
  return mask ? masked(std::move(inner), *mask) : inner;
}

Labels labels_by_path(std::map<std::string, std::string> labels) {
  return [labels = std::move(labels)](const tree::Entry& e, const Array&) {
    std::string best, label;
    bool found = false;
    for (const auto& [path, value] : labels) {
      const bool fits = path.empty() || e.name == path || e.name.starts_with(path + "/");
      if (!fits || (found && path.size() < best.size())) continue;
      best = path;
      label = value;
      found = true;
    }
    if (!found) throw Error("labels_by_path", "no path of the labels leads to {}", e.name);
    return label;
  };
}
GradientTransformation partition(std::map<std::string, GradientTransformation> transforms,
                                 Labels labels) {
  return GradientTransformation(
      std::make_shared<Partition>(std::move(transforms), std::move(labels)));
}
GradientTransformation freeze(tree::Filter mask) { return masked(set_to_zero(), std::move(mask)); }
GradientTransformation selective_transform(GradientTransformation optimizer,
                                           tree::Filter freeze_mask) {
  return partition({{"train", std::move(optimizer)}, {"freeze", set_to_zero()}},
                   [mask = std::move(freeze_mask)](const tree::Entry& e, const Array& x) {
                     return mask(e, x) ? "freeze" : "train";
                   });
}

GradientTransformation groups(
    std::vector<std::pair<std::string, GradientTransformation>> patterns) {
  std::vector<tree::Filter> filters;
  std::map<std::string, GradientTransformation> transforms;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    std::vector<tree::Filter> any;
    std::string_view rest = patterns[i].first;
    while (true) {
      const std::size_t bar = rest.find('|');
      any.push_back(tree::path(std::string(rest.substr(0, bar))));
      if (bar == std::string_view::npos) break;
      rest.remove_prefix(bar + 1);
    }
    filters.push_back(tree::any(std::move(any)));
    transforms.emplace(std::to_string(i), patterns[i].second);
  }
  const auto place = [filters, patterns](const tree::Entry& e, const Array& x) {
    for (std::size_t i = 0; i < filters.size(); ++i)
      if (filters[i](e, x)) return i;
    throw Error("groups", "no pattern fits {}", e.name);
  };
  GradientTransformation parts = partition(
      std::move(transforms),
      [place](const tree::Entry& e, const Array& x) { return std::to_string(place(e, x)); });
  std::string text = "groups(";
  for (const auto& [pattern, tx] : patterns)
    text += (text.back() == '(' ? "" : ", ") + pattern + ": " + tx.text();
  return detail::rule(
      text + ")", parts.rule().needs(),
      [=](const Tree& params) {
        std::set<std::size_t> used;
        for (std::size_t i = 0; i < params.size(); ++i)
          used.insert(place(params.entry(i), params.value(i)));
        for (std::size_t i = 0; i < patterns.size(); ++i)
          if (!used.contains(i))
            throw Error("groups", "the pattern {} takes no leaf", patterns[i].first);
        return parts.init(params);
      },
      [=](const Tree& u, const Tree& s, const Tree* p, const Extra& e) {
        return parts.update(u, s, p, e);
      });
}

namespace {
GradientTransformation masked_by_name(GradientTransformation inner, tree::Filter mask) {
  return masked(std::move(inner), std::move(mask));
}
GradientTransformation partition_by_name(Option transforms, Option labels) {
  std::map<std::string, GradientTransformation> all;
  const Options* table = transforms.table();
  if (!table)
    throw Error("partition", "transforms is a table of labels, got {}", transforms.text());
  for (const auto& [label, tx] : *table) read(tx, "partition: transforms: " + label, all[label]);
  if (const auto* f = labels.object<Labels>()) return partition(std::move(all), *f);
  const Options* paths = labels.table();
  if (!paths) throw Error("partition", "param_labels is a table of paths, got {}", labels.text());
  std::map<std::string, std::string> by_path;
  for (const auto& [path, label] : *paths)
    read(label, "partition: param_labels: " + path, by_path[path]);
  return partition(std::move(all), labels_by_path(std::move(by_path)));
}
GradientTransformation groups_by_name(Option patterns) {
  std::vector<std::pair<std::string, GradientTransformation>> all;
  const auto* list = patterns.as<std::vector<Option>>();
  if (!list) throw Error("groups", "groups is a list of tables, got {}", patterns.text());
  for (const Option& one : *list) {
    const Options* table = one.table();
    if (!table || !table->contains("params"))
      throw Error("groups", "each group is a table with the key params, a pattern of paths");
    Options rest = *table;
    std::string pattern;
    read(rest["params"], "groups: params", pattern);
    rest.erase("params");
    GradientTransformation tx;
    read(Option(std::move(rest)), "groups: " + pattern, tx);
    all.emplace_back(std::move(pattern), std::move(tx));
  }
  return groups(std::move(all));
}
}  // namespace

namespace detail {
void add_masked(Rules& r) {
  r.add("masked", {"inner", "mask"}, &masked_by_name, "", "A transformation of some leaves.");
  r.add("partition", {"transforms", "param_labels"}, &partition_by_name, "",
        "Each leaf by the transformation of its label.");
  r.add("multi_transform", {"transforms", "param_labels"}, &partition_by_name, "",
        "Another name of partition.");
  r.add("groups", {"groups"}, &groups_by_name, "",
        "Each leaf by the first group whose pattern of paths fits.");
  r.add("freeze", {"mask"}, &freeze, "", "Zeros for some leaves.");
  r.add("selective_transform", {"optimizer", "freeze_mask"}, &selective_transform, "",
        "A transformation of all leaves but some, which stay.");
}
}  // namespace detail

}  // namespace strata::optim
