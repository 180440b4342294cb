// Arrow's C data interface: how columns cross between libraries that know nothing of each other.
//
// Source: https://arrow.apache.org/docs/format/CDataInterface.html, whose structs these are; the
// guard is the one that Arrow's own headers use.
#pragma once

#include <cstdint>

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

extern "C" {

/// The type of a column, and of those inside it.
struct ArrowSchema {
  /// "i" for i32, "u" for texts, "+l" for lists, ...
  const char* format;
  const char* name;
  /// Pairs of texts: i32 count, then for each i32 length and bytes of key and value.
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

/// The values of a column: buffers whose number and meaning its format says.
struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

}  // extern "C"

#endif
