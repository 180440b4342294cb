// Arrays on a device: bytes that are there or will be, and who else looks at them.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "strata/pjrt/client.h"
#include "strata/pjrt/event.h"
#include "strata/pjrt/layouts.h"
#include "strata/runtime/client.h"
#include "strata/runtime/plugin/abi.h"
#include "strata/type/strided.h"

namespace strata::pjrt {

/// The bytes of a buffer, with the array's type in its layout. A run that is not finished holds the
/// Contents it reads and writes; the array's memory itself has a handle here alone, so that it may
/// go to a result when the buffer is donated (runs are done in order: who reads it came before).
struct Contents {
  runtime::Buffer array;
  bool foreign = false;  // memory of somebody else, which is never written
};

}  // namespace strata::pjrt

struct PJRT_Buffer : PJRT_Object {
  ~PJRT_Buffer();
  PJRT_Client* client = nullptr;
  PJRT_Memory* memory = nullptr;
  strata::Type type;  // as it is seen
  PJRT_Buffer_Type element_type = PJRT_Buffer_Type_INVALID;
  std::vector<std::int64_t> dims, minor_to_major;
  std::shared_ptr<strata::pjrt::Ready> ready;

  /// What it holds; throws Failure for one that was deleted or donated.
  std::shared_ptr<strata::pjrt::Contents> hold() const;
  bool is_deleted() const;
  /// Bytes of ours that it holds: none once deleted or donated, none of others' memory.
  std::size_t live_bytes() const;
  /// Deletes it; runs that began before go on, and so does its memory while there are references
  /// from outside.
  void drop();
  /// References from outside (Python's buffer protocol): while there are any the memory is not
  /// given away, and it outlives `drop`. Throws Failure for a buffer that was deleted or donated.
  void add_external_reference();
  /// False where none is left to give back.
  [[nodiscard]] bool remove_external_reference();
  bool has_external_references() const;
  void set(std::shared_ptr<strata::pjrt::Contents> contents) { contents_ = std::move(contents); }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<strata::pjrt::Contents> contents_;           // null once deleted or donated
  std::shared_ptr<strata::pjrt::Contents> seen_from_outside_;  // null without references
  int external_references_ = 0;
};

namespace strata::pjrt {

/// How much memory is in use and by which of the largest buffers, for a message about there being
/// none: "; in use: 805306368 bytes (768 MiB); largest buffers: 3 x f32[8192,8192], ...". Counts
/// buffers of a mebibyte and more.
std::string live_memory();

/// A buffer of the array, which is there when `ready` is and has that order of dimensions
/// (layouts.h); no order: row-major.
std::unique_ptr<PJRT_Buffer> make_buffer(PJRT_Memory& memory, std::shared_ptr<Contents> contents,
                                         std::shared_ptr<Ready> ready,
                                         std::optional<Order> order = std::nullopt);

}  // namespace strata::pjrt
