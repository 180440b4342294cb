#include "strata/pjrt/buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_set>

#include "strata/base/memory/out_of_memory.h"
#include "strata/pjrt/functions.h"
#include "strata/pjrt/types.h"
#include "strata/runtime/allocator.h"

namespace strata::pjrt {
namespace {

/// Below this a copy costs less than keeping somebody's memory alive.
constexpr std::size_t kAlwaysCopied = 4096;

/// The strides that a layout asks for; none: row-major.
std::vector<std::int64_t> strides_of(const PJRT_Buffer_MemoryLayout* layout,
                                     std::span<const std::int64_t> dims, std::size_t width) {
  if (layout == nullptr)
    return dense_strides(dims, width, row_major(static_cast<int>(dims.size())));
  if (layout->type == PJRT_Buffer_MemoryLayout::kStrides) {
    if (layout->strides.num_byte_strides != dims.size())
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} strides for {} dimensions",
           layout->strides.num_byte_strides, dims.size());
    return {layout->strides.byte_strides, layout->strides.byte_strides + dims.size()};
  }
  if (layout->tiled.num_tiles != 0) fail(PJRT_Error_Code_UNIMPLEMENTED, "a layout in tiles");
  const std::span<const std::int64_t> order(layout->tiled.minor_to_major,
                                            layout->tiled.minor_to_major_size);
  if (!is_order(order, static_cast<int>(dims.size())))
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "a layout whose order [{}] is not one of {} dimensions",
         fmt::join(order, ", "), dims.size());
  return dense_strides(dims, width, order);
}

/// The order of dimensions that a layout asks for; none: row-major.
Order order_of(const PJRT_Buffer_MemoryLayout* layout, std::span<const std::int64_t> dims,
               std::size_t width) {
  const std::vector<std::int64_t> strides = strides_of(layout, dims, width);
  if (layout != nullptr && layout->type == PJRT_Buffer_MemoryLayout::kTiled)
    return {layout->tiled.minor_to_major,
            layout->tiled.minor_to_major + layout->tiled.minor_to_major_size};
  Order order = row_major(static_cast<int>(dims.size()));
  if (is_dense(dims, strides, dense_strides(dims, width, order))) return order;
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return strides[static_cast<std::size_t>(a)] < strides[static_cast<std::size_t>(b)];
  });
  if (!is_dense(dims, strides, dense_strides(dims, width, order)))
    fail(PJRT_Error_Code_UNIMPLEMENTED, "a device layout of strides [{}], which is not dense",
         fmt::join(strides, ", "));
  return order;
}

/// An array in somebody's memory; `done` is set when the last handle is gone.
runtime::Buffer view_of(Type type, const void* data, std::function<void()> done) {
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(data));
  return runtime::Buffer(Literal(
      std::move(type),
      std::shared_ptr<std::byte[]>(bytes, [done = std::move(done)](std::byte*) { done(); })));
}

/// Kernels read elements in place, but each at its own alignment.
bool is_aligned(const void* data, std::size_t width) {
  return reinterpret_cast<std::uintptr_t>(data) % std::min<std::size_t>(width, 8) == 0;
}

/// Whether an element takes a byte but is less.
bool is_narrow(DType dtype) { return bit_width(dtype) < 8 && !is_bool(dtype); }

/// Elements as Strata keeps them: a number's sign goes up to the top of its byte, else what is
/// above the element is zero. Others leave there what they like.
void normalize(Literal& array) {
  const int unused = 8 - bit_width(array.dtype());
  auto* bytes = reinterpret_cast<std::uint8_t*>(array.mutable_data());
  for (std::size_t i = 0; i < array.bytes(); ++i) {
    const auto top = static_cast<std::uint8_t>(bytes[i] << unused);
    bytes[i] = is_signed(array.dtype())
                   ? static_cast<std::uint8_t>(static_cast<std::int8_t>(top) >> unused)
                   : static_cast<std::uint8_t>(top >> unused);
  }
}

