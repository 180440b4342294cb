// Samples of the operations by which a program checks itself.
#include "strata/op/control/probe.h"
#include "strata/op/samples.h"

namespace strata::op {
namespace {

Literal floats(std::vector<float> values) {
  auto n = static_cast<std::int64_t>(values.size());
  return Literal::of<float>({n}, values);
}

/// Pairs that pass: equal ones, an empty pair, scalars, with NaN where it equals itself.
void add_pairs(std::vector<Sample>& out, bool nan_equals_itself, const Attrs& attrs = {}) {
  out.push_back({.what = "equal",
                 .operands = {floats({1, -2, 3}), floats({1, -2, 3})},
                 .attrs = attrs,
                 .smooth = false,
                 .batchable = false});
  out.push_back({.what = "no elements",
                 .operands = {floats({}), floats({})},
                 .attrs = attrs,
                 .smooth = false,
                 .batchable = false});
  out.push_back({.what = "zeros of both signs",
                 .operands = {Literal::scalar(0.0), Literal::scalar(-0.0)},
                 .attrs = attrs,
                 .smooth = false,
                 .batchable = false});
  if (nan_equals_itself)
    out.push_back({.what = "NaN, infinity",
                   .operands = {floats({NAN, INFINITY}), floats({NAN, INFINITY})},
                   .attrs = attrs,
                   .smooth = false,
                   .batchable = false});
}
void add_constants(std::vector<Sample>& out) {
  for (const Literal& x : {floats({1, -2, 3}), floats({}), Literal::scalar(0.5)})
    out.push_back({.what = "equal",
                   .operands = {x},
                   .attrs = {{"value", x}},
                   .smooth = false,
                   .batchable = false});
}

const bool eq =
    add_samples("check.expect_eq", [](std::vector<Sample>& out) { add_pairs(out, false); });
const bool eq_const = add_samples("check.expect_eq_const", add_constants);
const bool almost_eq = add_samples("check.expect_almost_eq", [](std::vector<Sample>& out) {
  add_pairs(out, true, {{"tolerance", 0.5}});
});
const bool almost_eq_const = add_samples("check.expect_almost_eq_const", add_constants);
const bool close = add_samples("check.expect_close", [](std::vector<Sample>& out) {
  add_pairs(out, true, {{"max_ulp_difference", std::int64_t{3}}});
});
const bool custom_call = add_samples("stablehlo.custom_call", [](std::vector<Sample>& out) {
  add_pairs(out, true, {{"call_target_name", std::string("check.eq")}});
  for (Sample& s : out) s.results = {Type::scalar(DType::i1)};
});
const bool serialized_eq = add_samples("check.expect_serialized_eq", [](std::vector<Sample>& out) {
  for (const Literal& x : {floats({1, -2, 3}), floats({}), floats({NAN})}) {
    std::string id = fmt::format("sample {}", out.size());
    probes()[id] = {x};
    out.push_back({.what = id,
                   .operands = {x},
                   .attrs = {{"probe_id", id}},
                   .smooth = false,
                   .batchable = false});
  }
});
const bool probe = add_samples("interpreter.probe", [](std::vector<Sample>& out) {
  for (const Literal& x : {floats({1, -2, 3}), floats({}), Literal::scalar(0.5)})
    out.push_back({.what = "a value",
                   .operands = {x},
                   .attrs = {{"probe_id", std::string("p")}},
                   .smooth = false,
                   .batchable = false});
});

}  // namespace
}  // namespace strata::op
