// Transformations and schedules by name.
//
//   auto tx = optim::make("adamw", {{"learning_rate", 1e-3}, {"weight_decay", 0.1}});
//   for (const optim::Described& d : optim::described_rules()) ...
//
// Names are upstream's, of contrib's rules with "contrib." in front or without. Errors name the
// parameters that a rule has. Each rule is described where it is written (`add_...` below).
#pragma once

#include "strata/optim/options.h"

namespace strata::optim {

/// A parameter of a rule: its name and its default, as text.
struct Parameter {
  std::string name;
  /// "0.9", "none"; empty where it must be given.
  std::string default_text;
  /// Whether it is a Rate, which `inject_hyperparams` puts into the state.
  bool is_rate = false;
};
/// A rule or schedule, and how it is made.
struct Described {
  std::string name;
  std::vector<Parameter> parameters;
  /// Where it comes from, and what it does in a sentence.
  std::string paper, sentence;
};

/// The transformation of a name. Throws Error for a name, a parameter or a value that is none, and
/// where one is missing.
GradientTransformation make(const std::string& name, const Options& options = {});
/// The schedule of a name; as above.
Schedule make_schedule(const std::string& name, const Options& options = {});
/// All rules in the order of their names.
const std::vector<Described>& described_rules();
/// All schedules in the order of their names.
const std::vector<Described>& described_schedules();
/// The rule of a name. Throws Error where there is none.
const Described& describe(const std::string& name);

namespace detail {

/// What `make` looks names up in.
template <class Made>
class Table {
 public:
  explicit Table(std::string what) : what_(std::move(what)) {}

  /// A function by its parameters' names, of which the last argument may be a struct of options
  /// that has them itself. "decay" must be given, "nesterov=false" need not; "key=" is none.
  template <class... A>
  void add(const std::string& name, std::vector<std::string> positional, Made (*f)(A...),
           std::string paper, std::string sentence) {
    Described d{name, {}, std::move(paper), std::move(sentence)};
    for (const std::string& p : positional) {
      const std::size_t equal = p.find('=');
      d.parameters.push_back({p.substr(0, equal), equal == std::string::npos ? ""
                                                  : equal + 1 == p.size()    ? "none"
                                                                          : p.substr(equal + 1)});
    }
    [[maybe_unused]] std::size_t at = 0;
    (add_fields<std::remove_cvref_t<A>>(d, at), ...);
    auto made = [f, name, positional](const Options& given) {
      [[maybe_unused]] std::size_t next = 0;
      std::tuple<std::remove_cvref_t<A>...> arguments{
          argument<std::remove_cvref_t<A>>(name, positional, next, given)...};
      return std::apply(f, std::move(arguments));
    };
    rows_[name] = Row{std::move(d), std::move(made)};
  }
  Made make(const std::string& name, const Options& options) const {
    const Row& row = find(name);
    for (const auto& [key, value] : options) {
      bool known = false;
      std::string all;
      for (const Parameter& p : row.described.parameters) {
        known |= p.name == key;
        all += (all.empty() ? "" : ", ") + p.name;
      }
      if (!known)
        throw Error("optim", "{} has no parameter {}; it has {}", name, key,
                    all.empty() ? "none" : all);
    }
    return row.make(options);
  }
  const Described& describe(const std::string& name) const { return find(name).described; }
  std::vector<Described> all() const {
    std::vector<Described> out;
    for (const auto& [name, row] : rows_) out.push_back(row.described);
    return out;
  }

 private:
  struct Row {
    Described described;
    std::function<Made(const Options&)> make;
  };
  template <class T>
  static void add_fields([[maybe_unused]] Described& d, [[maybe_unused]] std::size_t& at) {
    if constexpr (OptionFields<T>) {
      const T defaults{};
      for_each_option(defaults, [&](const std::string& field, const auto& v) {
        d.parameters.push_back(
            {field, text_of(v), std::same_as<std::remove_cvref_t<decltype(v)>, Rate>});
      });
    } else {
      d.parameters.at(at++).is_rate = std::same_as<T, Rate>;
    }
  }
  template <class T>
  static T argument(const std::string& name, const std::vector<std::string>& positional,
                    std::size_t& next, const Options& given) {
    if constexpr (OptionFields<T>) {
      T out{};
      for_each_option(out, [&](const std::string& field, auto& v) {
        if (const auto it = given.find(field); it != given.end())
          read(it->second, name + ": " + field, v);
      });
      return out;
    } else {
      T out = initial<T>();
      const std::string& p = positional.at(next++);
      const std::size_t equal = p.find('=');
      const std::string key = p.substr(0, equal);
      if (const auto it = given.find(key); it != given.end())
        read(it->second, name + ": " + key, out);
      else if (equal == std::string::npos)
        throw Error("optim", "{} needs {}", name, key);
      else
        read(default_option(p.substr(equal + 1)), name + ": " + key, out);
      return out;
    }
  }
  template <class T>
  static T initial() {
    if constexpr (std::same_as<T, tree::Filter>)
      return tree::everything();
    else
      return T{};
  }
  static Option default_option(const std::string& text) {
    if (text.empty()) return {};
    if (text == "true" || text == "false") return text == "true";
    char* end = nullptr;
    if (text.find_first_of(".einf") == std::string::npos) {
      const long long whole = std::strtoll(text.c_str(), &end, 10);
      if (*end == 0) return whole;
    }
    const double number = std::strtod(text.c_str(), &end);
    if (*end == 0) return number;
    return text;
  }
  const Row& find(const std::string& name) const {
    auto it = rows_.find(name);
    if (it == rows_.end()) it = rows_.find("contrib." + name);
    if (it == rows_.end()) throw Error("optim", "there is no {} {}", what_, name);
    return it->second;
  }
  std::string what_;
  std::map<std::string, Row> rows_;
};
using Rules = Table<GradientTransformation>;
using Schedules = Table<Schedule>;

}  // namespace detail
}  // namespace strata::optim
