// Calls of one operation's rules, with errors that say where; and small helpers that several rules
// share.
#pragma once

#include <unordered_set>

#include "strata/op/def.h"

namespace strata::op {

/// Whether a tangent of an operand can matter: a result is inexact, or there is an effect (whose
/// rule has to say).
bool may_have_tangents(const Op& op);

/// Stamps the operation's place on what a rule builds, and on errors it throws without one.
class At {
 public:
  At(Builder& b, const Op& op) : b_(b), kept_(b.location()) {
    if (!op.where.text().empty()) b.set_location(op.where);
  }
  ~At() { b_.set_location(kept_); }
  At(const At&) = delete;
  At& operator=(const At&) = delete;

 private:
  Builder& b_;
  ir::Location kept_;
};

/// The rules, for an operation in closed form. Throw strata::Error with the stated reason where
/// there is none.
JvpResult apply_jvp(Builder& b, const Op& op, std::span<Value* const> operands,
                    std::span<Value* const> tangents);
Values apply_transpose(Builder& b, const Op& op, std::span<Value* const> operands,
                       const std::vector<bool>& linear, std::span<Value* const> cotangents);
Batched apply_batch(Builder& b, const Op& op, std::span<Value* const> operands,
                    const std::vector<bool>& batched, std::int64_t size);

/// Whether the operation, nested regions included, uses one of `values`.
bool uses_any(const Op& op, const std::unordered_set<const Value*>& values);

/// `v`, or zeros of the type where it is null.
Value* or_zeros(Builder& b, Value* v, const Type& type);

/// The entries of `all` where `chosen`.
template <class T>
std::vector<T> filter(std::span<const T> all, const std::vector<bool>& chosen) {
  STRATA_CHECK(all.size() == chosen.size(), "{} values, {} flags", all.size(), chosen.size());
  std::vector<T> out;
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i]) out.push_back(all[i]);
  return out;
}
inline Values filter(const Values& all, const std::vector<bool>& chosen) {
  return filter<Value*>(std::span<Value* const>(all), chosen);
}

/// Where a value is not null.
std::vector<bool> present(std::span<Value* const> values);
bool any(const std::vector<bool>& flags);
/// Elementwise or; an empty vector stands for all false.
std::vector<bool> either(std::vector<bool> a, const std::vector<bool>& b);
/// `values` spread over the true positions of `where`, null elsewhere.
Values spread(std::span<Value* const> values, const std::vector<bool>& where);
/// A part of a list: [from, from + count).
template <class T>
std::vector<T> part(const std::vector<T>& all, std::size_t from, std::size_t count) {
  STRATA_CHECK(from + count <= all.size(), "part [{}, {}) of {}", from, from + count, all.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(from),
          all.begin() + static_cast<std::ptrdiff_t>(from + count)};
}
template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}
template <class T>
std::vector<T> joined(std::vector<T> first, const std::vector<T>& second) {
  append(first, second);
  return first;
}
/// Whether a value can have a tangent.
inline bool is_differentiable(const Type& type) {
  return type.is_tensor() && is_inexact(type.dtype());
}

std::vector<Type> types_of(std::span<Value* const> values);
/// Throws, in the name of `op`, unless the lists are equal; `what` is given: "arguments of the
/// primal".
void expect_types(const char* op, const char* what, const std::vector<Type>& given,
                  const std::vector<Type>& expected);

/// New argument k is old argument order[k]; arguments that are left out must be unused.
void reorder_arguments(Block& block, const std::vector<int>& order);
/// Whether each argument is used, by an operation or as a result.
std::vector<bool> used_arguments(const Block& block);

/// Work of a block: the sum over its operations.
Work cost_of(const Block& block);

}  // namespace strata::op
