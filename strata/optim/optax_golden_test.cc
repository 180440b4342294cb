#include "strata/optim/optax_golden.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "strata/api/testing.h"
#include "strata/api/transform/grad.h"
#include "strata/compile/cpu/cpu_client.h"
#include "strata/optim/contrib/matrices.h"
#include "strata/optim/math/trees.h"
#include "strata/optim/rules/schedule_free.h"
#include "strata/optim/transform/aggregating.h"
#include "strata/optim/transform/conditions.h"
#include "strata/optim/transform/masked.h"
#include "strata/optim/transform/monitoring.h"
#include "strata/optim/transform/multi_steps.h"

namespace strata::optim {

namespace {

std::string decoded(const std::string& text) {
  static const std::string digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string::npos) break;
    bits = bits << 6 | static_cast<unsigned>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out += static_cast<char>(bits >> held & 0xff);
  }
  return out;
}
DType dtype_of(const std::string& spelled) {
  static const std::map<std::string, DType> names{
      {"float32", DType::f32},   {"bfloat16", DType::bf16}, {"float16", DType::f16},
      {"float64", DType::f64},   {"int32", DType::i32},     {"int8", DType::i8},
      {"int64", DType::i64},     {"uint32", DType::ui32},   {"bool", DType::i1},
      {"complex64", DType::c64}, {"key", DType::ui32}};
  return names.at(spelled);
}
/// tools/goldens' `numbers`, to the last bit.
Array numbers(std::int64_t seed, const std::vector<std::int64_t>& shape, DType dtype) {
  std::int64_t count = 1;
  for (std::int64_t n : shape) count *= n;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>((seed * 7919 + i * 104729) % 2003 - 1001) / 1024.0f);
  return numpy::astype(numpy::reshape(array(values), shape), dtype);
}
bool is_array(const json& said) {
  return said.is_object() &&
         (said.contains("b64") || (said.contains("numbers") && said.contains("shape")));
}
Array leaves_sum(const std::function<Array(const Array&)>& f, const Tree& params) {
  Array total(0.0f);
  for (const Array& p : params.values()) total = total + numpy::sum(f(p));
  return total;
}
Array quadratic(const Tree& params) {
  return leaves_sum(
      [](const Array& p) {
        const Array i = numpy::astype(numpy::arange(p.size()) + 1, p.dtype());
        return 0.5 * numpy::reshape(i, p.shape().sizes()) * p * p;
      },
      params);
}
tree::Filter mask_of(const json& paths) {
  std::map<std::string, std::string> values;
  for (const auto& [path, value] : paths.items()) values[path] = value.get<bool>() ? "true" : "";
  return tree::where([labels = labels_by_path(std::move(values))](
                         const tree::Entry& e, const Array& x) { return labels(e, x) == "true"; },
                     "a mask");
}
/// The functions of the manifest, each as the type of whoever takes it.
Option named(const std::string& name) {
  using OfStep = std::function<Array(const Array&)>;
  const auto one_step = [](auto f) { return Option::object(OfStep(f)); };
  if (name == "matrices") return of_rank(2);
  if (name == "by_rank")
    return Option::object(Labels([](const tree::Entry&, const Array& x) {
      return std::string(x.ndim() >= 2 ? "matrix" : "other");
    }));
  if (name == "every_other")
    return Option::object(Condition([](const Array& step, const Extra&) {
      return numpy::equal(numpy::remainder(step, 2), 0);
    }));
  if (name == "from_second")
    return Option::object(Condition([](const Array& step, const Extra&) { return step >= 2; }));
  if (name == "value_below_one")
    return Option::object(
        Condition([](const Array&, const Extra& extra) { return *extra.value < 1.0; }));
  if (name == "k_grows")
    return one_step([](const Array& step) {
      return numpy::where(step < 1, numpy::ones({}, DType::i32), numpy::full({}, 2, DType::i32));
    });
  if (name == "skip_not_finite") return Option::object(ShouldSkip(skip_not_finite));
  if (name == "skip_large") return Option::object(skip_large_updates(3.0));
  if (name == "halve")
    return Option::object(std::function<Tree(const Tree&, const Tree*)>(
        [](const Tree& u, const Tree*) { return trees::scale(0.5, u); }));
  if (name == "away_from")
    return Option::object(std::function<Array(const Array&, const Array*)>(
        [](const Array& u, const Array* p) { return u - 0.25 * *p; }));
  if (name == "norm") return Option::object(Measure([](const Tree& u) { return trees::norm(u); }));
  if (name == "norm_above_one")
    return Option::object(Measure([](const Tree& u) { return trees::norm(u) > 1.0; }));
  const auto step = [](const Array& s) { return numpy::astype(s, DType::f32) + 1.0; };
  if (name == "cube_root")
    return Schedule([=](const Array& s) { return numpy::power(step(s), 1.0 / 3.0); });
  if (name == "one_minus_half")
    return Schedule([=](const Array& s) { return 1.0 - numpy::power(Array(0.5), step(s)); });
  if (name == "clip_by_root")
    return one_step([=](const Array& s) { return numpy::power(step(s), 0.5); });
  if (name == "one_minus_reciprocal")
    return Option::object(std::function<Array(const Array&, const Rate&)>(
        [=](const Array& s, const Rate&) { return 1.0 - 1.0 / step(s); }));
  using contrib::DimensionNumbers;
  const auto dimensions = [](auto f) {
    return Option::object(contrib::DimensionsOf(
        [f](const tree::Entry&, const Array& x) -> std::optional<DimensionNumbers> {
          return f(x);
        }));
  };
  if (name == "galore_tensors")
    return dimensions([](const Array& x) {
      return x.ndim() == 3 ? std::optional(DimensionNumbers{{0}, {1, 2}}) : std::nullopt;
    });
  if (name == "muon_all_leaves")
    return dimensions([](const Array& x) {
      return x.ndim() >= 2 ? std::optional(DimensionNumbers{{0}, {x.ndim() - 1}}) : std::nullopt;
    });
  if (name == "muon_tensors")
    return dimensions([](const Array& x) {
      return x.ndim() == 3 ? std::optional(DimensionNumbers{{0, 1}, {2}}) : std::nullopt;
    });
  return Option::object(name);
}
Options golden_options(const json& args) {
  Options out;
  for (const auto& [key, value] : args.items()) out[key] = golden_option(value);
  return out;
}

}  // namespace

