#include "strata/api/numpy/interchange.h"

#include <algorithm>
#include <memory>

#include "strata/api/trace/compose.h"
#include "strata/type/borrowed.h"

namespace strata::numpy {
namespace {

using internal::cast;
using internal::describe;
using internal::fail;
using internal::Site;
using Ints = std::vector<std::int64_t>;
using dlpack::ManagedTensor;
using dlpack::TypeCode;

struct Kind {
  TypeCode code;
  std::uint8_t bits;
  DType dtype;
};
constexpr Kind kKinds[] = {{TypeCode::boolean, 8, DType::i1},
                           {TypeCode::integer, 8, DType::i8},
                           {TypeCode::integer, 16, DType::i16},
                           {TypeCode::integer, 32, DType::i32},
                           {TypeCode::integer, 64, DType::i64},
                           {TypeCode::unsigned_integer, 8, DType::ui8},
                           {TypeCode::unsigned_integer, 16, DType::ui16},
                           {TypeCode::unsigned_integer, 32, DType::ui32},
                           {TypeCode::unsigned_integer, 64, DType::ui64},
                           {TypeCode::floating, 16, DType::f16},
                           {TypeCode::floating, 32, DType::f32},
                           {TypeCode::floating, 64, DType::f64},
                           {TypeCode::bfloat, 16, DType::bf16},
                           {TypeCode::complex, 64, DType::c64},
                           {TypeCode::complex, 128, DType::c128}};

Literal copied(const void* data, const Type& type, const Ints& strides) {
  Literal out(type);
  const Ints sizes = type.shape().sizes();
  const std::size_t width = byte_width(type.dtype());
  copy_strided(sizes, width, static_cast<const std::byte*>(data), strides, out.mutable_data(),
               dense_strides(sizes, width, row_major(type.rank())));
  return out;
}

Literal own_copy(const Array& x) {
  const Literal l = x.literal();
  const Ints sizes = l.shape().sizes();
  return copied(l.data(), l.type(),
                dense_strides(sizes, byte_width(l.dtype()), row_major(l.type().rank())));
}

struct Release {
  void operator()(ManagedTensor* t) const {
    if (t->deleter != nullptr) t->deleter(t);
  }
};
using Held = std::unique_ptr<ManagedTensor, Release>;

DType dtype_of_tensor(const dlpack::DataType& t) {
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) {
    return k.code == t.code && k.bits == t.bits;
  });
  if (kind == std::end(kKinds) || t.lanes != 1)
    fail("from_dlpack", "there are no elements of code {}, {} bits and {} lanes",
         static_cast<int>(t.code), t.bits, t.lanes);
  return kind->dtype;
}

void check_tensor(const ManagedTensor& m) {
  const dlpack::Tensor& t = m.dl_tensor;
  if (m.version.major != dlpack::kVersion.major)
    fail("from_dlpack", "version {}.{} of DLPack is not {}.x", m.version.major, m.version.minor,
         dlpack::kVersion.major);
  const auto device = t.device.device_type;
  if (device != dlpack::DeviceType::cpu && device != dlpack::DeviceType::cuda_host &&
      device != dlpack::DeviceType::rocm_host)
    fail("from_dlpack", "the array is on a device of kind {}, not on the CPU",
         static_cast<int>(device));
  if (t.ndim < 0) fail("from_dlpack", "an array of {} dimensions", t.ndim);
  for (int d = 0; d < t.ndim; ++d)
    if (t.shape[d] < 0) fail("from_dlpack", "dimension {} has size {}", d, t.shape[d]);
}

/// From one element to the next, in bytes.
Ints byte_strides(const dlpack::Tensor& t, const Ints& dense, std::size_t width) {
  if (t.strides == nullptr) return dense;
  Ints out(t.strides, t.strides + t.ndim);
  for (std::int64_t& s : out) s *= static_cast<std::int64_t>(width);
  return out;
}

/// What an exported tensor holds: its memory and its sizes.
struct Export {
  ManagedTensor tensor{};
  Literal array;
  Ints sizes, strides;
};

}  // namespace

Array asarray(const Operand& x, const AsArray& o) {
  Site site(x);
  const Array out = o.dtype ? cast(x, {canonical(*o.dtype, x64_enabled()), false}) : x.array;
  const bool is_new = out.state() != x->state();
  if (o.copy == false && is_new)
    fail("asarray", "{} cannot become {} without a copy", describe(x->type()),
         strata::name(out.dtype()));
  if (o.copy != true || is_new || out.is_traced()) return out;
  return internal::concrete(runtime::Buffer(own_copy(out)), out.weak());
}

namespace {
/// Refuses memory that an array cannot use in place.
void check_as_it_lies(const char* name, const void* data, DType stored) {
  if (canonical(stored, x64_enabled()) != stored)
    fail(name, "{} elements are 64 bits wide, and x64 is off: EnableX64, or a copy by asarray",
         strata::name(stored));
  const std::size_t align = std::min<std::size_t>(byte_width(stored), 8);
  if (reinterpret_cast<std::uintptr_t>(data) % align != 0)
    fail(name, "the elements of {} are not aligned to {} bytes", strata::name(stored), align);
}
}  // namespace

