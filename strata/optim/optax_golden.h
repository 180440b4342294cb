// For the tests: what Optax answers (testdata/optax, tools/goldens/optax_goldens.py), and ours
// beside it.
//
//   OptaxGolden golden("adam");
//   golden.tolerance("lamb", 1e-6);                        // of cases whose names begin so
//   golden.on("losses.hinge_loss", [](const OptaxCall& c) { return c.tree(hinge_loss(...)); });
//   golden.run();
//
// Rules and schedules are made by name; each step begins at upstream's state. A function's case
// fails where nobody is registered for it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "strata/optim/registry.h"

namespace strata::optim {

using json = nlohmann::ordered_json;

/// An array, a tree, and a described value of a golden.
Array golden_array(const json& said);
Tree golden_tree(const json& leaves);
Option golden_option(const json& said);
/// A function of trees that goldens name.
std::function<Array(const Tree&)> golden_objective(const std::string& name);

/// One call of a function.
struct OptaxCall {
  std::string function;
  std::vector<std::pair<std::string, Tree>> inputs;
  Options options;
  bool has(const std::string& name) const { return options.contains(name); }
  /// An input as a tree, and as the array that it is.
  const Tree& in(const std::string& name) const;
  const Array& array(const std::string& name) const { return in(name).value(0); }
  /// An option of a type, or a default.
  template <class T>
  T option(const std::string& name, T otherwise) const {
    if (const auto it = options.find(name); it != options.end())
      read(it->second, function + ": " + name, otherwise);
    return otherwise;
  }
};
/// A tree of one leaf, and of several by number.
Tree one_leaf(Array value);
Tree numbered(std::vector<Array> values);

/// Upstream's names that cases call, as `testing::shows_names` takes them.
std::string optax_names(const json& cases);

/// The cases of a family.
class OptaxGolden {
 public:
  explicit OptaxGolden(const std::string& family);
  /// Of cases whose names begin with `prefix`: error over the leaf's largest element.
  void tolerance(const std::string& prefix, double of_largest);
  /// What a leaf may be apart however small it is: where sums cancel.
  void least(double apart) { least_ = apart; }
  /// Cases whose names begin with `prefix` are left to a test of their own.
  void leave(const std::string& prefix) { left_.push_back(prefix); }
  /// Upstream's names that these cases are of beside those that they call.
  void also_shows(const std::string& names) { shown_ += " " + names; }
  void on(const std::string& function, std::function<Tree(const OptaxCall&)> f) {
    functions_[function] = std::move(f);
  }
  void run();
  const json& cases() const { return cases_; }

 private:
  bool is_left(const json& c) const;
  double tolerance_of(const std::string& name) const;
  void run_rule(const json& c, double near) const;
  void run_schedule(const json& c) const;
  void run_function(const json& c, double near) const;

  json cases_;
  double least_ = 0;
  std::vector<std::string> left_;
  std::string shown_;
  std::vector<std::pair<std::string, double>> tolerances_;
  std::map<std::string, std::function<Tree(const OptaxCall&)>> functions_;
};

/// Fails where two trees differ in paths or types, or by more than `least` and a part of a leaf's
/// largest element; bf16 by more than two units of the last place.
void expect_near(const Tree& got, const json& want, double of_largest, const std::string& what,
                 double least = 0);

}  // namespace strata::optim