Array golden_array(const json& said) {
  const std::vector<std::int64_t> shape = said["shape"];
  const DType dtype = dtype_of(said["dtype"]);
  if (said.contains("numbers")) return numbers(said["numbers"].get<std::int64_t>(), shape, dtype);
  const std::string bytes = decoded(said["b64"]);
  Literal literal(Type(dtype, Shape::of(shape)));
  std::memcpy(literal.mutable_data(), bytes.data(), bytes.size());
  return Array(std::move(literal));
}
Tree golden_tree(const json& leaves) {
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (const auto& [path, said] : leaves.items()) {
    entries.emplace_back(path);
    values.push_back(golden_array(said));
  }
  return Tree(std::move(entries), std::move(values));
}
Option golden_option(const json& said) {
  if (said.is_null()) return {};
  if (said.is_boolean()) return said.get<bool>();
  if (said.is_number_integer()) return said.get<std::int64_t>();
  if (said.is_number()) return said.get<double>();
  if (said.is_string()) return said.get<std::string>();
  if (said.is_array()) {
    std::vector<Option> list;
    for (const json& one : said) list.push_back(golden_option(one));
    return list;
  }
  if (is_array(said)) return golden_array(said);
  if (said.contains("function")) {
    Options args = golden_options(said["args"]);
    if (said["function"] == "monitor") {  // in the order of the file
      std::vector<Option> pairs;
      for (const auto& [name, measure] : said["args"]["measures"].items())
        pairs.push_back(std::vector<Option>{name, golden_option(measure)});
      args["measures"] = pairs;
    }
    return make(said["function"].get<std::string>(), args);
  }
  if (said.contains("schedule"))
    return make_schedule(said["schedule"].get<std::string>(), golden_options(said["args"]));
  if (said.size() == 1) {
    const std::string kind = said.begin().key();
    const json& inside = said.begin().value();
    if (kind == "factory") return inside.get<std::string>();
    if (kind == "named") return named(inside);
    if (kind == "dtype") return dtype_of(inside);
    if (kind == "key") return Option::object(random::key(inside.get<std::int64_t>()));
    if (kind == "number") return std::stod(inside.get<std::string>());
    if (kind == "tuple") return golden_option(inside);
    if (kind == "table") return golden_option(inside);
    if (kind == "mask")
      return inside.begin()->is_boolean() ? Option(mask_of(inside))
                                          : Option(golden_options(inside));
  }
  return golden_options(said);
}
std::function<Array(const Tree&)> golden_objective(const std::string& name) {
  if (name == "rosenbrock")
    return [](const Tree& params) {
      const Array x = params["x"];
      const Array head = x[slice(0, x.size() - 1)], tail = x[slice(1, x.size())];
      return numpy::sum(100.0 * numpy::square(tail - head * head) + numpy::square(1.0 - head));
    };
  if (name == "quadratic") return quadratic;
  if (name == "sines")
    return [](const Tree& params) {
      return leaves_sum([](const Array& p) { return numpy::sin(3.0 * p) + p * p; }, params);
    };
  if (name == "walled")
    return [](const Tree& params) {
      const Array value = quadratic(params);
      return numpy::where(value < 10.0, value, std::numeric_limits<double>::infinity());
    };
  throw std::runtime_error("no objective " + name);
}