/// A dense copy of those bytes in memory of ours; `type` is of the array in its layout.
runtime::Buffer copy_of(const Type& type, std::span<const std::int64_t> dims, const void* data,
                        std::span<const std::int64_t> strides,
                        std::span<const std::int64_t> dense) {
  Literal copy(type, runtime::allocate(type.bytes()));
  copy_strided(dims, byte_width(type.dtype()), static_cast<const std::byte*>(data), strides,
               copy.mutable_data(), dense);
  if (is_narrow(type.dtype())) normalize(copy);
  return runtime::Buffer(std::move(copy));
}

PJRT_Memory& memory_for(PJRT_Device* device, PJRT_Memory* memory) {
  if (memory != nullptr) return *memory;
  if (device == nullptr)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "neither a device nor a memory is named");
  return *device->memories.front();
}

/// Does something with what the buffer holds as soon as it is there: now, or behind the runs that
/// were asked for before. What went wrong with the buffer goes wrong with this.
std::shared_ptr<Ready> when_there(PJRT_Buffer& buffer,
                                  std::function<void(const std::byte* data)> work) {
  auto ready = std::make_shared<Ready>();
  const auto held = buffer.hold();
  auto job = [held, data = held->array.data(), after = buffer.ready, ready,
              work = std::move(work)] {
    const PJRT_Error* error = after->wait();
    if (error == nullptr) work(data);
    ready->set(error ? Problem(*error) : Problem());
  };
  // On the source's queue: a later program that it is donated to must not write into it before.
  Queue& queue = *buffer.memory->device->queue;
  if (buffer.ready->is_set() || queue.is_mine())
    job();
  else
    queue.submit(std::move(job));
  return ready;
}

/// A copy in fresh memory, made when `source` is there.
std::unique_ptr<PJRT_Buffer> copied(PJRT_Buffer& source, PJRT_Memory& memory) {
  const std::size_t bytes = bytes_of(source.type);
  auto contents = std::make_shared<Contents>();
  contents->array = runtime::Buffer(
      Literal(as_it_lies(source.type, source.minor_to_major), runtime::allocate(bytes)));
  auto ready = when_there(source, [contents, bytes](const std::byte* data) {
    if (bytes > 0) std::memcpy(contents->array.mutable_data(), data, bytes);
  });
  return make_buffer(memory, contents, ready, source.minor_to_major);
}

/// Buffers of some size, whoever holds them.
class LargeBuffers {
 public:
  static constexpr std::size_t kLeast = std::size_t{1} << 20;
  static LargeBuffers& all() {
    static LargeBuffers* all = new LargeBuffers;  // buffers may outlive static destruction
    return *all;
  }
  void add(const PJRT_Buffer* b) {
    std::lock_guard lock(mutex_);
    buffers_.insert(b);
  }
  void remove(const PJRT_Buffer* b) {
    std::lock_guard lock(mutex_);
    buffers_.erase(b);
  }
  /// How many there are of each size and type, the largest first.
  std::map<std::pair<std::size_t, std::string>, int, std::greater<>> count() {
    std::lock_guard lock(mutex_);
    std::map<std::pair<std::size_t, std::string>, int, std::greater<>> out;
    for (const PJRT_Buffer* b : buffers_)
      if (const std::size_t bytes = b->live_bytes(); bytes > 0)
        ++out[{bytes, fmt::format("{}[{}]", name(b->type.dtype()), fmt::join(b->dims, ","))}];
    return out;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const PJRT_Buffer*> buffers_;
};

}  // namespace

std::string live_memory() {
  constexpr int kMost = 5;
  std::string out = fmt::format("; in use: {}", bytes_text(runtime::memory_counts().in_use));
  int shown = 0;
  for (const auto& [what, times] : LargeBuffers::all().count()) {
    if (shown == kMost) return out + ", ...";
    out += shown++ == 0 ? "; largest buffers: " : ", ";
    if (times > 1) out += fmt::format("{} x ", times);
    out += fmt::format("{} of {}", what.second, bytes_text(what.first));
  }
  return out;
}

