// A call as FFI's structs: attributes once, buffers for each call.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "strata/op/foreign/foreign.h"
#include "strata/op/foreign/foreign_attributes.h"
#include "strata/pjrt/ffi/ffi_api.h"

namespace strata::pjrt {

XLA_FFI_DataType ffi_dtype(const Type& type);

/// Attributes as FFI has them; points into itself.
class FfiAttributes {
 public:
  explicit FfiAttributes(const op::foreign::Dictionary& from);
  FfiAttributes(const FfiAttributes&) = delete;
  FfiAttributes& operator=(const FfiAttributes&) = delete;
  XLA_FFI_Attrs attrs;

 private:
  void add(const op::foreign::Attribute& from);
  op::foreign::Dictionary from_;
  std::vector<XLA_FFI_AttrType> types_;
  std::vector<XLA_FFI_ByteSpan> names_;
  std::vector<XLA_FFI_ByteSpan*> name_list_;
  std::vector<void*> values_;
  std::deque<XLA_FFI_Scalar> scalars_;
  std::deque<XLA_FFI_Array> arrays_;
  std::deque<XLA_FFI_ByteSpan> strings_;
  std::deque<std::unique_ptr<FfiAttributes>> dictionaries_;
};

/// What is the same at each call of one description: types, dimensions.
class FfiSignature {
 public:
  explicit FfiSignature(const op::foreign::Call& call);
  FfiSignature(const FfiSignature&) = delete;
  FfiSignature& operator=(const FfiSignature&) = delete;

 private:
  friend class FfiFrame;
  struct Side {
    std::vector<XLA_FFI_Buffer> buffers;  // without their memory
    std::vector<std::vector<std::int64_t>> dims;
    std::vector<std::int64_t> packed;  // elements, of those that are packed; else -1
    std::vector<DType> dtypes;
    std::vector<std::uint32_t> kinds;  // all 1
  };
  static void fill(Side& side, const std::vector<Type>& types);
  Side args_, rets_;
};

/// One call's buffers. Narrow operands are packed when it is made, narrow results unpacked by
/// `finish`.
class FfiFrame {
 public:
  FfiFrame(const FfiSignature& signature, XLA_FFI_Attrs attrs, const op::foreign::Buffers& at);
  FfiFrame(const FfiFrame&) = delete;
  FfiFrame& operator=(const FfiFrame&) = delete;
  XLA_FFI_CallFrame frame;
  void finish();

 private:
  void place(const FfiSignature::Side& side, std::span<void* const> at, std::size_t first,
             bool results);
  struct Packed {
    void *memory, *elements;
    DType dtype;
    std::int64_t count;
    bool result;
  };
  const FfiSignature& signature_;
  std::vector<XLA_FFI_Buffer> buffers_;  // operands, then results
  std::vector<void*> pointers_;          // to them
  std::vector<Packed> packed_;
  std::vector<std::vector<std::byte>> memory_;
};

/// Elements of a byte each, of 2 or 4 bits, the first in the lowest bits; and back, signed ones
/// with their sign.
void pack(const void* elements, std::int64_t count, DType dtype, void* bytes);
void unpack(const void* bytes, std::int64_t count, DType dtype, void* elements);

}  // namespace strata::pjrt
