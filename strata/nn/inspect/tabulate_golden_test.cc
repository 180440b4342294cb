// Tables of modules beside Flax's, and what is not in them: operations.
#include <gmock/gmock.h>

#include "strata/compile/cpu/cpu_client.h"
#include "strata/nn/golden_models.h"
#include "strata/nn/inspect/tabulate.h"
#include "strata/nn/nnx_golden.h"
#include "strata/nn/transform/jit.h"

namespace strata::nn {
namespace {

struct Tied {
  Linear a, b, unused;
  STRATA_FIELDS(a, b, unused)
  explicit Tied(Rngs rngs)
      : a(3, 3, rngs),
        b(3, 3, rngs, {.use_bias = false, .param_dtype = DType::bf16}),
        unused(3, 5, rngs) {}
  Array operator()(const Array& x) const {
    const ModuleScope scope(*this, "Tied");
    return scope.returns(numpy::sum(b(a(a(x)))) + numpy::sum(b(x[0])), x);
  }
  std::map<std::string, Array> encode(const Array& x, const Array& scale) const {
    return {{"encoded", a(x) * scale}, {"x", x}};
  }
};

/// "float32[2,3]" as upstream writes it.
std::string text(const Type& type) {
  std::string out = strata::internal::describe(type);
  for (const auto& [ours, theirs] : {std::pair("bf16", "bfloat16"), std::pair("f32", "float32"),
                                     std::pair("i32", "int32"), std::pair("ui32", "uint32")})
    if (out.starts_with(std::string(ours) + "[")) return theirs + out.substr(out.find('['));
  return out;
}
std::string text(const std::vector<Type>& inputs) {
  if (inputs.size() == 1) return text(inputs[0]);
  std::string out;
  for (const Type& type : inputs) out += (out.empty() ? "- " : "\n- ") + text(type);
  return out;
}
/// Upstream's inputs without the option that products have there only.
std::string without_sharding(std::string inputs) {
  const std::string option = "\nout_sharding: None";
  if (!inputs.ends_with(option)) return inputs;
  inputs.resize(inputs.size() - option.size());
  return inputs.starts_with("- ") ? inputs.substr(2) : inputs;
}
json counts(const std::map<std::string, VariableCount>& of) {
  json out = json::object();
  for (const auto& [kind, count] : of) out[kind] = {count.elements, count.bytes};
  return out;
}

void expect_summary(const Summary& got, const json& c) {
  EXPECT_EQ(json(got.columns()), c["columns"]);
  EXPECT_EQ(counts(got.totals), c["totals"]);
  EXPECT_EQ(json({got.total.elements, got.total.bytes}), c["total"]);
  ASSERT_EQ(got.rows.size(), c["rows"].size()) << got.to_string();
  for (std::size_t i = 0; i < got.rows.size(); ++i) {
    const SummaryRow& row = got.rows[i];
    const json& want = c["rows"][i];
    SCOPED_TRACE(row.path);
    EXPECT_EQ(row.path, want["path"].get<std::string>());
    EXPECT_EQ(row.type, want["type"].get<std::string>());
    EXPECT_EQ(text(row.inputs), without_sharding(want["inputs"]));
    json outputs = json::array(), variables = json::object();
    for (const Type& type : row.outputs) outputs.push_back(text(type));
    EXPECT_EQ(outputs, want["outputs"]);
    for (const auto& [kind, own] : row.variables)
      for (const auto& [name, type] : own) variables[kind][name] = text(type);
    EXPECT_EQ(variables, want["variables"]);
    EXPECT_EQ(counts(row.subtree), want["subtree"]);
  }
}

Rngs net_streams() {
  return Rngs(
      std::initializer_list<std::pair<std::string, std::int64_t>>{{"params", 0}, {"dropout", 1}});
}
SummaryOptions options(const json& c) {
  SummaryOptions o;
  if (c["options"].contains("depth")) o.depth = c["options"]["depth"].get<std::size_t>();
  return o;
}

TEST(NnxTabulate, IsFlaxs) {
  NnxGolden golden("tabulate");
  const Array x = numpy::ones({2, 3});
  golden.on_case("linear", [](const json& c) {
    Rngs rngs(0);
    expect_summary(summary(Linear(2, 3, rngs))(numpy::ones({4, 2})), c);
  });
  golden.on_case("block", [x](const json& c) {
    Rngs rngs(0);
    expect_summary(summary(GoldenBlock(3, rngs))(x), c);
  });
  for (const char* name : {"net", "net_depth_0", "net_depth_2"})
    golden.on_case(name, [x](const json& c) {
      expect_summary(summary(GoldenNet(net_streams()), options(c))(x), c);
    });
  golden.on_case("tied", [x](const json& c) { expect_summary(summary(Tied(Rngs(0)))(x), c); });
  golden.on_case("tied_method", [x](const json& c) {
    const auto encode = [](Tied& m, const Array& v, const Array& s) { return m.encode(v, s); };
    expect_summary(summary_of_method(Tied(Rngs(0)), "encode", encode)(x, Array(2.0f)), c);
  });
  golden.on_case("attention", [](const json& c) {
    Rngs rngs(0);
    expect_summary(
        summary(MultiHeadAttention(2, 4, rngs, {.decode = false}))(numpy::ones({1, 3, 4})), c);
  });
  golden.run();
}

TEST(Tabulate, CountsOperationsOfTheCostModel) {
  compile::register_cpu();
  Rngs rngs(0);
  const GoldenNet net{net_streams()};
  const Array x = numpy::ones({2, 3});
  const Summary s = summary(net, {.compute_flops = true, .compute_vjp_flops = true})(x);
  // x W + b of (2, 3) and (3, 3): 2 * 18 and 6.
  EXPECT_EQ(s.rows[2].path, "blocks/0/linear");
  EXPECT_EQ(s.rows[2].flops, 42);
  // Besides: products by W and by x, and the sum over rows.
  EXPECT_GE(*s.rows[2].vjp_flops, 42 + 72);
  double below = 0;
  for (const std::size_t i : {2, 3, 4}) below += *s.rows[i].flops;
  EXPECT_GE(*s.rows[1].flops, below);
  EXPECT_GE(*s.rows[0].flops, 2 * below);
  EXPECT_THAT(s.columns()[5], "vjp_flops");
  // What one row says is what the compiler says of a program of that call.
  const auto lowered = strata::jit([](const Linear& l, const Array& v) {
                         return l(v);
                       }).lower(net.blocks[0].linear, x);
  EXPECT_EQ(s.rows[2].flops, lowered.cost_analysis().flops);
}

TEST(Tabulate, PrintsATableAndLeavesTheModelAlone) {
  ::testing::Test::RecordProperty("api", "nnx.tabulate");
  compile::register_cpu();
  Rngs rngs(0);
  const Linear model(2, 3, rngs);
  EXPECT_EQ(tabulate(model)(numpy::ones({4, 2})),
            "+------+--------+----------+----------+------------------+\n"
            "| path | type   | inputs   | outputs  | Param            |\n"
            "+------+--------+----------+----------+------------------+\n"
            "|      | Linear | f32[4,2] | f32[4,3] | bias: f32[3]     |\n"
            "|      |        |          |          | kernel: f32[2,3] |\n"
            "|      |        |          |          | 9 (36 bytes)     |\n"
            "+------+--------+----------+----------+------------------+\n"
            "|      |        |          | total    | 9 (36 bytes)     |\n"
            "+------+--------+----------+----------+------------------+\n"
            "total: 9 (36 bytes)\n");
  GoldenBlock block(3, rngs);
  const tree::Tree before = tree::of(block);
  (void)tabulate(block)(numpy::ones({2, 3}));
  EXPECT_TRUE(tree::equal(tree::of(block), before));
}

}  // namespace
}  // namespace strata::nn
