#include "strata/train/config/optimizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "strata/api/random.h"
#include "strata/api/transform/jit.h"
#include "strata/base/text.h"
#include "strata/optim/contrib/matrices.h"
#include "strata/optim/rule.h"
#include "strata/optim/transform/clip.h"
#include "strata/train/config/learning_rate.h"
#include "strata/train/config/make_model.h"
#include "strata/train/config/options.h"
#include "strata/train/config/trainable.h"
#include "strata/train/step/rules.h"
#include "strata/train/step/spikes.h"
#include "strata/train/transfer.h"

namespace strata::train {
namespace {

using optim::Described;
using optim::GradientTransformation;

constexpr std::string_view kContrib = "contrib.";
/// They need what a step lacks: gradients of single examples, or a second set of weights.
constexpr std::string_view kNeedMore[] = {"contrib.dpsgd", "lookahead"};

/// Whether a rule moves weights by itself, or wraps one that does.
bool is_optimizer(const Described& d) {
  const std::string_view name = d.name;
  if (name.find("scale_by_") != std::string_view::npos || name.starts_with("experimental.") ||
      std::find(std::begin(kNeedMore), std::end(kNeedMore), name) != std::end(kNeedMore))
    return false;
  return std::any_of(d.parameters.begin(), d.parameters.end(), [](const optim::Parameter& p) {
    for (const char* one : {"learning_rate", "max_learning_rate", "inner", "opt", "optimizer",
                            "base_optimizer", "inner_factory", "transforms"})
      if (p.name == one) return true;
    return false;
  });
}
std::string_view short_name(std::string_view name) {
  return name.starts_with(kContrib) ? name.substr(kContrib.size()) : name;
}
/// The rule behind a value of opt_type; null for none.
const Described* described(std::string_view name) {
  for (const Described& d : optim::described_rules())
    if (short_name(d.name) == short_name(name) && is_optimizer(d)) return &d;
  return nullptr;
}

bool has(const Described& d, std::string_view parameter) {
  return std::any_of(d.parameters.begin(), d.parameters.end(),
                     [&](const optim::Parameter& p) { return p.name == parameter; });
}

// -- Rules -----------------------------------------------------------------------------------

/// One rule as it is described: of opt_type itself, or of a group.
struct RuleOptions {
  std::string type;
  Table options;
  double multiplier = 1;
  /// Where it stands, "optimizer" or "optimizer.groups.0.optimizer", and what chooses it.
  std::string prefix, what;
};

struct Rule {
  GradientTransformation transformation;
  bool in_f32 = true;
};

/// The trainer's AdamW, where nothing is asked of it that only Optax's has.
std::optional<Rule> own_adamw(const Config& c, const RuleOptions& d, const optim::Schedule& rate) {
  if (c.mu_dtype != "float32") return {};
  AdamWOptions o{c.adam_b1, c.adam_b2, c.adam_eps, c.adam_weight_decay, {}, c.adam_eps_root};
  if (!c.adamw_mask.empty()) o.mask = !by_patterns(c.adamw_mask);
  const std::pair<const char*, double*> numbers[] = {
      {"b1", &o.b1}, {"b2", &o.b2}, {"eps", &o.eps}, {"weight_decay", &o.weight_decay}};
  for (const auto& [key, value] : d.options.items()) {
    const auto* number = std::find_if(std::begin(numbers), std::end(numbers),
                                      [&](const auto& n) { return n.first == key; });
    if (number == std::end(numbers) || !value.is_number()) return {};
    *number->second = value.get<double>();
  }
  return Rule{adamw(rate, o), false};
}

/// Whether the keys adam_... are a rule's options.
bool has_adam_keys(std::string_view type) { return type == "adamw" || type == "adam_pax"; }

[[noreturn]] void refuse(const std::string& key, const Table& value, const std::string& allowed) {
  throw ConfigError(fmt::format("{}={}: allowed is {}", key, value.dump(), allowed));
}

std::vector<std::string> patterns_of(const Table& value, const std::string& key) {
  std::vector<std::string> out;
  if (value.is_string()) out.push_back(value.get<std::string>());
  if (value.is_array())
    for (const Table& one : value) {
      if (!one.is_string()) refuse(key, value, "a pattern of paths or a list of them");
      out.push_back(one.get<std::string>());
    }
  if (out.empty()) refuse(key, value, "a pattern of paths or a list of them");
  return out;
}

constexpr const char* kDimensions = "muon_weight_dimension_numbers";

/// The rows of muon's option of this name: the axes of weights that are matrices.
optim::contrib::DimensionsOf dimensions_of(const Table& rows, const std::string& prefix) {
  const std::string key = prefix + "." + kDimensions;
  const std::string allowed = "a list of {match: PATTERN, reduction_axis: [-2], output_axis: [-1]}";
  struct Row {
    tree::Filter which;
    optim::contrib::DimensionNumbers numbers;
  };
  if (!rows.is_array()) refuse(key, rows, allowed);
  std::vector<Row> out;
  for (const Table& row : rows) {
    if (!row.is_object() || !row.contains("match")) refuse(key, row, allowed);
    Row made{by_patterns(patterns_of(row["match"], key + ".match")), {{-2}, {-1}}};
    for (const auto& [name, value] : row.items()) {
      if (name == "match") continue;
      const bool whole = value.is_array() && !value.empty() &&
                         std::all_of(value.begin(), value.end(),
                                     [](const Table& n) { return n.is_number_integer(); });
      if ((name != "reduction_axis" && name != "output_axis") || !whole) refuse(key, row, allowed);
      (name == "reduction_axis" ? made.numbers.reduction_axis : made.numbers.output_axis) =
          value.get<std::vector<std::int64_t>>();
    }
    out.push_back(std::move(made));
  }
  return
      [rows = std::move(out)](const tree::Entry& e,
                              const Array& x) -> std::optional<optim::contrib::DimensionNumbers> {
        for (const Row& row : rows)
          if (row.which(e, x)) return row.numbers;
        return {};
      };
}

/// The options of a rule: those given, over the flat keys of AdamW.
optim::Options options_of(const Config& c, const RuleOptions& d, const optim::Option& rate) {
  const Described& rule = *described(d.type);
  optim::Options out = to_options(d.options, rate);
  if (has(rule, "learning_rate")) out.emplace("learning_rate", rate);
  if (has_adam_keys(d.type)) {
    out.emplace("b1", c.adam_b1);
    out.emplace("b2", c.adam_b2);
    out.emplace("eps", c.adam_eps);
    out.emplace("eps_root", c.adam_eps_root);
    out.emplace("weight_decay", c.adam_weight_decay);
    if (!c.adamw_mask.empty()) out.emplace("mask", !by_patterns(c.adamw_mask));
  }
  // Rules remember in f32 by themselves.
  if (c.mu_dtype != "float32" && (d.type == "adamw" || d.type == "muon"))
    out.emplace("mu_dtype", c.mu_dtype);
  if (const auto rows = d.options.find(kDimensions); rows != d.options.end())
    out.insert_or_assign(kDimensions, optim::Option::object(dimensions_of(*rows, d.prefix)));
  if (!has(rule, "inner_factory")) return out;
  // What makes a rule by its name takes the rate among that rule's arguments.
  const auto name = out.find("inner_factory");
  const auto* text = name == out.end() ? nullptr : name->second.as<std::string>();
  const Described* inner = text ? described(*text) : nullptr;
  if (!inner || !has(*inner, "learning_rate")) return out;
  optim::Options arguments;
  if (const auto given = out.find("arguments"); given != out.end() && given->second.table())
    arguments = *given->second.table();
  arguments.emplace("learning_rate", rate);
  out.insert_or_assign("arguments", std::move(arguments));
  return out;
}

/// A step of a rule on one weight, which shows what it refuses.
std::function<Array(const Array&)> step_of(const GradientTransformation& rule) {
  return [rule](const Array& w) {
    const tree::Tree p({{"w", w}});
    const auto loss = [](const tree::Tree& at) { return sum(at["w"] * at["w"]); };
    const optim::Extra extra{.value = loss(p), .grad = p, .value_fn = loss, .obj_fn = loss};
    return rule.update(p, rule.init(p), &p, optim::taken(extra, rule.rule().needs())).first["w"];
  };
}

Rule make_rule(const Config& c, const RuleOptions& d) {
  optim::Schedule rate = make_schedule(c);
  if (d.multiplier != 1)
    rate = [rate, by = d.multiplier](const Array& count) { return by * rate(count); };
  if (d.type == "sgd" && d.options.empty()) return {sgd(rate), false};
  if (d.type == "adamw")
    if (auto own = own_adamw(c, d, rate)) return *own;
  const Described& described_rule = *described(d.type);
  const auto made = [&](const optim::Option& by) {
    GradientTransformation out = optim::make(described_rule.name, options_of(c, d, by));
    // Some rules read their rate as they begin, or as they step.
    if (has(described_rule, "learning_rate")) (void)eval_shape(step_of(out), zeros({2, 2}));
    return out;
  };
  try {
    return {made(rate)};
  } catch (const Error& e) {
    // Some take a number, and no schedule.
    const bool constant = c.lr_pieces.empty() && c.lr_schedule_type == "constant";
    std::optional<Rule> with_number;
    try {
      with_number = Rule{made(c.learning_rate * d.multiplier)};
    } catch (const Error&) {
    }
    if (!with_number) throw refusal_of_option(e, d.prefix, d.what, d.options);
    if (constant) return *with_number;
    throw ConfigError(fmt::format(
        "lr_schedule_type={}: {} takes no schedule; allowed is lr_schedule_type=constant",
        c.lr_schedule_type, d.what));
  }
}

void check_rule(const Config& c, const RuleOptions& d, const std::string& also = "") {
  const Described* rule = described(d.type);
  if (!rule) {
    const std::vector<std::string_view> names = optimizer_names();
    throw ConfigError(fmt::format("{}: allowed is {}{}", d.what, fmt::join(names, " or "),
                                  did_you_mean(d.type, names)));
  }
  std::vector<std::string_view> known = names_of(*rule);
  if (!also.empty()) known.push_back(also);
  check_options(d.prefix, d.what, d.options, known);
  RuleOptions plain = d;
  if (!also.empty()) plain.options.erase(also);
  Table complete = plain.options;
  complete["learning_rate"] = 0;
  check_complete(d.prefix, d.what, complete, *rule);
  (void)make_rule(c, plain);
}

// -- Groups ----------------------------------------------------------------------------------

struct Group {
  std::vector<std::string> patterns;
  bool frozen = false;
  RuleOptions rule;
  /// "optimizer.groups.0".
  std::string key;
};

RuleOptions base_rule(const Config& c) {
  RuleOptions out{c.opt_type, c.optimizer, 1, "optimizer", "opt_type=" + c.opt_type};
  out.options.erase("groups");
  out.options.erase("stored_as");
  out.options.erase("transfer");
  return out;
}

double number_of(const Table& value, const std::string& key, double most) {
  if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > most)
    refuse(key, value, fmt::format("a number from 0 to {:g}", most));
  return value.get<double>();
}

Group read_group(const Config& c, const Table& table, const std::string& key) {
  static const std::vector<std::string_view> kKeys = {"match",     "frozen",        "opt_type",
                                                      "optimizer", "lr_multiplier", "weight_decay"};
  if (!table.is_object()) refuse(key, table, "a table: {match: PATTERN, ...}");
  check_options(key, "a group", table, kKeys);
  if (!table.contains("match")) throw ConfigError(key + ": it needs match, a pattern of paths");
  Group out{patterns_of(table["match"], key + ".match"), false, base_rule(c), key};
  if (table.contains("frozen")) {
    if (!table["frozen"].is_boolean()) refuse(key + ".frozen", table["frozen"], "true or false");
    out.frozen = table["frozen"].get<bool>();
    if (out.frozen && table.size() > 2)
      throw ConfigError(key + ".frozen=true: allowed beside it is match alone");
  }
  if (table.contains("opt_type")) {
    if (!table["opt_type"].is_string())
      refuse(key + ".opt_type", table["opt_type"], "the name of an optimizer");
    const auto type = table["opt_type"].get<std::string>();
    if (short_name(type) != c.opt_type) out.rule.options = Table::object();
    out.rule.type = std::string(short_name(type));
    out.rule.what = fmt::format("{}.opt_type={}", key, type);
    out.rule.prefix = key + ".optimizer";
  }
  if (table.contains("optimizer")) {
    if (!table["optimizer"].is_object())
      refuse(key + ".optimizer", table["optimizer"], "a table of options");
    for (const auto& [name, value] : table["optimizer"].items()) out.rule.options[name] = value;
    out.rule.prefix = key + ".optimizer";
  }
  if (table.contains("lr_multiplier"))
    out.rule.multiplier = number_of(table["lr_multiplier"], key + ".lr_multiplier", 1e9);
  if (table.contains("weight_decay")) {
    (void)number_of(table["weight_decay"], key + ".weight_decay", 100);
    const Described* d = described(out.rule.type);
    if (d && !has(*d, "weight_decay"))
      throw ConfigError(fmt::format("{}.weight_decay={}: {} has no weight decay", key,
                                    table["weight_decay"].dump(), out.rule.what));
    out.rule.options["weight_decay"] = table["weight_decay"];
  }
  return out;
}

std::vector<Group> groups_of(const Config& c) {
  std::vector<Group> out;
  const auto given = c.optimizer.find("groups");
  if (given == c.optimizer.end()) return out;
  if (!given->is_array()) refuse("optimizer.groups", *given, "a list of tables");
  for (const Table& one : *given)
    out.push_back(read_group(c, one, fmt::format("optimizer.groups.{}", out.size())));
  return out;
}

/// The group of each leaf, by path; one behind the last for those that none matches.
std::map<std::string, std::size_t> places_of(const tree::Tree& params,
                                             const std::vector<Group>& groups) {
  std::vector<tree::Filter> filters;
  for (const Group& g : groups) filters.push_back(by_patterns(g.patterns));
  std::map<std::string, std::size_t> out;
  std::vector<int> matched(groups.size()), taken(groups.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    std::size_t place = groups.size();
    for (std::size_t g = groups.size(); g-- > 0;)
      if (filters[g](params.entry(i), params.value(i))) {
        place = g;
        ++matched[g];
      }
    if (place < groups.size()) ++taken[place];
    out.emplace(params.entry(i).name, place);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (taken[g] > 0) continue;
    throw ConfigError(fmt::format(
        "{}.match={}: it matches no weight{}; allowed is a pattern of one of {}", groups[g].key,
        Table(groups[g].patterns).dump(), matched[g] > 0 ? " that the groups before it leave" : "",
        fmt::join(params.names(), ", ")));
  }
  return out;
}

/// Label of a group in the state; of those that no group matches "rest".
std::string label_of(std::size_t place, std::size_t groups) {
  return place == groups ? "rest" : fmt::format("{}", place);
}

}  // namespace

