#include "strata/pjrt/ffi/ffi_frame.h"

#include <algorithm>
#include <cstring>

namespace strata::pjrt {
namespace {

bool is_packed(const Type& type) {
  return type.is_tensor() && bit_width(type.dtype()) < 8 &&
         (is_integer(type.dtype()) || type.dtype() == DType::f4E2M1FN);
}

XLA_FFI_DataType code_of(DType dtype) {
  switch (dtype) {
    case DType::i1: return XLA_FFI_DataType_PRED;
    case DType::i2: return XLA_FFI_DataType_S2;
    case DType::i4: return XLA_FFI_DataType_S4;
    case DType::i8: return XLA_FFI_DataType_S8;
    case DType::i16: return XLA_FFI_DataType_S16;
    case DType::i32: return XLA_FFI_DataType_S32;
    case DType::i64: return XLA_FFI_DataType_S64;
    case DType::ui2: return XLA_FFI_DataType_U2;
    case DType::ui4: return XLA_FFI_DataType_U4;
    case DType::ui8: return XLA_FFI_DataType_U8;
    case DType::ui16: return XLA_FFI_DataType_U16;
    case DType::ui32: return XLA_FFI_DataType_U32;
    case DType::ui64: return XLA_FFI_DataType_U64;
    case DType::f4E2M1FN: return XLA_FFI_DataType_F4E2M1FN;
    case DType::f6E2M3FN:
    case DType::f6E3M2FN: return XLA_FFI_DataType_INVALID;  // FFI has no number for them
    case DType::f8E3M4: return XLA_FFI_DataType_F8E3M4;
    case DType::f8E4M3: return XLA_FFI_DataType_F8E4M3;
    case DType::f8E4M3B11FNUZ: return XLA_FFI_DataType_F8E4M3B11FNUZ;
    case DType::f8E4M3FN: return XLA_FFI_DataType_F8E4M3FN;
    case DType::f8E4M3FNUZ: return XLA_FFI_DataType_F8E4M3FNUZ;
    case DType::f8E5M2: return XLA_FFI_DataType_F8E5M2;
    case DType::f8E5M2FNUZ: return XLA_FFI_DataType_F8E5M2FNUZ;
    case DType::f8E8M0FNU: return XLA_FFI_DataType_F8E8M0FNU;
    case DType::bf16: return XLA_FFI_DataType_BF16;
    case DType::f16: return XLA_FFI_DataType_F16;
    case DType::f32: return XLA_FFI_DataType_F32;
    case DType::f64: return XLA_FFI_DataType_F64;
    case DType::c64: return XLA_FFI_DataType_C64;
    case DType::c128: return XLA_FFI_DataType_C128;
  }
  STRATA_UNREACHABLE("element type {}", static_cast<int>(dtype));
}

}  // namespace

XLA_FFI_DataType ffi_dtype(const Type& type) {
  return type.is_token() ? XLA_FFI_DataType_TOKEN : code_of(type.dtype());
}

// ---- attributes --------------------------------------------------------------------------------

FfiAttributes::FfiAttributes(const op::foreign::Dictionary& from) : from_(from) {
  std::sort(from_.entries.begin(), from_.entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [name, value] : from_.entries) {
    names_.push_back({name.data(), name.size()});
    add(value);
  }
  for (XLA_FFI_ByteSpan& name : names_) name_list_.push_back(&name);
  attrs = {sizeof(XLA_FFI_Attrs), nullptr,           static_cast<std::int64_t>(values_.size()),
           types_.data(),         name_list_.data(), values_.data()};
}

void FfiAttributes::add(const op::foreign::Attribute& from) {
  using Kind = op::foreign::Attribute::Kind;
  auto* bytes = const_cast<std::byte*>(from.bytes.data());
  switch (from.kind) {
    case Kind::scalar:
      types_.push_back(XLA_FFI_AttrType_SCALAR);
      values_.push_back(&scalars_.emplace_back(XLA_FFI_Scalar{code_of(from.dtype), bytes}));
      return;
    case Kind::array:
      types_.push_back(XLA_FFI_AttrType_ARRAY);
      values_.push_back(
          &arrays_.emplace_back(XLA_FFI_Array{code_of(from.dtype), from.count(), bytes}));
      return;
    case Kind::string:
      types_.push_back(XLA_FFI_AttrType_STRING);
      values_.push_back(
          &strings_.emplace_back(XLA_FFI_ByteSpan{from.text.data(), from.text.size()}));
      return;
    case Kind::dictionary:
      types_.push_back(XLA_FFI_AttrType_DICTIONARY);
      values_.push_back(
          &dictionaries_.emplace_back(std::make_unique<FfiAttributes>(from.dictionary))->attrs);
      return;
  }
}

// ---- buffers -----------------------------------------------------------------------------------

FfiSignature::FfiSignature(const op::foreign::Call& call) {
  fill(args_, call.operands);
  fill(rets_, call.results);
}

void FfiSignature::fill(Side& side, const std::vector<Type>& types) {
  for (const Type& t : types)
    side.dims.push_back(t.is_token() ? std::vector<std::int64_t>() : t.shape().sizes());
  for (std::size_t i = 0; i < types.size(); ++i) {
    side.buffers.push_back({sizeof(XLA_FFI_Buffer), nullptr, ffi_dtype(types[i]), nullptr,
                            static_cast<std::int64_t>(side.dims[i].size()), side.dims[i].data()});
    side.packed.push_back(is_packed(types[i]) ? types[i].shape().count() : -1);
    side.dtypes.push_back(types[i].dtype());
    side.kinds.push_back(1);
  }
}

FfiFrame::FfiFrame(const FfiSignature& signature, XLA_FFI_Attrs attrs,
                   const op::foreign::Buffers& at)
    : signature_(signature) {
  std::size_t args = at.operands.size(), all = args + at.results.size();
  buffers_.reserve(all);
  buffers_.insert(buffers_.end(), signature.args_.buffers.begin(), signature.args_.buffers.end());
  buffers_.insert(buffers_.end(), signature.rets_.buffers.begin(), signature.rets_.buffers.end());
  pointers_.resize(all);
  for (std::size_t i = 0; i < all; ++i) pointers_[i] = &buffers_[i];
  place(signature.args_, at.operands, 0, false);
  place(signature.rets_, at.results, args, true);
  auto* arg_kinds =
      reinterpret_cast<XLA_FFI_ArgType*>(const_cast<std::uint32_t*>(signature_.args_.kinds.data()));
  auto* ret_kinds =
      reinterpret_cast<XLA_FFI_RetType*>(const_cast<std::uint32_t*>(signature_.rets_.kinds.data()));
  frame = {.struct_size = kXlaFfiCallFrameSize,
           .extension_start = nullptr,
           .api = nullptr,
           .ctx = nullptr,
           .stage = XLA_FFI_ExecutionStage_EXECUTE,
           .args = {sizeof(XLA_FFI_Args), nullptr, static_cast<std::int64_t>(args), arg_kinds,
                    pointers_.data()},
           .rets = {sizeof(XLA_FFI_Rets), nullptr, static_cast<std::int64_t>(all - args), ret_kinds,
                    pointers_.data() + args},
           .attrs = attrs,
           .future = nullptr};
}

/// An operand that a result aliases keeps one memory with it, packed too.
void FfiFrame::place(const FfiSignature::Side& side, std::span<void* const> at, std::size_t first,
                     bool results) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    void*& data = buffers_[first + i].data;
    data = buffers_[first + i].dtype == XLA_FFI_DataType_TOKEN ? nullptr : at[i];
    if (side.packed[i] < 0) continue;
    auto same = std::find_if(packed_.begin(), packed_.end(),
                             [&](const Packed& p) { return p.elements == at[i] && p.count > 0; });
    if (same != packed_.end()) {
      same->result |= results;
      data = same->memory;
      continue;
    }
    // At least a byte an element, as XLA's buffers have it.
    data = memory_.emplace_back(static_cast<std::size_t>(side.packed[i]) + 1).data();
    packed_.push_back({data, at[i], side.dtypes[i], side.packed[i], results});
    if (!results) pack(at[i], side.packed[i], side.dtypes[i], data);
  }
}

void FfiFrame::finish() {
  for (const Packed& p : packed_)
    if (p.result) unpack(p.memory, p.count, p.dtype, p.elements);
}

void pack(const void* elements, std::int64_t count, DType dtype, void* bytes) {
  int width = bit_width(dtype), each = 8 / width;
  const auto* from = static_cast<const std::uint8_t*>(elements);
  auto* to = static_cast<std::uint8_t*>(bytes);
  std::memset(to, 0, static_cast<std::size_t>((count + each - 1) / each));
  for (std::int64_t i = 0; i < count; ++i)
    to[i / each] |= static_cast<std::uint8_t>((from[i] & ((1 << width) - 1)) << (i % each * width));
}

void unpack(const void* bytes, std::int64_t count, DType dtype, void* elements) {
  int width = bit_width(dtype), each = 8 / width;
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  auto* to = static_cast<std::uint8_t*>(elements);
  for (std::int64_t i = 0; i < count; ++i) {
    int n = from[i / each] >> (i % each * width) & ((1 << width) - 1);
    if (is_signed(dtype) && n >> (width - 1)) n -= 1 << width;
    to[i] = static_cast<std::uint8_t>(n);
  }
}

}  // namespace strata::pjrt