std::unique_ptr<PJRT_Buffer> make_buffer(PJRT_Memory& memory, std::shared_ptr<Contents> contents,
                                         std::shared_ptr<Ready> ready, std::optional<Order> order) {
  auto out = std::make_unique<PJRT_Buffer>();
  out->client = memory.device->client;
  out->memory = &memory;
  const Type& lying = contents->array.type();
  out->minor_to_major = order ? std::move(*order) : row_major(lying.is_token() ? 0 : lying.rank());
  out->type = as_it_is_seen(lying, out->minor_to_major);
  out->element_type = buffer_type(out->type);
  if (!out->type.is_token()) out->dims = out->type.shape().sizes();
  out->set(std::move(contents));
  out->ready = std::move(ready);
  if (bytes_of(out->type) >= LargeBuffers::kLeast) LargeBuffers::all().add(out.get());
  return out;
}

// ---- in ----------------------------------------------------------------------------------------

void Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args& args) {
  PJRT_Memory& memory = memory_for(args.device, args.memory);
  const Type type = array_type(args.type, {args.dims, args.num_dims});
  const std::size_t width = byte_width(type.dtype());
  const std::span<const std::int64_t> dims(args.dims, args.num_dims);
  const Order order = order_of(args.device_layout, dims, width);
  const std::vector<std::int64_t> dense = dense_strides(dims, width, order);
  std::vector<std::int64_t> strides = strides_of(nullptr, dims, width);
  if (args.num_byte_strides > 0) {
    if (args.num_byte_strides != dims.size())
      fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} strides for {} dimensions", args.num_byte_strides,
           dims.size());
    strides.assign(args.byte_strides, args.byte_strides + args.num_byte_strides);
  }
  const std::size_t bytes = type.bytes();
  const bool may_alias =
      args.host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy ||
      args.host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
  auto contents = std::make_shared<Contents>();
  auto done = std::make_shared<Ready>();
  if (may_alias && bytes >= kAlwaysCopied && !is_narrow(type.dtype()) &&
      is_aligned(args.data, width) && is_dense(dims, strides, dense)) {
    contents->array = view_of(as_it_lies(type, order), args.data, [done] { done->set(); });
    contents->foreign = true;
  } else {
    contents->array = copy_of(as_it_lies(type, order), dims, args.data, strides, dense);
    done->set();
  }
  args.done_with_host_buffer = new PJRT_Event{{}, done};
  args.buffer = make_buffer(memory, std::move(contents), Ready::now(), order).release();
}

void Client_CreateViewOfDeviceBuffer(PJRT_Client_CreateViewOfDeviceBuffer_Args& args) {
  PJRT_Memory& memory =
      memory_for(args.device, args.struct_size >= sizeof(args) ? args.memory : nullptr);
  const Type type = array_type(args.element_type, {args.dims, args.num_dims});
  const std::size_t width = byte_width(type.dtype());
  const std::span<const std::int64_t> dims(args.dims, args.num_dims);
  const std::vector<std::int64_t> dense = strides_of(nullptr, dims, width);
  std::function<void()> done = [] {};
  if (args.on_delete_callback != nullptr)
    done = [f = args.on_delete_callback, data = args.device_buffer_ptr,
            arg = args.on_delete_callback_arg] { f(data, arg); };
  const std::vector<std::int64_t> strides =
      args.layout ? strides_of(args.layout, dims, width) : dense;
  auto contents = std::make_shared<Contents>();
  if (!is_narrow(type.dtype()) && is_dense(dims, strides, dense) &&
      is_aligned(args.device_buffer_ptr, width)) {
    contents->array = view_of(type, args.device_buffer_ptr, done);
    contents->foreign = true;
  } else {
    contents->array = copy_of(type, dims, args.device_buffer_ptr, strides, dense);
    done();
  }
  args.buffer = make_buffer(memory, std::move(contents), Ready::now()).release();
}

void Client_CreateUninitializedBuffer(PJRT_Client_CreateUninitializedBuffer_Args& args) {
  PJRT_Memory& memory = memory_for(args.device, args.memory);
  const Type type = array_type(args.shape_element_type, {args.shape_dims, args.shape_num_dims});
  const Order order =
      order_of(args.shape_layout, {args.shape_dims, args.shape_num_dims}, byte_width(type.dtype()));
  auto contents = std::make_shared<Contents>();
  contents->array =
      runtime::Buffer(Literal(as_it_lies(type, order), runtime::allocate(type.bytes())));
  args.buffer = make_buffer(memory, std::move(contents), Ready::now(), order).release();
}

