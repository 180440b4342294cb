// strata.block_dequantize: the numbers of packed blocks (type/block_format.h).
//
// Contract: operand blocks ui8 [..., bytes]; attribute `format`, a name of BlockFormat ("Q4_K").
//   (C1) blocks is ui8 of rank 1 or more; (C2) the last dimension is a multiple of the format's
//   bytes; (C3) the format is one that Strata has.
// The result is f32 [..., elements], the bits of BlockFormat::dequantize.
//
// Bytes have no tangents: the derivative is zero.
#include "strata/loop/kernel/native.h"
#include "strata/op/quantized/block_format.h"
#include "strata/op/rules.h"

namespace strata::op {

BlockFormat block_format_of(std::string_view op, const Attrs& attrs) {
  const auto& name = expect_attr<std::string>(op, attrs, "format");
  const std::optional<BlockFormat> format = BlockFormat::find(name);
  if (!format)
    throw Error(std::string(op), "there is no block format '{}'; formats: {} (C3)", name,
                block_format_names());
  return *format;
}

Dim block_elements(std::string_view op, BlockFormat format, const Type& blocks) {
  if (!blocks.is_tensor() || blocks.dtype() != DType::ui8 || blocks.rank() < 1)
    throw Error(std::string(op), "packed blocks are bytes [..., bytes] of ui8, got {} (C1)",
                blocks.to_string());
  const Dim& bytes = blocks.shape().dim(blocks.rank() - 1);
  if (!bytes.is_static()) return Dim::unknown();
  if (bytes.size() % format.bytes() != 0)
    throw Error(std::string(op), "a block of {} has {} bytes, which do not divide rows of {} (C2)",
                format.name(), format.bytes(), blocks.to_string());
  return Dim(bytes.size() / format.bytes() * format.elements());
}

namespace {

constexpr const char* kSelf = "block_dequantize";
constexpr std::int64_t kElementsAPoint = 4096;

std::vector<Type> infer(std::span<Value* const> operands, const Attrs& attrs,
                        std::span<const std::unique_ptr<Block>>) {
  expect_operands(kSelf, operands, 1);
  const Type& blocks = operands[0]->type();
  const Dim elements = block_elements(kSelf, block_format_of(kSelf, attrs), blocks);
  std::vector<Dim> dims(blocks.shape().dims().begin(), blocks.shape().dims().end() - 1);
  dims.push_back(elements);
  return {Type(DType::f32, Shape(std::move(dims)))};
}

BlockFormat format_of(const Op& op) { return block_format_of(kSelf, op.attrs); }
std::int64_t blocks_of(const Op& op) {
  return op.operand(0)->shape().count() / format_of(op).bytes();
}

Literals evaluate(const Op& op, std::span<const Literal> operands, Evaluator&) {
  Literal out(op.result()->type());
  format_of(op).dequantize(operands[0].span<std::uint8_t>().data(), blocks_of(op),
                           out.mutable_span<float>().data());
  return {std::move(out)};
}

std::int64_t chunk(const Op& op) { return kElementsAPoint / format_of(op).elements(); }
const char* symbol(const Op&) { return "strata_block_dequantize"; }
std::int64_t grid(const Op& op) { return (blocks_of(op) + chunk(op) - 1) / chunk(op); }
std::vector<std::int64_t> params(const Op& op) {
  return {static_cast<std::int64_t>(format_of(op).kind()), blocks_of(op), chunk(op)};
}

Batched batch(Builder& b, const Op& op, std::span<Value* const> operands, const std::vector<bool>&,
              std::int64_t) {
  return {{b.create(op.info(), {operands[0]}, op.attrs).result()}, {true}};
}

/// All but the last dimension pass through.
Factors shard(const Op& op) {
  FactorTable t(op);
  const Shape &in = op.operand(0)->shape(), &out = op.result()->shape();
  const int last = op.result()->rank() - 1;
  for (int d = 0; d < last; ++d) {
    const int f = t.factor('p', out.dim(d).bound());
    t.operand(0, d, f), t.result(0, d, f);
  }
  t.operand(0, last, t.factor('n', in.dim(last).bound()));
  t.result(0, last, t.factor('n', out.dim(last).bound()));
  return t.take();
}

Work cost(const Op& op) { return {2 * elements(op), bytes_moved(op)}; }

}  // namespace

Value* block_dequantize(Builder& b, Value* blocks, BlockFormat format) {
  return b.create("strata.block_dequantize", {blocks}, {{"format", std::string(format.name())}})
      .result();
}

const OpDef& block_dequantize_def() {
  static const OpDef def{
      .info = {.name = "strata.block_dequantize", .infer = infer},
      .summary = "the numbers of packed blocks",
      .traits = {},
      .evaluate = evaluate,
      .jvp = zero_jvp,
      .linearize = None{"no regions"},
      .transpose = None{"bytes have no tangents"},
      .batch = batch,
      .shard = shard,
      .cost = cost,
      .lowering = Native{symbol, grid, params},
  };
  return def;
}

}  // namespace strata::op
