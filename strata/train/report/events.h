// TensorBoard's event files: scalars by name and step, which `tensorboard --logdir RUN/tensorboard`
// draws.
//
//   std::string file = encode_record(encode_event({.file_version = kEventVersion}));
//   file += encode_record(encode_event({.step = 12, .scalars = {{"learning/loss", 3.2f}}}));
//   EventFile read = read_events(file, "events");
//   read.events[1].scalars     // {{"learning/loss", 3.2f}}
//
// A file is a row of TFRecords (length u64, its masked CRC-32C, the bytes, theirs; little-endian),
// each a protobuf message tensorflow.Event. Only what scalars need is written; fields that are not
// known here are passed over when read. Source: tensorflow/core/util/event.proto,
// tensorflow/core/framework/summary.proto, tensorflow/core/lib/io/record_writer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/result.h"

namespace strata::train {

/// The version that every file begins with.
inline constexpr const char* kEventVersion = "brain.Event:2";

struct Event {
  /// Seconds since 1970.
  double wall_time = 0;
  std::int64_t step = 0;
  /// Of the first event of a file alone.
  std::string file_version = {};
  std::vector<std::pair<std::string, float>> scalars = {};
};

/// The message as protobuf bytes.
std::string encode_event(const Event& event);
/// Code::corrupt for bytes that are no such message.
Result<Event> decode_event(std::string_view bytes, const std::string& name);

/// The record around `data`.
std::string encode_record(std::string_view data);
/// The checksum of records: CRC-32C turned by 15 bits plus a constant, so that checksums of
/// checksums differ from them.
std::uint32_t masked_crc32c(std::string_view bytes);

struct EventFile {
  std::vector<Event> events;
  /// Where each one's record ends.
  std::vector<std::size_t> ends;
  /// Why reading ended before the last byte, if it did: a record that is cut or damaged. What
  /// stands before it is whole.
  Status damage;
};
EventFile read_events(std::string_view bytes, const std::string& name);

}  // namespace strata::train
