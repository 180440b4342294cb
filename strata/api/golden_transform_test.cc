// Every function that has goldens, transformed: under jit it has the bits that it has outside, and
// vmap is the function of each.
#include <cmath>
#include <set>

#include "strata/api/golden_laws.h"

namespace strata::testing {
namespace {

using nlohmann::json;

constexpr std::size_t kCalls = 2;  // of each function

class ApiTransform : public ::testing::TestWithParam<std::string> {};

/// What tells that a value is asked for that a trace does not have.
bool needs_a_value(const std::string& message) {
  return message.find("traced") != std::string::npos;
}

/// The call with all arguments open; with arrays of inexact dtypes alone where others say sizes,
/// places or counts; or nothing, where even those are read.
std::optional<OpenCall> traceable(const std::string& name, const json& call) {
  const Callable& f = callables().at(name);
  for (bool all : {true, false}) {
    OpenCall open(f, call, [&](const Array& x) { return all || is_inexact(x.dtype()); });
    const std::string said = message_of([&] {
      (void)jit([&](const std::vector<Array>& xs) { return open(xs); }).lower(open.values());
    });
    if (said == "no error") return open;
    EXPECT_TRUE(needs_a_value(said)) << written(name, call) << ": " << said;
  }
  return std::nullopt;
}

/// Functions that read values: those of all calls, or to say in their goldens what does not depend
/// on a vector's sign and order.
const std::set<std::string> kNeedValues = {"lax.linalg.eig", "numpy.linalg.eig",
                                           "numpy.linalg.eigvals", "numpy.trim_zeros"};
/// Functions of which every call is refused.
const std::set<std::string> kRefused = {"lax.DotAlgorithm"};

/// Calls of a name that can be traced: some, else the first of all that can.
std::vector<std::pair<json, OpenCall>> traceable_calls(const std::string& name) {
  std::vector<std::pair<json, OpenCall>> out;
  for (const json& call : some_calls(name, kCalls))
    if (std::optional<OpenCall> open = traceable(name, call)) out.emplace_back(call, *open);
  if (!out.empty()) return out;
  for (const json& call : goldens().at(name)["cases"]) {
    if (call.contains("e")) continue;
    if (std::optional<OpenCall> open = traceable(name, call)) return {{call, *open}};
  }
  return out;
}

/// Of numbers that are not NaN: which NaN it is is not promised (docs/exceptions.md).
bool same_bits(const Array& a, const Array& b) {
  if (a.literal().same_bits(b.literal())) return true;
  const std::vector<double> x = numbers_of(a), y = numbers_of(b);
  return is_inexact(a.dtype()) &&
         std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double u, double v) {
           return std::isnan(u) ? std::isnan(v) : u == v && std::signbit(u) == std::signbit(v);
         });
}

TEST_P(ApiTransform, UnderJitItHasTheSameBits) {
  const std::string& name = GetParam();
  const auto calls = traceable_calls(name);
  for (const auto& [call, open] : calls) {
    const std::vector<Array> want = open(open.values()),
                             got = jit([&open = open](const std::vector<Array>& xs) {
                               return open(xs);
                             })(open.values());
    ASSERT_EQ(got.size(), want.size()) << written(name, call);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(type_of(got[i]), type_of(want[i])) << written(name, call);
      EXPECT_EQ(got[i].weak(), want[i].weak()) << written(name, call);
      EXPECT_TRUE(same_bits(got[i], want[i])) << written(name, call) << "\n"
                                              << got[i].to_string() << "\ninstead of\n"
                                              << want[i].to_string();
    }
  }
  EXPECT_EQ(calls.empty(), kNeedValues.contains(name) || kRefused.contains(name)) << name;
}

/// The elements in reverse order: another array in whatever set the elements have to be.
Array turned(const Array& x) { return numpy::flip(x.reshape({-1})).reshape(x.shape()); }

std::string difference(const Array& got, const Array& want) {
  const std::vector<double> g = numbers_of(got), w = numbers_of(want);
  double scale = 0;
  for (double x : w)
    if (std::isfinite(x)) scale = std::max(scale, std::abs(x));
  const double unit = !is_inexact(want.dtype())     ? 0
                      : want.dtype() == DType::f16  ? 0x1p-11
                      : want.dtype() == DType::bf16 ? 0x1p-8
                                                    : 0x1p-24;
  for (std::size_t i = 0; i < w.size(); ++i) {
    if (std::isnan(w[i]) ? std::isnan(g[i]) : g[i] == w[i]) continue;
    if (std::isfinite(g[i]) && std::isfinite(w[i]) && std::abs(g[i] - w[i]) <= 16 * unit * scale)
      continue;
    return fmt::format("element {} is {}, not {}", i, g[i], w[i]);
  }
  return "";
}

TEST_P(ApiTransform, VmapIsTheFunctionOfEach) {
  const std::string& name = GetParam();
  for (const auto& [call, open] : traceable_calls(name)) {
    if (open.values().empty()) continue;
    std::vector<Array> second, both;
    for (const Array& x : open.values()) {
      second.push_back(turned(x));
      both.push_back(numpy::stack(std::vector<Array>{x, second.back()}));
    }
    const std::vector<Array> got =
        vmap([&open = open](const std::vector<Array>& xs) { return open(xs); })(both);
    const std::vector<Array> first = open(open.values()), last = open(second);
    ASSERT_EQ(got.size(), first.size()) << written(name, call);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(difference(got[i][0], first[i]), "") << written(name, call);
      EXPECT_EQ(difference(got[i][1], last[i]), "")
          << written(name, call) << " of the elements in reverse order";
    }
  }
}

TEST(ApiTransforms, AnotherResultIsSeen) {
  const Array x = array({1.0f, -0.0f, NAN});
  EXPECT_TRUE(same_bits(x, -array({-1.0f, 0.0f, NAN})));
  EXPECT_FALSE(same_bits(x, x + 0.0f)) << "another zero";
  EXPECT_FALSE(same_bits(x, x * 1.0000001f));
  EXPECT_EQ(difference(x, x), "");
  EXPECT_NE(difference(x * 1.00001f, x), "");
  EXPECT_NE(difference(array({1, 2}), array({1, 3})), "");
}

INSTANTIATE_TEST_SUITE_P(All, ApiTransform, ::testing::ValuesIn(golden_names()),
                         [](const auto& info) { return test_name(info.param); });

}  // namespace
}  // namespace strata::testing
