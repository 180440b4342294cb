// Samples of operations with regions, and of those that stand beside them.
#include "strata/op/build.h"
#include "strata/op/control.h"
#include "strata/op/samples.h"
#include "strata/op/testing/run.h"

namespace strata::op {
namespace {

using testing::build;

const Type kVector(DType::f64, {3});
const Type kMatrix(DType::f64, {4, 3});
const Type kIndex = Type::scalar(DType::i32);

Literal random(const Type& type, std::uint64_t seed) { return random_literal(type, seed, -1, 1); }

template <class... Blocks>
std::vector<BlockPtr> regions(Blocks... blocks) {
  std::vector<BlockPtr> out;
  (out.push_back(std::move(blocks)), ...);
  return out;
}

Attrs scan_attrs(std::int64_t consts, std::int64_t carry, bool reverse) {
  return {{"num_consts", consts},
          {"num_carry", carry},
          {"length", std::int64_t{4}},
          {"reverse", reverse}};
}

// (w, c, x) -> (tanh(c w) + x, c x, w w)
std::vector<BlockPtr> recurrence() {
  return regions(build({kVector, kVector, kVector}, [](Builder& b, const Values& v) {
    Value* next = add(b, tanh(b, mul(b, v[1], v[0])), v[2]);
    return Values{next, mul(b, v[1], v[2]), mul(b, v[0], v[0])};
  }));
}

const bool scan_samples = add_samples("strata.scan", [](std::vector<Sample>& out) {
  Literals operands{random(kVector, 1), random(kVector, 2), random(kMatrix, 3)};
  for (bool reverse : {false, true})
    out.push_back({.what = reverse ? "reverse" : "recurrence",
                   .operands = operands,
                   .attrs = scan_attrs(1, 1, reverse),
                   .regions = recurrence});
  out.push_back({.what = "map",
                 .operands = {random(kMatrix, 4)},
                 .attrs = scan_attrs(0, 0, false),
                 .regions = [] {
                   return regions(build({kVector}, [](Builder& b, const Values& v) {
                     return Values{sin(b, v[0])};
                   }));
                 }});
  out.push_back({.what = "counter",
                 .operands = {Literal::scalar<std::int32_t>(0), random(kVector, 5)},
                 .attrs = scan_attrs(0, 2, false),
                 .regions = [] {
                   return regions(build({kIndex, kVector}, [](Builder& b, const Values& v) {
                     Value* scale = broadcast_to(b, convert(b, v[0], DType::f64), kVector.shape());
                     return Values{add(b, v[0], scalar(b, DType::i32, 1)),
                                   sin(b, mul(b, v[1], scale))};
                   }));
                 }});
});

const bool while_samples = add_samples("stablehlo.while", [](std::vector<Sample>& out) {
  out.push_back({.what = "counted",
                 .operands = {Literal::scalar<std::int32_t>(1), random(kVector, 6)},
                 .regions = [] {
                   auto cond = build({kIndex, kVector}, [](Builder& b, const Values& v) {
                     return Values{compare(b, v[0], scalar(b, DType::i32, 4), "LT")};
                   });
                   auto body = build({kIndex, kVector}, [](Builder& b, const Values& v) {
                     return Values{add(b, v[0], scalar(b, DType::i32, 1)),
                                   sin(b, add(b, v[1], v[1]))};
                   });
                   return regions(std::move(cond), std::move(body));
                 }});
});

BlockPtr constant_branch(double x) {
  return build({}, [x](Builder& b, const Values&) { return Values{constant(b, kVector, x)}; });
}

const bool case_samples = add_samples("stablehlo.case", [](std::vector<Sample>& out) {
  for (int index : {0, 1, 2, -1, 7})
    out.push_back({.what = fmt::format("branch {}", index),
                   .operands = {Literal::scalar<std::int32_t>(index)},
                   .regions = [] {
                     return regions(constant_branch(1), constant_branch(2), constant_branch(3));
                   }});
});

const bool if_samples = add_samples("stablehlo.if", [](std::vector<Sample>& out) {
  for (bool predicate : {false, true})
    out.push_back({.what = predicate ? "true" : "false",
                   .operands = {Literal::scalar<bool>(predicate)},
                   .regions = [] { return regions(constant_branch(1), constant_branch(2)); }});
});

std::vector<BlockPtr> sine_of_product() {
  return regions(build({kVector, kVector}, [](Builder& b, const Values& v) {
    return Values{sin(b, name(b, mul(b, v[0], v[1]), "product")), exp(b, v[0])};
  }));
}

const bool remat_samples = add_samples("strata.remat", [](std::vector<Sample>& out) {
  for (const char* policy :
       {"nothing", "everything", "dots", "dots_no_batch", "names:product,other"})
    out.push_back({.what = policy,
                   .operands = {random(kVector, 7), random(kVector, 8)},
                   .attrs = {{"policy", std::string(policy)}},
                   .regions = sine_of_product});
});

const bool recorded_composite_samples =
    add_samples("strata.composite", [](std::vector<Sample>& out) {
      out.push_back({.what = "sine of a product",
                     .operands = {random(kVector, 7), random(kVector, 8)},
                     .attrs = {{"name", std::string("my.function")},
                               {"version", std::int64_t{1}},
                               {"composite_attributes", ir::Opaque{"{}"}}},
                     .regions = sine_of_product,
                     .smooth = false});
    });

const bool name_samples = add_samples("strata.name", [](std::vector<Sample>& out) {
  out.push_back(
      {.what = "vector", .operands = {random(kVector, 9)}, .attrs = {{"name", std::string("x")}}});
});

BlockPtr sine() {
  return build({kVector}, [](Builder& b, const Values& v) { return Values{sin(b, v[0])}; });
}

const bool manual_computation_samples =
    add_samples("sdy.manual_computation", [](std::vector<Sample>& out) {
      auto whole = [](const char* list) {
        return ir::Opaque{fmt::format("#sdy.sharding_per_value<[{}]>", list)};
      };
      out.push_back({.what = "of nothing cut",
                     .operands = {random(kVector, 7)},
                     .attrs = {{"in_shardings", whole("<@mesh, [{}]>")},
                               {"out_shardings", whole("<@mesh, [{}]>")},
                               {"manual_axes", ir::Opaque{"#sdy<manual_axes{}>"}}},
                     .results = {kVector},
                     .regions = [] { return regions(sine()); }});
    });

const bool custom_jvp_samples = add_samples("strata.custom_jvp", [](std::vector<Sample>& out) {
  out.push_back({.what = "sine", .operands = {random(kVector, 10)}, .regions = [] {
                   return regions(sine(),
                                  build({kVector, kVector}, [](Builder& b, const Values& v) {
                                    return Values{sin(b, v[0]), mul(b, cos(b, v[0]), v[1])};
                                  }));
                 }});
});

BlockPtr sine_backward() {
  return build({kVector, kVector},
               [](Builder& b, const Values& v) { return Values{mul(b, v[0], v[1])}; });
}

const bool custom_vjp_samples = add_samples("strata.custom_vjp", [](std::vector<Sample>& out) {
  out.push_back({.what = "sine",
                 .operands = {random(kVector, 11)},
                 .attrs = {{"num_residuals", std::int64_t{1}}, {"differentiable", ir::Ints{0}}},
                 .regions = [] {
                   auto forward = build({kVector}, [](Builder& b, const Values& v) {
                     return Values{sin(b, v[0]), cos(b, v[0])};
                   });
                   return regions(sine(), std::move(forward), sine_backward());
                 }});
});

// Not smooth: as a function of its residuals it has no forward derivative.
const bool custom_vjp_linear_samples =
    add_samples("strata.custom_vjp_linear", [](std::vector<Sample>& out) {
      out.push_back({.what = "product",
                     .operands = {random(kVector, 12), random(kVector, 13)},
                     .attrs = {{"num_residuals", std::int64_t{1}}},
                     .regions = [] { return regions(sine_backward()); },
                     .smooth = false});
    });

Literal cell(std::uint64_t seed) { return random_literal(Type::ref(DType::f64, {3}), seed); }

const bool ref_samples =
    add_samples("strata.ref_new",
                [](std::vector<Sample>& out) {
                  out.push_back({.what = "vector",
                                 .operands = {random(kVector, 14)},
                                 .smooth = false,
                                 .batchable = false});
                }) &&
    add_samples(
        "strata.ref_get",
        [](std::vector<Sample>& out) {
          out.push_back(
              {.what = "vector", .operands = {cell(15)}, .smooth = false, .batchable = false});
        }) &&
    add_samples("strata.ref_set", [](std::vector<Sample>& out) {
      out.push_back({.what = "vector",
                     .operands = {cell(16), random(kVector, 17)},
                     .smooth = false,
                     .batchable = false});
    });

}  // namespace
}  // namespace strata::op
