// What docs/jax.md quotes: JAX's idioms in Strata, each with what must be true of it.
#include <strata/checkpoint/tree_file.h>
#include <strata/core.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "strata/checkpoint/arrays.h"
#include "strata/nn/linear/linear.h"
#include "strata/optim/optim.h"

using namespace strata;
namespace snp = strata::numpy;

namespace {

void require(bool claim, const char* text) {
  if (claim) return;
  std::cerr << "does not hold: " << text << "\n";
  std::exit(1);
}

void arrays() {
  Array x = snp::arange(6).reshape({2, 3});
  Array y = snp::concatenate({x, x * 10}, 1);
  std::cout << sum(y, {.axis = 0, .keepdims = true}) << " " << y[{slice(), -1}] << "\n";

  Array z = x.at({0, slice(1, none)}).set(7).at({1, 0}).add(1);
  std::cout << where(z > 4, z, 0) << "\n";
}

// A pytree is a struct that names its fields.
struct Params {
  Array w, b;
  std::vector<Array> layers;
  int heads = 4;  // a number is part of the structure
  STRATA_FIELDS(w, b, layers, heads)
};

Params make_params() { return {ones({3}), zeros({}), {ones({2}), ones({2})}, 4}; }

void trees() {
  Params params = make_params();
  std::cout << tree::structure(params).text() << "\n";
  Params halved = tree::map([](const Array& p) { return p / 2; }, params);
  for (const std::string& path : tree::paths(params)) std::cout << path << " ";
  std::cout << halved.layers[1] << "\n";
}

Array loss(const Params& p, const Array& x, const Array& y) {
  return mean(square(dot(x, p.w) + p.b - y));
}

void derivatives() {
  const Params params = make_params();
  const Array x = random::normal(random::key(0), {8, 3}), y = ones({8});

  auto [value, grads] = jit(value_and_grad(loss))(params, x, y);
  auto [by_x, by_y] = grad<1, 2>(loss)(params, x, y);

  auto with_aux = [](const Array& w) { return std::pair{sum(w * w), w * 2}; };
  auto [both, slope] = value_and_grad(with_aux)(params.w);
  require(array_equal(both.second, slope).item<bool>(), "aux is not differentiated");

  auto [primal, tangent] = jvp([](Array v) { return sin(v); }, std::tuple{x}, std::tuple{x});
  auto [result, pullback] = vjp([](Array v) { return sin(v); }, x);
  auto [cotangent] = pullback(ones_like(result));
  Array curvature = hessian([](Array v) { return sum(v * v * v); })(array({1.0f, 2.0f}));
  std::cout << curvature << " " << by_x.shape() << " " << by_y.shape() << " " << grads.w.shape()
            << cotangent.shape() << tangent.shape() << primal.shape() << value.shape() << "\n";
}

void batches() {
  Array xs = random::normal(random::key(1), {5, 3}), w = ones({3});
  Array each = vmap([](Array x, Array v) { return dot(x, v); }, {.in_axes = {0, none}})(xs, w);
  Array slopes =
      vmap(grad([](Array v, Array x) { return square(dot(v, x)); }), {.in_axes = {none, 0}})(w, xs);
  Array centered =
      vmap([](Array x) { return x - lax::pmean(x, "batch"); }, {.axis_name = "batch"})(xs);
  std::cout << each.shape() << " " << slopes.shape() << " " << centered.shape() << "\n";
}

void keys() {
  random::Key key = random::key(0);
  auto [first, second] = random::split2(key);
  random::Key many = random::split(key, 4);
  Array noise = random::normal(many[0], {2, 3}), coin = random::bernoulli(first, 0.3, {4});
  random::Key step = random::fold_in(key, 17);
  require(!array_equal(random::uniform(second), random::uniform(step)).item<bool>(),
          "other keys, other numbers");
  std::cout << key.dtype().to_string() << " " << many.shape() << " " << noise.shape() << " "
            << (coin.dtype() == bool_) << "\n";
}

void control() {
  auto step = [](Array carry, Array x) { return std::pair{carry + x, carry * x}; };
  auto [last, all] = scan(step, 0.0f, array({1.0f, 2.0f, 3.0f}));

  Array n = while_loop([](Array i) { return i * i < 50; }, [](Array i) { return i + 1; }, Array(0));
  Array powers = fori_loop(0, 10, [](Array, Array v) { return v * 2; }, ones({2}));
  Array chosen = cond(n > 5, [](Array v) { return v; }, [](Array v) { return -v; }, powers);
  Array one = switch_(1,
                      std::vector<std::function<Array(Array)>>{[](Array v) { return v; },
                                                               [](Array v) { return v * 100; }},
                      last);
  std::cout << last << " " << all << " " << n << " " << chosen << " " << one << "\n";
}

// Static arguments: what a struct holds besides arrays, and what a lambda captures.
struct Settings {
  int steps = 2;
  bool squared = false;
  STRATA_FIELDS(steps, squared)
};

void static_arguments() {
  int traced = 0;
  auto repeat = jit([&](const Settings& settings, Array x) {
    ++traced;
    for (int i = 0; i < settings.steps; ++i) x = x * 2;
    return settings.squared ? square(x) : x;
  });
  Array x = ones({2});
  std::cout << repeat(Settings{3, false}, x) << " " << repeat(Settings{1, true}, x) << "\n";
  require(traced == 2, "other settings are another program");
  repeat(Settings{3, false}, x * 5);
  require(traced == 2, "other elements are not");
}

void donation() {
  auto add_one = jit([](const Array& x) { return x + 1; }, {.donate_argnums = {0}});
  Array x = zeros({1000});
  x = add_one(std::move(x));  // the result reuses the buffer of x
  require(x[0].item<float>() == 1, "one was added");
}

void wide() {
  require(zeros({2}).dtype() == float32, "32 bits by default");
  EnableX64 on;
  require(zeros({2}).dtype() == float64 && (arange(3) + 1).dtype() == int64, "64 in its scope");
}

void debugging() {
  auto f = jit([](Array x) {
    debug::print("x is {}, its sum {:.1f}", x, sum(x));
    return x * 2;
  });
  f(array({1.0f, 2.5f}));
  try {
    debug_nans check;
    log(array({-1.0f}));
  } catch (const Error& e) {
    std::cout << e.message() << "\n";
  }
}

void checkpoints() {
  const Params params = make_params();
  const auto file = std::filesystem::temp_directory_path() / "strata_docs_jax.safetensors";

  std::map<std::string, Array> tensors;
  const std::vector<Array> leaves = tree::leaves<Array>(params);
  for (std::size_t i = 0; i < leaves.size(); ++i) tensors[tree::paths(params)[i]] = leaves[i];
  if (Status saved = checkpoint::save_file(tensors, file); !saved)
    std::cerr << saved.message() << "\n";

  Result<std::map<std::string, Array>> read = checkpoint::load_file(file);
  require(read.ok() && array_equal(read->at("w"), params.w).item<bool>(), "what was written");
  std::filesystem::remove(file);
}

// Flax's Dense is a struct of arrays, Optax's chain is a chain.
void training() {
  nn::Linear layer = nn::Linear::init(random::key(2), 3, 1);
  auto optimizer =
      optim::chain(optim::clip_by_global_norm(1.0), optim::adam(optim::constant_schedule(0.1)));
  auto state = optimizer.init(layer);
  Array x = random::normal(random::key(3), {32, 3}), y = sum(x, {.axis = 1, .keepdims = true});

  auto train_step = jit([&](const nn::Linear& model, const decltype(state)& memory) {
    auto [value, grads] =
        value_and_grad([&](const nn::Linear& l) { return mean(square(l(x) - y)); })(model);
    auto [updates, next] = optimizer.update(grads, memory, model);
    return std::tuple{optim::apply_updates(model, updates), next, value};
  });
  Array value;
  for (int i = 0; i < 200; ++i) std::tie(layer, state, value) = train_step(layer, state);
  require(value.item<float>() < 1e-3, "it has learned to add");
}

}  // namespace

int main() {
  arrays();
  trees();
  derivatives();
  batches();
  keys();
  control();
  static_arguments();
  donation();
  wide();
  debugging();
  checkpoints();
  training();
}
