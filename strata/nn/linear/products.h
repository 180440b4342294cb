// The one door for products of a module with its weights.
//
//   struct Halve : nn::ProductHandler {
//     std::optional<Array> product(const nn::Product& p, const nn::PlainProduct& plain) override {
//       if (p.weight != "kernel") return {};            // as it is
//       return plain(p.lhs, p.rhs * 0.5f);
//     }
//   };
//   Halve halve;
//   { const nn::ProductScope scope(halve);  y = model(x); }
//
// Layers multiply by way of these functions and give them the variable itself, before it is cast. A
// handler sees operation, module path, the weight's name and kind, and answers or declines;
// quantisation, adapters and precision are handlers, so that models mention none of them. Without
// one the functions are lax::dot_general, numpy::einsum and lax::conv_general_dilated of operands
// cast to `dtype`. A handler is off while it runs. Source of the idea: Qwix's interception.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "strata/api/lax.h"
#include "strata/api/packed.h"
#include "strata/nn/module.h"

namespace strata::nn {

/// How a product is formed.
struct ProductOptions {
  strata::internal::Named named = strata::internal::Named();
  /// Operands are cast to it first; none: as they are.
  std::optional<DType> dtype = std::nullopt;
  lax::DotPrecision precision = lax::Precision::DEFAULT;
  std::optional<DType> preferred_element_type = std::nullopt;
  /// The weight's rows are packed blocks of this format, ui8 (outputs, bytes): `packed_dot` then.
  std::optional<BlockFormat> packed = std::nullopt;
  /// These options with another dtype.
  ProductOptions in(DType met) const {
    ProductOptions out = *this;
    out.dtype = met;
    return out;
  }
  /// As a structure has it: options are part of a module's.
  std::string static_text() const;
};

/// A product as a handler sees it.
struct Product {
  /// "dot_general", "einsum", "block_dot", "conv_general_dilated", "conv_transpose", "take" (of an
  /// embedding).
  const char* op = "";
  /// "layers/0/mlp/up", and the running number of this operation in that module, from 0.
  std::string module_path;
  std::size_t number = 0;
  /// The weight in its module, "kernel"; empty where the right operand is none of its variables.
  std::string weight;
  const tree::Kind* kind = nullptr;
  MetadataPtr metadata;
  /// Operands before they are cast; `rhs` is the weight.
  Array lhs, rhs;
  /// Of an einsum.
  std::string subscripts;
  /// Of a dot_general.
  lax::DotDimensionNumbers dimension_numbers;
  ProductOptions options;
};
/// The product itself, of other operands of the same shapes.
using PlainProduct = std::function<Array(const Array& lhs, const Array& rhs)>;

/// What changes products.
class ProductHandler {
 public:
  virtual ~ProductHandler() = default;
  /// The product's value, or none for the plain one.
  virtual std::optional<Array> product(const Product& product, const PlainProduct& plain) = 0;
};

/// Sends this thread's products to a handler while it lives; an inner one goes first.
class ProductScope {
 public:
  explicit ProductScope(ProductHandler& handler);
  ~ProductScope();
  ProductScope(const ProductScope&) = delete;
  ProductScope& operator=(const ProductScope&) = delete;

 private:
  friend Array intercept(Product product, const PlainProduct& plain);
  ProductHandler& handler_;
  ProductScope* outer_;
  std::map<std::string, std::size_t> numbers_;  // by path and operation
};

/// lhs . rhs over the dimensions; as lax::dot_general.
Array dot_general(const Array& lhs, const Array& rhs, const lax::DotDimensionNumbers& dimensions,
                  const ProductOptions& options = {});
/// lhs (..., in) times the transpose of a matrix (out, in) whose rows are packed blocks of
/// options.packed, ui8 (out, bytes): (..., out). A handler sees a block_dot, whose right operand
/// are the bytes.
Array packed_dot(const Array& lhs, const Array& rhs, const ProductOptions& options);
/// lhs . rhs over the last axis of lhs and the first of rhs, a matrix; as numpy::matmul. A handler
/// sees a dot_general.
Array matmul(const Array& lhs, const Array& rhs, const ProductOptions& options = {});
/// As numpy::einsum of two operands.
Array einsum(const std::string& subscripts, const Array& lhs, const Array& rhs,
             const ProductOptions& options = {});
/// A convolution; `plain` forms it of cast operands.
Array convolution(const char* op, const Array& lhs, const Array& rhs, const PlainProduct& plain,
                  const ProductOptions& options = {});
/// Sends a product to the innermost handler; without one, and where it declines, the plain one.
Array intercept(Product product, const PlainProduct& plain);

}  // namespace strata::nn

template <>
inline constexpr bool strata::tree::is_static<strata::nn::ProductOptions> = true;
