#include "strata/base/partial_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "strata/base/nameless_file.h"

namespace strata {
namespace {

/// What is between two ranges is fetched with them when it is less than this.
constexpr std::uint64_t kGap = 4096;
/// Of one request at most.
constexpr std::uint64_t kMostAtOnce = std::uint64_t{16} << 20;
constexpr std::size_t kRequests = 8;

Status failed(const std::string& path, const char* what) {
  return Status(errno == ENOSPC ? Code::no_space : Code::io, "{}: cannot {}: {}", path, what,
                std::strerror(errno));
}

}  // namespace

Result<std::shared_ptr<const PartialFile>> PartialFile::open(const std::string& path) {
  std::shared_ptr<PartialFile> out(new PartialFile());
  out->path_ = path;
  if (is_object_path(path)) {
    if (Status s = out->open_object(path); !s.ok()) return s;
    return std::shared_ptr<const PartialFile>(std::move(out));
  }
  auto mapped = MappedFile::open(path);
  if (!mapped) return mapped.status();
  out->mapped_ = std::move(*mapped);
  out->bytes_ = out->mapped_->bytes();
  return std::shared_ptr<const PartialFile>(std::move(out));
}

PartialFile::~PartialFile() {
  if (!mapped_ && !bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  if (fd_ >= 0) ::close(fd_);
}

Status PartialFile::open_object(const std::string& path) {
  Result<ObjectPath> at = find_object(path);
  if (!at) return at.status();
  Result<ObjectInfo> info = at->store->stat(at->key);
  if (!info) return info.status();
  store_ = std::move(at->store);
  key_ = std::move(at->key);
  generation_ = info->generation;
  Result<int> fd = nameless_file();
  if (!fd) return fd.status();
  fd_ = *fd;
  if (::ftruncate(fd_, static_cast<off_t>(info->size)) != 0)
    return failed(path, "make a file for its parts");
  if (info->size == 0) return {};
  void* map = ::mmap(nullptr, info->size, PROT_READ, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) return failed(path, "map");
  bytes_ = {static_cast<const char*>(map), info->size};
  return {};
}

/// The parts of `ranges` that are not there, sorted and joined where little is between.
std::vector<PartialFile::Range> PartialFile::missing(std::span<const Range> ranges) const {
  std::vector<Range> wanted;
  for (const Range& r : ranges) {
    const std::uint64_t begin = std::min<std::uint64_t>(r.offset, bytes_.size());
    const std::uint64_t length = std::min<std::uint64_t>(r.length, bytes_.size() - begin);
    if (length > 0) wanted.push_back({begin, length});
  }
  std::ranges::sort(wanted, {}, &Range::offset);
  std::vector<Range> out;
  const auto want = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    const bool near = !out.empty() && begin <= out.back().offset + out.back().length + kGap;
    if (near)
      out.back().length = std::max(out.back().offset + out.back().length, end) - out.back().offset;
    else
      out.push_back({begin, end - begin});
  };
  const std::lock_guard lock(mutex_);
  for (const Range& r : wanted) {
    std::uint64_t at = r.offset;
    const std::uint64_t end = r.offset + r.length;
    auto part = there_.upper_bound(at);
    if (part != there_.begin()) --part;
    for (; part != there_.end() && part->first < end; ++part) {
      want(at, std::min(part->first, end));
      at = std::max(at, part->second);
    }
    want(at, end);
  }
  return out;
}

void PartialFile::note(const Range& range) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t begin = range.offset, end = range.offset + range.length;
  auto part = there_.upper_bound(begin);
  if (part != there_.begin() && std::prev(part)->second >= begin) --part;
  while (part != there_.end() && part->first <= end) {
    begin = std::min(begin, part->first);
    end = std::max(end, part->second);
    part = there_.erase(part);
  }
  there_.emplace(begin, end);
}

Status PartialFile::fetch(const Range& range) const {
  for (std::uint64_t done = 0; done < range.length;) {
    const std::uint64_t at = range.offset + done;
    auto piece = store_->read(key_, {at, std::min(range.length - done, kMostAtOnce), generation_});
    if (!piece) return piece.status();
    if (piece->empty()) return Status(Code::corrupt, "{}: it has no byte {}", path_, at);
    for (std::string_view left = *piece; !left.empty();) {
      const ssize_t n = ::pwrite(fd_, left.data(), left.size(),
                                 static_cast<off_t>(at + (piece->size() - left.size())));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return failed(path_, "keep a part on disk");
      left.remove_prefix(static_cast<std::size_t>(n));
    }
    note({at, piece->size()});
    done += piece->size();
  }
  return {};
}

Status PartialFile::need(std::span<const Range> ranges) const {
  if (!remote()) return {};
  const std::vector<Range> parts = missing(ranges);
  if (parts.size() <= 1) return parts.empty() ? Status() : fetch(parts.front());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  Status first;
  const auto run = [&] {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      Status s = fetch(parts[i]);
      if (s.ok()) continue;
      next = parts.size();
      const std::lock_guard lock(mutex);
      if (first.ok()) first = std::move(s);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(parts.size(), kRequests); ++i) threads.emplace_back(run);
  run();
  for (std::thread& t : threads) t.join();
  return first;
}

void PartialFile::release(std::string_view part) const {
  if (mapped_) mapped_->release(part);
}

}  // namespace strata
