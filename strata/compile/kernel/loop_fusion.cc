#include "strata/compile/kernel/loop_fusion.h"

#include <algorithm>

#include "strata/compile/fuse/access_strides.h"
#include "strata/compile/fuse/fusion_access.h"
#include "strata/compile/fuse/value_uses.h"
#include "strata/compile/kernel/map/piecewise_rows.h"
#include "strata/compile/kernel/map/row_blocking.h"
#include "strata/compile/kernel/map/small_inner_dim.h"
#include "strata/compile/kernel/map/transpose_tiling.h"
#include "strata/compile/kernel/reduce/combiner.h"
#include "strata/compile/kernel/reduce/reduce_kernel.h"
#include "strata/compile/kernel/reduce/reduce_strided_rows.h"
#include "strata/compile/kernel/row/row_kernel.h"
#include "strata/compile/kernel/row/row_passes.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

/// How much arithmetic an element of a large map is: of 32-bit integers, and other.
struct Arithmetic {
  double integers = 0, others = 0;
  std::size_t widest = 4;  // bytes of a float
};
Arithmetic arithmetic_of(const Group& group, const Fusion& fusion) {
  constexpr std::int64_t kMany = 1 << 16;
  constexpr double kRounding = 6;  // to a half, to nearest even
  Arithmetic out;
  if (group.rows || group.total < kMany) return out;
  each_computed(group, fusion, [&](const Op& op) {
    if (!op::def(op).traits.elementwise || count(op.result()) != group.total) return;
    DType t = op.result()->dtype();
    if (!is_integer(t) && !is_bool(t)) out.widest = std::max(out.widest, byte_width(t));
    (is_integer(t) && byte_width(t) == 4 ? out.integers : out.others) +=
        op::def(op).cost(op).flops / static_cast<double>(group.total);
    if (is_float(t) && byte_width(t) == 2 && !op::def(op).traits.moves_only)
      out.others += kRounding;
  });
  return out;
}

/// By how much more lanes than usual a large map goes: long chains of arithmetic, each step of
/// which waits for the one before with little to do meanwhile, go several side by side. Random bits
/// are nearly all arithmetic of 32-bit integers, and few numbers at a time (2^24 words of Threefry:
/// 27.4 ms with 16 lanes of AVX2, 21.6 with 32; 6.2 with 16 of AVX-512, 5.0 with 32, 3.9 with
/// 64, 2.8 with 128). Functions of floats need more registers, of which AVX2 has too few (2^22
/// normals: 18.4 ms with 16 lanes, 19.5 with 32; AVX-512 6.5, 3.7 with 32, 2.5 with 64, 3.1 with
/// 128), and where there is much of it numbers wait in memory for each other (2^22 log-gammas as
/// JAX 0.12 writes them: 18.0 ms with 64, 16.0 with 32; digammas 7.7, 6.6).
int interleaved_chains(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  constexpr double kLong = 48, kCrowded = 150;
  const Arithmetic a = arithmetic_of(group, fusion);
  if (a.integers >= kLong && a.others <= a.integers / 8) return target.avx512 ? 8 : 2;
  if (!target.avx512 || a.widest > 4 || a.integers + a.others < kLong) return 1;
  return a.others > kCrowded ? 2 : 4;
}

bool reduces(const Group& group, const Fusion& fusion) {
  bool any = false;
  each_computed(group, fusion, [&](const Op& op) { any |= is_reduction(op); });
  return any;
}

/// Whether a group is reductions side by side, none of which reads another's result.
bool only_reduces(const Group& group, const Fusion& fusion) {
  return std::all_of(group.roots.begin(), group.roots.end(), [&](const Op* op) {
    const std::vector<const Value*> reads = read_through(*op, fusion.inlined);
    return is_reduction(*op) && std::none_of(reads.begin(), reads.end(), [&](const Value* v) {
             return v->op() &&
                    std::find(group.roots.begin(), group.roots.end(), v->op()) != group.roots.end();
           });
  });
}

/// Lanes of a map: registers of 32 bytes hold two or four times as many words of two bytes or one,
/// where nothing wider is computed. Halves are computed with as f32, and truth values as whatever
/// is compared.
int lanes_of_map(const Group& group, const Fusion& fusion, const CpuTarget& target) {
  if (const int abreast = interleaved_chains(group, fusion, target); abreast > 1)
    return abreast * kMapLanes;
  std::size_t widest = 1;
  auto look = [&](const Value* v, bool computed) {
    if (count(v) <= 1) return;
    widest = std::max(widest,
                      computed && is_float(v->dtype()) ? 4 : byte_width(stored_dtype(v->type())));
  };
  each_computed(group, fusion, [&](const Op& op) {
    for (const Value* v : op.results()) look(v, !op::def(op).traits.moves_only);
    for (const Value* v : op.operands)
      if (!fusion.inlined.count(v)) look(v, !op::def(op).traits.moves_only);
  });
  return reduces(group, fusion)
             ? kMapLanes
             : kMapLanes * static_cast<int>(4 / std::min<std::size_t>(4, widest));
}

/// Registers that are computed in strips, those of all instructions together.
std::int64_t registers_computed(const loop::Kernel& kernel, std::size_t register_bytes) {
  std::int64_t out = 0;
  for (const Inst& inst : kernel.arena)
    if (inst.type.lanes > 1)
      out += static_cast<std::int64_t>(
          (static_cast<std::size_t>(inst.type.lanes) * byte_width(inst.type.dtype) +
           register_bytes - 1) /
          register_bytes);
  return out;
}

