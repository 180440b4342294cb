#include "strata/nn/attention/page_format.h"

#include "strata/api/index.h"
#include "strata/api/lax.h"
#include "strata/api/numpy.h"

namespace strata::nn {
namespace {

constexpr std::int64_t kScaleBytes = 4;

Array to_integers(const Array& x) {
  const Array wide = x.astype(DType::f32);
  const Array scale = max(abs(wide), {.axis = -1, .keepdims = true}) / 127.0f;
  const Array q = clip(round(wide / where(scale > 0, scale, 1.0f)), -127.0f, 127.0f);
  // A scale that is no number says so of all of them; the integers then mean nothing.
  const Array known = where(isfinite(q), q, 0.0f).astype(DType::i8);
  std::vector<std::int64_t> sizes;
  for (int i = 0; i + 1 < x.ndim(); ++i) sizes.push_back(x.shape(i));
  sizes.push_back(kScaleBytes);
  const Array bytes = reshape(
      lax::bitcast_convert_type(where(isfinite(scale), scale, scale - scale), DType::i8), sizes);
  return concatenate({known, bytes}, -1);
}

Array from_integers(const Array& stored, DType numbers) {
  const std::int64_t d = stored.shape(-1) - kScaleBytes;
  const Array bytes = lax::slice_in_dim(stored, d, d + kScaleBytes, 1, -1);
  const Array scale = expand_dims(lax::bitcast_convert_type(bytes, DType::f32), -1);
  return (lax::slice_in_dim(stored, 0, d, 1, -1).astype(DType::f32) * scale).astype(numbers);
}

}  // namespace

std::int64_t page_width(DType pages, std::int64_t d) {
  return pages == DType::i8 ? d + kScaleBytes : d;
}

bool holds(DType pages, DType numbers) {
  if (pages == numbers) return true;
  if (numbers != DType::f32 && numbers != DType::bf16 && numbers != DType::f16) return false;
  return pages == DType::i8 || pages == DType::f8E4M3FN ||
         (numbers == DType::f32 && (pages == DType::bf16 || pages == DType::f16));
}

Array to_pages(const Array& x, DType pages) {
  if (x.dtype() == pages) return x;
  if (pages == DType::i8) return to_integers(x);
  if (pages == DType::f8E4M3FN)
    return clip(x.astype(DType::f32), -448.0f, 448.0f).astype(DType::f8E4M3FN);
  return x.astype(pages);
}

Array from_pages(const Array& stored, DType numbers) {
  if (stored.dtype() == numbers) return stored;
  return stored.dtype() == DType::i8 ? from_integers(stored, numbers) : stored.astype(numbers);
}

}  // namespace strata::nn
