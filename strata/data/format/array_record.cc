#include "strata/data/format/array_record.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "strata/base/format/protobuf.h"

namespace strata::data {
namespace {

using riegeli::kBlock;
constexpr std::uint64_t kMagic = 0x71930e704fdae05e;
constexpr std::size_t kFlush = std::size_t{1} << 20, kRelease = std::size_t{32} << 20;

using protobuf::Wire;

/// The varint fields of a message by number, 1 to 3.
struct Numbers {
  std::uint64_t values[4] = {};
  std::string_view text;  // field 4
  bool good = true;
  explicit Numbers(std::string_view message) {
    protobuf::Reader fields(message);
    while (auto f = fields.next()) {
      if (f->wire == Wire::varint && f->number < 4) values[f->number] = f->value;
      if (f->is(4, Wire::bytes)) text = f->bytes;
    }
    good = !fields.broken();
  }
};

std::string_view name_of(BlockCompression how) {
  switch (how) {
    case BlockCompression::none: return "uncompressed";
    case BlockCompression::brotli: return "brotli:6";
    case BlockCompression::zstd: return "zstd:3";
    case BlockCompression::snappy: return "snappy";
  }
  return "";
}

}  // namespace

Result<std::shared_ptr<const ArrayRecordFile>> ArrayRecordFile::open(const std::string& path) {
  auto file = PartialFile::open(path);
  if (!file) return file.status();
  auto out = std::make_shared<ArrayRecordFile>();
  out->file_ = *file;
  out->bytes_ = (*file)->bytes();
  out->name_ = path;
  if (Status s = out->read_index(); !s.ok()) return s;
  return std::shared_ptr<const ArrayRecordFile>(std::move(out));
}

Result<std::shared_ptr<const ArrayRecordFile>> ArrayRecordFile::of(std::string_view bytes,
                                                                   std::string name) {
  auto out = std::make_shared<ArrayRecordFile>();
  out->bytes_ = bytes;
  out->name_ = std::move(name);
  if (Status s = out->read_index(); !s.ok()) return s;
  return std::shared_ptr<const ArrayRecordFile>(std::move(out));
}

Status ArrayRecordFile::read_index() {
  auto corrupt = [&](const std::string& what) {
    return Status(Code::corrupt, "{}: no whole ArrayRecord file: {}", name_, what);
  };
  constexpr std::uint64_t kHead = 64;
  if (Status s = need(std::array<PartialFile::Range, 2>{
          {{0, kHead}, {bytes_.size() - std::min<std::uint64_t>(bytes_.size(), kBlock), kBlock}}});
      !s.ok())
    return s;
  std::string gathered, unpacked;
  auto chunk = riegeli::read_chunk(bytes_, 0, name_, gathered);
  if (!chunk) return corrupt(chunk.status().message());
  if (chunk->type != 's' || !chunk->data.empty()) return corrupt("it does not begin as one");
  if (bytes_.size() < 2 * kBlock || bytes_.size() % kBlock != 0)
    return corrupt(fmt::format("it has {} bytes, not a multiple of {}", bytes_.size(), kBlock));
  const std::uint64_t postscript = bytes_.size() - kBlock;
  chunk = riegeli::read_chunk(bytes_, postscript, name_, gathered);
  if (!chunk) return chunk.status();
  std::vector<std::string_view> records;
  if (Status s = riegeli::records_of(*chunk, name_, unpacked, records); !s.ok()) return s;
  if (records.empty()) return corrupt("an empty postscript");
  const Numbers last(records.front());
  if (!last.good || last.values[2] != kMagic) return corrupt("its postscript has no magic number");
  for (std::string_view r : records)
    if (r != records.front()) return corrupt("its postscripts differ");
  const std::uint64_t footer = last.values[1];
  if (std::uint64_t end = chunk->end; end < bytes_.size()) {
    chunk = riegeli::read_chunk(bytes_, end, name_, gathered);
    if (!chunk) return chunk.status();
    if (chunk->type != 'p' || chunk->end != bytes_.size()) return corrupt("no padding at its end");
  }
  if (footer >= postscript) return corrupt(fmt::format("its index is at byte {}", footer));
  footer_ = footer;
  if (Status s = need(footer, postscript - footer); !s.ok()) return s;
  chunk = riegeli::read_chunk(bytes_, footer, name_, gathered);
  if (!chunk) return chunk.status();
  const std::uint64_t footer_end = chunk->end;
  if (Status s = riegeli::records_of(*chunk, name_, unpacked, records); !s.ok()) return s;
  if (footer_end < postscript) {
    std::string padding;
    auto pad = riegeli::read_chunk(bytes_, footer_end, name_, padding);
    if (!pad) return pad.status();
    if (pad->type != 'p' || pad->end != postscript) return corrupt("no padding behind its index");
  }
  if (records.empty()) return corrupt("an index without its head");
  protobuf::Reader head(records.front());
  const auto field = head.next();
  if (!field || !field->is(1, Wire::bytes)) return corrupt("an index without its head");
  const Numbers meta(field->bytes);
  if (!meta.good || meta.values[1] != 1)
    return corrupt(fmt::format("an index of version {}", meta.values[1]));
  if (meta.values[2] != records.size() - 1) return corrupt("its counts of chunks differ");
  options_ = meta.text;
  std::uint64_t total = 0, before = 0;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const Numbers n(records[i]);
    const Place place{n.values[1], n.values[2], n.values[3]};
    const bool rises = place.offset > before && place.offset < footer;
    const bool full = i == 1 || place.records == places_.front().records ||
                      (i + 1 == records.size() && place.records < places_.front().records);
    if (!n.good || !rises || place.records == 0 || place.records > bytes_.size() || !full)
      return corrupt(fmt::format("entry {} of its index is out of place", i - 1));
    before = place.offset;
    total += place.records;
    places_.push_back(place);
  }
  if (total != meta.values[3]) return corrupt("its counts of records differ");
  records_ = static_cast<std::int64_t>(total);
  if (!places_.empty()) group_ = static_cast<std::int64_t>(places_.front().records);
  return {};
}

