#include "strata/data/format/tf_record.h"

#include <bit>
#include <cstring>

#include "strata/base/checksum.h"

namespace strata::data {
namespace {

constexpr std::size_t kHead = 12, kTail = 4;

template <class T>
T load(std::string_view bytes, std::size_t at = 0) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// A zlib stream has no magic of its own: two bytes that are a multiple of 31, with method 8. As a
/// record's length they would need the checksum behind them.
bool is_zlib(std::string_view bytes) {
  if (bytes.size() < 2 || (bytes[0] & 0x8f) != 0x08) return false;
  const unsigned head =
      static_cast<unsigned char>(bytes[0]) * 256u + static_cast<unsigned char>(bytes[1]);
  if (head % 31 != 0) return false;
  return bytes.size() < kHead || masked_crc32c(bytes.substr(0, 8)) != load<std::uint32_t>(bytes, 8);
}

const Compression* packing(std::string_view bytes) {
  if (const Compression* c = compression_of(bytes)) {
    if (bytes.size() < kHead || masked_crc32c(bytes.substr(0, 8)) != load<std::uint32_t>(bytes, 8))
      return c;
    return nullptr;  // a length that begins like a compressed stream
  }
  return is_zlib(bytes) ? compression_named("zlib") : nullptr;
}

}  // namespace

std::uint32_t masked_crc32c(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

Result<std::unique_ptr<RecordScanner>> TfRecordReader::open(const std::string& path) {
  auto input = Input::open(path, packing);
  if (!input) return input.status();
  return std::unique_ptr<RecordScanner>(std::make_unique<TfRecordReader>(std::move(*input)));
}

std::unique_ptr<RecordScanner> TfRecordReader::of(std::string_view bytes, std::string name) {
  return std::make_unique<TfRecordReader>(Input::of(bytes, std::move(name), packing(bytes)));
}

Status TfRecordReader::end(Status why) {
  ended_ = true;
  return why;
}

Result<bool> TfRecordReader::next(std::string_view& record) {
  if (ended_) return false;
  const std::uint64_t at = input_.position();
  auto head = input_.take(kHead);
  if (!head) return end(head.status());
  if (head->empty()) return false;
  ++index_;
  if (head->size() < kHead)
    return end(Status(Code::corrupt, "{}: ends in the head of record {}, at byte {}", input_.name(),
                      index_, at));
  if (masked_crc32c(head->substr(0, 8)) != load<std::uint32_t>(*head, 8))
    return end(Status(Code::corrupt,
                      "{}: the length of record {}, at byte {}, has a wrong checksum: no TFRecord "
                      "file, or a damaged one",
                      input_.name(), index_, at));
  const auto length = load<std::uint64_t>(*head);
  if (length > Input::kMostAtOnce)
    return end(Status(Code::corrupt, "{}: record {}, at byte {}, has {} bytes: more than one may",
                      input_.name(), index_, at, length));
  auto body = input_.take(length + kTail);
  if (!body) return end(body.status());
  if (body->size() < length + kTail)
    return end(Status(Code::corrupt, "{}: ends in record {}, at byte {}: {} of its {} bytes",
                      input_.name(), index_, at, body->size(), length + kTail));
  record = body->substr(0, length);
  if (masked_crc32c(record) != load<std::uint32_t>(*body, length))
    return Status(Code::corrupt, "{}: record {}, at byte {}, has a wrong checksum", input_.name(),
                  index_, at);
  return true;
}

Result<std::unique_ptr<RecordWriter>> TfRecordWriter::create(const std::string& path) {
  auto output = Output::create(path);
  if (!output) return output.status();
  return std::unique_ptr<RecordWriter>(std::make_unique<TfRecordWriter>(std::move(*output)));
}

Status TfRecordWriter::add(std::string_view record) {
  const std::uint64_t length = record.size();
  char head[kHead];
  const std::uint32_t length_crc = masked_crc32c(bytes_of(length));
  std::memcpy(head, &length, 8);
  std::memcpy(head + 8, &length_crc, 4);
  const std::uint32_t crc = masked_crc32c(record);
  for (std::string_view piece : {std::string_view(head, kHead), record, bytes_of(crc)})
    if (Status s = output_.write(piece); !s.ok()) return s;
  return {};
}

}  // namespace strata::data
