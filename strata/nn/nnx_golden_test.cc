#include "strata/nn/nnx_golden.h"

#include <bit>
#include <cmath>
#include <set>

#include "strata/api/testing.h"
#include "strata/compile/cpu/cpu_client.h"

namespace strata::nn {

namespace {

std::vector<std::uint8_t> decode(const std::string& text) {
  std::vector<std::uint8_t> out;
  std::uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    std::uint32_t v = 0;
    if (c >= 'A' && c <= 'Z')
      v = static_cast<std::uint32_t>(c - 'A');
    else if (c >= 'a' && c <= 'z')
      v = static_cast<std::uint32_t>(c - 'a' + 26);
    else if (c >= '0' && c <= '9')
      v = static_cast<std::uint32_t>(c - '0' + 52);
    else if (c == '+')
      v = 62;
    else if (c == '/')
      v = 63;
    else
      break;
    bits = bits << 6 | v;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<std::uint8_t>(bits >> count));
  }
  return out;
}

/// Elements as f64; of narrow floats, too.
std::vector<double> elements(const Array& x) { return astype(x, DType::f32).to_vector<double>(); }

const json& find(const json& leaves, const std::string& path, const std::string& what) {
  static const json none;
  const auto it = leaves.find(path);
  if (it == leaves.end()) {
    ADD_FAILURE() << what << ": upstream has no " << path;
    return none;
  }
  return *it;
}

bool is_dropped(const std::string& path) { return path.find("rngs") != std::string::npos; }

}  // namespace

DType golden_dtype(const std::string& name) {
  static const std::map<std::string, DType> names = {
      {"float32", DType::f32},  {"bfloat16", DType::bf16}, {"float16", DType::f16},
      {"int32", DType::i32},    {"uint32", DType::ui32},   {"bool", DType::i1},
      {"int8", DType::i8},      {"uint8", DType::ui8},     {"int16", DType::i16},
      {"complex64", DType::c64}};
  return names.at(name);
}

Array golden_array(const json& d) {
  const std::vector<std::int64_t> shape = d["shape"];
  const DType dtype = golden_dtype(d["dtype"]);
  if (d.contains("numbers")) {
    const std::int64_t seed = d["numbers"];
    std::vector<float> out(static_cast<std::size_t>(Shape::of(shape).count()));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] =
          static_cast<float>((seed * 7919 + static_cast<std::int64_t>(i) * 104729) % 2003 - 1001) /
          1024.0f;
    return astype(array(out, Sizes(shape)), dtype);
  }
  Literal literal(Type(dtype, Shape::of(shape)));
  const std::vector<std::uint8_t> bytes = decode(d["b64"]);
  if (bytes.size() != literal.bytes()) {
    ADD_FAILURE() << "a golden has " << bytes.size() << " bytes for " << d["dtype"];
    return Array(std::move(literal));
  }
  if (!bytes.empty()) std::memcpy(literal.mutable_data(), bytes.data(), bytes.size());
  return Array(std::move(literal));
}

tree::Tree golden_tree(const json& leaves) {
  std::vector<tree::Entry> entries;
  std::vector<Array> values;
  for (const auto& [path, leaf] : leaves.items()) {
    if (leaf.contains("values")) {
      std::size_t i = 0;
      for (const json& one : leaf["values"]) {
        entries.emplace_back(std::string_view(fmt::format("{}/{}", path, i++)));
        values.push_back(golden_array(one));
      }
      continue;
    }
    entries.emplace_back(std::string_view(path));
    values.push_back(golden_array(leaf));
  }
  return tree::Tree(std::move(entries), std::move(values));
}

Initializer golden_initializer(const json& d) {
  const std::string name = d["initializer"];
  if (name == "normal") return initializers::normal(d["stddev"].get<double>());
  if (name == "uniform") return initializers::uniform(d["scale"].get<double>());
  throw std::runtime_error("no initializer " + name);
}

Rngs golden_rngs(const json& d) {
  if (d.is_null()) return Rngs(0);
  if (d.is_number()) return Rngs(d.get<std::int64_t>());
  std::vector<std::pair<std::string, RngStream>> streams;
  for (const auto& [name, seed] : d.items())
    streams.emplace_back(name, RngStream(seed.get<std::int64_t>(), name));
  return Rngs(std::move(streams));
}

