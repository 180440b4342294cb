// Samples of comparisons, choices, conversions and reinterpretations.
#include "strata/op/rules.h"
#include "strata/op/samples.h"

namespace strata::op {
namespace {

constexpr DType kStored[] = {DType::i1,  DType::i8,   DType::i16,  DType::i32,  DType::i64,
                             DType::ui8, DType::ui16, DType::ui32, DType::ui64, DType::bf16,
                             DType::f16, DType::f32,  DType::f64};

Literal numbers(DType dtype, Shape shape, std::uint64_t seed = 1) {
  return random_literal(Type(dtype, std::move(shape)), seed, is_integer(dtype) ? 0 : -2, 3);
}

const bool compare = add_samples("stablehlo.compare", [](std::vector<Sample>& out) {
  for (DType t : kStored) {
    std::vector<std::string> kinds{is_float(t) ? "FLOAT" : is_signed(t) ? "SIGNED" : "UNSIGNED"};
    if (is_float(t)) kinds.push_back("TOTALORDER");
    auto [left, right] = edge_pairs(t);
    for (const std::string& kind : kinds)
      for (const char* direction : {"EQ", "NE", "GE", "GT", "LE", "LT"})
        out.push_back(
            {.what = fmt::format("{} {} of {}", kind, direction, name(t)),
             .operands = {left, right},
             .attrs = {{"comparison_direction", std::string(direction)}, {"compare_type", kind}},
             .smooth = false});
    Attrs less{{"comparison_direction", std::string("LT")}, {"compare_type", kinds[0]}};
    out.push_back({.what = fmt::format("apart from kinks, {}", name(t)),
                   .operands = {numbers(t, {3, 2}), numbers(t, {3, 2}, 2)},
                   .attrs = less});
    out.push_back({.what = fmt::format("no elements, {}", name(t)),
                   .operands = {numbers(t, {0}), numbers(t, {0})},
                   .attrs = less});
  }
});

const bool select = add_samples("stablehlo.select", [](std::vector<Sample>& out) {
  for (DType t : kStored) {
    auto add = [&](const char* what, Shape pred, Shape shape) {
      out.push_back({.what = fmt::format("{}, {}", what, name(t)),
                     .operands = {numbers(DType::i1, std::move(pred), 4), numbers(t, shape),
                                  numbers(t, shape, 2)}});
    };
    add("by element", {3, 17}, {3, 17});
    add("by a scalar", {}, {2, 3});
    add("scalars", {}, {});
    add("no elements", {0}, {0});
    add("no elements, by a scalar", {}, {2, 0});
  }
});

const bool clamp = add_samples("stablehlo.clamp", [](std::vector<Sample>& out) {
  for (DType t : kStored) {
    auto add = [&](const char* what, Shape bounds, Shape shape) {
      Literal low = random_literal(Type(t, bounds), 6, is_unsigned(t) ? 0 : -1, 1),
              high = random_literal(Type(t, bounds), 7, 1, 2);
      out.push_back({.what = fmt::format("{}, {}", what, name(t)),
                     .operands = {low, numbers(t, std::move(shape), 8), high}});
    };
    add("bounds by element", {4, 9}, {4, 9});
    add("scalar bounds", {}, {2, 17});
    add("scalars", {}, {});
    add("no elements", {}, {0});
    Literal edges = edge_literal(t);
    out.push_back({.what = fmt::format("edge values, {}", name(t)),
                   .operands = {random_literal(Type::scalar(t), 3, 0, 1), edges,
                                random_literal(Type::scalar(t), 4, 1, 3)},
                   .smooth = false});
    out.push_back({.what = fmt::format("crossed bounds, {}", name(t)),
                   .operands = {Literal::full(Type::scalar(t), 2), numbers(t, {5}),
                                Literal::full(Type::scalar(t), 1)}});
  }
});

const bool convert = add_samples("stablehlo.convert", [](std::vector<Sample>& out) {
  for (DType from : kStored)
    for (DType to : kStored) {
      std::string types = fmt::format("{} to {}", name(from), name(to));
      Literal edges = edge_literal(from);
      out.push_back({.what = "edge values, " + types,
                     .operands = {edges},
                     .results = {edges.type().with(to)},
                     .smooth = false});
      if (is_float(from) == is_float(to))
        out.push_back(
            {.what = types, .operands = {numbers(from, {2, 3})}, .results = {Type(to, {2, 3})}});
    }
  out.push_back({.what = "no elements",
                 .operands = {numbers(DType::f32, {0, 2})},
                 .results = {Type(DType::i8, {0, 2})}});
});

const bool bitcast_convert = add_samples("stablehlo.bitcast_convert", [](std::vector<Sample>& out) {
  auto add = [&](Literal x, Type to) {
    std::string what = fmt::format("{} as {}", x.type().to_string(), to.to_string());
    out.push_back({.what = std::move(what),
                   .operands = {std::move(x)},
                   .results = {std::move(to)},
                   .smooth = false});
  };
  auto same = [&](DType from, DType to) {
    add(edge_literal(from), edge_literal(from).type().with(to));
  };
  same(DType::f32, DType::i32);
  same(DType::i32, DType::f32);
  same(DType::f64, DType::ui64);
  same(DType::bf16, DType::ui16);
  same(DType::i16, DType::f16);
  same(DType::ui8, DType::i8);
  same(DType::i1, DType::i1);
  add(numbers(DType::f32, {2, 3}), Type(DType::ui8, {2, 3, 4}));
  add(numbers(DType::f64, {5}), Type(DType::i32, {5, 2}));
  add(numbers(DType::i8, {3, 2}), Type(DType::bf16, {3}));
  add(numbers(DType::ui32, {4, 2}), Type(DType::f64, {4}));
  add(numbers(DType::ui16, {2}), Type(DType::f32, {}));
  add(numbers(DType::f32, {0}), Type(DType::i16, {0, 2}));
  add(numbers(DType::i1, {3, 8}), Type(DType::ui8, {3}));
  add(numbers(DType::i8, {3}), Type(DType::i1, {3, 8}));
  add(numbers(DType::i1, {32}), Type(DType::f32, {}));
  add(numbers(DType::f64, {2}), Type(DType::i1, {2, 64}));
  add(numbers(DType::bf16, {5}), Type(DType::i1, {5, 16}));
});

const bool optimization_barrier =
    add_samples("stablehlo.optimization_barrier", [](std::vector<Sample>& out) {
      out.push_back(
          {.what = "two", .operands = {numbers(DType::f64, {2, 3}), numbers(DType::i32, {4})}});
      out.push_back({.what = "one", .operands = {numbers(DType::f32, {})}});
    });

const bool sharding = [] {
  for (const char* name : {"sdy.sharding_constraint", "sdy.reshard"})
    add_samples(name, [](std::vector<Sample>& out) {
      auto one = [](const char* text) { return Attrs{{"sharding", ir::Opaque{text}}}; };
      out.push_back({.what = "matrix",
                     .operands = {numbers(DType::f64, {2, 3})},
                     .attrs = one("#sdy.sharding<@mesh, [{\"x\"}, {}]>")});
      out.push_back({.what = "rank 0",
                     .operands = {numbers(DType::f32, {})},
                     .attrs = one("#sdy.sharding<@mesh, []>")});
      out.push_back({.what = "empty",
                     .operands = {numbers(DType::i32, {0})},
                     .attrs = one("#sdy.sharding<@mesh, [{?}]>")});
    });
  add_samples("sdy.propagation_barrier", [](std::vector<Sample>& out) {
    for (Shape shape : {Shape{}, Shape{2, 3}, Shape{0}})
      out.push_back({.what = shape.to_string(),
                     .operands = {numbers(DType::f64, shape)},
                     .attrs = {{"allowed_direction", std::string("NONE")}}});
  });
  add_samples("sdy.sharding_group", [](std::vector<Sample>& out) {
    for (Shape shape : {Shape{}, Shape{2, 3}, Shape{0}})
      out.push_back({.what = shape.to_string(),
                     .operands = {numbers(DType::f64, shape)},
                     .attrs = {{"group_id", std::int64_t{3}}}});
  });
  return true;
}();

// Its derivative is zero by definition, not by difference.
const bool stop_gradient = add_samples("strata.stop_gradient", [](std::vector<Sample>& out) {
  for (DType t : {DType::f64, DType::f32, DType::bf16, DType::i32})
    for (Shape shape : {Shape{}, Shape{2, 3}, Shape{0}})
      out.push_back({.what = std::string(name(t)),
                     .operands = {numbers(t, std::move(shape))},
                     .smooth = false});
});

}  // namespace
}  // namespace strata::op
