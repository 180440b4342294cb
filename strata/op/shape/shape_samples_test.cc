// Samples of operations that move elements.
#include "strata/op/rules.h"
#include "strata/op/samples.h"

namespace strata::op {
namespace {

constexpr DType kTypes[] = {DType::f64, DType::f32, DType::bf16, DType::i32, DType::i1, DType::ui8};

Literal numbers(DType dtype, Shape shape, std::uint64_t seed = 1) {
  return random_literal(Type(dtype, std::move(shape)), seed, is_integer(dtype) ? 0 : -2, 9);
}

const bool broadcast_in_dim =
    add_samples("stablehlo.broadcast_in_dim", [](std::vector<Sample>& out) {
      auto add = [&](const char* what, DType t, Shape from, Ints dims, Shape to) {
        out.push_back({.what = what,
                       .operands = {numbers(t, std::move(from))},
                       .attrs = {{"broadcast_dimensions", std::move(dims)}},
                       .results = {Type(t, std::move(to))}});
      };
      for (DType t : kTypes) {
        add("a scalar", t, {}, {}, {2, 3});
        add("leading", t, {3}, {1}, {2, 3});
        add("trailing", t, {3}, {0}, {3, 4});
        add("stretched", t, {3, 1}, {0, 1}, {3, 5});
        add("stretched, permuted", t, {3, 1, 2}, {3, 0, 1}, {4, 2, 5, 3});
        add("permuted alone", t, {3, 2}, {1, 0}, {2, 3});
        add("size 1 stays", t, {1, 2}, {0, 2}, {1, 3, 2});
        add("no elements", t, {0}, {1}, {2, 0});
        add("to no elements", t, {1}, {0}, {0});
      }
    });

const bool reshape = add_samples("stablehlo.reshape", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, DType t, Shape from, Shape to) {
    out.push_back({.what = what,
                   .operands = {numbers(t, std::move(from))},
                   .results = {Type(t, std::move(to))}});
  };
  for (DType t : kTypes) {
    add("merged", t, {2, 3, 4}, {6, 4});
    add("split", t, {6, 4}, {2, 3, 4});
    add("across", t, {4, 6}, {3, 8});
    add("groups apart", t, {4, 6, 5, 2}, {2, 12, 10});
    add("ones", t, {1, 6, 1}, {1, 1, 2, 3, 1});
    add("to a scalar", t, {1, 1}, {});
    add("from a scalar", t, {}, {1});
    add("no elements", t, {0, 3}, {5, 0});
  }
});

const bool transpose = add_samples("stablehlo.transpose", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, DType t, Shape from, Ints permutation) {
    out.push_back({.what = what,
                   .operands = {numbers(t, std::move(from))},
                   .attrs = {{"permutation", std::move(permutation)}}});
  };
  for (DType t : kTypes) {
    add("matrix", t, {3, 5}, {1, 0});
    add("cycle", t, {2, 3, 4}, {2, 0, 1});
    add("identity", t, {2, 3}, {0, 1});
    add("scalar", t, {}, {});
    add("no elements", t, {0, 3, 2}, {1, 2, 0});
  }
});

const bool slice = add_samples("stablehlo.slice", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, DType t, Shape from, Ints start, Ints limit, Ints strides) {
    out.push_back({.what = what,
                   .operands = {numbers(t, std::move(from))},
                   .attrs = {{"start_indices", std::move(start)},
                             {"limit_indices", std::move(limit)},
                             {"strides", std::move(strides)}}});
  };
  for (DType t : kTypes) {
    add("box", t, {4, 5}, {1, 2}, {3, 5}, {1, 1});
    add("strided", t, {9, 4}, {1, 0}, {9, 4}, {3, 2});
    add("stride that misses the limit", t, {7}, {0}, {7}, {4});
    add("all", t, {2, 3}, {0, 0}, {2, 3}, {1, 1});
    add("nothing", t, {4}, {2}, {2}, {1});
    add("scalar", t, {}, {}, {}, {});
  }
});