void Client_CreateErrorBuffer(PJRT_Client_CreateErrorBuffer_Args& args) {
  if (args.memory == nullptr) fail(PJRT_Error_Code_INVALID_ARGUMENT, "no memory is named");
  auto contents = std::make_shared<Contents>();
  contents->array = runtime::Buffer(
      Literal(array_type(args.shape_element_type, {args.shape_dims, args.shape_num_dims})));
  PJRT_Error error{{}, args.error_code, std::string(args.error_message, args.error_message_size)};
  args.buffer =
      make_buffer(*args.memory, std::move(contents), Ready::now(std::move(error))).release();
}

// ---- out ---------------------------------------------------------------------------------------

void Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args& args) {
  PJRT_Buffer& buffer = *args.src;
  buffer.hold();  // or there is nothing to be asked of it
  if (buffer.type.is_token())
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "a token holds nothing to be read");
  const std::size_t width = byte_width(buffer.type.dtype()), bytes = buffer.type.bytes();
  if (args.dst == nullptr) {
    args.dst_size = bytes;
    args.event = nullptr;
    return;
  }
  if (args.dst_size < bytes)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} bytes do not hold {}", args.dst_size,
         buffer.type.to_string());
  const std::vector<std::int64_t> lying = dense_strides(buffer.dims, width, buffer.minor_to_major);
  auto copy = [dims = buffer.dims, width, lying, to = static_cast<std::byte*>(args.dst),
               strides = args.host_layout ? strides_of(args.host_layout, buffer.dims, width)
                                          : lying](const std::byte* data) {
    copy_strided(dims, width, data, lying, to, strides);
  };
  args.event = new PJRT_Event{{}, when_there(buffer, copy)};
}

void Buffer_CopyRawToHost(PJRT_Buffer_CopyRawToHost_Args& args) {
  PJRT_Buffer& buffer = *args.buffer;
  buffer.hold();
  const std::int64_t bytes = static_cast<std::int64_t>(bytes_of(buffer.type));
  if (args.offset < 0 || args.transfer_size < 0 || args.offset > bytes ||
      args.transfer_size > bytes - args.offset)
    fail(PJRT_Error_Code_INVALID_ARGUMENT, "{} bytes at {} of {}", args.transfer_size, args.offset,
         bytes);
  auto copy = [to = args.dst, offset = args.offset,
               size = static_cast<std::size_t>(args.transfer_size)](const std::byte* data) {
    if (size > 0) std::memcpy(to, data + offset, size);
  };
  args.event = new PJRT_Event{{}, when_there(buffer, copy)};
}

void Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args& args) {
  args.dst_buffer = copied(*args.buffer, *args.dst_device->memories.front()).release();
}
void Buffer_CopyToMemory(PJRT_Buffer_CopyToMemory_Args& args) {
  args.dst_buffer = copied(*args.buffer, *args.dst_memory).release();
}

// ---- what it is --------------------------------------------------------------------------------

