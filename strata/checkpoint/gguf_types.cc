#include "strata/checkpoint/gguf_types.h"

#include <algorithm>

#include "strata/base/error.h"

namespace strata::checkpoint {
namespace gguf {
namespace {

const std::vector<TensorType>& all() {
  static const std::vector<TensorType> types{
      {0, "F32", DType::f32},
      {1, "F16", DType::f16},
      {2, "Q4_0", BlockFormat(BlockKind::q4_0)},
      {3, "Q4_1", BlockFormat(BlockKind::q4_1)},
      {6, "Q5_0", BlockFormat(BlockKind::q5_0)},
      {7, "Q5_1", BlockFormat(BlockKind::q5_1)},
      {8, "Q8_0", BlockFormat(BlockKind::q8_0)},
      {9, "Q8_1", {}},
      {10, "Q2_K", BlockFormat(BlockKind::q2_k)},
      {11, "Q3_K", BlockFormat(BlockKind::q3_k)},
      {12, "Q4_K", BlockFormat(BlockKind::q4_k)},
      {13, "Q5_K", BlockFormat(BlockKind::q5_k)},
      {14, "Q6_K", BlockFormat(BlockKind::q6_k)},
      {15, "Q8_K", {}},
      {16, "IQ2_XXS", CodebookFormat(CodebookKind::iq2_xxs)},
      {17, "IQ2_XS", CodebookFormat(CodebookKind::iq2_xs)},
      {18, "IQ3_XXS", CodebookFormat(CodebookKind::iq3_xxs)},
      {19, "IQ1_S", CodebookFormat(CodebookKind::iq1_s)},
      {20, "IQ4_NL", BlockFormat(BlockKind::iq4_nl)},
      {21, "IQ3_S", CodebookFormat(CodebookKind::iq3_s)},
      {22, "IQ2_S", CodebookFormat(CodebookKind::iq2_s)},
      {23, "IQ4_XS", BlockFormat(BlockKind::iq4_xs)},
      {24, "I8", DType::i8},
      {25, "I16", DType::i16},
      {26, "I32", DType::i32},
      {27, "I64", DType::i64},
      {28, "F64", DType::f64},
      {29, "IQ1_M", CodebookFormat(CodebookKind::iq1_m)},
      {30, "BF16", DType::bf16},
      {34, "TQ1_0", {}},
      {35, "TQ2_0", {}},
      {39, "MXFP4", BlockFormat(BlockKind::mxfp4)},
      {40, "NVFP4", {}},
      {41, "Q1_0", {}},
      {42, "Q2_0", {}},
  };
  return types;
}

}  // namespace

const TensorType* tensor_type(std::uint32_t number) {
  for (const TensorType& t : all())
    if (t.number == number) return &t;
  return nullptr;
}

std::uint32_t number_of(const GgufType& type) {
  for (const TensorType& t : all())
    if (t.type == type) return t.number;
  throw Error("gguf", "a GGUF file has no type for elements of {}", type.name());
}

}  // namespace gguf

const GgufValue* find(const GgufMetadata& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata)
    if (name == key) return &value;
  return nullptr;
}

std::optional<std::int64_t> as_integer(const GgufValue& value) {
  return std::visit(
      [](const auto& x) -> std::optional<std::int64_t> {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          if (std::is_same_v<T, std::uint64_t> && static_cast<std::int64_t>(x) < 0)
            return std::nullopt;
          return static_cast<std::int64_t>(x);
        }
        return std::nullopt;
      },
      value);
}

std::optional<double> as_number(const GgufValue& value) {
  return std::visit(
      [](const auto& x) -> std::optional<double> {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
          return static_cast<double>(x);
        return std::nullopt;
      },
      value);
}

std::string type_name(const GgufValue& value) {
  static constexpr const char* kNames[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                           "bool", "string", "array", "u64", "i64", "f64"};
  return std::visit(
      [](const auto& x) -> std::string {
        using T = std::decay_t<decltype(x)>;
        if constexpr (gguf::is_array<T>)
          return fmt::format("array of {}", kNames[gguf::kTypeOf<typename T::value_type>]);
        else
          return kNames[gguf::kTypeOf<T>];
      },
      value);
}

std::optional<GgufType> GgufType::named(std::string_view name) {
  for (const gguf::TensorType& t : gguf::all())
    if (name == t.name) return t.type;
  return std::nullopt;
}

std::string GgufType::name() const {
  for (const gguf::TensorType& t : gguf::all())
    if (t.type == *this) return t.name;
  return std::string(strata::name(plain_));
}

int GgufType::group_elements() const {
  return block_ ? block_->elements() : codebook_ ? codebook_->elements() : 1;
}
int GgufType::group_bytes() const {
  return block_      ? block_->bytes()
         : codebook_ ? codebook_->bytes()
                     : static_cast<int>(byte_width(plain_));
}

std::int64_t GgufTensor::elements() const {
  std::int64_t out = 1;
  for (std::int64_t n : shape) out *= n;
  return out;
}

std::uint64_t GgufTensor::bytes() const {
  const auto n = static_cast<std::uint64_t>(elements());
  return n / static_cast<std::uint64_t>(type.group_elements()) *
         static_cast<std::uint64_t>(type.group_bytes());
}

}  // namespace strata::checkpoint
