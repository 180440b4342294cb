// For the tests: what flax.nnx answers (testdata/nnx, tools/goldens/nnx.py), and layers beside it.
//
//   NnxGolden golden("products");
//   golden.on<Linear>("Linear",
//                     [](const json& args, Rngs& rngs) { return Linear(args["in_features"], ...);
//                     },
//                     [](Linear& l, const NnxCall& call) { return l(call.inputs[0]); });
//   golden.run();
//
// A case fails where no layer is registered for it. What is compared: paths, kinds and values
// behind the constructor, the streams, outputs and changed state of each call, gradients of the
// first one.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "strata/api/initializers.h"
#include "strata/nn/random/rngs.h"
#include "strata/nn/state.h"
#include "strata/nn/transform/grad.h"

namespace strata::nn {

using nlohmann::json;

/// An array of a golden: numbers by their formula, or bytes in base64.
Array golden_array(const json& description);
DType golden_dtype(const std::string& name);
/// A tree of a golden's {path: array}.
tree::Tree golden_tree(const json& leaves);
/// `{"initializer": "normal", "stddev": 0.5}`.
Initializer golden_initializer(const json& description);
/// The streams that `"rngs"` of a case describes.
Rngs golden_rngs(const json& description);

/// How near a value must be to upstream's.
struct Nearness {
  /// Floats: relative L2 of the whole array, or distance in units of the last place of each
  /// element.
  double relative_l2 = 1e-6;
  double ulp = -1;
  /// What is added to the bound of a relative L2.
  double floor = 1e-12;
};
/// Fails with `what` where the arrays differ in type or by more.
void expect_near(const Array& got, const json& want, const Nearness& near, const std::string& what);

/// The same of a tree and {path: leaf}: as many leaves, and their kinds.
void expect_leaves(const tree::Tree& got, const json& want, const Nearness& near,
                   const std::string& what);

/// One call of a case.
struct NnxCall {
  std::string method;
  /// The leaves of the inputs, in order.
  std::vector<Array> inputs;
  /// Keyword arguments as they stand in the file.
  json kwargs;
  const json* description = nullptr;
  bool has(const char* name) const { return kwargs.contains(name) && !kwargs[name].is_null(); }
};

/// The cases of a family, and how layers answer them.
class NnxGolden {
 public:
  explicit NnxGolden(const std::string& family);

  /// A layer by its upstream name: how it is made, and how it is called. The call returns an Array,
  /// a vector or any tree of arrays.
  template <class L, class Make, class Call>
  void on(const std::string& layer, Make make, Call call) {
    layers_[layer] = [make, call](const json& c) {
      Rngs rngs = golden_rngs(c.value("rngs", json()));
      L module = make(c["args"], rngs);
      check_init(c, tree::of(module), rngs);
      const auto write = [&](const json& leaves) { write_leaves(module, leaves); };
      if (c.contains("init")) write(c["init"]);
      if (c.contains("set")) write(c["set"]);
      if (c.contains("grads")) check_grads<L>(c, module, call);
      std::size_t number = 0;
      for (const json& described : c["calls"]) {
        const NnxCall one = call_of(described);
        const auto result = call(module, one);
        check_call(c, number++, tree::leaves<Array>(result), tree::of(module));
        if (described.contains("state")) write(described["state"]);
      }
    };
  }
  /// A function by its upstream name.
  void on_function(const std::string& name, std::function<std::vector<Array>(const NnxCall&)> call);
  /// A case of its own by its name: `check` compares what it wants.
  void on_case(const std::string& name, std::function<void(const json&)> check) {
    layers_[name] = std::move(check);
  }

  /// Widens the bounds of a case whose numbers cancel, so that the order of sums shows: relative L2
  /// of outputs and of gradients.
  struct Allowance {
    double outputs = 0, gradients = 0;
  };
  void allow(const std::string& name, const Allowance& allowance);

  /// Runs all cases, each under its name.
  void run();
  /// The cases themselves.
  const json& cases() const { return cases_; }

  static NnxCall call_of(const json& described);

 private:
  static void check_init(const json& c, const tree::Tree& module, const Rngs& rngs);
  static void check_call(const json& c, std::size_t number, const std::vector<Array>& outputs,
                         const tree::Tree& module);
  static void check_gradients(const json& c, const tree::Tree& grads,
                              const std::vector<std::optional<Array>>& of_inputs);
  template <class L>
  static void write_leaves(L& module, const json& leaves) {
    // What a case keeps of a layer that this one has not (a stream that was only lent) is left.
    const tree::Tree all = golden_tree(leaves), has = tree::of(module);
    tree::assign(module, all.filter(tree::path_in(has.names())));
  }
  template <class L, class Call>
  static void check_grads(const json& c, const L& module, const Call& call) {
    const NnxCall first = call_of(c["calls"][0]);
    const auto loss = [&](L& m, const std::vector<Array>& inputs) {
      NnxCall again = first;
      again.inputs = inputs;
      const std::vector<Array> out = tree::leaves<Array>(call(m, again));
      return numpy::sum(numpy::square(out[0].astype(DType::f32)));
    };
    tree::Tree grads;
    if (!c["grads"]["params"].empty()) {
      L fresh = module;
      grads = nn::grad(loss)(fresh, first.inputs);
    }
    std::vector<std::optional<Array>> of_inputs;
    for (std::size_t i = 0; i < first.inputs.size(); ++i) {
      if (!is_float(first.inputs[i].dtype())) {
        of_inputs.emplace_back();
        continue;
      }
      const auto by_input = [&](const Array& x, L& m) {
        std::vector<Array> inputs = first.inputs;
        inputs[i] = x;
        return loss(m, inputs);
      };
      L other = module;
      of_inputs.emplace_back(nn::grad(by_input, everything())(first.inputs[i], other).value(0));
    }
    check_gradients(c, grads, of_inputs);
  }

  std::string family_;
  json cases_;
  std::map<std::string, std::function<void(const json&)>> layers_;
};

}  // namespace strata::nn