Optimizer make_optimizer(const Config& c) {
  return make_optimizer(
      c, eval_shape([&](const Array& key) { return make_model(c)->init(key); }, random::key(0)));
}

namespace {

Optimizer without_spikes(const Config& c, Optimizer o) {
  if (c.skip_step_on_spikes)
    o.rule = skip_spikes(std::move(o.rule),
                         {.interval = c.skip_step_interval, .factor = c.skip_step_scaling_factor});
  return o;
}

/// A weight p as another program stores it: factor p + plus.
struct Stored {
  tree::Filter which;
  double factor = 1, plus = 0;
};

std::vector<Stored> stored_of(const Config& c) {
  const auto given = c.optimizer.find("stored_as");
  if (given == c.optimizer.end()) return {};
  const std::string allowed = "a list of {match: PATTERN, factor: 2.0, plus: 1.0}";
  if (!given->is_array()) refuse("optimizer.stored_as", *given, allowed);
  std::vector<Stored> out;
  for (const Table& row : *given) {
    if (!row.is_object() || !row.contains("match") || !row["match"].is_string())
      refuse("optimizer.stored_as", row, allowed);
    double numbers[] = {1, 0};
    for (const auto& [key, value] : row.items()) {
      if (key == "match") continue;
      if ((key != "factor" && key != "plus") || !value.is_number())
        refuse("optimizer.stored_as", row, allowed);
      numbers[key == "plus"] = value.get<double>();
    }
    if (!(numbers[0] > 0) || !std::isfinite(numbers[0]))
      refuse("optimizer.stored_as", row, "a factor above 0");
    out.push_back({by_patterns({row["match"].get<std::string>()}), numbers[0], numbers[1]});
  }
  return out;
}

/// The rule, and the clipping ahead of it, for weights as another program stores them. The first
/// row that matches a weight counts.
GradientTransformation stored(GradientTransformation rule, std::vector<Stored> rows,
                              double max_norm) {
  if (max_norm > 0) rule = optim::chain(optim::clip_by_global_norm(max_norm), std::move(rule));
  const auto row_of = [rows = std::move(rows)](const tree::Tree& t, std::size_t i) {
    const auto it = std::find_if(rows.begin(), rows.end(),
                                 [&](const Stored& r) { return r.which(t.entry(i), t.value(i)); });
    return it == rows.end() ? std::pair(1.0, 0.0) : std::pair(it->factor, it->plus);
  };
  const auto with = [row_of](const tree::Tree& t, bool of_gradients, bool back) {
    std::vector<Array> values(t.values().begin(), t.values().end());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto [factor, plus] = row_of(t, i);
      const DType dtype = values[i].dtype();
      if (of_gradients || back) {
        if (factor != 1) values[i] = astype(values[i] / factor, dtype);
      } else {
        if (factor != 1) values[i] = astype(values[i] * factor, dtype);
        if (plus != 0) values[i] = astype(values[i] + plus, dtype);
      }
    }
    return t.with_values(std::move(values));
  };
  const auto inner = std::make_shared<const GradientTransformation>(std::move(rule));
  return optim::detail::rule(
      fmt::format("train::stored({})", inner->text()),
      [=](const tree::Tree& params) { return inner->init(with(params, false, false)); },
      [=](const tree::Tree& u, const tree::Tree& s, const tree::Tree* params,
          const optim::Extra& extra) {
        std::optional<tree::Tree> as_stored;
        if (params) as_stored = with(*params, false, false);
        auto [updates, state] =
            inner->update(with(u, true, false), s, as_stored ? &*as_stored : nullptr, extra);
        return std::pair(with(updates, false, true), state);
      });
}

