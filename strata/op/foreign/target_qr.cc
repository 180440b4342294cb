// @Qr and @ProductOfElementaryHouseholderReflectors: what LAPACK calls geqrf and orgqr (ungqr), on
// row-major matrices.
//
//   Qr:        A -> (R above the diagonal, reflectors below it; tau), H_k = I - tau_k v_k v_k^H,
//   H_k^H .. H_1^H A = R Product:   (reflectors, tau) -> the first n columns of H_1 H_2 ... H_k
//
// v_k is 1 at k, what stands below the diagonal after it, 0 before. As LAPACK does, beta is real
// and of the other sign than the diagonal's real part; tau is 0 where there is nothing to reflect.
// Computed in f64 and rounded once, column by column.
#include "strata/loop/kernel/linalg/reflector.h"
#include "strata/op/foreign/target.h"
#include "strata/op/linalg/matrix.h"

namespace strata::op {
namespace {

using loop::factor::Wide, loop::factor::narrow, loop::factor::product_of_reflectors,
    loop::factor::qr_in_place, loop::factor::read_matrix, loop::factor::widen,
    loop::factor::write_matrix;

template <class T>
void qr(const T* in, T* out, T* taus, std::int64_t m, std::int64_t n) {
  auto a = read_matrix(in, m, n);
  for (Wide<T> tau : qr_in_place(a)) *taus++ = narrow<T>(tau);
  write_matrix(a, out);
}

template <class T>
void product(const T* in, const T* taus, T* out, std::int64_t m, std::int64_t n,
             std::int64_t count) {
  std::vector<Wide<T>> wide;
  for (std::int64_t k = 0; k < count; ++k) wide.push_back(widen(taus[k]));
  write_matrix(product_of_reflectors(read_matrix(in, m, n), wide, n), out);
}

bool is_matrices(const Type& t) { return t.is_tensor() && t.rank() >= 2; }
Shape without_last(const Shape& shape, std::int64_t last) {
  std::vector<std::int64_t> sizes = shape.sizes();
  sizes.pop_back();
  sizes.back() = last;
  return Shape::of(sizes);
}
Status wrong(const foreign::Call& call) {
  return Status(Code::invalid, "@{} takes matrices and scalar factors, got other types",
                call.target);
}

template <class T>
T* at(void* base, std::int64_t batch, std::int64_t size) {
  return static_cast<T*>(base) + batch * size;
}

}  // namespace

Result<foreign::Bound> bind_qr(const foreign::Call& call) {
  if (call.operands.size() != 1 || call.results.size() != 2 || !is_matrices(call.operands[0]))
    return wrong(call);
  const Type& a = call.operands[0];
  std::int64_t m = a.shape()[a.rank() - 2], n = a.shape()[a.rank() - 1], k = std::min(m, n),
               batch = batch_count(a.shape());
  if (!(call.results[0] == a) || !(call.results[1] == a.with(without_last(a.shape(), k))))
    return wrong(call);
  return foreign::Bound(
      [=, element = factor_element("Qr", a.dtype())](const foreign::Buffers& to, void*) {
        loop::factor::dispatch(element, [&]<class T>(T) {
          for (std::int64_t i = 0; i < batch; ++i)
            qr(at<const T>(to.operands[0], i, m * n), at<T>(to.results[0], i, m * n),
               at<T>(to.results[1], i, k), m, n);
        });
        return Status();
      });
}

Result<foreign::Bound> bind_householder_product(const foreign::Call& call) {
  if (call.operands.size() != 2 || call.results.size() != 1 || !is_matrices(call.operands[0]) ||
      call.operands[1].rank() + 1 != call.operands[0].rank())
    return wrong(call);
  const Type &a = call.operands[0], &taus = call.operands[1];
  std::int64_t m = a.shape()[a.rank() - 2], n = a.shape()[a.rank() - 1],
               k = taus.shape()[taus.rank() - 1], batch = batch_count(a.shape());
  if (!(call.results[0] == a) || k > std::min(m, n) ||
      !(taus == a.with(without_last(a.shape(), k))))
    return wrong(call);
  return foreign::Bound(
      [=, element = factor_element("ProductOfElementaryHouseholderReflectors", a.dtype())](
          const foreign::Buffers& to, void*) {
        loop::factor::dispatch(element, [&]<class T>(T) {
          for (std::int64_t i = 0; i < batch; ++i)
            product(at<const T>(to.operands[0], i, m * n), at<const T>(to.operands[1], i, k),
                    at<T>(to.results[0], i, m * n), m, n, k);
        });
        return Status();
      });
}

}  // namespace strata::op