const Tree& OptaxCall::in(const std::string& name) const {
  for (const auto& [known, values] : inputs)
    if (known == name) return values;
  throw std::runtime_error(function + " has no input " + name);
}
Tree one_leaf(Array value) { return Tree({tree::Entry(tree::KeyPath())}, {std::move(value)}); }
Tree numbered(std::vector<Array> values) {
  std::vector<tree::Entry> entries;
  for (std::size_t i = 0; i < values.size(); ++i) entries.emplace_back(std::to_string(i));
  return Tree(std::move(entries), std::move(values));
}

namespace {
void expect_leaf_near(const Array& got, const Array& want, double of_largest, double least,
                      const std::string& what) {
  ASSERT_EQ(got.dtype(), want.dtype()) << what;
  ASSERT_EQ(got.shape(), want.shape()) << what;
  if (is_complex(want.dtype())) {
    expect_leaf_near(numpy::real(got), numpy::real(want), of_largest, least, what + " (real)");
    expect_leaf_near(numpy::imag(got), numpy::imag(want), of_largest, least, what + " (imaginary)");
    return;
  }
  const std::vector<double> a = numpy::ravel(got).to_vector<double>(),
                            b = numpy::ravel(want).to_vector<double>();
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(b[i]) || !std::isfinite(a[i])) {
      EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
          << what << "[" << i << "]: " << a[i] << " for " << b[i];
      continue;
    }
    largest = std::max(largest, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  if (!is_float(want.dtype()))
    EXPECT_EQ(apart, 0) << what;
  else if (want.dtype() == DType::bf16)
    EXPECT_LE(apart, std::max(0.015625, of_largest) * largest) << what;
  else
    EXPECT_LE(apart, std::max(least, of_largest * largest)) << what;
}
}  // namespace

void expect_near(const Tree& got, const json& want, double of_largest, const std::string& what,
                 double least) {
  std::set<std::string> names;
  for (const auto& [path, said] : want.items()) names.insert(path);
  const std::vector<std::string> ours = got.names();
  ASSERT_EQ(std::set<std::string>(ours.begin(), ours.end()), names) << what;
  for (const auto& [path, said] : want.items())
    expect_leaf_near(got[path], golden_array(said), of_largest, least, what + ": " + path);
}

OptaxGolden::OptaxGolden(const std::string& family) {
  compile::register_cpu();
  const auto path =
      std::filesystem::path(__FILE__).parent_path() / "testdata/optax" / (family + ".json");
  std::ifstream file(path);
  cases_ = json::parse(file)["cases"];
}
void OptaxGolden::tolerance(const std::string& prefix, double of_largest) {
  tolerances_.emplace_back(prefix, of_largest);
}
bool OptaxGolden::is_left(const json& c) const {
  const std::string name = c["name"];
  return std::any_of(left_.begin(), left_.end(),
                     [&](const std::string& prefix) { return name.starts_with(prefix); });
}
double OptaxGolden::tolerance_of(const std::string& name) const {
  double near = 4e-7;
  for (const auto& [prefix, of_largest] : tolerances_)
    if (name.starts_with(prefix)) near = of_largest;
  return near;
}
std::string optax_names(const json& cases) {
  std::set<std::string> names;
  const std::function<void(const json&)> collect = [&](const json& said) {
    for (const char* key : {"function", "schedule", "factory"})
      if (said.is_object() && said.contains(key) && said[key].is_string()) {
        std::string name = said[key];
        for (const std::string method : {".log_prob", ".sample"})
          if (name.ends_with(method)) name.resize(name.size() - method.size());
        names.insert("optax." + name);
      }
    if (said.is_structured())
      for (const json& inside : said) collect(inside);
  };
  for (const json& c : cases) collect(c["call"]);
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}
void OptaxGolden::run() {
  json own = json::array();
  for (const json& c : cases_)
    if (!is_left(c)) own.push_back(c);
  testing::shows_names(optax_names(own) + shown_);
  for (const json& c : own) {
    const std::string name = c["name"];
    SCOPED_TRACE(name);
    try {
      if (c.contains("steps"))
        run_rule(c, tolerance_of(name));
      else if (c.contains("counts"))
        run_schedule(c);
      else
        run_function(c, tolerance_of(name));
    } catch (const std::exception& e) {
      ADD_FAILURE() << name << ": " << e.what();
    }
  }
}

