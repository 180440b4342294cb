// Makes definitions of elementwise operations: operands and result of one shape, result element i
// from operand elements i alone. A row gives what differs: the name, the admitted kinds of dtypes,
// the function once on C++ numbers (reference evaluation) and once on loop instructions (compiled
// code), and the derivative as operations.
//
// bf16 and f16 are computed in f32 and rounded once, at the operation's edge; narrower types and
// complex numbers are said by others (op/legalize.h), so the functions here never see them.
#pragma once

#include "strata/ir/text/format.h"
#include "strata/op/build.h"
#include "strata/op/elementwise/numbers.h"
#include "strata/op/quantized/quantized.h"
#include "strata/op/rules.h"

namespace strata::op {

/// Kinds of dtypes an operation admits, as a set.
enum Kinds : unsigned {
  kBool = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloat = 8,
  kComplex = 16,  // only for rows with a `split` rule
  kInteger = kSigned | kUnsigned,
  kNumber = kInteger | kFloat,
  kInexact = kFloat | kComplex,
  kAny = kNumber | kBool | kComplex,
};
Kinds kind_of(DType dtype);
/// Throws unless `dtype` is one of `kinds`.
void expect_kind(std::string_view op, DType dtype, unsigned kinds);

template <class T>
constexpr unsigned kind_of_type() {
  if constexpr (std::is_same_v<T, bool>)
    return kBool;
  else if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16> ||
                     std::is_floating_point_v<T>)
    return kFloat;
  else if constexpr (!std::is_integral_v<T>)
    return 0;  // complex
  else
    return std::is_signed_v<T> ? kSigned : kUnsigned;
}

/// The C++ type in which elements stored as T are computed.
template <class T>
struct ComputeOf {
  using type = T;
};
template <>
struct ComputeOf<BFloat16> {
  using type = float;
};
template <>
struct ComputeOf<Float16> {
  using type = float;
};
template <class T>
using Compute = typename ComputeOf<T>::type;

/// What differs between elementwise operations beside their functions.
struct Row {
  const char* name;
  const char* summary;
  Rule<Jvp> jvp;
  Rule<Transpose> transpose;
  double flops = 1;  // per element; up to 4 count as cheap to compute again
  bool commutative = false;
  bool predicate = false;  // the result is i1
  const ir::TextFormat* text = &ir::formats::elementwise;
  Split split =
      nullptr;  // complex numbers, and narrow types where decoding and encoding is not enough
  bool real_result = false;                            // the result of complex numbers is real
  void (*quantized)(const Op&) = quantized::baseline;  // of rows that admit floats
};

/// A definition from a row; the functions come from `unary` and `binary` below.
OpDef elementwise(const Row& row, unsigned kinds, int operands, Evaluate evaluate,
                  Elementwise lowering);
/// Converts to the compute type of its dtype, for kernels.
loop::Inst* widened(loop::Builder& b, loop::Inst* x);

template <unsigned kinds, class Scalar>
Literals evaluate_unary(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal& x = operands[0];
  Literal out(op.result()->type().with(x.shape()));
  dispatch(x.dtype(), [&]<class T>(T) {
    if constexpr ((kind_of_type<T>() & kinds) != 0) {
      using Result = decltype(Scalar{}(Compute<T>{}));
      using Stored = std::conditional_t<std::is_same_v<Result, bool>, bool, T>;
      auto xs = x.span<T>();
      auto ys = out.mutable_span<Stored>();
      for (std::size_t i = 0; i < xs.size(); ++i)
        ys[i] = static_cast<Stored>(Scalar{}(static_cast<Compute<T>>(xs[i])));
    } else {
      STRATA_UNREACHABLE("{} on {}", op.name(), name(x.dtype()));
    }
  });
  return {std::move(out)};
}

