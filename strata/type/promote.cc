#include "strata/type/promote.h"

#include <array>
#include <bit>
#include <string>

#include "strata/base/check.h"
#include "strata/base/error.h"

namespace strata {
namespace {

// Nodes of the lattice: the dtypes by number, then the three weak types. Sets of nodes are bits.
constexpr int kWeakInt = kDTypeCount, kWeakFloat = kDTypeCount + 1, kWeakComplex = kDTypeCount + 2,
              kNodes = kDTypeCount + 3;
using Set = std::uint64_t;
constexpr Set bit(int node) { return Set{1} << node; }
constexpr int node(DType d) { return static_cast<int>(d); }

constexpr bool is_narrow_float(DType d) { return d >= DType::f4E2M1FN && d <= DType::f8E8M0FNU; }

/// Every node with all nodes above it, itself included.
std::array<Set, kNodes> upper_bounds(bool x64) {
  using enum DType;
  std::array<Set, kNodes> above{};
  auto edge = [&](int from, std::initializer_list<int> to) {
    for (int t : to) above[static_cast<std::size_t>(from)] |= bit(t);
  };
  edge(node(i1), {kWeakInt});
  edge(kWeakInt, {node(ui8), node(ui2), node(ui4), node(i8), node(i2), node(i4)});
  edge(node(ui8), {node(i16), node(ui16)});
  edge(node(ui16), {node(i32), node(ui32)});
  edge(node(ui32), {x64 ? node(i64) : node(i32), node(ui64)});
  edge(node(ui64), {kWeakFloat});
  edge(node(i8), {node(i16)});
  edge(node(i16), {node(i32)});
  edge(node(i32), {node(i64)});
  edge(node(i64), {kWeakFloat});
  for (int d = 0; d < kDTypeCount; ++d)
    if (is_narrow_float(static_cast<DType>(d))) edge(kWeakFloat, {d});
  edge(kWeakFloat, {node(bf16), node(f16), kWeakComplex});
  edge(node(bf16), {node(f32)});
  edge(node(f16), {node(f32)});
  edge(node(f32), {node(f64), node(c64)});
  edge(node(f64), {node(c128)});
  edge(kWeakComplex, {node(c64)});
  edge(node(c64), {node(c128)});

  for (int n = 0; n < kNodes; ++n) above[static_cast<std::size_t>(n)] |= bit(n);
  for (bool changed = true; changed;) {
    changed = false;
    for (Set& set : above) {
      Set wider = set;
      for (int n = 0; n < kNodes; ++n)
        if (set & bit(n)) wider |= above[static_cast<std::size_t>(n)];
      changed |= wider != set;
      set = wider;
    }
  }
  return above;
}

const std::array<Set, kNodes>& bounds(bool x64) {
  static const std::array<Set, kNodes> wide = upper_bounds(true), narrow = upper_bounds(false);
  return x64 ? wide : narrow;
}

int weak_node(DType d) {
  if (is_complex(d)) return kWeakComplex;
  if (is_float(d)) return kWeakFloat;
  return is_bool(d) ? node(d) : kWeakInt;
}

std::string list_names(std::span<const WeakDType> operands) {
  std::string out;
  for (const WeakDType& o : operands) {
    if (!out.empty()) out += ", ";
    out += o.weak ? std::string(name(o.dtype)) + " (weak)" : std::string(name(o.dtype));
  }
  return out;
}

/// The one common upper bound that is below all others; -1 when there is none.
int least_upper_bound(Set operands, bool x64) {
  const auto& above = bounds(x64);
  Set common = ~Set{0};
  for (int n = 0; n < kNodes; ++n)
    if (operands & bit(n)) common &= above[static_cast<std::size_t>(n)];
  for (int n = 0; n < kNodes; ++n)
    if ((common & bit(n)) && (common & ~above[static_cast<std::size_t>(n)]) == 0) return n;
  return -1;
}

DType dtype_of_node(int n, bool x64) {
  if (n == kWeakInt) return x64 ? DType::i64 : DType::i32;
  if (n == kWeakFloat) return x64 ? DType::f64 : DType::f32;
  if (n == kWeakComplex) return x64 ? DType::c128 : DType::c64;
  return static_cast<DType>(n);
}

}  // namespace

WeakDType promote(std::span<const WeakDType> operands, bool x64) {
  STRATA_CHECK(!operands.empty(), "promotion of nothing");
  bool all_weak = true, all_equal = true;
  for (const WeakDType& o : operands) {
    all_weak &= o.weak;
    all_equal &= o.dtype == operands[0].dtype;
  }
  if (all_equal) return {operands[0].dtype, all_weak};
  Set nodes = 0;
  for (const WeakDType& o : operands)
    nodes |= bit(o.weak && !all_weak ? weak_node(o.dtype) : node(o.dtype));
  const int least = least_upper_bound(nodes, x64);
  if (least < 0)
    throw Error("promote", "dtypes {} have no implicit promotion; convert one of them with astype",
                list_names(operands));
  const DType dtype = dtype_of_node(least, x64);
  return {dtype, !is_bool(dtype) && (all_weak || least >= kDTypeCount)};
}

DType canonical(DType dtype, bool x64) {
  if (x64) return dtype;
  switch (dtype) {
    case DType::i64: return DType::i32;
    case DType::ui64: return DType::ui32;
    case DType::f64: return DType::f32;
    case DType::c128: return DType::c64;
    default: return dtype;
  }
}

}  // namespace strata
