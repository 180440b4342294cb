#include "strata/base/format/zip.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace strata {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are read as the machine holds them");

constexpr std::uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint16_t kStored = 0, kDeflated = 8, kEncrypted = 1, kUtf8 = 1 << 11;
constexpr std::uint32_t kElsewhere32 = 0xffffffff;
constexpr std::uint16_t kElsewhere16 = 0xffff;
constexpr std::uint16_t kWide = 1;          // the kind of extra field that holds numbers of 64 bits
constexpr std::uint64_t kBestRatio = 1032;  // of deflate

/// Numbers one after another; none beyond the end.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  T next() {
    T out{};
    const std::string_view part = take(sizeof(T));
    if (!broken_) std::memcpy(&out, part.data(), sizeof(T));
    return out;
  }
  std::string_view take(std::uint64_t size) {
    broken_ |= size > rest_.size();
    if (broken_) return {};
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  bool broken() const { return broken_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool broken_ = false;
};

struct Directory {
  std::uint64_t count = 0, size = 0, offset = 0;
};

struct Entry {
  std::uint16_t flags = 0, method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed = 0, size = 0, offset = 0;
  std::string name;
};

std::string_view from(std::string_view bytes, std::uint64_t offset) {
  return offset > bytes.size() ? std::string_view() : bytes.substr(offset);
}

class Archive {
 public:
  Archive(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  Result<std::vector<ZipFile>> read() {
    auto directory = find_directory();
    if (!directory) return directory.status();
    Fields fields(from(bytes_, directory->offset));
    std::vector<ZipFile> out;
    std::uint64_t packed = 0;
    for (std::uint64_t i = 0; i < directory->count; ++i) {
      auto entry = next_entry(fields);
      if (!entry) return entry.status();
      // Files that share their bytes could unpack to more than any archive of this size does.
      if (entry->packed > bytes_.size() - packed)
        return corrupt("its files are larger than its {} bytes", bytes_.size());
      packed += entry->packed;
      auto contents = contents_of(*entry);
      if (!contents) return contents.status();
      out.push_back({entry->name, std::move(*contents)});
    }
    return out;
  }

 private:
  template <class... Args>
  Status corrupt(fmt::format_string<Args...> format, Args&&... args) const {
    return Status(Code::corrupt, "{}: {}", name_, fmt::format(format, std::forward<Args>(args)...));
  }
  Status unsupported(const std::string& what) const {
    return Status(Code::unsupported, "{}: {}", name_, what);
  }

  /// From the record at the end, behind which a comment may stand.
  Result<Directory> find_directory() const {
    constexpr std::size_t kSize = 22, kLongestComment = 0xffff;
    if (bytes_.size() < kSize) return corrupt("{} bytes are no zip archive", bytes_.size());
    const std::size_t first = bytes_.size() - kSize,
                      last = first > kLongestComment ? first - kLongestComment : 0;
    for (std::size_t at = first;; --at) {
      Fields fields(bytes_.substr(at));
      if (fields.next<std::uint32_t>() == kEnd) return directory_at(at, fields);
      if (at == last) return corrupt("there is no end of a zip archive");
    }
  }

  Result<Directory> directory_at(std::size_t end, Fields fields) const {
    const auto disk = fields.next<std::uint16_t>(), start = fields.next<std::uint16_t>(),
               here = fields.next<std::uint16_t>();
    Directory d;
    d.count = fields.next<std::uint16_t>();
    d.size = fields.next<std::uint32_t>();
    d.offset = fields.next<std::uint32_t>();
    if (d.count == kElsewhere16 || d.size == kElsewhere32 || d.offset == kElsewhere32)
      return directory_64(end);
    if (disk != 0 || start != 0 || here != d.count)
      return unsupported("an archive of several disks");
    return checked(d);
  }

  Result<Directory> directory_64(std::size_t end) const {
    constexpr std::size_t kLocatorSize = 20;
    if (end < kLocatorSize) return corrupt("there is no 64-bit end of the archive");
    Fields locator(bytes_.substr(end - kLocatorSize));
    const auto tag = locator.next<std::uint32_t>();
    locator.take(4);
    Fields fields(from(bytes_, locator.next<std::uint64_t>()));
    if (tag != kLocator64 || fields.next<std::uint32_t>() != kEnd64)
      return corrupt("there is no 64-bit end of the archive");
    fields.take(8 + 2 + 2 + 4 + 4 + 8);
    Directory d;
    d.count = fields.next<std::uint64_t>();
    d.size = fields.next<std::uint64_t>();
    d.offset = fields.next<std::uint64_t>();
    if (fields.broken()) return corrupt("the 64-bit end of the archive is cut off");
    return checked(d);
  }

  Result<Directory> checked(const Directory& d) const {
    if (d.offset > bytes_.size() || d.size > bytes_.size() - d.offset)
      return corrupt("the directory lies outside of its {} bytes", bytes_.size());
    return d;
  }

  Result<Entry> next_entry(Fields& fields) const {
    const auto tag = fields.next<std::uint32_t>();
    fields.take(4);
    Entry e;
    e.flags = fields.next<std::uint16_t>();
    e.method = fields.next<std::uint16_t>();
    fields.take(4);
    e.checksum = fields.next<std::uint32_t>();
    e.packed = fields.next<std::uint32_t>();
    e.size = fields.next<std::uint32_t>();
    const auto name = fields.next<std::uint16_t>(), extra = fields.next<std::uint16_t>(),
               comment = fields.next<std::uint16_t>();
    fields.take(8);
    e.offset = fields.next<std::uint32_t>();
    e.name = fields.take(name);
    const std::string_view extras = fields.take(extra);
    fields.take(comment);
    if (fields.broken() || tag != kEntry) return corrupt("its directory is damaged");
    if (!widen(e, extras)) return corrupt("the sizes of {} are not there", e.name);
    return e;
  }

  /// Numbers that do not fit stand among the extras.
  static bool widen(Entry& e, std::string_view extras) {
    std::vector<std::uint64_t*> missing;
    for (std::uint64_t* field : {&e.size, &e.packed, &e.offset})
      if (*field == kElsewhere32) missing.push_back(field);
    if (missing.empty()) return true;
    for (Fields fields(extras); !fields.broken() && !fields.rest().empty();) {
      const auto kind = fields.next<std::uint16_t>();
      Fields wide(fields.take(fields.next<std::uint16_t>()));
      if (kind != kWide || fields.broken()) continue;
      for (std::uint64_t* field : missing) *field = wide.next<std::uint64_t>();
      return !wide.broken();
    }
    return false;
  }

  Result<std::string> contents_of(const Entry& e) const {
    if (e.flags & kEncrypted) return unsupported(fmt::format("{} is encrypted", e.name));
    Fields local(from(bytes_, e.offset));
    const auto tag = local.next<std::uint32_t>();
    local.take(22);
    const auto name = local.next<std::uint16_t>(), extra = local.next<std::uint16_t>();
    local.take(std::uint64_t{name} + extra);
    const std::string_view packed = local.take(e.packed);
    if (local.broken() || tag != kLocal)
      return corrupt("{} lies outside of its {} bytes", e.name, bytes_.size());
    std::optional<std::string> out = unpacked(e, packed);
    if (!out && e.method != kStored && e.method != kDeflated)
      return unsupported(fmt::format("{} is compressed in way {}", e.name, e.method));
    if (!out || crc32_z(0, reinterpret_cast<const Bytef*>(out->data()), out->size()) != e.checksum)
      return corrupt("the contents of {} are damaged", e.name);
    return std::move(*out);
  }

  static std::optional<std::string> unpacked(const Entry& e, std::string_view packed) {
    if (e.method == kStored)
      return e.size == packed.size() ? std::optional<std::string>(packed) : std::nullopt;
    if (e.method != kDeflated || e.size / kBestRatio > packed.size()) return std::nullopt;
    return inflated(packed, e.size);
  }

  /// Piece by piece: zlib counts what it is given in 32 bits.
  static std::optional<std::string> inflated(std::string_view packed, std::uint64_t size) {
    constexpr std::uint64_t kPiece = 1 << 16;
    std::string out(size, '\0');
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return std::nullopt;
    std::uint64_t written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
      const std::uint64_t given = std::min<std::uint64_t>(kPiece, packed.size()),
                          room = std::min(kPiece, size - written);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      stream.avail_in = static_cast<uInt>(given);
      stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
      stream.avail_out = static_cast<uInt>(room);
      status = inflate(&stream, Z_NO_FLUSH);
      packed.remove_prefix(given - stream.avail_in);
      written += room - stream.avail_out;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && written == size ? std::optional(std::move(out)) : std::nullopt;
  }

  std::string_view bytes_;
  const std::string& name_;
};

class Writer {
 public:
  template <class T>
  Writer& add(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  std::string text;
};

/// Numbers that stand in 32 bits, and among the extras those that do not.
class Numbers {
 public:
  explicit Numbers(std::uint64_t wide_from)
      : wide_from_(std::min<std::uint64_t>(wide_from, kElsewhere32)) {}
  std::uint32_t narrow(std::uint64_t x) {
    if (x < wide_from_) return static_cast<std::uint32_t>(x);
    wide_.add(x);
    return kElsewhere32;
  }
  std::string extras() const {
    if (wide_.text.empty()) return "";
    return Writer().add(kWide).add(static_cast<std::uint16_t>(wide_.text.size())).text + wide_.text;
  }

 private:
  std::uint64_t wide_from_;
  Writer wide_;
};

constexpr std::uint16_t kVersion = 20, kVersion64 = 45;

/// What a file's own header and its entry in the directory share: all up to the length of the
/// extras.
Writer about(const ZipFile& f, std::uint32_t narrow_size, const std::string& extras) {
  constexpr std::uint16_t kMidnight = 0, kFirstDay = 1 << 5 | 1;
  const auto checksum = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(f.bytes.data()), f.bytes.size()));
  Writer out;
  out.add(extras.empty() ? kVersion : kVersion64)
      .add(kUtf8)
      .add(kStored)
      .add(kMidnight)
      .add(kFirstDay)
      .add(checksum)
      .add(narrow_size)
      .add(narrow_size);
  out.add(static_cast<std::uint16_t>(f.name.size())).add(static_cast<std::uint16_t>(extras.size()));
  return out;
}

std::string header(const ZipFile& f, std::uint64_t wide_from) {
  Numbers numbers(wide_from);
  const std::uint32_t size = numbers.narrow(f.bytes.size());
  (void)numbers.narrow(f.bytes.size());  // as it is stored
  const std::string extras = numbers.extras();
  return Writer().add(kLocal).text + about(f, size, extras).text + f.name + extras;
}

std::string entry(const ZipFile& f, std::uint64_t offset, std::uint64_t wide_from) {
  Numbers numbers(wide_from);
  const std::uint32_t size = numbers.narrow(f.bytes.size());
  (void)numbers.narrow(f.bytes.size());
  const std::uint32_t at = numbers.narrow(offset);
  const std::string extras = numbers.extras();
  Writer out;
  out.add(kEntry).add(extras.empty() ? kVersion : kVersion64).text += about(f, size, extras).text;
  out.add(std::uint16_t{0})
      .add(std::uint16_t{0})
      .add(std::uint16_t{0})
      .add(std::uint32_t{0})
      .add(at);
  return out.text + f.name + extras;
}

/// The end of an archive: where its directory is, first in 64 bits where that is needed.
std::string ending(const Directory& d, std::uint64_t wide_from) {
  const std::uint64_t narrow = std::min<std::uint64_t>(wide_from, kElsewhere32),
                      few = std::min<std::uint64_t>(wide_from, kElsewhere16);
  const bool is_wide = d.count >= few || d.size >= narrow || d.offset >= narrow;
  Writer out;
  if (is_wide) {
    constexpr std::uint64_t kRest = 44;  // of the record's 56 bytes
    out.add(kEnd64)
        .add(kRest)
        .add(kVersion64)
        .add(kVersion64)
        .add(std::uint32_t{0})
        .add(std::uint32_t{0})
        .add(d.count)
        .add(d.count)
        .add(d.size)
        .add(d.offset);
    out.add(kLocator64).add(std::uint32_t{0}).add(d.offset + d.size).add(std::uint32_t{1});
  }
  const std::uint16_t count = is_wide ? kElsewhere16 : static_cast<std::uint16_t>(d.count);
  const std::uint32_t size = is_wide ? kElsewhere32 : static_cast<std::uint32_t>(d.size),
                      at = is_wide ? kElsewhere32 : static_cast<std::uint32_t>(d.offset);
  return out.add(kEnd)
      .add(std::uint16_t{0})
      .add(std::uint16_t{0})
      .add(count)
      .add(count)
      .add(size)
      .add(at)
      .add(std::uint16_t{0})
      .text;
}

}  // namespace

Result<std::vector<ZipFile>> read_zip(std::string_view bytes, const std::string& name) {
  return Archive(bytes, name).read();
}

Result<std::string> write_zip(const std::vector<ZipFile>& files, const WriteZip& options) {
  std::string out, directory;
  for (const ZipFile& f : files) {
    if (f.name.size() >= kElsewhere16)
      return Status(Code::invalid, "a name of {} bytes is too long for a zip archive",
                    f.name.size());
    directory += entry(f, out.size(), options.wide_from);
    out += header(f, options.wide_from);
    out += f.bytes;
  }
  const Directory d{files.size(), directory.size(), out.size()};
  return out + directory + ending(d, options.wide_from);
}

}  // namespace strata
