#include "strata/optim/schedule/inject.h"

#include <algorithm>

#include "strata/optim/rule.h"

namespace strata::optim {

using detail::field;

namespace {
class Injected : public Rule {
 public:
  Injected(std::string name, Options arguments, InjectOptions o)
      : name_(std::move(name)), others_(std::move(arguments)), dtype_(o.hyperparam_dtype) {
    const Described& d = describe(name_);
    for (const std::string& fixed : o.static_args)
      if (std::none_of(d.parameters.begin(), d.parameters.end(),
                       [&](const Parameter& p) { return p.name == fixed; }))
        throw Error("inject_hyperparams", "{} has no parameter {} to keep static", name_, fixed);
    for (const Parameter& p : d.parameters) {
      if (!p.is_rate || std::count(o.static_args.begin(), o.static_args.end(), p.name)) continue;
      Rate rate;
      if (const auto it = others_.find(p.name); it != others_.end()) {
        read(it->second, name_ + ": " + p.name, rate);
        others_.erase(it);
      } else if (!p.default_text.empty() && p.default_text != "none") {
        rate = std::strtod(p.default_text.c_str(), nullptr);
      }
      if (rate.has_value()) rates_[p.name] = std::move(rate);
    }
    needs_ = make(name_, given(values_at({}, DType::f32))).rule().needs();
  }
  std::string text() const override {
    std::string out = "inject_hyperparams(" + name_;
    for (const auto& [name, rate] : rates_) out += ", " + name + "=" + rate.text();
    return out + ")";
  }
  Needs needs() const override {
    Needs all = needs_;
    all.params |= !dtype_.has_value();
    return all;
  }
  Tree init(const Tree& params) const override {
    const DType dtype = dtype_of(params);
    std::map<std::string, Array> counts;
    for (const auto& [name, rate] : rates_)
      if (rate.is_schedule()) counts[name] = detail::no_count();
    const auto values = values_at(counts, dtype);
    return state(detail::no_count(), values, counts, make(name_, given(values)).init(params));
  }
  std::pair<Tree, Tree> update(const Tree& updates, const Tree& s, const Tree* params,
                               const Extra& extra) const override {
    const DType dtype = dtype_ ? *dtype_ : dtype_of(*params);
    std::map<std::string, Array> values, counts;
    for (const auto& [name, rate] : rates_) {
      if (rate.is_schedule()) {
        const Array count = s["hyperparams_states/" + name + "/count"];
        values[name] = numpy::astype(rate.at(count).array(), value_dtype(rate, count, dtype));
        counts[name] = safe_increment(count);
      } else {
        values[name] = s["hyperparams/" + name];
      }
    }
    auto [out, next] =
        make(name_, given(values)).update(updates, s.subtree("inner_state"), params, extra);
    return {out, state(safe_increment(s["count"]), values, counts, next)};
  }

 private:
  DType dtype_of(const Tree& params) const {
    return dtype_ ? *dtype_ : trees::dtype(params, trees::Common::highest);
  }
  /// A schedule's own dtype where it decides one, as an array's.
  static DType value_dtype(const Rate& rate, const Array& count, DType dtype) {
    const Array value = rate.at(count).array();
    return value.weak() ? dtype : value.dtype();
  }
  std::map<std::string, Array> values_at(const std::map<std::string, Array>& counts,
                                         DType dtype) const {
    std::map<std::string, Array> out;
    for (const auto& [name, rate] : rates_) {
      if (rate.is_schedule()) {
        const auto it = counts.find(name);
        const Array count = it == counts.end() ? detail::no_count() : it->second;
        out[name] = numpy::astype(rate.at(count).array(), value_dtype(rate, count, dtype));
      } else {
        out[name] = rate.is_number() ? numpy::full({}, rate.number(), dtype) : rate.array();
      }
    }
    return out;
  }
  Options given(const std::map<std::string, Array>& values) const {
    Options all = others_;
    for (const auto& [name, value] : values) all[name] = value;
    return all;
  }
  static Tree state(const Array& count, const std::map<std::string, Array>& values,
                    const std::map<std::string, Array>& counts, const Tree& inner) {
    std::vector<Tree> parts{field("count", count)};
    for (const auto& [name, value] : values) parts.push_back(field("hyperparams/" + name, value));
    for (const auto& [name, value] : counts)
      parts.push_back(field("hyperparams_states/" + name + "/count", value));
    parts.push_back(field("inner_state", inner));
    return tree::merge(parts);
  }

  std::string name_;
  Options others_;
  std::optional<DType> dtype_;
  std::map<std::string, Rate> rates_;
  Needs needs_;
};

GradientTransformation inject_by_name(std::string inner_factory, Option arguments,
                                      InjectOptions o) {
  const Options* table = arguments.table();
  if (!table && !arguments.is_none())
    throw Error("inject_hyperparams", "arguments is a table, got {}", arguments.text());
  return inject_hyperparams(inner_factory, table ? *table : Options(), std::move(o));
}
}  // namespace

GradientTransformation inject_hyperparams(const std::string& rule, Options arguments,
                                          InjectOptions options) {
  return GradientTransformation(
      std::make_shared<Injected>(rule, std::move(arguments), std::move(options)));
}

namespace detail {
void add_inject(Rules& r) {
  for (const char* name : {"inject_hyperparams", "inject_stateful_hyperparams"})
    r.add(name, {"inner_factory", "arguments="}, &inject_by_name, "",
          "A rule whose numbers are leaves of the state.");
}
}  // namespace detail

}  // namespace strata::optim
