// Packed blocks in operations: samples of every format for the laws, and what is refused.
#include "strata/op/quantized/block_format.h"
#include "strata/op/samples.h"
#include "strata/op/testing/refused.h"
#include "strata/type/float.h"

namespace strata::op {
namespace {

/// Encoded numbers where the format has an encoder; else bytes below 60, of which every f16 is
/// finite.
Literal packed(BlockFormat format, Shape rows, std::int64_t blocks, std::uint64_t seed) {
  std::vector<Dim> dims(rows.dims().begin(), rows.dims().end());
  dims.push_back(blocks * format.bytes());
  const Type type(DType::ui8, Shape(dims));
  if (!format.can_quantize()) return random_literal(type, seed, 0, 60);
  dims.back() = blocks * format.elements();
  const Literal numbers = random_literal(Type(DType::f32, Shape(dims)), seed);
  Literal out(type);
  format.quantize(numbers.span<float>().data(), numbers.count() / format.elements(),
                  out.mutable_span<std::uint8_t>().data());
  return out;
}

Attrs named(BlockFormat format) { return {{"format", std::string(format.name())}}; }
Literal numbers(Shape shape, std::uint64_t seed) {
  return random_literal(Type(DType::f32, std::move(shape)), seed);
}

const bool dequantize = add_samples("strata.block_dequantize", [](std::vector<Sample>& out) {
  for (const BlockLayout& layout : kBlockLayouts)
    out.push_back({.what = layout.name,
                   .operands = {packed(layout.kind, {3}, 2, 1)},
                   .attrs = named(layout.kind)});
  out.push_back({.what = "one row",
                 .operands = {packed(BlockKind::q8_0, {}, 1, 2)},
                 .attrs = named(BlockKind::q8_0)});
  out.push_back({.what = "many blocks",
                 .operands = {packed(BlockKind::q4_0, {2, 3}, 65, 3)},
                 .attrs = named(BlockKind::q4_0)});
  out.push_back({.what = "no rows",
                 .operands = {packed(BlockKind::q4_0, {0}, 1, 4)},
                 .attrs = named(BlockKind::q4_0)});
});

/// `is_smooth`: whether slopes are those of the derivative.
void add_products(std::vector<Sample>& out, bool is_smooth) {
  for (const BlockLayout& layout : kBlockLayouts) {
    const BlockFormat f = layout.kind;
    out.push_back({.what = layout.name,
                   .operands = {numbers({2, 256}, 1), packed(f, {5}, 256 / f.elements(), 2)},
                   .attrs = named(f),
                   .smooth = is_smooth && f.can_quantize()});
  }
  const BlockFormat q = BlockKind::q8_0;
  out.push_back({.what = "a vector",
                 .operands = {numbers({64}, 3), packed(q, {7}, 2, 4)},
                 .attrs = named(q),
                 .smooth = is_smooth});
  out.push_back({.what = "rows of two dimensions",
                 .operands = {numbers({2, 3, 32}, 5), packed(q, {4}, 1, 6)},
                 .attrs = named(q),
                 .smooth = is_smooth});
  out.push_back({.what = "matrices of a batch",
                 .operands = {numbers({2, 3, 32}, 7), packed(q, {2, 4}, 1, 8)},
                 .attrs = named(q),
                 .smooth = is_smooth});
  out.push_back({.what = "a vector for each matrix",
                 .operands = {numbers({2, 32}, 9), packed(q, {2, 4}, 1, 10)},
                 .attrs = named(q),
                 .smooth = is_smooth});
  out.push_back({.what = "many rows of w",
                 .operands = {numbers({1, 32}, 11), packed(BlockKind::q4_0, {301}, 1, 12)},
                 .attrs = named(BlockKind::q4_0),
                 .smooth = is_smooth});
  out.push_back({.what = "no rows",
                 .operands = {numbers({0, 32}, 13), packed(q, {4}, 1, 14)},
                 .attrs = named(q),
                 .smooth = is_smooth});
  out.push_back({.what = "no columns",
                 .operands = {numbers({3, 32}, 15), packed(q, {0}, 1, 16)},
                 .attrs = named(q),
                 .smooth = is_smooth});
  out.push_back({.what = "nothing to add",
                 .operands = {numbers({2, 0}, 17), packed(q, {4}, 0, 18)},
                 .attrs = named(q),
                 .smooth = is_smooth});
}

const bool transposed = add_samples("strata.block_dot_transposed", [](std::vector<Sample>& out) {
  for (const BlockLayout& layout : kBlockLayouts) {
    const BlockFormat f = layout.kind;
    out.push_back({.what = layout.name,
                   .operands = {numbers({3, 5}, 1), packed(f, {5}, 256 / f.elements(), 2)},
                   .attrs = named(f),
                   .smooth = f.can_quantize()});
  }
  const BlockFormat q = BlockKind::q8_0;
  const auto add = [&](const char* what, Shape g, Shape rows, std::int64_t blocks) {
    out.push_back({.what = what,
                   .operands = {numbers(std::move(g), 3), packed(q, std::move(rows), blocks, 4)},
                   .attrs = named(q),
                   .smooth = true});
  };
  add("a vector", {7}, {7}, 2);
  add("rows of two dimensions", {2, 3, 4}, {4}, 1);
  add("matrices of a batch", {2, 3, 4}, {2, 4}, 1);
  add("a vector for each matrix", {2, 4}, {2, 4}, 1);
  add("many rows of w", {2, 70}, {70}, 5);
  add("many rows of g", {301, 3}, {3}, 1);
  add("no rows", {0, 4}, {4}, 1);
  add("nothing to add", {3, 0}, {0}, 1);
  add("no columns", {2, 4}, {4}, 0);
});
const bool dot =
    add_samples("strata.block_dot", [](std::vector<Sample>& out) { add_products(out, true); });
const bool dot_int8 = add_samples("strata.block_dot_int8",
                                  [](std::vector<Sample>& out) { add_products(out, false); });

}  // namespace
}  // namespace strata::op
