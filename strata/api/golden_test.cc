// Every function beside JAX's answers (golden.h).
#include "strata/api/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace strata::testing {

std::map<std::string, Callable>& callables() {
  static std::map<std::string, Callable> all;
  return all;
}

namespace {

using nlohmann::json;

const std::map<std::string, DType> kDTypes = {
    {"f16", DType::f16}, {"bf16", DType::bf16}, {"f32", DType::f32},  {"f64", DType::f64},
    {"i8", DType::i8},   {"i16", DType::i16},   {"i32", DType::i32},  {"i64", DType::i64},
    {"u8", DType::ui8},  {"u16", DType::ui16},  {"u32", DType::ui32}, {"b1", DType::i1},
    {"c64", DType::c64}};

std::string from_base64(std::string_view text) {
  static const std::string letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(letters.find(c));
    held += 6;
    if (held >= 8) out += static_cast<char>(bits >> (held -= 8) & 0xff);
  }
  return out;
}

struct Encoded {
  explicit Encoded(const std::string& text) {
    const std::size_t open = text.find('['), close = text.find(']'), colon = text.find(':');
    dtype = kDTypes.at(text.substr(0, open));
    for (std::size_t i = open + 1; i < close; i = text.find_first_of(",]", i) + 1)
      sizes.push_back(std::stoll(text.substr(i)));
    weak = text[close + 1] == 'w';
    bytes = from_base64(std::string_view(text).substr(colon + 1));
  }
  Literal literal() const {
    Literal l(Type(dtype, Shape::of(sizes)));
    if (!bytes.empty()) std::memcpy(l.mutable_data(), bytes.data(), bytes.size());
    return l;
  }
  DType dtype;
  std::vector<std::int64_t> sizes;
  bool weak;
  std::string bytes;
};

}  // namespace

Array decoded(const std::string& text) {
  const Encoded e(text);
  const Literal l = e.literal();
  if (!e.weak) return Array(l);
  const Array x{Literal(l)};
  if (is_complex(e.dtype)) return Array::scalar(x.item<std::complex<double>>(), e.dtype, true);
  if (is_float(e.dtype)) return Array::scalar(x.item<double>(), e.dtype, true);
  return Array::scalar(x.item<std::int64_t>(), e.dtype, true);
}

std::vector<double> numbers_of(const Array& x) {
  if (!is_complex(x.dtype())) return x.to_vector<double>();
  std::vector<double> out;
  for (std::complex<double> z : x.to_vector<std::complex<double>>())
    out.insert(out.end(), {z.real(), z.imag()});
  return out;
}

Call::Call(std::vector<Array> arguments, const json& options)
    : arguments_(std::move(arguments)), options_(std::make_shared<json>(options)) {}

bool Call::has(const char* name) const {
  return options_->contains(name) && !option(name).is_null();
}
const json& Call::option(const char* name) const { return (*options_)[name]; }
bool Call::flag(const char* name, bool otherwise) const {
  return has(name) ? option(name).get<bool>() : otherwise;
}
std::int64_t Call::integer(const char* name, std::int64_t otherwise) const {
  return has(name) ? option(name).get<std::int64_t>() : otherwise;
}
std::optional<std::int64_t> Call::maybe(const char* name) const {
  return has(name) ? std::optional(option(name).get<std::int64_t>()) : std::nullopt;
}
std::optional<std::int64_t> Call::maybe(const char* name, std::int64_t left_out) const {
  return options_->contains(name) ? maybe(name) : std::optional(left_out);
}
double Call::number(const char* name, double otherwise) const {
  return has(name) ? option(name).get<double>() : otherwise;
}
std::string Call::text(const char* name, const std::string& otherwise) const {
  return has(name) ? option(name).get<std::string>() : otherwise;
}
std::vector<std::int64_t> Call::integers(const char* name,
                                         std::vector<std::int64_t> otherwise) const {
  if (!has(name)) return otherwise;
  const json& o = option(name);
  return o.is_array() ? o.get<std::vector<std::int64_t>>()
                      : std::vector<std::int64_t>{o.get<std::int64_t>()};
}
std::optional<DType> Call::dtype(const char* name) const {
  return has(name) ? std::optional(kDTypes.at(text(name))) : std::nullopt;
}
std::optional<Array> Call::array(const char* name) const {
  if (!has(name)) return std::nullopt;
  const json& o = option(name);
  if (o.is_string()) return decoded(o.get<std::string>());
  if (o.is_boolean()) return Array(o.get<bool>());
  return o.is_number_integer() ? Array(o.get<std::int64_t>()) : Array(o.get<double>());
}
std::optional<Operand> Call::operand(const char* name) const {
  std::optional<Array> x = array(name);
  return x ? std::optional<Operand>(*x) : std::nullopt;
}