void expect_near(const Array& got, const json& want, const Nearness& near,
                 const std::string& what) {
  const Array expected = golden_array(want);
  if (got.type() != expected.type()) {
    ADD_FAILURE() << what << ": is " << strata::internal::describe(got.type()) << ", upstream's "
                  << strata::internal::describe(expected.type());
    return;
  }
  if (!is_float(got.dtype())) {
    EXPECT_TRUE(got.literal().same_bits(expected.literal()))
        << what << ": " << got << ", upstream's " << expected;
    return;
  }
  const std::vector<double> a = elements(got), b = elements(expected);
  const double unit = got.dtype() == DType::bf16  ? std::ldexp(1.0, -8)
                      : got.dtype() == DType::f16 ? std::ldexp(1.0, -11)
                                                  : std::ldexp(1.0, -24);
  double difference = 0, norm = 0, worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) {
      norm += std::isfinite(b[i]) ? b[i] * b[i] : 0;
      continue;
    }
    const double d = std::abs(a[i] - b[i]);
    difference += d * d;
    norm += b[i] * b[i];
    const double steps =
        d / std::max(std::ldexp(2 * unit, std::ilogb(b[i] == 0 ? 1e-30 : b[i])), 1e-45);
    if (!(steps <= worst)) worst = steps, at = i;
  }
  if (near.ulp >= 0) {
    EXPECT_LE(worst, near.ulp) << what << ": element " << at << " is " << (a.empty() ? 0 : a[at])
                               << ", upstream's " << (a.empty() ? 0 : b[at]);
    return;
  }
  const double bound = std::max(near.relative_l2, got.dtype() == DType::f32 ? 0 : 2 * unit);
  EXPECT_LE(std::sqrt(difference), bound * std::sqrt(norm) + near.floor)
      << what << ": relative L2 " << std::sqrt(difference / std::max(norm, 1e-300)) << ", element "
      << at << " is " << (a.empty() ? 0 : a[at]) << ", upstream's " << (a.empty() ? 0 : b[at]);
}

void expect_leaves(const tree::Tree& got, const json& want, const Nearness& near,
                   const std::string& what) {
  EXPECT_EQ(got.size(), want.size()) << what;
  for (const auto& [path, leaf] : want.items()) {
    ASSERT_TRUE(got.contains(path)) << what << ": there is no " << path;
    EXPECT_EQ(got.entry(*got.find(path)).kind->name(), leaf["kind"].get<std::string>()) << path;
    expect_near(got[path], leaf, near, what + ", " + path);
  }
}

NnxGolden::NnxGolden(const std::string& family) : family_(family) {
  compile::register_cpu();
  const auto path =
      std::filesystem::path(__FILE__).parent_path() / "testdata/nnx" / (family + ".json");
  std::ifstream file(path);
  if (!file) {
    ADD_FAILURE() << "cannot read " << path;
    cases_ = json::array();
    return;
  }
  cases_ = json::parse(file)["cases"];
}

NnxCall NnxGolden::call_of(const json& described) {
  NnxCall out;
  out.description = &described;
  out.method = described.value("method", "");
  out.kwargs = described.value("kwargs", json::object());
  if (out.kwargs.is_null()) out.kwargs = json::object();
  const std::function<void(const json&)> add = [&](const json& input) {
    if (input.is_array())
      for (const json& one : input) add(one);
    else if (input.is_object())  // sizes are in the description
      out.inputs.push_back(golden_array(input));
  };
  for (const json& input : described["inputs"]) add(input);
  return out;
}

void NnxGolden::on_function(const std::string& name,
                            std::function<std::vector<Array>(const NnxCall&)> call) {
  layers_[name] = [call](const json& c) {
    std::size_t number = 0;
    for (const json& described : c["calls"])
      check_call(c, number++, call(call_of(described)), tree::Tree());
    if (!c.contains("grads")) return;
    const NnxCall first = call_of(c["calls"][0]);
    const auto loss = [&](const std::vector<Array>& inputs) {
      NnxCall again = first;
      again.inputs = inputs;
      return numpy::sum(numpy::square(call(again)[0].astype(DType::f32)));
    };
    const std::vector<Array> grads = strata::grad(loss)(first.inputs);
    check_gradients(c, tree::Tree(), {grads.begin(), grads.end()});
  };
}

void NnxGolden::allow(const std::string& name, const Allowance& a) {
  for (json& c : cases_)
    if (c["name"] == name) {
      c["allowed"] = {{"outputs", a.outputs}, {"gradients", a.gradients}};
      return;
    }
  ADD_FAILURE() << family_ << " has no case " << name;
}
namespace {
double allowed(const json& c, const char* what, double bound) {
  return c.contains("allowed") ? std::max(bound, c["allowed"][what].get<double>()) : bound;
}
/// The upstream names that cases show: classes, their methods that are called, and functions.
std::string names_of(const json& cases) {
  std::set<std::string> names;
  for (const json& c : cases) {
    if (c.contains("function")) names.insert("nnx." + c["function"].get<std::string>());
    if (!c.contains("layer")) continue;
    const std::string layer = "nnx." + c["layer"].get<std::string>();
    names.insert(layer);
    for (const json& call : c.value("calls", json::array())) {
      const std::string method = call.value("method", "");
      names.insert(layer + "." + (method.empty() ? "__call__" : method));
    }
  }
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : " ") + name;
  return out;
}
}  // namespace