Array detail::borrowed(const void* data, DType stored, std::int64_t count,
                       const OptionalSizes& shape, std::function<void()> release, Where where) {
  Site site(where);
  std::shared_ptr<std::byte[]> bytes =
      borrowed_bytes(static_cast<const std::byte*>(data), std::move(release));
  check_as_it_lies("borrow", data, stored);
  if (count < 0) {
    for (std::int64_t s : *shape)
      if (s < 0) fail("borrow", "a size is at least 0, got {}", s);
    count = Shape::of(*shape).count();
  }
  if (data == nullptr && count > 0) fail("borrow", "there is no memory for {} elements", count);
  return adopted(std::move(bytes), stored, count, shape, where);
}

Array detail::adopted(std::shared_ptr<std::byte[]> bytes, DType stored, std::int64_t count,
                      const OptionalSizes& shape, Where where) {
  Site site(where);
  check_as_it_lies("adopt", bytes.get(), stored);
  const Type type(stored, Shape{count});
  return internal::array_of(count == 0 ? Literal(type) : Literal(type, std::move(bytes)), shape,
                            stored);
}

Array detail::from_memory(const void* data, DType stored, const Ints& sizes, const Ints& strides,
                          std::optional<DType> dtype) {
  return internal::array_of(copied(data, Type(stored, Shape::of(sizes)), strides), {}, dtype,
                            Where());
}

void detail::check_elements(const Array& x, DType dtype) {
  if (x.is_traced()) fail("elements", "a traced array has no elements yet: {}", describe(x.type()));
  if (x.dtype() != dtype)
    fail("elements", "{} has no elements of {}", describe(x.type()), strata::name(dtype));
}
const std::byte* detail::memory_of(const Array& x) {
  const runtime::Buffer b = x.buffer();
  if (b.unique()) fail("elements", "a C++ number has no memory: {}", describe(x.type()));
  return b.data();
}
void detail::check_rank(const Array& x, std::size_t rank) {
  if (static_cast<std::size_t>(x.ndim()) != rank)
    fail("ArrayView", "{} does not have {} dimensions", describe(x.type()), rank);
}

Array from_dlpack(ManagedTensor* tensor, const FromDlpack& o, Where where) {
  Site site(where);
  if (tensor == nullptr) fail("from_dlpack", "there is no tensor");
  Held held(tensor);
  check_tensor(*tensor);
  const dlpack::Tensor& t = tensor->dl_tensor;
  const Type type(dtype_of_tensor(t.dtype), Shape::of(Ints(t.shape, t.shape + t.ndim)));
  const std::size_t width = byte_width(type.dtype());
  const Ints sizes = type.shape().sizes(), dense = dense_strides(sizes, width, row_major(t.ndim)),
             strides = byte_strides(t, dense, width);
  auto* data = static_cast<std::byte*>(t.data) + t.byte_offset;
  const bool as_it_lies =
      type.shape().count() > 0 && is_dense(sizes, strides, dense) &&
      reinterpret_cast<std::uintptr_t>(data) % std::min<std::size_t>(width, 8) == 0 &&
      canonical(type.dtype(), x64_enabled()) == type.dtype();
  if (o.copy == false && !as_it_lies)
    fail("from_dlpack", "{} cannot be taken without a copy", describe(type));
  if (o.copy == true || !as_it_lies)
    return internal::array_of(copied(data, type, strides), {}, {}, Where());
  const bool read_only = (tensor->flags & dlpack::kReadOnly) != 0;
  std::shared_ptr<ManagedTensor> owner = std::move(held);
  return Array(Literal(type, read_only ? borrowed_bytes(data, [owner = std::move(owner)] {})
                                       : std::shared_ptr<std::byte[]>(std::move(owner), data)));
}

ManagedTensor* to_dlpack(const Operand& x) {
  Site site(x);
  if (x->is_traced())
    fail("to_dlpack", "a traced array has no elements yet: {}", describe(x->type()));
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& k) { return k.dtype == x->dtype(); });
  if (kind == std::end(kKinds)) fail("to_dlpack", "DLPack has no {}", strata::name(x->dtype()));
  auto out = std::make_unique<Export>();
  out->array = x->literal();
  out->sizes = x->shape().sizes();
  out->strides = dense_strides(out->sizes, 1, row_major(x->ndim()));
  out->tensor = {
      .version = dlpack::kVersion,
      .manager_ctx = out.get(),
      .deleter = [](ManagedTensor* self) { delete static_cast<Export*>(self->manager_ctx); },
      .flags = dlpack::kReadOnly,
      .dl_tensor = {.data = const_cast<std::byte*>(out->array.data()),
                    .device = {dlpack::DeviceType::cpu, 0},
                    .ndim = x->ndim(),
                    .dtype = {kind->code, kind->bits, 1},
                    .shape = out->sizes.data(),
                    .strides = out->strides.data(),
                    .byte_offset = 0}};
  return &out.release()->tensor;
}

}  // namespace strata::numpy