Optimizer every_step(const Config& c, const tree::Tree& weights,
                     const std::optional<tree::Filter>& not_trained) {
  const std::vector<Group> groups = groups_of(c);
  Optimizer out;
  out.frozen = not_trained;
  out.max_norm = c.gradient_clipping_threshold;
  if (groups.empty()) {
    Rule rule = make_rule(c, base_rule(c));
    out.rule = std::move(rule.transformation);
    out.in_f32 = rule.in_f32;
    return out;
  }
  const auto places = std::make_shared<const std::map<std::string, std::size_t>>(
      places_of(not_trained ? weights.filter(!*not_trained) : weights, groups));
  std::set<std::size_t> used;
  std::set<std::string> frozen;
  for (const auto& [name, place] : *places) {
    if (place < groups.size() && groups[place].frozen)
      frozen.insert(name);
    else
      used.insert(place);
  }
  if (used.empty())
    throw ConfigError(
        fmt::format("optimizer.groups={}: nothing is left to train", c.optimizer["groups"].dump()));
  if (not_trained)
    for (const std::string& name : weights.filter(*not_trained).names()) frozen.insert(name);
  if (!frozen.empty()) out.frozen = tree::path_in({frozen.begin(), frozen.end()});
  out.in_f32 = false;
  std::map<std::string, GradientTransformation> rules;
  for (const std::size_t place : used) {
    Rule rule = make_rule(c, place == groups.size() ? base_rule(c) : groups[place].rule);
    out.in_f32 |= rule.in_f32;
    rules.emplace(label_of(place, groups.size()), std::move(rule.transformation));
  }
  if (rules.size() == 1) {
    out.rule = rules.begin()->second;
    return out;
  }
  out.rule = optim::partition(std::move(rules),
                              [places, count = groups.size()](const tree::Entry& e, const Array&) {
                                return label_of(places->at(e.name), count);
                              });
  return out;
}

}  // namespace

