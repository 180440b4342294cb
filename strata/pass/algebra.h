// Algebra as a table: what to find, what stands in its place, for which elements.
//
//   {"multiply(x, 1)", "x", Elements::numbers},
//   {"select(c, x, x)", "x", Elements::any},
//
// A letter stands for any value, the same letter twice for one value; a number for a constant all
// of whose elements it is (-0 is not 0); a name with brackets for an operation, without its dialect
// where that is `stablehlo`. Operands of commutative operations (op/def.h) are found in either
// order. A number on the right is the constant that was found under it.
//
// Every rule keeps every bit, of NaN, infinities and zeros of both signs: algebra_test.cc evaluates
// both sides of each on random elements of each dtype that it allows.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/ir/graph.h"

namespace strata::pass {

/// What the elements of the result have to be.
enum class Elements { any, floats, integers, booleans, numbers };
/// Whether the dtype is one of them; numbers are floats and integers, complex ones are none.
bool is_among(Elements elements, DType dtype);

/// One line of the table.
struct AlgebraicRule {
  const char* find;
  const char* replace;
  Elements elements;
};
std::span<const AlgebraicRule> algebraic_rules();

/// One side of a rule, read: a variable, a number, or an operation on terms.
struct Term {
  enum class Kind { variable, number, operation } kind;
  std::string text;                  // "x", "-0", "multiply"
  double number = 0;                 // true is 1
  bool boolean = false;              // whether it was said as true or false
  const ir::OpInfo* info = nullptr;  // of an operation
  std::vector<Term> operands = {};
};
/// Reads one side. What is no such text, or names no operation, is a mistake in the table, on which
/// a check fails.
Term parse_term(const char* text);

/// What stands for the operation's result by the first rule of the table that matches, or null.
/// The builder stands where the operation stood.
ir::Value* by_algebra(ir::Builder& b, const ir::Op& op);

}  // namespace strata::pass