PartialFile::Range ArrayRecordFile::extent(std::int64_t number) const {
  const auto n = static_cast<std::size_t>(number);
  const std::uint64_t begin = places_[n].offset;
  return {begin, (n + 1 < places_.size() ? places_[n + 1].offset : footer_) - begin};
}

/// The chunks of records, all of them in a few requests.
Status ArrayRecordFile::need_records(std::span<const std::int64_t> indices) const {
  if (!file_ || !file_->remote()) return {};
  std::vector<PartialFile::Range> ranges;
  for (std::int64_t i : indices) ranges.push_back(extent(i / group_));
  return need(ranges);
}

Status ArrayRecordFile::read_group(std::int64_t number, Group& out) const {
  const Place& place = places_[static_cast<std::size_t>(number)];
  out.number = -1;
  if (file_ && file_->remote())
    if (Status s = need(std::array{extent(number)}); !s.ok()) return s;
  auto chunk = riegeli::read_chunk(bytes_, place.offset, name_, out.gathered);
  if (!chunk) return chunk.status();
  if (chunk->records != place.records || chunk->decoded_size != place.decoded_size)
    return Status(Code::corrupt, "{}: the chunk at byte {} is another than the index says", name_,
                  place.offset);
  if (Status s = riegeli::records_of(*chunk, name_, out.unpacked, out.records); !s.ok()) return s;
  out.number = number;
  return {};
}

Result<std::shared_ptr<const ArrayRecordFile::Group>> ArrayRecordFile::group(
    std::int64_t number) const {
  {
    const std::lock_guard lock(mutex_);
    if (last_ && last_->number == number) return last_;
  }
  auto made = std::make_shared<Group>();
  made->file = file_;
  if (Status s = read_group(number, *made); !s.ok()) return s;
  const std::lock_guard lock(mutex_);
  last_ = made;
  return last_;
}

