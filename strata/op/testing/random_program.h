// Random programs of floats, for property tests.
//
//   RandomProgram p = random_program(seed);
//   auto f = p.build();                 // (x: f64[3], y: f64[3], m: f64[4,3], n: i32) -> f64[3],
//   f64, f64[4,3]
//
// A program is a list of instructions that pick their operands by number among the values there
// are, modulo how many: so any instruction may be left out and a program remains, which is how
// failing ones are made small.
#pragma once

#include <string>

#include "strata/op/def.h"

namespace strata::op::testing {

struct Instruction {
  enum class Kind : std::uint8_t {
    sin,
    tanh,
    exp,
    logistic,
    add,
    sub,
    mul,
    div,
    max,
    select,  // on vectors
    reverse,
    roll,
    spread,
    total,
    dot,
    matrix_vector,
    rows,
    dynamic_row,
    custom_jvp,
    custom_vjp,
    barrier,
    scan,
    map_rows,
    case_,
    if_,
    remat,
    while_,  // with a body of their own
  };
  Kind kind;
  unsigned a = 0, b = 0;  // operand numbers
  std::vector<Instruction> body = {};
};
inline constexpr int kKinds = 27;

struct RandomProgram {
  std::vector<Instruction> instructions;
  /// Arguments (f64[3], f64[3], f64[4,3], i32[]); results: the last vector, scalar and matrix.
  std::unique_ptr<Block> build() const;
  std::string to_text() const;
  int size() const;
};

struct RandomOptions {
  int instructions = 6;
  bool with_while = true;
  bool with_custom_vjp = true;
};
RandomProgram random_program(std::uint64_t seed, const RandomOptions& options = {});
/// Arguments for it, with entries in [-1, 1] and n in 0, 1, 2.
Literals random_arguments(std::uint64_t seed);
/// Every program that has one instruction less, or the body of one in its place.
std::vector<RandomProgram> smaller(const RandomProgram& program);

}  // namespace strata::op::testing