/// The map's kernel. Of much code strips are narrower: no register is free to hold the numbers of
/// more chains, and the time that code takes to be made grows faster than it does (zeta of f64 with
/// AVX2: 15 000 registers in 16 lanes, compiled in 2.1 s, a quarter of a million numbers in 22 to
/// 36 ms; in four lanes 0.4 s and 23). `lanes`: of a strip; set to what they became.
BuiltKernel build_map(const Group& group, const Fusion& fusion, const CpuTarget& target,
                      std::int64_t rows, int& lanes, bool any_size, bool has_gathers) {
  constexpr std::int64_t kMostRegisters = 6000;
  const std::size_t register_bytes = target.avx512 ? 64 : 32;
  const int fewest = static_cast<int>(register_bytes / 8);
  for (;; lanes /= 2) {
    BuiltKernel built;
    built.kernel = std::make_unique<loop::Kernel>(
        std::string(group.roots.front()->name().substr(group.roots.front()->name().find('.') + 1)));
    build_row_kernel(group, fusion, rows, lanes, any_size, has_gathers, built);
    if (lanes <= fewest || registers_computed(*built.kernel, register_bytes) <= kMostRegisters ||
        reduces(group, fusion))
      return built;
  }
}

/// A part of `length` that a grid point of at most so many elements can take; all of it where no
/// divisor is large enough to be worth a point, a small one whole strips.
std::int64_t part_of(std::int64_t length, std::int64_t most) {
  constexpr std::int64_t kLeast = 512;
  if (length <= most) return length;
  std::int64_t part = largest_divisor(length, most);
  return part >= kLeast || (2 * part >= most && part % kMapLanes == 0) ? part : length;
}

/// Rows for a group without any: all in one when every access is at the element's own place or at
/// one that stays, else the leading dimensions, so that the trailing ones (at least a strip or two)
/// make the inner loop, or a part of the last. Where the last is no whole strips, lanes would cross
/// from row to row, each on its own: such rows are strips and a shorter one (40000 x 50 f32 with a
/// row added: 0.37 ms across, 0.09 so). So are those that are looked up. Where `joined` is null
/// not: all is linear, or code is for any size, of which each such length would have its own.
std::int64_t rows_of_map(const Group& group, const Fusion& fusion, const JoinedDimensions* joined) {
  const std::int64_t most = point_elements(group, fusion);
  if (group.linear)
    if (std::int64_t length = part_of(group.total, most); length <= kPointElements)
      return group.total / length;
  constexpr std::int64_t kShortest = 6;
  auto goes_on = [&](std::int64_t length) {  // whether all is read on behind so many elements as if
                                             // it were one dimension
    std::int64_t end = 1;
    for (auto last = joined->sizes.rbegin(); last != joined->sizes.rend() && end < length; ++last)
      end *= *last;
    return end != length;
  };
  auto ends = [&](std::int64_t length) {
    return joined && length >= kShortest && (length % kMapLanes != 0 || joined->is_gather) &&
           !goes_on(length);
  };
  const Shape& shape = joined ? joined->shape : group.roots.back()->result()->shape();
  std::int64_t length = 1;
  for (int i = shape.rank() - 1; i >= 0 && length < 64 && !ends(length); --i) length *= shape[i];
  return group.total / std::max<std::int64_t>(1, part_of(length, most));
}

}  // namespace

Built build_loop_fusion(const Group& group, const Fusion& fusion, const CpuTarget& target,
                        bool any_size) {
  const Op& first = *group.roots.front();
  if (is_reduction(first) && group.rows == 0)
    return build_reductions(group.roots, fusion, any_size);
  Built out;
  if (group.total == 0) return out;
  if (group.rows > 0 && only_reduces(group, fusion))
    if (auto lines = reduce_strided_rows(group.roots, fusion, any_size)) return std::move(*lines);
  if (group.rows == 0 && !group.flat)
    if (auto tiles = build_transpose_tiles(group, fusion, target)) return std::move(*tiles);
  std::optional<JoinedDimensions> joined;
  if (group.rows == 0 && !group.linear && !any_size) joined = joined_dimensions(group, fusion);
  std::int64_t rows =
      group.rows ? group.rows : rows_of_map(group, fusion, joined ? &*joined : nullptr);
  const bool has_gathers = !any_size && (joined ? joined->is_gather : group.rows > 0);
  int lanes = lanes_of_map(group, fusion, target);
  BuiltKernel built = build_map(group, fusion, target, rows, lanes, any_size, has_gathers);
  if (joined) {
    if (auto pieces = build_piecewise_rows(group, fusion, lanes, *built.kernel))
      return std::move(*pieces);
    if (auto blocks = build_row_blocks(group, fusion, *joined, *built.kernel))
      return std::move(*blocks);
  }
  if (!any_size)
    if (auto short_rows = build_small_inner_dim(group, fusion, target, *built.kernel))
      return std::move(*short_rows);
  built.parallel =
      static_cast<double>(group.total) * static_cast<double>(group.roots.size()) > kInlineWork;
  out.kernels.push_back(std::move(built));
  return out;
}

}  // namespace strata::compile