Result<std::string> ArrayRecordFile::read(std::int64_t index) const {
  STRATA_CHECK(index >= 0 && index < records_, "record {} of {}", index, records_);
  auto found = group(index / group_);
  if (!found) return found.status();
  return std::string((*found)->records[static_cast<std::size_t>(index % group_)]);
}

Status ArrayRecordFile::read_many(std::span<const std::int64_t> indices,
                                  std::span<Element> out) const {
  for (std::int64_t i : indices)
    STRATA_CHECK(i >= 0 && i < records_, "record {} of {}", i, records_);
  if (Status s = need_records(indices); !s.ok()) return s;
  if (group_ == 1) return read_single(indices, out);
  // In the order of chunks, so that each is read once.
  thread_local std::vector<std::uint32_t> order;
  order.resize(indices.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!std::ranges::is_sorted(indices))
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::pair(indices[i], i); });
  std::shared_ptr<const Group> held;
  for (std::uint32_t i : order) {
    const std::int64_t number = indices[i] / group_;
    if (!held || held->number != number) {
      auto found = group(number);
      if (!found) return found.status();
      held = std::move(*found);
    }
    out[i] = Element::bytes(held, held->records[static_cast<std::size_t>(indices[i] % group_)]);
  }
  return {};
}

Status ArrayRecordFile::read_single(std::span<const std::int64_t> indices,
                                    std::span<Element> out) const {
  constexpr std::size_t kAhead = 8, kLine = 64, kLines = 4, kKept = std::size_t{1} << 20;
  struct Piece {
    std::size_t element, begin, size;
  };
  thread_local Group chunk;
  thread_local std::vector<Piece> pieces;
  pieces.clear();
  std::shared_ptr<std::string> block;
  const char* const first = bytes_.data();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    // A record of a shuffled order is in no cache: what is ahead is asked for early.
    if (i + 2 * kAhead < indices.size())
      __builtin_prefetch(&places_[static_cast<std::size_t>(indices[i + 2 * kAhead])]);
    if (i + kAhead < indices.size()) {
      const std::uint64_t at = places_[static_cast<std::size_t>(indices[i + kAhead])].offset;
      for (std::size_t line = 0; line < kLines; ++line)
        __builtin_prefetch(first + std::min<std::uint64_t>(at + line * kLine, bytes_.size() - 1));
    }
    if (Status s = read_group(indices[i], chunk); !s.ok()) return s;
    const std::string_view record = chunk.records.front();
    if (record.empty()) {
      out[i] = Element::bytes(nullptr, {});
    } else if (std::less_equal<>()(first, record.data()) &&
               std::less<>()(record.data(), first + bytes_.size())) {
      out[i] = Element::bytes(file_, record);
    } else {
      if (!block) block = std::make_shared<std::string>();
      pieces.push_back({i, block->size(), record.size()});
      *block += record;
    }
  }
  for (const Piece& p : pieces)
    out[p.element] = Element::bytes(block, std::string_view(*block).substr(p.begin, p.size));
  if (chunk.gathered.capacity() + chunk.unpacked.capacity() > kKept) chunk = {};
  return {};
}

Result<std::unique_ptr<RecordScanner>> ArrayRecordReader::open(const std::string& path) {
  auto file = ArrayRecordFile::open(path);
  if (!file) return file.status();
  return std::unique_ptr<RecordScanner>(std::make_unique<ArrayRecordReader>(std::move(*file)));
}

/// Fetches some megabytes of an object where the next chunk is not there.
Status ArrayRecordReader::fetch_ahead() {
  constexpr std::uint64_t kAhead = std::uint64_t{8} << 20;
  if (!file_->file_ || !file_->file_->remote()) return {};
  const auto [begin, length] = file_->extent(next_group_);
  if (begin + length <= fetched_) return {};
  fetched_ = std::min(std::max(begin + length, begin + kAhead), file_->footer_);
  return file_->need(begin, fetched_ - begin);
}

