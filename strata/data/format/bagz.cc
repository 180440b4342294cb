#include "strata/data/format/bagz.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "strata/base/file.h"
#include "strata/data/compression/block.h"
#include "strata/data/compression/stream.h"

namespace strata::data {
namespace {

constexpr std::size_t kFlush = std::size_t{1} << 20;
constexpr int kMostShards = 100000;

std::uint64_t load(std::string_view bytes, std::size_t at) {
  std::uint64_t out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

bool is_compressed(std::string_view path) { return !path.ends_with(".bag"); }

std::string shard_name(const std::string& stem, int i, int n, const std::string& ending) {
  return fmt::format("{}-{:05}-of-{:05}{}", stem, i, n, ending);
}

/// The files that a path with "@N" or "@*" stands for; itself where it has neither.
Result<std::vector<std::string>> shards_of(const std::string& path) {
  const std::size_t at = path.rfind('@');
  if (at == std::string::npos || file_exists(path)) return std::vector{path};
  const std::string stem = path.substr(0, at), rest = path.substr(at + 1);
  int n = 0;
  std::size_t used = 1;
  if (rest.starts_with('*')) {
    const std::filesystem::path folder = std::filesystem::path(stem).parent_path();
    auto names = list_folder(folder.empty() ? "." : folder.string());
    if (!names) return names.status();
    const std::string begin = std::filesystem::path(stem).filename().string() + "-00000-of-";
    for (const std::string& name : *names)
      if (name.starts_with(begin) && name.ends_with(rest.substr(1)))
        std::from_chars(name.data() + begin.size(), name.data() + name.size(), n);
  } else {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    used = static_cast<std::size_t>(end - rest.data());
    if (error != std::errc()) return std::vector{path};
  }
  if (n < 1 || n > kMostShards)
    return Status(Code::not_found, "{}: no shards, as {}", path,
                  shard_name(stem, 0, 1, rest.substr(used)));
  std::vector<std::string> out;
  for (int i = 0; i < n; ++i) out.push_back(shard_name(stem, i, n, rest.substr(used)));
  return out;
}

}  // namespace

Result<std::shared_ptr<const BagzFile>> BagzFile::open(const std::string& path) {
  auto paths = shards_of(path);
  if (!paths) return paths.status();
  auto out = std::make_shared<BagzFile>();
  for (const std::string& p : *paths) {
    auto file = PartialFile::open(p);
    if (!file) return file.status();
    Shard shard{.file = *file, .records = (*file)->bytes(), .name = p};
    shard.compressed = is_compressed(p);
    const std::filesystem::path full(p);
    const std::string apart =
        (full.parent_path() / ("limits." + full.filename().string())).string();
    if (file_exists(apart)) {
      auto limits = PartialFile::open(apart);
      if (!limits) return limits.status();
      shard.limits_file = *limits;
      shard.limits = (*limits)->bytes();
      if (Status s = (*limits)->need(0, shard.limits.size()); !s.ok()) return s;
    }
    if (Status s = out->add(std::move(shard)); !s.ok()) return s;
  }
  return std::shared_ptr<const BagzFile>(std::move(out));
}

Result<std::shared_ptr<const BagzFile>> BagzFile::of(std::string_view bytes, bool compressed,
                                                     const std::string& name,
                                                     std::string_view limits) {
  auto out = std::make_shared<BagzFile>();
  Shard shard{.records = bytes, .limits = limits, .name = name, .compressed = compressed};
  if (Status s = out->add(std::move(shard)); !s.ok()) return s;
  return std::shared_ptr<const BagzFile>(std::move(out));
}

Status BagzFile::add(Shard s) {
  auto corrupt = [&](const std::string& what) {
    return Status(Code::corrupt, "{}: no whole Bagz file: {}", s.name, what);
  };
  if (s.limits.empty() && !s.limits_file && !s.records.empty()) {
    const std::size_t size = s.records.size();
    if (size < 8) return corrupt(fmt::format("it has {} bytes", size));
    if (Status n = s.file ? s.file->need(size - 8, 8) : Status(); !n.ok()) return n;
    const std::uint64_t ends = load(s.records, size - 8);
    if (ends > size - 8 || (size - ends) % 8 != 0)
      return corrupt(fmt::format("its ends of records begin at byte {} of {}", ends, size));
    if (Status n = s.file ? s.file->need(ends, size - ends) : Status(); !n.ok()) return n;
    s.limits = s.records.substr(ends);
    s.records = s.records.substr(0, ends);
  }
  if (s.limits.size() % 8 != 0)
    return corrupt(fmt::format("{} bytes of ends of records", s.limits.size()));
  std::uint64_t before = 0;
  for (std::size_t at = 0; at < s.limits.size(); at += 8) {
    const std::uint64_t end = load(s.limits, at);
    if (end < before || end > s.records.size())
      return corrupt(fmt::format("record {} ends at byte {}", at / 8, end));
    before = end;
  }
  if (before != s.records.size())
    return corrupt(fmt::format("{} bytes behind its last record", s.records.size() - before));
  s.first = size_;
  size_ += std::ssize(s.limits) / 8;
  shards_.push_back(std::move(s));
  return {};
}

const BagzFile::Shard& BagzFile::shard_of(std::int64_t index) const {
  STRATA_CHECK(index >= 0 && index < size_, "record {} of {}", index, size_);
  return *std::prev(std::upper_bound(shards_.begin(), shards_.end(), index,
                                     [](std::int64_t i, const Shard& s) { return i < s.first; }));
}

std::string_view BagzFile::packed(const Shard& shard, std::int64_t index) {
  const auto at = static_cast<std::size_t>(8 * (index - shard.first));
  const std::uint64_t begin = at == 0 ? 0 : load(shard.limits, at - 8);
  return shard.records.substr(begin, load(shard.limits, at) - begin);
}

Status BagzFile::unpack_record(const Shard& shard, std::int64_t index, std::string& out) {
  const std::string_view bytes = packed(shard, index);
  if (bytes.empty()) return {};
  if (!shard.compressed) {
    out += bytes;
    return {};
  }
  const std::int64_t size = stated_size(BlockCompression::zstd, bytes);
  Status s;
  if (size < 0) {
    auto whole = unpack(bytes, *compression_named("zstd"), shard.name, Input::kMostAtOnce);
    if (whole)
      out += *whole;
    else
      s = whole.status();
  } else {
    s = unpack_block(BlockCompression::zstd, bytes, static_cast<std::uint64_t>(size), shard.name,
                     out);
  }
  if (s.ok()) return s;
  return Status(s.code(), "record {}: {}", index - shard.first, s.message());
}

Status BagzFile::need(std::span<const std::int64_t> indices) const {
  const bool remote =
      std::ranges::any_of(shards_, [](const Shard& s) { return s.file && s.file->remote(); });
  if (!remote) return {};
  for (const Shard& shard : shards_) {
    std::vector<PartialFile::Range> ranges;
    for (std::int64_t i : indices) {
      if (&shard_of(i) != &shard) continue;
      const std::string_view bytes = packed(shard, i);
      if (bytes.empty()) continue;
      ranges.push_back({static_cast<std::uint64_t>(bytes.data() - shard.records.data()),
                        static_cast<std::uint64_t>(bytes.size())});
    }
    if (Status s = shard.file ? shard.file->need(ranges) : Status(); !s.ok()) return s;
  }
  return {};
}

Status BagzFile::fetch(std::int64_t first, std::int64_t count) const {
  std::vector<std::int64_t> indices(static_cast<std::size_t>(std::min(count, size_ - first)));
  std::iota(indices.begin(), indices.end(), first);
  return need(indices);
}

Result<std::string> BagzFile::read(std::int64_t index) const {
  std::string out;
  if (Status s = need(std::span(&index, 1)); !s.ok()) return s;
  if (Status s = unpack_record(shard_of(index), index, out); !s.ok()) return s;
  return out;
}

Status BagzFile::read_many(std::span<const std::int64_t> indices, std::span<Element> out) const {
  struct Piece {
    std::size_t element, begin;
  };
  if (Status s = need(indices); !s.ok()) return s;
  thread_local std::vector<Piece> pieces;
  pieces.clear();
  std::shared_ptr<std::string> block;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Shard& shard = shard_of(indices[i]);
    if (!shard.compressed) {
      out[i] = Element::bytes(shard.file, packed(shard, indices[i]));
      continue;
    }
    if (!block) block = std::make_shared<std::string>();
    pieces.push_back({i, block->size()});
    if (Status s = unpack_record(shard, indices[i], *block); !s.ok()) return s;
  }
  std::size_t end = block ? block->size() : 0;
  for (std::size_t k = pieces.size(); k-- > 0; end = pieces[k].begin)
    out[pieces[k].element] = Element::bytes(
        block, std::string_view(*block).substr(pieces[k].begin, end - pieces[k].begin));
  return {};
}

Result<std::unique_ptr<RecordWriter>> BagzWriter::create(const std::string& path) {
  auto file = FileWriter::create(path);
  if (!file) return file.status();
  return std::unique_ptr<RecordWriter>(new BagzWriter(std::move(*file), is_compressed(path)));
}

Status BagzWriter::add(std::string_view record) {
  const std::size_t had = buffer_.size();
  if (!record.empty())
    pack_block(compressed_ ? BlockCompression::zstd : BlockCompression::none, record, buffer_);
  end_ += buffer_.size() - had;
  ends_.append(reinterpret_cast<const char*>(&end_), sizeof end_);
  if (buffer_.size() < kFlush) return {};
  const Status s = file_.write(buffer_);
  buffer_.clear();
  return s;
}

Status BagzWriter::close() {
  buffer_ += ends_;
  if (Status s = file_.write(buffer_); !s.ok()) return s;
  return file_.commit();
}

}  // namespace strata::data