template <unsigned kinds, class Scalar>
Literals evaluate_binary(const Op& op, std::span<const Literal> operands, Evaluator&) {
  const Literal &x = operands[0], &y = operands[1];
  Literal out(op.result()->type().with(x.shape()));
  dispatch(x.dtype(), [&]<class T>(T) {
    if constexpr ((kind_of_type<T>() & kinds) != 0) {
      auto xs = x.span<T>(), ys = y.span<T>();
      auto zs = out.mutable_span<T>();
      for (std::size_t i = 0; i < xs.size(); ++i)
        zs[i] = static_cast<T>(
            Scalar{}(static_cast<Compute<T>>(xs[i]), static_cast<Compute<T>>(ys[i])));
    } else {
      STRATA_UNREACHABLE("{} on {}", op.name(), name(x.dtype()));
    }
  });
  return {std::move(out)};
}

/// A row of one operand. `Scalar` and `Traced` are captureless lambdas: T(T), and
/// Inst*(loop::Builder&, Inst*) on compute types.
template <unsigned kinds, class Scalar, class Traced>
OpDef unary(const Row& row, Scalar, Traced) {
  static_assert(std::is_empty_v<Scalar> && std::is_empty_v<Traced>,
                "functions are made anew from their types");
  return elementwise(
      row, kinds, 1, evaluate_unary<kinds, Scalar>,
      Elementwise{[](LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
        return c.b.convert(op.result()->dtype(),
                           Traced{}(c.b, widened(c.b, c.operand(op, 0, index))));
      }});
}
/// A row of two operands of one dtype.
template <unsigned kinds, class Scalar, class Traced>
OpDef binary(const Row& row, Scalar, Traced) {
  static_assert(std::is_empty_v<Scalar> && std::is_empty_v<Traced>,
                "functions are made anew from their types");
  return elementwise(
      row, kinds, 2, evaluate_binary<kinds, Scalar>,
      Elementwise{[](LowerContext& c, const Op& op, int, std::span<const loop::Index> index) {
        loop::Inst* x = widened(c.b, c.operand(op, 0, index));
        loop::Inst* y = widened(c.b, c.operand(op, 1, index));
        return c.b.convert(op.result()->dtype(), Traced{}(c.b, x, y));
      }});
}

/// One instruction, for rows that are one. `logic` stands in on i1, where the instruction would
/// wrap.
template <loop::Opcode code>
inline constexpr auto instruction1 =
    [](loop::Builder& b, loop::Inst* x) { return b.unary(code, x); };
template <loop::Opcode code, loop::Opcode logic = code>
inline constexpr auto instruction2 = [](loop::Builder& b, loop::Inst* x, loop::Inst* y) {
  return b.binary(x->type.dtype == DType::i1 ? logic : code, x, y);
};

/// The forward derivative of y = f(x) from `Tangent`: Value*(Builder&, x, y, dx).
template <class Tangent>
Rule<Jvp> derivative(Tangent) {
  static_assert(std::is_empty_v<Tangent>);
  return Jvp([](Builder& b, const Op& op, std::span<Value* const> operands,
                std::span<Value* const> tangents) -> JvpResult {
    Value* y = again(b, op, operands).result();
    if (!tangents[0]) return {{y}, {nullptr}};
    return {{y}, {Tangent{}(b, operands[0], y, tangents[0])}};
  });
}
/// The forward derivative of z = f(x, y) from its two parts: Value*(Builder&, x, y, z, dx or dy).
template <class Left, class Right>
Rule<Jvp> derivative(Left, Right) {
  static_assert(std::is_empty_v<Left> && std::is_empty_v<Right>);
  return Jvp([](Builder& b, const Op& op, std::span<Value* const> operands,
                std::span<Value* const> tangents) -> JvpResult {
    Value* z = again(b, op, operands).result();
    Value* left = tangents[0] ? Left{}(b, operands[0], operands[1], z, tangents[0]) : nullptr;
    Value* right = tangents[1] ? Right{}(b, operands[0], operands[1], z, tangents[1]) : nullptr;
    return {{z}, {add_or_null(b, left, right)}};
  });
}

/// Reason for a missing transpose: only linear operations have one.
inline constexpr None kNotLinear{"not linear: its derivative is expressed by other operations"};

}  // namespace strata::op
