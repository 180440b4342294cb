#include "strata/api/packed.h"

#include "strata/api/trace/compose.h"
#include "strata/api/trace/trace.h"
#include "strata/op/quantized/block_format.h"

namespace strata {

using internal::cast;
using internal::emit_one;
using internal::Site;

std::vector<std::int64_t> Packed::shape() const {
  std::vector<std::int64_t> out = blocks.shape().sizes();
  if (out.empty()) throw Error("packed", "blocks are bytes (..., bytes), got a scalar");
  out.back() = format.row_elements(out.back());
  return out;
}

Packed pack(const Operand& x, BlockFormat format) {
  Site site(x);
  const Array numbers = cast(x.array, {DType::f32, false});
  if (numbers.ndim() < 1) throw Error("pack", "packs rows (..., in), got a scalar");
  const Literal from = numbers.literal();
  std::vector<std::int64_t> shape = from.shape().sizes();
  shape.back() = format.row_bytes(shape.back());
  Literal blocks(Type(DType::ui8, Shape::of(shape)));
  format.quantize(from.span<float>().data(), from.count() / format.elements(),
                  blocks.mutable_span<std::uint8_t>().data());
  return {Array(std::move(blocks)), format};
}

Array unpack(const Packed& packed) {
  return emit_one({packed.blocks}, false, [&](ir::Builder& b, const ir::Values& v) {
    return op::block_dequantize(b, v[0], packed.format);
  });
}

Array block_dot(const Operand& x, const Packed& w, bool int8) {
  Site site(x);
  const DType dtype = is_float(x.array.dtype()) ? x.array.dtype() : DType::f32;
  const Array y = emit_one({cast(x.array, {DType::f32, false}), w.blocks}, false,
                           [&](ir::Builder& b, const ir::Values& v) {
                             return int8 ? op::block_dot_int8(b, v[0], v[1], w.format)
                                         : op::block_dot(b, v[0], v[1], w.format);
                           });
  return cast(y, {dtype, false});
}

}  // namespace strata