void NnxGolden::run() {
  ASSERT_FALSE(cases_.empty()) << family_;
  testing::shows_names(names_of(cases_));
  for (const json& c : cases_) {
    const std::string name = c["name"], layer = c.value("layer", c.value("function", ""));
    SCOPED_TRACE(family_ + "." + name);
    auto it = layers_.find(name);
    if (it == layers_.end()) it = layers_.find(layer);
    if (it == layers_.end()) {
      ADD_FAILURE() << "nothing is registered for " << layer;
      continue;
    }
    try {
      it->second(c);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

void NnxGolden::check_init(const json& c, const tree::Tree& module, const Rngs& rngs) {
  if (!c.contains("init")) return;
  const json& want = c["init"];
  for (std::size_t i = 0; i < module.size(); ++i) {
    const tree::Entry& entry = module.entry(i);
    const json& leaf = find(want, entry.name, "init");
    if (leaf.is_null()) continue;
    // What is no Variable upstream is a constant here.
    const std::string kind = leaf["kind"];
    EXPECT_EQ(entry.kind->name(), kind == "array" ? "Variable" : kind) << entry.name;
    // Sums of 24 uniform bits and their functions: normal numbers are within some ulp of the
    // largest.
    expect_near(module.value(i), leaf, {.relative_l2 = 1e-5}, "init of " + entry.name);
  }
  for (const auto& [path, leaf] : want.items())
    EXPECT_TRUE(module.contains(path)) << "init: there is no " << path;
  if (!c.contains("rngs_after")) return;
  for (const auto& [name, stream] : c["rngs_after"].items()) {
    const auto it = std::find_if(rngs.streams().begin(), rngs.streams().end(),
                                 [&](const auto& s) { return s.first == name; });
    ASSERT_NE(it, rngs.streams().end()) << name;
    expect_near(it->second.key, stream["key"], {}, "key of stream " + name);
    expect_near(it->second.count, stream["count"], {}, "count of stream " + name);
  }
}

void NnxGolden::check_call(const json& c, std::size_t number, const std::vector<Array>& outputs,
                           const tree::Tree& module) {
  const json& described = c["calls"][number];
  const std::string what = fmt::format("call {}", number);
  const json& want = described["outputs"];
  // Of a layer that computes in bf16, whatever the dtype of its results.
  const double narrow = described.contains("f32") ? std::ldexp(1.0, -7) : 2e-6;
  ASSERT_EQ(outputs.size(), want.size()) << what;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expect_near(outputs[i], want[i], {.relative_l2 = allowed(c, "outputs", narrow)},
                fmt::format("{}, output {}", what, i));
  if (!described.contains("state")) return;
  for (const auto& [path, leaf] : described["state"].items()) {
    if (leaf.contains("values")) continue;  // what sow put aside: those tests ask for it themselves
    if (!module.contains(path)) {
      EXPECT_TRUE(is_dropped(path)) << what << ": there is no " << path;
      continue;
    }
    expect_near(module[path], leaf, {.relative_l2 = 2e-6}, what + ", state " + path);
  }
}

void NnxGolden::check_gradients(const json& c, const tree::Tree& grads,
                                const std::vector<std::optional<Array>>& of_inputs) {
  const json& want = c["grads"];
  const json params = want.value("params", json::object());
  // A gradient that is small beside the others, such as that of the keys' bias in attention, which
  // is 0 but for rounding, has errors of the others' size.
  double norm = 0;
  for (const auto& [path, leaf] : params.items())
    for (double x : elements(golden_array(leaf))) norm += x * x;
  // The loss itself: a norm without weights hardly lets it depend on the input.
  double loss = 0;
  for (double x : elements(golden_array(c["calls"][0]["outputs"][0]))) loss += x * x;
  const Nearness near{.relative_l2 = allowed(c, "gradients", 1e-5),
                      .floor = 4e-6 * std::sqrt(std::max(norm, loss)) + 1e-12};
  for (std::size_t i = 0; i < grads.size(); ++i) {
    const json& leaf = find(params, grads.entry(i).name, "gradient");
    if (!leaf.is_null())
      expect_near(grads.value(i), leaf, near, "gradient of " + grads.entry(i).name);
  }
  for (const auto& [path, leaf] : params.items())
    EXPECT_TRUE(grads.contains(path)) << "no gradient of " << path;
  ASSERT_LE(want["inputs"].size(), of_inputs.size());
  for (std::size_t i = 0; i < want["inputs"].size(); ++i)
    if (of_inputs[i] && !want["inputs"][i].is_null())
      expect_near(*of_inputs[i], want["inputs"][i], near, fmt::format("gradient of input {}", i));
}

}  // namespace strata::nn
