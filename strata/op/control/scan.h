// strata.scan as its rules see it (scan.cc holds the contract, scan_rules.cc the derivative and
// batching).
#pragma once

#include "strata/op/def.h"

namespace strata::op {

/// The parts of a scan. Positions: consts from 0, carries from `consts`, xs from `consts +
/// carries`.
struct ScanParts {
  explicit ScanParts(const Op& op);
  ScanParts(const Block& body, std::size_t consts, std::size_t carries, std::int64_t length,
            bool reverse);
  std::size_t consts, carries, xs, ys;
  std::int64_t length;
  bool reverse;
  const Block& body;

  template <class List>
  List const_part(const List& all) const {
    return {all.begin(), at(all, consts)};
  }
  template <class List>
  List carry_part(const List& all) const {
    return {at(all, consts), at(all, consts + carries)};
  }
  template <class List>
  List xs_part(const List& all) const {
    return {at(all, consts + carries), all.end()};
  }

 private:
  template <class List>
  static auto at(const List& all, std::size_t i) {
    return all.begin() + static_cast<std::ptrdiff_t>(i);
  }
};

JvpResult scan_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                   std::span<Value* const> tangents);
Linearized scan_linearize(Builder& b, const Op& op, std::span<Value* const> operands,
                          const std::vector<bool>& active);
Values scan_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                      const std::vector<bool>& linear, std::span<Value* const> cotangents);
Batched scan_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                   const std::vector<bool>& batched, std::int64_t size);

}  // namespace strata::op
