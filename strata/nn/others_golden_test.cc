// Dropout, PReLU and pools beside Flax's.
#include "strata/nn/conv/pool.h"
#include "strata/nn/dropout.h"
#include "strata/nn/inspect/capture.h"
#include "strata/nn/linear/linear.h"
#include "strata/nn/linear/prelu.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/norm/layer_norm.h"
#include "strata/nn/recurrent/gru.h"
#include "strata/nn/sequential.h"

namespace strata::nn {
namespace {

std::optional<DType> dtype(const json& args) {
  if (!args.contains("dtype")) return {};
  return golden_dtype(args["dtype"]);
}

Dropout dropout(const json& args, Rngs& rngs) {
  DropoutOptions o;
  if (args.contains("broadcast_dims"))
    o.broadcast_dims = args["broadcast_dims"].get<std::vector<std::int64_t>>();
  o.deterministic = args.value("deterministic", false);
  o.rng_collection = args.value("rng_collection", "dropout");
  const double rate = args["rate"];
  return args["rngs"].is_null() ? Dropout(rate, o) : Dropout(rate, rngs, o);
}

/// Streams of a call, {"rngs": ...}, or its key, {"key": seed}; none where it brings none.
struct Lent {
  explicit Lent(const NnxCall& call) {
    if (!call.has("rngs")) return;
    const json& given = call.kwargs["rngs"];
    if (given.contains("key"))
      key = random::key(Array(given["key"].get<std::int64_t>()));
    else
      rngs = golden_rngs(given["rngs"]);
  }
  LentStream stream() {
    if (key) return *key;
    if (rngs) return *rngs;
    return {};
  }
  std::optional<random::Key> key;
  std::optional<Rngs> rngs;
};

AnyLayer layer(const json& described, Rngs& rngs) {
  if (described.contains("function")) {
    const std::string name = described["function"];
    if (name == "gelu") return [](const Array& x) { return nn::gelu(x); };
    if (name == "swish") return [](const Array& x) { return nn::swish(x); };
    if (name == "relu") return [](const Array& x) { return nn::relu(x); };
    if (name == "add") return [](const Array& x, const Array& y) { return x + y; };
    throw std::runtime_error("no function " + name);
  }
  const std::string name = described["layer"];
  const json& args = described["args"];
  if (name == "Linear")
    return Linear(args["in_features"], args["out_features"], rngs,
                  {.product = {.dtype = dtype(args)}});
  if (name == "LayerNorm") return LayerNorm(args["num_features"], rngs, {.dtype = dtype(args)});
  if (name == "Dropout") return dropout(args, rngs);
  if (name == "GRUCell") return GRUCell(args["in_features"], args["hidden_features"], rngs);
  throw std::runtime_error("no layer " + name);
}

void register_layers(NnxGolden& golden) {
  golden.on<Dropout>("Dropout", dropout, [](Dropout& l, const NnxCall& call) {
    DropoutCall given;
    if (call.has("deterministic")) given.deterministic = call.kwargs["deterministic"].get<bool>();
    Lent lent(call);
    given.rngs = lent.stream();
    return l(call.inputs[0], given);
  });
  golden.on<PReLU>(
      "PReLU",
      [](const json& args, Rngs&) {
        return PReLU(
            {.negative_slope_init = args.value("negative_slope_init", 0.01), .dtype = dtype(args)});
      },
      [](PReLU& l, const NnxCall& call) { return l(call.inputs[0]); });
  golden.on<Layers>(
      "Sequential",
      [](const json& args, Rngs& rngs) {
        Layers out;
        for (const json& one : args["layers"]) out.layers.push_back(layer(one, rngs));
        return out;
      },
      [](Layers& l, const NnxCall& call) {
        Lent lent(call);
        return l.call(call.inputs, lent.rngs ? &*lent.rngs : nullptr);
      });
}

void register_pools(NnxGolden& golden) {
  const auto on = [&](const char* name,
                      Array (*f)(const Array&, const Sizes&, const PoolOptions&)) {
    golden.on_function(name, [f](const NnxCall& call) -> std::vector<Array> {
      PoolOptions o;
      if (call.has("strides")) o.strides = call.kwargs["strides"].get<std::vector<std::int64_t>>();
      if (call.has("padding"))
        o.padding = call.kwargs["padding"].is_string()
                        ? Padding(call.kwargs["padding"].get<std::string>())
                        : Padding(call.kwargs["padding"].get<Padding::Pairs>());
      o.count_include_pad = call.kwargs.value("count_include_pad", true);
      return {f(call.inputs[0], call.kwargs["window_shape"].get<std::vector<std::int64_t>>(), o)};
    });
  };
  on("avg_pool", avg_pool);
  on("max_pool", max_pool);
  on("min_pool", min_pool);
}

struct Inner {
  Linear linear;
  STRATA_FIELDS(linear)
  Array operator()(const Array& x) const {
    const ModuleScope scope(*this, "Inner");
    sow("seen", x);
    const Array y = perturb("change", linear(x));
    sow("seen", y);
    sow("total", numpy::sum(y),
        {.init = 0.0f, .reduce = [](const Array& a, const Array& b) { return a + b; }});
    return scope.returns(y, x);
  }
};
struct Outer {
  std::vector<Inner> blocks;
  STRATA_FIELDS(blocks)
  Array operator()(const Array& x) const {
    const ModuleScope scope(*this, "Outer");
    const Array y = blocks[1](blocks[0](blocks[0](x)));
    sow("out", y);
    return scope.returns(y, x);
  }
};

void expect_state(const tree::Tree& got, const json& want, const std::string& what) {
  const tree::Tree expected = golden_tree(want);
  EXPECT_EQ(got.size(), expected.size()) << what << ": " << got.to_string();
  for (const auto& [path, leaf] : want.items()) {
    const bool many = leaf.contains("values");
    for (std::size_t i = 0; i < (many ? leaf["values"].size() : 1); ++i) {
      const std::string name = many ? fmt::format("{}/{}", path, i) : path;
      ASSERT_TRUE(got.contains(name)) << what << ": there is no " << name;
      EXPECT_EQ(got.entry(*got.find(name)).kind->name(), leaf["kind"].get<std::string>());
      expect_near(got[name], many ? leaf["values"][i] : leaf, {.relative_l2 = 2e-6}, name);
    }
  }
}

/// A model under a capture of one kind or two.
template <class M>
void check_capture(const json& c, M& model) {
  const Array x = golden_array(c["inputs"][0]);
  CaptureOptions o;
  if (c.contains("method_outputs")) o.method_outputs = &Intermediate::kind();
  std::vector<tree::Tree> states;
  Array y;
  const auto& kinds = c["capture"];
  if (kinds.size() == 2) {
    const auto [out, first, second] = nn::capture<Intermediate, Perturbation>(model, o)(x);
    y = out, states = {first, second};
  } else {
    const std::string kind = kinds[0];
    const auto [out, state] = kind == "Intermediate"   ? nn::capture<Intermediate>(model, o)(x)
                              : kind == "Perturbation" ? nn::capture<Perturbation>(model, o)(x)
                                                       : nn::capture<Cache>(model, o)(x);
    y = out, states = {state};
  }
  expect_near(y, c["outputs"][0], {.relative_l2 = 2e-6}, "output");
  for (std::size_t i = 0; i < states.size(); ++i)
    expect_state(states[i], c["captured"][i], kinds[i]);
}

void register_captures(NnxGolden& golden) {
  Rngs a(0), b(0);
  auto inner = std::make_shared<Inner>(Inner{Linear(3, 3, a)});
  auto outer = std::make_shared<Outer>();
  for (int i = 0; i < 2; ++i) outer->blocks.push_back({Linear(3, 3, b)});
  golden.on_case("capture_models", [inner, outer](const json& c) {
    expect_state(tree::of(*inner), c["init"]["inner"], "inner");
    expect_state(tree::of(*outer), c["init"]["outer"], "outer");
  });
  for (const json& c : golden.cases()) {
    const std::string name = c["name"];
    if (!c.contains("capture")) continue;
    if (c["model"] == "Inner")
      golden.on_case(name, [inner](const json& one) { check_capture(one, *inner); });
    else
      golden.on_case(name, [outer](const json& one) { check_capture(one, *outer); });
  }
  golden.on_case("gradient_of_intermediate", [inner](const json& c) {
    const Array x = golden_array(c["inputs"][0]);
    auto [y, zeros] = nn::capture<Perturbation>(*inner)(x);
    expect_state(zeros, c["init"], "init");
    const auto loss = [&](tree::Tree& added) {
      const auto [out, same] = nn::capture<Perturbation>(*inner, {.init = added})(x);
      return numpy::sum(numpy::square(out));
    };
    const auto [value, grads] = nn::value_and_grad(loss, everything())(zeros);
    expect_near(value, c["outputs"][0], {.relative_l2 = 2e-6}, "loss");
    expect_near(grads["change"], c["grads"]["change"], {.relative_l2 = 1e-5}, "gradient");
  });
}

TEST(NnxOthers, AreFlaxs) {
  NnxGolden golden("others");
  register_captures(golden);
  register_layers(golden);
  register_pools(golden);
  golden.run();
}

}  // namespace
}  // namespace strata::nn