namespace {

/// Those of the files in goldens/, or in a folder of it.
std::map<std::string, json> read_goldens(const std::string& folder) {
  std::map<std::string, json> out;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(__FILE__).parent_path() / "goldens" / folder)) {
    if (file.path().extension() != ".json") continue;
    std::ifstream in(file.path());
    const json table = json::parse(in);
    for (const json& f : table["functions"]) out.emplace(f["name"], f);
  }
  return out;
}

}  // namespace

const std::map<std::string, json>& goldens() {
  static const std::map<std::string, json> all = read_goldens("");
  return all;
}

/// What NumPy answers to random calls of the functions of the array API standard
/// (tools/goldens/array_api.py).
const std::map<std::string, json>& standard() {
  static const std::map<std::string, json> all = read_goldens("standard");
  return all;
}

/// Goldens may be ahead of the library: of what nobody calls, the name is missing.
std::vector<std::string> golden_names() {
  std::vector<std::string> out;
  for (const auto& [name, golden] : goldens())
    if (callables().contains(name)) out.push_back(name);
  return out;
}

std::string test_name(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

std::string written(const std::string& name, const json& call) {
  std::string out;
  for (const json& a : call["a"]) {
    const Array x = decoded(a);
    out += (out.empty() ? "" : ", ") + type_of(x) + (x.weak() ? " weak " : " ") +
           (x.size() <= 12 ? x.to_string() : "...");
  }
  return name + "(" + out + ") " + call.value("o", json::object()).dump();
}

namespace {

/// 2^-(digits of the dtype's mantissa)
double unit_of(DType d) {
  switch (d) {
    case DType::bf16: return std::ldexp(1, -8);
    case DType::f16: return std::ldexp(1, -11);
    case DType::f64:
    case DType::c128: return std::ldexp(1, -53);
    default: return std::ldexp(1, -24);
  }
}

struct Tolerance {
  double units;  // in which a unit in the last place is two
  bool scaled;
};

/// Numbers that may differ by some units: of their own, or of the greatest among them.
std::string difference(const std::vector<double>& got, const std::vector<double>& wanted,
                       DType dtype, Tolerance t) {
  double scale = 0;
  for (double w : wanted)
    if (t.scaled && std::isfinite(w)) scale = std::max(scale, std::abs(w));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double g = got[i], w = wanted[i];
    if (std::isnan(w) ? std::isnan(g) : g == w) continue;
    const double smallest =
        dtype == DType::f16 ? 6.2e-5 : 1.2e-38;  // below the normal numbers results may be zero
    const bool near =
        std::abs(g - w) <= 2 * t.units * unit_of(dtype) * std::max(std::abs(w), scale) + smallest;
    if (std::isfinite(g) && std::isfinite(w) && near) continue;
    return fmt::format("element {} is {}, not {}", i, g, w);
  }
  return "";
}

/// What result i is in truth, or empty: one for all results, or one for each.
std::string truth_of(const json& call, std::size_t i) {
  if (!call.contains("t")) return "";
  const json& t = call["t"];
  return t.is_array() ? t.at(i).get<std::string>() : t.get<std::string>();
}

/// Type, weakness and elements.
std::string difference(const Array& got, const json& call, std::size_t i, Tolerance t) {
  const Encoded wanted(call["r"][i].get<std::string>());
  const Literal literal = wanted.literal();
  if (got.type() != literal.type())
    return fmt::format("{} instead of {}", type_of(got), internal::describe(literal.type()));
  // Upstream marks some booleans as weakly typed; promotion knows no weak boolean, so this says
  // nothing.
  if (!is_bool(wanted.dtype) && got.weak() != wanted.weak)
    return got.weak() ? "weakly typed" : "not weakly typed";
  if (!is_inexact(wanted.dtype))
    return difference(numbers_of(got), numbers_of(Array(literal)), wanted.dtype, {0, false});
  const std::string truth = truth_of(call, i);
  return difference(numbers_of(got),
                    numbers_of(truth.empty() ? Array(literal) : Array(Encoded(truth).literal())),
                    wanted.dtype, t);
}

std::string failure(const Callable& f, const json& golden, const json& call) {
  std::vector<Array> arguments;
  for (const json& a : call["a"]) arguments.push_back(decoded(a));
  const bool refused = call.contains("e");
  std::vector<Array> results;
  try {
    results = f(Call(arguments, call.value("o", json::object())));
  } catch (const Error& e) {
    return refused ? "" : std::string("refused: ") + e.what();
  } catch (const std::exception& e) {
    return fmt::format("ended by {}, which is no Error", e.what());
  }
  if (refused) return "JAX refuses this";
  if (results.size() != call["r"].size())
    return fmt::format("{} results instead of {}", results.size(), call["r"].size());
  const Tolerance t{golden.value("bound", 4.0), golden.value("scaled", false)};
  for (std::size_t i = 0; i < results.size(); ++i)
    if (std::string d = difference(results[i], call, i, t); !d.empty())
      return fmt::format("result {}: {}", i, d);
  return "";
}

class ApiGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(ApiGolden, AgreesWithJax) {
  shows_names(GetParam());
  const json& golden = goldens().at(GetParam());
  auto f = callables().find(GetParam());
  for (const json& call : golden["cases"]) {
    const std::string wrong = failure(f->second, golden, call);
    EXPECT_EQ(wrong, "") << written(GetParam(), call);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ApiGolden, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return test_name(info.param); });

class ApiStandard : public ::testing::TestWithParam<std::string> {};

/// With the dtypes that are the default here.
TEST_P(ApiStandard, AgreesWithNumPy) {
  const json& golden = standard().at(GetParam());
  auto f = callables().find(GetParam());
  ASSERT_NE(f, callables().end()) << "nobody says how it is called";
  for (const json& call : golden["cases"])
    EXPECT_EQ(failure(f->second, golden, call), "") << written(GetParam(), call);
}

std::vector<std::string> standard_names() {
  std::vector<std::string> out;
  for (const auto& [name, golden] : standard()) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, ApiStandard, ::testing::ValuesIn(standard_names()),
                         [](const auto& info) { return test_name(info.param); });

/// Functions of the standard about types and others' memory, which the tests named here show.
const std::map<std::string, std::string> kShownElsewhere = {
    {"can_cast", "types_test.cc"},
    {"finfo", "types_test.cc"},
    {"iinfo", "types_test.cc"},
    {"result_type", "golden_products_test.cc"},
    {"from_dlpack", "interchange_test.cc"}};

TEST(ApiStandards, NoFunctionIsMissing) {
  std::ifstream list(std::filesystem::path(__FILE__).parent_path() / "names" /
                     "array_api_2024_12.txt");
  int functions = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    ++functions;
    const std::string name = line.substr(0, line.find('\t'));
    const bool has_reason = name.size() < line.size(),
               is_tested = standard().contains("numpy." + name) || kShownElsewhere.contains(name);
    EXPECT_NE(has_reason, is_tested) << name;
  }
  EXPECT_EQ(functions, 171);
}