Result<bool> ArrayRecordReader::next(std::string_view& record) {
  while (at_ >= group_.records.size()) {
    if (next_group_ >= std::ssize(file_->places_)) return false;
    at_ = 0;
    group_.records.clear();
    if (Status s = fetch_ahead(); !s.ok()) return ++next_group_, s;
    if (Status s = file_->read_group(next_group_++, group_); !s.ok()) return s;
    if (file_->file_ && passed() > released_ + 2 * kRelease) {
      file_->file_->release(file_->bytes_.substr(released_, kRelease));
      released_ += kRelease;
    }
  }
  record = group_.records[at_++];
  return true;
}

std::uint64_t ArrayRecordReader::passed() const {
  const auto n = static_cast<std::size_t>(next_group_);
  return n < file_->places_.size() ? file_->places_[n].offset : file_bytes();
}

Result<std::unique_ptr<RecordWriter>> ArrayRecordWriter::create(const std::string& path,
                                                                const ArrayRecordOptions& options) {
  if (options.group_size < 1 || options.group_size > (1 << 24))
    throw Error("array_record", "a group size from 1 to 2^24, got {}", options.group_size);
  auto file = FileWriter::create(path);
  if (!file) return file.status();
  return std::unique_ptr<RecordWriter>(new ArrayRecordWriter(std::move(*file), options));
}

ArrayRecordWriter::ArrayRecordWriter(FileWriter file, const ArrayRecordOptions& options)
    : file_(std::move(file)), options_(options) {
  chunks_.add('s', 0, 0, {});
}

Status ArrayRecordWriter::flush() {
  const Status s = file_.write(chunks_.bytes);
  chunks_.bytes.clear();
  return s;
}

Status ArrayRecordWriter::end_group() {
  if (ends_.empty()) return {};
  std::vector<std::string_view> records;
  for (std::size_t i = 0, begin = 0; i < ends_.size(); begin = ends_[i++])
    records.push_back(std::string_view(group_).substr(begin, ends_[i] - begin));
  protobuf::Writer entry;
  entry.integer(1, static_cast<std::int64_t>(chunks_.position()))
      .integer(2, std::ssize(group_))
      .integer(3, std::ssize(records));
  footer_.push_back(entry.take());
  chunks_.add('r', records.size(), group_.size(),
              riegeli::simple_data(records, options_.compression));
  records_ += records.size();
  group_.clear(), ends_.clear();
  return chunks_.bytes.size() > kFlush ? flush() : Status();
}

Status ArrayRecordWriter::add(std::string_view record) {
  group_ += record;
  ends_.push_back(group_.size());
  return std::ssize(ends_) == options_.group_size ? end_group() : Status();
}

Status ArrayRecordWriter::close() {
  if (Status s = end_group(); !s.ok()) return s;
  protobuf::Writer meta, head, postscript;
  meta.integer(1, 1)
      .integer(2, std::ssize(footer_))
      .integer(3, static_cast<std::int64_t>(records_))
      .bytes(4, fmt::format("group_size:{},transpose:false,pad_to_block_boundary:false,{},"
                            "max_parallelism:1",
                            options_.group_size, name_of(options_.compression)));
  head.message(1, meta);
  std::vector<std::string_view> records = {head.text()};
  records.insert(records.end(), footer_.begin(), footer_.end());
  auto add_records = [&](BlockCompression how) {
    std::uint64_t size = 0;
    for (std::string_view r : records) size += r.size();
    chunks_.add('r', records.size(), size, riegeli::simple_data(records, how));
  };
  postscript.integer(1, static_cast<std::int64_t>(chunks_.position()))
      .integer(2, static_cast<std::int64_t>(kMagic));
  add_records(options_.compression);
  chunks_.pad();
  records.assign(3, postscript.text());
  add_records(BlockCompression::none);
  chunks_.pad();
  if (Status s = flush(); !s.ok()) return s;
  return file_.commit();
}

}  // namespace strata::data
