// State through transforms beside Flax's tree mode: a counter, BatchNorm and Dropout, one layer and
// a stack of them.
#include <gtest/gtest.h>

#include "strata/api/testing.h"
#include "strata/nn/dropout.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/norm/batch_norm.h"
#include "strata/nn/random/streams.h"
#include "strata/nn/transform/control.h"
#include "strata/nn/transform/grad.h"
#include "strata/nn/transform/jit.h"
#include "strata/nn/transform/scan.h"
#include "strata/nn/transform/vmap.h"

namespace strata::nn {
namespace {

struct CountKind {
  static constexpr tree::Kind kind{"Count", &tree::kinds::variable};
};
/// A user's kind that is a Variable.
using Count = Variable<CountKind>;

/// Counts its calls, in i32, and sums its inputs, in f32.
struct Counting {
  Count count = Array::scalar(std::int64_t{0}, DType::i32, false);
  Count total = Array::scalar(0.0, DType::f32, false);
  Param weight = Array::scalar(1.5, DType::f32, false);
  STRATA_FIELDS(count, total, weight)
  Array operator()(const Array& x) {
    count = count + Array::scalar(std::int64_t{1}, DType::i32, false);
    total = total + numpy::sum(x);
    return x * weight;
  }
};
struct Normal {
  Linear linear;
  BatchNorm norm;
  Dropout drop;
  STRATA_FIELDS(linear, norm, drop)
  explicit Normal(Rngs& rngs)
      : linear(3, 3, rngs), norm(3, rngs, {.momentum = 0.9}), drop(0.5, rngs) {}
  Array operator()(const Array& x) { return drop(norm(linear(x))); }
};
struct Floats {
  Param weight = Array::scalar(1.5, DType::f32, false);
  Count total = Array::scalar(2.0, DType::f32, false);
  STRATA_FIELDS(weight, total)
  Array operator()(const Array& x) {
    total = total + numpy::sum(x);
    return x * weight + total;
  }
};
Normal normal() {
  Rngs rngs(0);
  return Normal(rngs);
}
Normal stack() {
  Rngs rngs(0);
  Rngs parts = split_rngs(rngs, {.splits = 3});
  return nn::vmap([](Rngs& r) { return Normal(r); })(parts);
}

const auto call = [](auto& m, const Array& x) { return m(x); };
const auto twice = [](auto& m, const Array& x) { return m(m(x)); };
const auto square = [](auto& m, const Array& x) { return numpy::sum(numpy::square(m(x))); };
/// A model and what goes with it from step to step.
template <class M>
struct Carried {
  M model;
  Array x;
  STRATA_FIELDS(model, x)
};
template <class M>
struct Counted {
  M model;
  Array x, i;
  STRATA_FIELDS(model, x, i)
};

/// What a program gave beside the state it left.
struct Outcome {
  std::vector<Array> outputs;
  std::optional<tree::Tree> grads = {};
};
template <class M>
using Programs = std::map<std::string, std::function<Outcome(M&, const Array&)>>;

template <class M>
Programs<M> one_level() {
  Programs<M> out;
  out["plain"] = [](M& m, const Array& x) { return Outcome{{m(x)}}; };
  out["plain_twice"] = [](M& m, const Array& x) { return Outcome{{twice(m, x)}}; };
  out["jit"] = [](M& m, const Array& x) { return Outcome{{nn::jit(call)(m, x)}}; };
  out["jit_twice"] = [](M& m, const Array& x) {
    const auto f = nn::jit(twice);
    const Array first = f(m, x);
    return Outcome{{first, f(m, x)}};
  };
  out["remat"] = [](M& m, const Array& x) { return Outcome{{nn::remat(call)(m, x)}}; };
  out["grad"] = [](M& m, const Array& x) {
    auto [value, grads] = nn::value_and_grad(square)(m, x);
    return Outcome{{value}, grads};
  };
  out["grad_remat"] = [](M& m, const Array& x) {
    auto block = nn::remat(call);
    const auto loss = [&](M& model, const Array& y) {
      return numpy::sum(numpy::square(block(model, y)));
    };
    auto [value, grads] = nn::value_and_grad(loss)(m, x);
    return Outcome{{value}, grads};
  };
  out["eval_shape"] = [](M& m, const Array& x) {
    const Array y = nn::eval_shape([](M model, const Array& input) { return model(input); }, m, x);
    EXPECT_EQ(y.type(), x.type());
    return Outcome{};
  };
  for (const bool flag : {true, false})
    out[flag ? "cond_true" : "cond_false"] = [flag](M& m, const Array& x) {
      return Outcome{{nn::cond(Array(flag), call, [](M&, const Array& y) { return 2 * y; }, m, x)}};
    };
  for (int index = 0; index < 3; ++index)
    out[fmt::format("switch_{}", index)] = [index](M& m, const Array& x) {
      using F = std::function<Array(M&, const Array&)>;
      const std::vector<F> branches = {call, twice, [](M&, const Array& y) { return y; }};
      return Outcome{{nn::switch_(Array(index), branches, m, x)}};
    };
  out["fori"] = [](M& m, const Array& x) {
    Carried<M> last = nn::fori_loop(
        0, 3,
        [](const Array&, Carried<M> c) {
          c.x = c.model(c.x);
          return c;
        },
        Carried<M>{m, x});
    m = last.model;
    return Outcome{{last.x}};
  };
  out["while"] = [](M& m, const Array& x) {
    Counted<M> last = nn::while_loop([](const Counted<M>& c) { return c.i < 3; },
                                     [](Counted<M> c) {
                                       c.x = c.model(c.x);
                                       c.i = c.i + 1;
                                       return c;
                                     },
                                     Counted<M>{m, x, Array(0)});
    m = last.model;
    return Outcome{{last.x}};
  };
  out["scan_carry"] = [](M& m, const Array& x) {
    const auto step = [](M& model, const Array& carry) {
      const Array next = model(carry);
      return std::pair(next, numpy::sum(next));
    };
    const auto [last, sums] = nn::scan(
        step, {.in_axes = {std::nullopt, Carry}, .out_axes = {Carry, 0}, .length = 3})(m, x);
    return Outcome{{last, sums}};
  };
  return out;
}

Programs<Normal> of_stack() {
  Programs<Normal> out;
  const auto step = [](const Array& carry, Normal& m) {
    const Array sum = numpy::sum(carry);
    return std::pair(m(carry), sum);
  };
  out["vmap"] = [](Normal& m, const Array& x) { return Outcome{{nn::vmap(call)(m, x)}}; };
  out["vmap_one_input"] = [](Normal& m, const Array& x) {
    return Outcome{{nn::vmap(call, {.in_axes = {0, std::nullopt}, .out_axes = {1}})(m, x)}};
  };
  for (const bool reverse : {false, true})
    out[reverse ? "scan_reverse" : "scan"] = [step, reverse](Normal& m, const Array& x) {
      const auto [y, sums] =
          nn::scan(step, {.in_axes = {Carry, 0}, .out_axes = {Carry, 0}, .reverse = reverse})(x, m);
      return Outcome{{y, sums}};
    };
  out["loop"] = [step](Normal& m, const Array& x) {
    std::vector<tree::Tree> layers;
    std::vector<Array> sums;
    Array y = x;
    for (std::int64_t i = 0; i < 3; ++i) {
      Normal layer = tree::map([&](const Array& leaf) { return leaf[i]; }, m);
      const auto [next, sum] = step(y, layer);
      y = next;
      sums.push_back(sum);
      layers.push_back(tree::of(layer));
    }
    tree::assign(m, layers[0].map([&](const tree::Entry& e, const Array&) {
      return numpy::stack({layers[0][e.name], layers[1][e.name], layers[2][e.name]});
    }));
    return Outcome{{y, numpy::stack(sums)}};
  };
  const ScanOptions carried{.in_axes = {Carry, 0}, .out_axes = {Carry}};
  out["scan_remat"] = [carried](Normal& m, const Array& x) {
    auto inner = nn::remat([](const Array& carry, Normal& layer) { return layer(carry); });
    return Outcome{{nn::scan([&](const Array& carry, Normal& layer) { return inner(carry, layer); },
                             carried)(x, m)}};
  };
  out["scan_grad"] = [carried](Normal& m, const Array& x) {
    const auto loss = [&](Normal& layers, const Array& input) {
      return numpy::sum(numpy::square(nn::scan(
          [](const Array& carry, Normal& layer) { return layer(carry); }, carried)(input, layers)));
    };
    auto [value, grads] = nn::value_and_grad(loss)(m, x);
    return Outcome{{value}, grads};
  };
  return out;
}

/// Runs a case's program on a model, which must begin and end as upstream's.
template <class M>
void run_case(const json& c, M model, const std::function<Outcome(M&, const Array&)>& program) {
  const auto near = [](const json& leaf) {
    // Keys, counts and what is not computed are equal; products within rounding.
    return leaf["dtype"] == "float32" ? Nearness{.relative_l2 = 2e-6} : Nearness{};
  };
  const auto check = [&](const tree::Tree& state, const json& want, const char* what) {
    EXPECT_EQ(state.size(), want.size()) << what;
    for (const auto& [path, leaf] : want.items()) {
      ASSERT_TRUE(state.contains(path)) << what << ": " << path;
      EXPECT_EQ(state.entry(*state.find(path)).kind->name(),
                leaf["kind"].template get<std::string>());
      expect_near(state[path], leaf, near(leaf), fmt::format("{}, {}", what, path));
    }
  };
  check(tree::of(model), c["init"], "before");
  const Outcome got = program(model, golden_array(c["inputs"][0]));
  ASSERT_EQ(got.outputs.size(), c["outputs"].size());
  for (std::size_t i = 0; i < got.outputs.size(); ++i)
    expect_near(got.outputs[i], c["outputs"][i], {.relative_l2 = 2e-6, .floor = 1e-6},
                fmt::format("output {}", i));
  check(tree::of(model), c["state"], "after");
  if (!c.contains("grads")) return;
  ASSERT_TRUE(got.grads.has_value());
  double norm = 0;
  for (const auto& [path, leaf] : c["grads"].items())
    for (float x : golden_array(leaf).to_vector<float>()) norm += static_cast<double>(x) * x;
  EXPECT_EQ(got.grads->size(), c["grads"].size());
  for (const auto& [path, leaf] : c["grads"].items())
    expect_near((*got.grads)[path], leaf, {.relative_l2 = 1e-5, .floor = 4e-6 * std::sqrt(norm)},
                "gradient of " + path);
}

TEST(NnxTransforms, AreFlaxs) {
  testing::shows_names(
      "nnx.jit nnx.remat nnx.grad nnx.value_and_grad nnx.vjp nnx.vmap nnx.scan nnx.Carry nnx.cond "
      "nnx.switch nnx.fori_loop nnx.while_loop nnx.eval_shape nnx.Variable");
  NnxGolden golden("transforms");
  const Programs<Counting> counting = one_level<Counting>();
  const Programs<Normal> normals = one_level<Normal>(), stacks = of_stack();
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    SCOPED_TRACE(name);
    const auto rest = [&](const char* prefix) { return name.substr(std::string(prefix).size()); };
    if (name == "counting_scan_rows") {
      run_case<Counting>(c, Counting(), [](Counting& m, const Array& rows) {
        const auto step = [](Counting& model, const Array& x) {
          (void)model(x);
          return numpy::sum(x);
        };
        return Outcome{{nn::scan(step, {.in_axes = {std::nullopt, 0}, .out_axes = {0}})(m, rows)}};
      });
    } else if (name == "norm_vmap_axis_name") {
      Rngs rngs(0);
      BatchNorm norm(3, rngs, {.momentum = 0.9, .axis_name = "data"});
      run_case<BatchNorm>(c, norm, [](BatchNorm& m, const Array& x) {
        return Outcome{{nn::vmap(call, {.in_axes = {std::nullopt, 0}, .axis_name = "data"})(m, x)}};
      });
    } else if (name == "floats_value_and_grad") {
      run_case<Floats>(c, Floats(), [](Floats& m, const Array& x) {
        auto [value, grads] = nn::value_and_grad(square, everything())(m, x);
        return Outcome{{value}, grads};
      });
    } else if (name == "floats_vjp") {
      run_case<Floats>(c, Floats(), [&](Floats& m, const Array& x) {
        const auto [value, pull] = nn::vjp(square, m, x);
        const auto [by_model, by_x] = pull(Array::scalar(2.0, DType::f32, false));
        expect_near(by_x, c["by_input"], {.relative_l2 = 1e-5}, "gradient of the input");
        return Outcome{{value}, tree::of(by_model)};
      });
    } else if (name.starts_with("counting_")) {
      run_case(c, Counting(), counting.at(rest("counting_")));
    } else if (name.starts_with("normal_")) {
      run_case(c, normal(), normals.at(rest("normal_")));
    } else {
      run_case(c, stack(), stacks.at(rest("stack_")));
    }
  }
}

}  // namespace
}  // namespace strata::nn
