// Declarations of all definitions, and the list of them: one line an operation.
//
// An operation's file defines `const OpDef& <name>_def()`, which returns a static; a family that
// shares one table defines `std::span<const OpDef> <family>_defs()`. Adding an operation is its
// file and one line here. Files of operations do not include this list, so that a new line does not
// compile them all again.
#pragma once

#include <span>

#include "strata/op/def.h"

// X(name) declares and lists `name_def()`. The order is alphabetical.
#define STRATA_OPERATIONS(X)  \
  X(after_all)                \
  X(all_gather)               \
  X(all_reduce)               \
  X(all_to_all)               \
  X(argsort_rows)             \
  X(async_done)               \
  X(async_start)              \
  X(bitcast_convert)          \
  X(block_dequantize)         \
  X(block_dot)                \
  X(block_dot_int8)           \
  X(block_dot_transposed)     \
  X(broadcast)                \
  X(broadcast_in_dim)         \
  X(call)                     \
  X(case)                     \
  X(chlo_constant)            \
  X(chlo_scan)                \
  X(cholesky)                 \
  X(clamp)                    \
  X(collective_broadcast)     \
  X(collective_permute)       \
  X(collective_reduce)        \
  X(compare)                  \
  X(composite)                \
  X(concatenate)              \
  X(conj)                     \
  X(constant)                 \
  X(constant_like)            \
  X(convert)                  \
  X(convolution)              \
  X(create_token)             \
  X(cross_replica_sum)        \
  X(cumulative)               \
  X(custom_call)              \
  X(custom_jvp)               \
  X(custom_linear_solve)      \
  X(custom_root)              \
  X(custom_vjp)               \
  X(custom_vjp_linear)        \
  X(decode_float)             \
  X(dot)                      \
  X(dot_add)                  \
  X(dot_general)              \
  X(dynamic_broadcast_in_dim) \
  X(dynamic_conv)             \
  X(dynamic_gather)           \
  X(dynamic_iota)             \
  X(dynamic_pad)              \
  X(dynamic_slice)            \
  X(dynamic_update_slice)     \
  X(eig)                      \
  X(eigh)                     \
  X(encode_float)             \
  X(fft)                      \
  X(fma)                      \
  X(gather)                   \
  X(gmm)                      \
  X(if)                       \
  X(infeed)                   \
  X(iota)                     \
  X(lu)                       \
  X(manual_computation)       \
  X(map)                      \
  X(mulhi)                    \
  X(name)                     \
  X(named_computation)        \
  X(next_after)               \
  X(optimization_barrier)     \
  X(outfeed)                  \
  X(pad)                      \
  X(partition_id)             \
  X(print)                    \
  X(probe)                    \
  X(qr)                       \
  X(ragged_dot)               \
  X(real_dynamic_slice)       \
  X(recorded_composite)       \
  X(recv)                     \
  X(reduce)                   \
  X(reduce_precision)         \
  X(reduce_scatter)           \
  X(reduce_window)            \
  X(ref_get)                  \
  X(ref_new)                  \
  X(ref_set)                  \
  X(remat)                    \
  X(replica_id)               \
  X(reshape)                  \
  X(reverse)                  \
  X(rng)                      \
  X(rng_bit_generator)        \
  X(run_parallel)             \
  X(scan)                     \
  X(scatter)                  \
  X(select)                   \
  X(select_and_scatter)       \
  X(send)                     \
  X(slice)                    \
  X(solve)                    \
  X(sort)                     \
  X(sort_rows)                \
  X(stop_gradient)            \
  X(storage_cast)             \
  X(svd)                      \
  X(tgmm)                     \
  X(top_k)                    \
  X(torch_index_select)       \
  X(transpose)                \
  X(triangular_solve)         \
  X(tridiagonal_solve)        \
  X(uniform_dequantize)       \
  X(uniform_quantize)         \
  X(while)                    \
  X(windows)

// X(family) declares and lists the rows of `family_defs()`.
#define STRATA_OPERATION_FAMILIES(X) \
  X(arithmetic)                      \
  X(batch_norm)                      \
  X(bitwise)                         \
  X(check)                           \
  X(chlo_broadcast)                  \
  X(complex)                         \
  X(dimension_size)                  \
  X(dynamic_reshape)                 \
  X(einsum)                          \
  X(function)                        \
  X(householder)                     \
  X(hyperbolic)                      \
  X(infinity)                        \
  X(named_axis)                      \
  X(rounding)                        \
  X(sharding)                        \
  X(special)                         \
  X(spectral)                        \
  X(trigonometric)                   \
  X(tuple)                           \
  X(zeta)

namespace strata::op {

#define STRATA_DECLARE(name) const OpDef& name##_def();
STRATA_OPERATIONS(STRATA_DECLARE)
#undef STRATA_DECLARE

#define STRATA_DECLARE(family) std::span<const OpDef> family##_defs();
STRATA_OPERATION_FAMILIES(STRATA_DECLARE)
#undef STRATA_DECLARE

}  // namespace strata::op