const bool reverse = add_samples("stablehlo.reverse", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, DType t, Shape from, Ints dims) {
    out.push_back({.what = what,
                   .operands = {numbers(t, std::move(from))},
                   .attrs = {{"dimensions", std::move(dims)}}});
  };
  for (DType t : kTypes) {
    add("last", t, {2, 5}, {1});
    add("both", t, {3, 4}, {1, 0});
    add("none", t, {3}, {});
    add("no elements", t, {0, 2}, {0});
  }
});

const bool pad = add_samples("stablehlo.pad", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, DType t, Shape from, Ints low, Ints high, Ints interior) {
    out.push_back({.what = what,
                   .operands = {numbers(t, std::move(from)), numbers(t, {}, 5)},
                   .attrs = {{"edge_padding_low", std::move(low)},
                             {"edge_padding_high", std::move(high)},
                             {"interior_padding", std::move(interior)}}});
  };
  for (DType t : kTypes) {
    add("edges", t, {2, 3}, {1, 0}, {0, 2}, {0, 0});
    add("interior", t, {3, 2}, {0, 1}, {2, 0}, {2, 1});
    add("negative", t, {5, 4}, {-1, 2}, {-2, -1}, {0, 0});
    add("negative, interior", t, {4, 3}, {-2, 3}, {1, -1}, {1, 2});
    add("all cut off", t, {3}, {-2}, {-1}, {0});
    add("nothing", t, {2}, {0}, {0}, {0});
    add("from no elements", t, {0, 2}, {2, 0}, {1, 0}, {3, 0});
    add("scalar", t, {}, {}, {}, {});
  }
});

const bool concatenate = add_samples("stablehlo.concatenate", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, DType t, std::vector<Shape> shapes, std::int64_t dim) {
    Literals operands;
    for (Shape& s : shapes) operands.push_back(numbers(t, std::move(s), 3 + operands.size()));
    out.push_back({.what = what, .operands = std::move(operands), .attrs = {{"dimension", dim}}});
  };
  for (DType t : kTypes) {
    add("rows", t, {{2, 3}, {1, 3}, {4, 3}}, 0);
    add("columns", t, {{2, 3}, {2, 20}}, 1);
    add("one", t, {{3}}, 0);
    add("an empty one", t, {{2}, {0}, {3}}, 0);
    add("nothing", t, {{0, 2}, {0, 2}}, 0);
  }
});

const bool iota = add_samples("stablehlo.iota", [](std::vector<Sample>& out) {
  auto add = [&](DType t, Shape shape, std::int64_t dim) {
    out.push_back({.what = fmt::format("dimension {} of {}x{}", dim, shape.to_string(), name(t)),
                   .operands = {},
                   .attrs = {{"iota_dimension", dim}},
                   .results = {Type(t, shape)}});
  };
  for (DType t : {DType::i8, DType::i32, DType::i64, DType::ui16, DType::ui64, DType::bf16,
                  DType::f16, DType::f32, DType::f64}) {
    add(t, {5}, 0);
    add(t, {3, 4}, 0);
    add(t, {3, 40}, 1);
    add(t, {0}, 0);
  }
  add(DType::bf16, {600}, 0);  // beyond what bf16 counts exactly
  add(DType::i8, {300}, 0);    // wraps
});

const bool constant = add_samples("stablehlo.constant", [](std::vector<Sample>& out) {
  auto add = [&](const char* what, Literal value) {
    out.push_back({.what = what, .operands = {}, .attrs = {{"value", std::move(value)}}});
  };
  for (DType t : kTypes) {
    add("scalar", numbers(t, {}));
    add("splat", Literal::full(Type(t, {2, 3}), 1));
    add("array", numbers(t, {2, 3}));
    add("no elements", numbers(t, {0, 3}));
    add("edge values", edge_literal(t));
  }
});

}  // namespace
}  // namespace strata::op