void Buffer_Destroy(PJRT_Buffer_Destroy_Args& args) { delete args.buffer; }
void Buffer_ElementType(PJRT_Buffer_ElementType_Args& args) {
  args.type = args.buffer->element_type;
}
void Buffer_Dimensions(PJRT_Buffer_Dimensions_Args& args) {
  args.dims = args.buffer->dims.data();
  args.num_dims = args.buffer->dims.size();
}
void Buffer_UnpaddedDimensions(PJRT_Buffer_UnpaddedDimensions_Args& args) {
  args.unpadded_dims = args.buffer->dims.data();
  args.num_dims = args.buffer->dims.size();
}
void Buffer_DynamicDimensionIndices(PJRT_Buffer_DynamicDimensionIndices_Args& args) {
  args.dynamic_dim_indices = nullptr;
  args.num_dynamic_dims = 0;
}
void Buffer_GetMemoryLayout(PJRT_Buffer_GetMemoryLayout_Args& args) {
  args.layout = {};
  args.layout.struct_size = sizeof(PJRT_Buffer_MemoryLayout);
  args.layout.type = PJRT_Buffer_MemoryLayout::kTiled;
  args.layout.tiled = {sizeof(PJRT_Buffer_MemoryLayout::Tiled),
                       nullptr,
                       args.buffer->minor_to_major.data(),
                       args.buffer->minor_to_major.size(),
                       nullptr,
                       nullptr,
                       0};
}
void Buffer_OnDeviceSizeInBytes(PJRT_Buffer_OnDeviceSizeInBytes_Args& args) {
  args.on_device_size_in_bytes = bytes_of(args.buffer->type);
}
void Buffer_Device(PJRT_Buffer_Device_Args& args) { args.device = args.buffer->memory->device; }
void Buffer_Memory(PJRT_Buffer_Memory_Args& args) { args.memory = args.buffer->memory; }
void Buffer_Delete(PJRT_Buffer_Delete_Args& args) { args.buffer->drop(); }
void Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args& args) {
  args.is_deleted = args.buffer->is_deleted();
}
/// Whoever hears that it is reads the memory in place, as row-major.
void Buffer_IsOnCpu(PJRT_Buffer_IsOnCpu_Args& args) {
  args.is_on_cpu = is_row_major(args.buffer->minor_to_major);
}
void Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args& args) {
  args.event = new PJRT_Event{{}, args.buffer->ready};
}
void Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args& args) {
  args.buffer_pointer = reinterpret_cast<std::uintptr_t>(args.buffer->hold()->array.data());
}
void Buffer_OpaqueDeviceMemoryDataPointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args& args) {
  args.device_memory_ptr = const_cast<std::byte*>(args.buffer->hold()->array.data());
}
void Buffer_IncreaseExternalReferenceCount(PJRT_Buffer_IncreaseExternalReferenceCount_Args& args) {
  args.buffer->add_external_reference();
}
void Buffer_DecreaseExternalReferenceCount(PJRT_Buffer_DecreaseExternalReferenceCount_Args& args) {
  if (!args.buffer->remove_external_reference())
    fail(PJRT_Error_Code_FAILED_PRECONDITION, "no reference from outside is left to give back");
}

}  // namespace strata::pjrt

std::shared_ptr<strata::pjrt::Contents> PJRT_Buffer::hold() const {
  std::lock_guard lock(mutex_);
  if (!contents_)
    strata::pjrt::fail(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer was deleted or donated");
  return contents_;
}

PJRT_Buffer::~PJRT_Buffer() {
  using strata::pjrt::LargeBuffers;
  if (strata::pjrt::bytes_of(type) >= LargeBuffers::kLeast) LargeBuffers::all().remove(this);
}

std::size_t PJRT_Buffer::live_bytes() const {
  std::lock_guard lock(mutex_);
  return contents_ == nullptr || contents_->foreign ? 0 : strata::pjrt::bytes_of(type);
}

bool PJRT_Buffer::is_deleted() const {
  std::lock_guard lock(mutex_);
  return contents_ == nullptr;
}

void PJRT_Buffer::add_external_reference() {
  std::lock_guard lock(mutex_);
  if (!contents_)
    strata::pjrt::fail(PJRT_Error_Code_INVALID_ARGUMENT, "the buffer was deleted or donated");
  seen_from_outside_ = contents_;
  ++external_references_;
}

bool PJRT_Buffer::remove_external_reference() {
  std::shared_ptr<strata::pjrt::Contents> last;  // goes outside of the lock
  std::lock_guard lock(mutex_);
  if (external_references_ == 0) return false;
  if (--external_references_ == 0) last.swap(seen_from_outside_);
  return true;
}

bool PJRT_Buffer::has_external_references() const {
  std::lock_guard lock(mutex_);
  return external_references_ > 0;
}

void PJRT_Buffer::drop() {
  std::shared_ptr<strata::pjrt::Contents> last;
  {
    std::lock_guard lock(mutex_);
    last.swap(contents_);
  }  // and what it held goes outside of the lock
}