Optimizer make_optimizer(const Config& c, const tree::Tree& weights,
                         const std::optional<tree::Filter>& not_trained) {
  check_optimizer(c);
  Optimizer out = every_step(c, weights, not_trained);
  if (!c.trainable_parameters_mask.empty())
    out.rule =
        of_trainable(c.trainable_parameters_mask,
                     not_trained ? weights.filter(!*not_trained) : weights, std::move(out.rule));
  std::vector<Stored> rows = stored_of(c);
  if (const auto transfer = transfer_of(c, weights))
    for (const std::string& name : weights.names())
      if (const double factor = transfer_factor(*transfer, name); factor != 1)
        rows.push_back({tree::path_in({name}), factor, 0});
  if (!rows.empty()) {
    out.rule = stored(std::move(out.rule), std::move(rows), out.max_norm);
    out.max_norm = 0;
  }
  return without_spikes(c, std::move(out));
}

std::vector<std::string_view> optimizer_names() {
  std::vector<std::string_view> out;
  for (const Described& d : optim::described_rules())
    if (is_optimizer(d)) out.push_back(short_name(d.name));
  std::sort(out.begin(), out.end());
  return out;
}

void check_optimizer(const Config& c) {
  check_rule(
      c,
      [&] {
        RuleOptions all = base_rule(c);
        if (c.optimizer.contains("groups")) all.options["groups"] = c.optimizer["groups"];
        return all;
      }(),
      "groups");
  for (const Group& g : groups_of(c))
    if (!g.frozen) check_rule(c, g.rule);
  (void)stored_of(c);
  check_transfer(c);
}

std::string describe_optimizers() {
  std::string out =
      "\nOptimizers (opt_type=NAME) and their options (optimizer.OPTION=VALUE); learning_rate is "
      "the "
      "run's.\nIn front of the update stands gradient_clipping_threshold. adamw's defaults are the "
      "keys adam_...; optimizer.groups is a list of\n{match: PATTERN, frozen: true} or {match: "
      "PATTERN, opt_type: NAME, optimizer: {OPTION: VALUE}, lr_multiplier: 0.5, weight_decay: "
      "0}:\n";
  for (const Described& d : optim::described_rules())
    if (is_optimizer(d)) out += line_of(d, short_name(d.name));
  return out;
}

std::string optimizer_options_not_given(const Config& c) {
  const Described* d = described(c.opt_type);
  if (!d) return "";
  Table given = c.optimizer;
  // AdamW's stand at the top.
  if (has_adam_keys(c.opt_type))
    for (const char* key : {"b1", "b2", "eps", "eps_root", "weight_decay"}) given.emplace(key, 0);
  return options_not_given(*d, given);
}

}  // namespace strata::train
