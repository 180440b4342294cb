// Samples of the operations between types that kernels do not know and their parts (op/legalize.h).
#include <bit>
#include <cmath>

#include "strata/op/samples.h"
#include "strata/type/minifloat.h"

namespace strata::op {
namespace {

constexpr DType kFormats[] = {DType::f4E2M1FN,   DType::f6E2M3FN,   DType::f6E3M2FN,
                              DType::f8E3M4,     DType::f8E4M3,     DType::f8E4M3B11FNUZ,
                              DType::f8E4M3FN,   DType::f8E4M3FNUZ, DType::f8E5M2,
                              DType::f8E5M2FNUZ, DType::f8E8M0FNU};

Literal numbers(DType dtype, Shape shape, std::uint64_t seed = 1) {
  return random_literal(Type(dtype, std::move(shape)), seed);
}

const bool complex = add_samples("stablehlo.complex", [](std::vector<Sample>& out) {
  for (DType t : {DType::f32, DType::f64}) {
    out.push_back({.what = fmt::format("numbers, {}", name(t)),
                   .operands = {numbers(t, {3, 17}), numbers(t, {3, 17}, 2)}});
    out.push_back({.what = fmt::format("scalars, {}", name(t)),
                   .operands = {numbers(t, {}), numbers(t, {}, 2)}});
    out.push_back({.what = fmt::format("no elements, {}", name(t)),
                   .operands = {numbers(t, {0, 2}), numbers(t, {0, 2})}});
    out.push_back({.what = fmt::format("edge values, {}", name(t)),
                   .operands = {edge_literal(t), edge_literal(t)},
                   .smooth = false});
  }
});

const bool parts = [] {
  for (const char* op : {"stablehlo.real", "stablehlo.imag"})
    add_samples(op, [](std::vector<Sample>& out) {
      for (DType t : {DType::c64, DType::c128, DType::bf16, DType::f64}) {
        out.push_back(
            {.what = fmt::format("numbers, {}", name(t)), .operands = {numbers(t, {3, 17})}});
        out.push_back({.what = fmt::format("a scalar, {}", name(t)), .operands = {numbers(t, {})}});
        out.push_back(
            {.what = fmt::format("no elements, {}", name(t)), .operands = {numbers(t, {0})}});
      }
    });
  return true;
}();

const bool fma = add_samples("strata.fma", [](std::vector<Sample>& out) {
  for (DType t : {DType::bf16, DType::f16, DType::f32, DType::f64}) {
    auto [left, right] = edge_pairs(t);
    out.push_back(
        {.what = fmt::format("numbers, {}", name(t)),
         .operands = {numbers(t, {3, 17}), numbers(t, {3, 17}, 2), numbers(t, {3, 17}, 3)}});
    out.push_back({.what = fmt::format("scalars, {}", name(t)),
                   .operands = {numbers(t, {}), numbers(t, {}, 2), numbers(t, {}, 3)}});
    out.push_back({.what = fmt::format("edge values, {}", name(t)),
                   .operands = {left, right, right},
                   .smooth = false});
  }
});

const bool storage_cast = add_samples("strata.storage_cast", [](std::vector<Sample>& out) {
  auto add = [&](const Literal& x, DType to) {
    out.push_back({.what = fmt::format("{} as {}", x.type().to_string(), name(to)),
                   .operands = {x},
                   .results = {x.type().with(to)}});
  };
  add(numbers(DType::i4, {3, 5}), DType::i8);
  add(numbers(DType::ui2, {0}), DType::ui8);
  add(numbers(DType::f8E5M2, {}), DType::ui8);
  add(random_literal(Type(DType::ui8, {7}), 3, 0, 255), DType::f8E4M3FN);
});

/// Every pattern of every format.
const bool decode_float = add_samples("strata.decode_float", [](std::vector<Sample>& out) {
  for (DType t : kFormats) {
    Literal bits(Type(DType::ui8, {std::int64_t{1} << bit_width(t)}));
    for (std::int64_t i = 0; i < bits.count(); ++i) bits.set_integer(i, i);
    out.push_back({.what = fmt::format("all of {}", name(t)),
                   .operands = {bits},
                   .attrs = {{"format", std::string(name(t))}}});
  }
  out.push_back({.what = "no elements",
                 .operands = {Literal(Type(DType::ui8, {0}))},
                 .attrs = {{"format", std::string("f8E5M2")}}});
});

/// The values, the points halfway between neighbours, what is just beside those, and f32's own
/// patterns at random.
Literal near_ties(DType format) {
  std::vector<float> out{0.0f,        -0.0f,      1e-45f,  -1e-45f,  0x1p-127f,
                         0x1.8p-127f, 0x1.8p127f, 3.4e38f, -3.4e38f, HUGE_VALF,
                         -HUGE_VALF,  NAN,        -NAN};
  std::uint32_t count = 1u << bit_width(format), state = 1;
  for (std::uint32_t bits = 0; bits < count; ++bits) {
    float a = minifloat_value(format, static_cast<std::uint8_t>(bits)),
          b = minifloat_value(format, static_cast<std::uint8_t>((bits + 1) % count));
    float middle = a / 2 + b / 2;
    for (float x :
         {a, middle, std::nextafter(middle, a), std::nextafter(middle, b), 1.0009765625f * a})
      out.push_back(x);
  }
  for (int i = 0; i < 4000; ++i)
    out.push_back(std::bit_cast<float>(state = state * 1664525u + 1013904223u));
  return Literal::of<float>({static_cast<std::int64_t>(out.size())}, out);
}

const bool encode_float = add_samples("strata.encode_float", [](std::vector<Sample>& out) {
  for (DType t : kFormats)
    out.push_back({.what = fmt::format("as {}", name(t)),
                   .operands = {near_ties(t)},
                   .attrs = {{"format", std::string(name(t))}},
                   .smooth = false});
  out.push_back({.what = "no elements",
                 .operands = {Literal(Type(DType::f32, {0}))},
                 .attrs = {{"format", std::string("f8E5M2")}}});
});

}  // namespace
}  // namespace strata::op