TEST(ApiGoldens, EveryCallableHasSome) {
  for (const auto& [name, f] : callables()) EXPECT_TRUE(goldens().contains(name)) << name;
}

/// The comparison can fail: each golden is wrong for another result.
TEST(ApiGoldens, ADifferentResultIsSeen) {
  const Array x = array({1.0f, 2.0f});
  const json call = {{"a", json::array()}, {"r", {"f32[2]:AACAPwAAAEA="}}};  // 1, 2
  const json golden = json::object();
  EXPECT_EQ(failure([&](const Call&) { return std::vector<Array>{x}; }, golden, call), "");
  EXPECT_NE(failure([&](const Call&) { return std::vector<Array>{x + 1e-4f}; }, golden, call), "");
  EXPECT_NE(failure([&](const Call&) { return std::vector<Array>{x.astype(int32)}; }, golden, call),
            "");
  EXPECT_NE(
      failure([&](const Call&) { return std::vector<Array>{x.reshape({1, 2})}; }, golden, call),
      "");
  EXPECT_NE(
      failure([&](const Call&) -> std::vector<Array> { throw Error("f", "no"); }, golden, call),
      "");
  EXPECT_NE(failure([&](const Call&) { return std::vector<Array>{x}; }, golden,
                    json{{"a", json::array()}, {"e", true}}),
            "");
}

}  // namespace
}  // namespace strata::testing