void OptaxGolden::run_rule(const json& c, double near) const {
  const GradientTransformation tx = *golden_option(c["call"]).object<GradientTransformation>();
  const bool needs_params = c.value("needs_params", true);
  Tree params = golden_tree(c["params"]);
  expect_near(tx.init(params), c["steps"][0]["state_before"], near, "init");
  Tree state;
  int number = 0;
  for (const json& step : c["steps"]) {
    const std::string what = fmt::format("step {}", number++);
    if (step.contains("state_before")) state = golden_tree(step["state_before"]);
    const Tree gradients = golden_tree(step["gradients"]);
    Extra extra;
    if (step.contains("extra"))
      for (const auto& [name, said] : step["extra"].items()) {
        if (name == "value")
          extra.value = is_array(said) ? golden_array(said)
                                       : Array(std::stod(said["number"].get<std::string>()));
        if (name == "grad") extra.grad = gradients;
        if (name == "value_fn") extra.value_fn = golden_objective(said["named"]);
        if (name == "obj_fn") extra.obj_fn = golden_objective(said["named"]);
        if (name == "grad_fn")
          extra.grad_fn = [](const Tree& p, const Array& i) {
            const Array factor = 1.0 + 0.5 * numpy::astype(i, DType::f32);
            return trees::scale(factor, strata::grad(quadratic)(p));
          };
      }
    auto [updates, next] = tx.update(gradients, state, needs_params ? &params : nullptr, extra);
    expect_near(updates, step["updates"], near, what + " updates", least_);
    expect_near(next, step["state_after"], near, what + " state", least_);
    state = golden_tree(step["state_after"]);
    params = step.contains("params_after") ? golden_tree(step["params_after"])
                                           : apply_updates(params, golden_tree(step["updates"]));
    if (step.contains("evaluated") && state.contains("step_count"))
      expect_near(schedule_free_eval_params(state, params), step["evaluated"], near,
                  what + " evaluated");
    else if (step.contains("evaluated")) {
      const auto [mean, variance] = aggregating::get_unbiased_mean_and_variance_ema(state);
      expect_near(tree::merge({mean.below("0"), variance.below("1")}), step["evaluated"], near,
                  what + " evaluated");
    }
  }
}

void OptaxGolden::run_schedule(const json& c) const {
  Rate rate;
  read(golden_option(c["call"]), "schedule", rate);
  const Schedule schedule = rate.schedule();
  const std::vector<float> want = golden_array(c["values"]).to_vector<float>();
  float largest = 0;
  for (float v : want) largest = std::max(largest, std::abs(v));
  std::size_t i = 0;
  for (const json& count : c["counts"]) {
    const float got =
        schedule(Array::scalar(count.get<std::int64_t>(), DType::i32, false)).item<float>();
    const float unit = std::nextafter(std::abs(want[i]), INFINITY) - std::abs(want[i]);
    // 1 + cos falls to rounding near its end.
    EXPECT_LE(std::abs(got - want[i]), std::max(unit, 6e-8f * largest))
        << c["name"] << " at " << count;
    ++i;
  }
}

void OptaxGolden::run_function(const json& c, double near) const {
  OptaxCall call;
  call.function = c["call"]["function"];
  const auto f = functions_.find(call.function);
  if (f == functions_.end()) {
    ADD_FAILURE() << "nobody answers " << call.function;
    return;
  }
  call.options = golden_options(c["call"]["args"]);
  for (const auto& [name, leaves] : c["inputs"].items())
    call.inputs.emplace_back(name, golden_tree(leaves));
  expect_near(f->second(call), c["results"], near, "result", 1e-7);
  if (!c.contains("gradients")) return;
  for (const auto& [name, want] : c["gradients"].items()) {
    const auto weighted = [&, wrt = name](const Tree& input) {
      OptaxCall with = call;
      for (auto& [known, values] : with.inputs)
        if (known == wrt) values = input;
      const Tree out = f->second(with);
      Array total(0.0f);
      std::int64_t k = 0;
      for (const auto& [path, said] : c["results"].items()) {
        const Array& leaf = out[path];
        total = total + numpy::sum(leaf * numbers(900 + k++, leaf.shape().sizes(), DType::f32));
      }
      return total;
    };
    expect_near(strata::grad(weighted)(call.in(name)), want, std::max(near, 1e-5),
                "gradient of " + name, 1e-7);
  }
}

// The families of rules; those with functions beside them have tests of their own.
TEST(OptaxRules, Adam) { OptaxGolden("adam").run(); }
TEST(OptaxRules, Descent) { OptaxGolden("descent").run(); }
TEST(OptaxRules, ScaleBy) {
  OptaxGolden golden("scale_by");
  golden.also_shows("optax.GradientTransformation");  // which `make` returns and each case calls
  golden.run();
}
TEST(OptaxRules, Schedules) { OptaxGolden("schedules").run(); }
TEST(OptaxRules, Dtypes) {
  OptaxGolden golden("dtypes");
  golden.tolerance("muon", 0.05);
  golden.run();
}

}  // namespace strata::optim
