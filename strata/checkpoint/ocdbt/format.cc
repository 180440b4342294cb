#include "strata/checkpoint/ocdbt/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "strata/base/checksum.h"
#include "strata/data/compression/codec.h"
#include "strata/data/compression/stream.h"

namespace strata::checkpoint::ocdbt {
namespace {

constexpr std::uint32_t kManifestMagic = 0x0cdb3a2a, kNodeMagic = 0x0cdb20de;
constexpr std::size_t kEnvelope = 4 + 8 + 1 + 1 + 4;
constexpr std::size_t kMostUnpacked = std::size_t{1} << 29;
constexpr std::uint8_t kMostHeight = 63;

/// Bytes in their order; after a failure every read gives nothing.
class Cursor {
 public:
  Cursor(std::string_view bytes, const std::string& name) : rest_(bytes), name_(name) {}

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  std::size_t left() const { return rest_.size(); }
  template <class... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (ok())
      status_ =
          Status(Code::corrupt, "{}: {}", name_, fmt::format(format, std::forward<Args>(args)...));
    rest_ = {};
  }

  std::string_view take(std::uint64_t n) {
    if (n > rest_.size()) {
      fail("ends {} bytes before it should", n - rest_.size());
      return {};
    }
    const std::string_view out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }
  template <class T>
  T number() {
    T out{};
    const std::string_view bytes = take(sizeof(T));
    if (ok()) std::memcpy(&out, bytes.data(), sizeof(T));
    return out;
  }
  std::uint64_t varint() {
    std::uint64_t out = 0;
    for (int shift = 0; ok() && shift < 64; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift == 63 && byte > 1) break;
      out |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return out;
    }
    fail("a number is longer than 64 bits");
    return 0;
  }
  /// A count of things that take at least one byte each.
  std::size_t count() {
    const std::uint64_t n = varint();
    if (n <= left()) return n;
    fail("{} entries in {} bytes", n, left());
    return 0;
  }
  std::vector<std::uint64_t> varints(std::size_t n) {
    std::vector<std::uint64_t> out;
    if (n > left()) fail("{} numbers in {} bytes", n, left());
    if (ok()) out.reserve(n);
    for (std::size_t i = 0; ok() && i < n; ++i) out.push_back(varint());
    out.resize(n * ok());
    return out;
  }

 private:
  std::string_view rest_;
  const std::string& name_;
  Status status_;
};

/// Texts that begin as the one before: lengths of what is shared, then of the rest.
std::vector<std::string> texts(Cursor& in, const std::vector<std::uint64_t>& shared,
                               const std::vector<std::uint64_t>& rest) {
  std::vector<std::string> out;
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  std::size_t bytes = 0;
  for (std::size_t i = 0; in.ok() && i < rest.size(); ++i) {
    const std::uint64_t prefix = i ? shared[i - 1] : 0;
    if (i && prefix > out.back().size()) in.fail("a key shares more than there is");
    if (!in.ok()) break;
    bytes += prefix + rest[i];
    if (bytes > kMostBytes) in.fail("more than {} bytes of keys", kMostBytes);
    const std::string_view suffix = in.take(rest[i]);
    if (in.ok()) out.push_back((i ? out.back().substr(0, prefix) : "") + std::string(suffix));
  }
  return out;
}

std::vector<File> read_files(Cursor& in, const std::string& base) {
  const std::size_t n = in.count();
  if (n == 0) return {};
  const auto shared = in.varints(n - 1), rest = in.varints(n), bases = in.varints(n);
  const std::vector<std::string> paths = texts(in, shared, rest);
  std::vector<File> out;
  for (std::size_t i = 0; in.ok() && i < n; ++i) {
    if (bases[i] > paths[i].size()) in.fail("a data file's base is longer than its path");
    if (in.ok()) out.push_back({base + paths[i].substr(0, bases[i]), paths[i].substr(bases[i])});
  }
  return out;
}

const File& file_at(Cursor& in, const std::vector<File>& files, std::uint64_t i) {
  static const File none;
  if (i < files.size()) return files[i];
  in.fail("data file {} of {}", i, files.size());
  return none;
}

/// What an envelope holds.
Result<std::string> open_envelope(std::string_view bytes, std::uint32_t magic,
                                  const std::string& name) {
  auto wrong = [&](const std::string& what) { return Status(Code::corrupt, "{}: {}", name, what); };
  if (bytes.size() < kEnvelope) return wrong(fmt::format("{} bytes are too few", bytes.size()));
  std::uint32_t begin, sum;
  std::uint64_t length;
  std::memcpy(&begin, bytes.data(), 4);
  std::memcpy(&length, bytes.data() + 4, 8);
  if (__builtin_bswap32(begin) != magic) return wrong("begins as no object of an OCDBT database");
  if (length != bytes.size())
    return wrong(fmt::format("has {} bytes and says {}", bytes.size(), length));
  std::memcpy(&sum, bytes.data() + bytes.size() - 4, 4);
  if (crc32c(bytes.substr(0, bytes.size() - 4)) != sum) return wrong("does not match its checksum");
  const std::string_view head = bytes.substr(12, bytes.size() - 16);
  Cursor in(head, name);
  const std::uint64_t version = in.varint(), compression = in.varint();
  if (!in.ok()) return in.status();
  if (version != 0 || compression > 1)
    return Status(Code::unsupported, "{}: version {} and compression {} of OCDBT are not known",
                  name, version, compression);
  const std::string_view body = in.take(in.left());
  if (compression == 0) return std::string(body);
  return data::unpack(body, *data::compression_named("zstd"), name, kMostUnpacked);
}

Configuration read_configuration(Cursor& in) {
  Configuration out;
  const std::string_view uuid = in.take(out.uuid.size());
  if (in.ok()) std::copy(uuid.begin(), uuid.end(), out.uuid.begin());
  out.kind = in.number<std::uint8_t>();
  out.max_inline_bytes = in.varint();
  out.max_node_bytes = in.varint();
  out.arity_log2 = in.number<std::uint8_t>();
  const std::uint64_t compression = in.varint();
  if (compression > 1) in.fail("compression {} is not known", compression);
  out.zstd = compression == 1;
  if (out.zstd) out.level = in.number<std::int32_t>();
  if (out.kind > 1) in.fail("manifest kind {}", out.kind);
  return out;
}

template <class T>
std::vector<T> numbers(Cursor& in, std::size_t n) {
  std::vector<T> out;
  for (std::size_t i = 0; in.ok() && i < n; ++i) out.push_back(in.number<T>());
  out.resize(n * in.ok());
  return out;
}

std::vector<Version> read_versions(Cursor& in, const std::vector<File>& files) {
  const std::size_t n = in.count();
  const auto generation = in.varints(n);
  const auto height = numbers<std::uint8_t>(in, n);
  const auto file = in.varints(n), offset = in.varints(n), length = in.varints(n),
             keys = in.varints(n), tree = in.varints(n), indirect = in.varints(n);
  const auto time = numbers<std::uint64_t>(in, n);
  std::vector<Version> out;
  for (std::size_t i = 0; in.ok() && i < n; ++i) {
    Version v{generation[i], height[i], {}, {keys[i], tree[i], indirect[i]}, time[i]};
    v.root.offset = offset[i];
    v.root.length = length[i];
    if (!v.empty()) v.root.file = file_at(in, files, file[i]);
    if (height[i] > kMostHeight) in.fail("a tree of height {}", height[i]);
    if (!out.empty() && out.back().generation >= v.generation)
      in.fail("generations do not increase");
    out.push_back(std::move(v));
  }
  return out;
}

std::vector<VersionNode> read_version_nodes(Cursor& in, const std::vector<File>& files) {
  const std::size_t n = in.count();
  const auto generation = in.varints(n), file = in.varints(n), offset = in.varints(n),
             length = in.varints(n), generations = in.varints(n);
  const auto time = numbers<std::uint64_t>(in, n);
  const auto height = numbers<std::uint8_t>(in, n);
  std::vector<VersionNode> out;
  for (std::size_t i = 0; in.ok() && i < n; ++i)
    out.push_back({generation[i],
                   generations[i],
                   time[i],
                   {file_at(in, files, file[i]), offset[i], length[i]},
                   height[i]});
  return out;
}

void read_leaf(Cursor& in, Node& node, const std::vector<File>& files) {
  const std::size_t n = node.entries.size();
  const auto length = in.varints(n);
  const auto kind = numbers<std::uint8_t>(in, n);
  std::size_t indirect = 0;
  for (std::uint8_t k : kind) {
    if (k > 1) in.fail("a value of kind {}", k);
    indirect += k;
  }
  const auto file = in.varints(indirect), offset = in.varints(indirect);
  for (std::size_t i = 0, at = 0; in.ok() && i < n; ++i) {
    Entry& e = node.entries[i];
    e.inline_value = kind[i] == 0;
    if (e.inline_value) continue;
    e.place = {file_at(in, files, file[at]), offset[at], length[i]};
    ++at;
  }
  for (std::size_t i = 0; in.ok() && i < n; ++i)
    if (node.entries[i].inline_value) node.entries[i].value = in.take(length[i]);
}

void read_interior(Cursor& in, Node& node, const std::vector<File>& files) {
  const std::size_t n = node.entries.size();
  const auto file = in.varints(n), offset = in.varints(n), length = in.varints(n),
             keys = in.varints(n), tree = in.varints(n), indirect = in.varints(n);
  for (std::size_t i = 0; in.ok() && i < n; ++i) {
    node.entries[i].place = {file_at(in, files, file[i]), offset[i], length[i]};
    node.entries[i].statistics = {keys[i], tree[i], indirect[i]};
  }
}

// Writing.

class Bytes {
 public:
  void varint(std::uint64_t x) {
    for (; x >= 0x80; x >>= 7) out_ += static_cast<char>(x | 0x80);
    out_ += static_cast<char>(x);
  }
  template <class T>
  void number(T x) {
    out_.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  void add(std::string_view bytes) { out_ += bytes; }
  std::string& text() { return out_; }

 private:
  std::string out_;
};

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const std::size_t n = std::min(a.size(), b.size());
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.begin() + n, b.begin()).first -
                                  a.begin());
}

/// Lengths of what each text shares with the one before and of the rest; then, by the caller, the
/// rests.
void add_lengths(Bytes& out, const std::vector<std::string>& all) {
  for (std::size_t i = 1; i < all.size(); ++i) out.varint(shared_prefix(all[i - 1], all[i]));
  for (std::size_t i = 0; i < all.size(); ++i)
    out.varint(all[i].size() - (i ? shared_prefix(all[i - 1], all[i]) : 0));
}
void add_rests(Bytes& out, const std::vector<std::string>& all) {
  for (std::size_t i = 0; i < all.size(); ++i)
    out.add(std::string_view(all[i]).substr(i ? shared_prefix(all[i - 1], all[i]) : 0));
}

/// The table of data files, sorted, and where in it each is.
class Files {
 public:
  void need(const File& file) { all_.push_back(file); }
  void write(Bytes& out) {
    auto key = [](const File& f) { return std::pair(f.path(), f.base.size()); };
    std::sort(all_.begin(), all_.end(), [&](auto& a, auto& b) { return key(a) < key(b); });
    all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
    out.varint(all_.size());
    if (all_.empty()) return;
    std::vector<std::string> paths;
    for (const File& f : all_) paths.push_back(f.path());
    add_lengths(out, paths);
    for (const File& f : all_) out.varint(f.base.size());
    add_rests(out, paths);
  }
  std::uint64_t at(const File& file) const {
    return static_cast<std::uint64_t>(std::find(all_.begin(), all_.end(), file) - all_.begin());
  }

 private:
  std::vector<File> all_;
};

std::string close_envelope(std::uint32_t magic, bool zstd, std::string body) {
  if (zstd) body = data::pack(body, *data::compression_named("zstd")).value();
  Bytes out;
  out.number(__builtin_bswap32(magic));
  out.number(std::uint64_t{body.size() + kEnvelope});
  out.varint(0);
  out.varint(zstd ? 1 : 0);
  out.add(body);
  out.number(crc32c(out.text()));
  return std::move(out.text());
}

}  // namespace

Result<Manifest> decode_manifest(std::string_view bytes, const std::string& name) {
  auto body = open_envelope(bytes, kManifestMagic, name);
  if (!body) return body.status();
  Cursor in(*body, name);
  Manifest out;
  out.configuration = read_configuration(in);
  // A main manifest of the numbered kind ends behind the configuration.
  if (in.ok() && (out.configuration.kind == 0 || in.left() > 0)) {
    const std::vector<File> files = read_files(in, "");
    out.versions = read_versions(in, files);
    out.older = read_version_nodes(in, files);
  }
  if (in.ok() && in.left()) in.fail("{} bytes are left over", in.left());
  if (!in.ok()) return in.status();
  return out;
}

Result<Node> decode_node(std::string_view bytes, const std::string& base, const std::string& name) {
  auto body = open_envelope(bytes, kNodeMagic, name);
  if (!body) return body.status();
  Cursor in(*body, name);
  Node out;
  out.height = in.number<std::uint8_t>();
  const std::vector<File> files = read_files(in, base);
  const std::size_t n = in.count();
  if (in.ok() && n == 0) in.fail("a node without entries");
  const auto shared = in.varints(n ? n - 1 : 0), rest = in.varints(n);
  const auto common = in.varints(out.height > 0 ? n : 0);
  const std::vector<std::string> keys = texts(in, shared, rest);
  for (std::size_t i = 0; in.ok() && i < n; ++i) {
    if (i && keys[i] <= keys[i - 1]) in.fail("keys do not ascend");
    Entry e;
    e.key = keys[i];
    if (out.height > 0) e.common_prefix = common[i];
    if (e.common_prefix > e.key.size()) in.fail("a prefix longer than its key");
    out.entries.push_back(std::move(e));
  }
  if (in.ok()) out.height > 0 ? read_interior(in, out, files) : read_leaf(in, out, files);
  if (in.ok() && in.left()) in.fail("{} bytes are left over", in.left());
  if (!in.ok()) return in.status();
  return out;
}

std::string encode_manifest(const Manifest& m) {
  Bytes out;
  const Configuration& c = m.configuration;
  out.add({c.uuid.data(), c.uuid.size()});
  out.number(c.kind);
  out.varint(c.max_inline_bytes);
  out.varint(c.max_node_bytes);
  out.number(c.arity_log2);
  out.varint(c.zstd ? 1 : 0);
  if (c.zstd) out.number(c.level);
  Files files;
  for (const Version& v : m.versions) files.need(v.root.file);
  for (const VersionNode& v : m.older) files.need(v.place.file);
  files.write(out);
  auto column = [&](const auto& rows, auto get) {
    for (const auto& row : rows) out.varint(get(row));
  };
  const auto& v = m.versions;
  out.varint(v.size());
  column(v, [](auto& x) { return x.generation; });
  for (const Version& x : v) out.number(x.height);
  column(v, [&](auto& x) { return files.at(x.root.file); });
  column(v, [](auto& x) { return x.root.offset; });
  column(v, [](auto& x) { return x.root.length; });
  column(v, [](auto& x) { return x.statistics.keys; });
  column(v, [](auto& x) { return x.statistics.tree_bytes; });
  column(v, [](auto& x) { return x.statistics.indirect_bytes; });
  for (const Version& x : v) out.number(x.commit_time);
  out.varint(m.older.size());
  column(m.older, [](auto& x) { return x.generation; });
  column(m.older, [&](auto& x) { return files.at(x.place.file); });
  column(m.older, [](auto& x) { return x.place.offset; });
  column(m.older, [](auto& x) { return x.place.length; });
  column(m.older, [](auto& x) { return x.generations; });
  for (const VersionNode& x : m.older) out.number(x.commit_time);
  for (const VersionNode& x : m.older) out.number(x.height);
  return close_envelope(kManifestMagic, c.zstd, std::move(out.text()));
}

std::string encode_node(const Node& node, const Configuration& c) {
  Bytes out;
  out.number(node.height);
  const bool leaf = node.height == 0;
  Files files;
  for (const Entry& e : node.entries)
    if (!leaf || !e.inline_value) files.need(e.place.file);
  files.write(out);
  std::vector<std::string> keys;
  for (const Entry& e : node.entries) keys.push_back(e.key);
  out.varint(keys.size());
  add_lengths(out, keys);
  auto column = [&](auto get) {
    for (const Entry& e : node.entries) out.varint(get(e));
  };
  auto indirect = [&](auto get) {
    for (const Entry& e : node.entries)
      if (!e.inline_value) out.varint(get(e));
  };
  if (!leaf) column([](auto& e) { return e.common_prefix; });
  add_rests(out, keys);
  if (leaf) {
    column([](auto& e) { return e.inline_value ? e.value.size() : e.place.length; });
    for (const Entry& e : node.entries) out.number(std::uint8_t{!e.inline_value});
    indirect([&](auto& e) { return files.at(e.place.file); });
    indirect([](auto& e) { return e.place.offset; });
    for (const Entry& e : node.entries)
      if (e.inline_value) out.add(e.value);
  } else {
    column([&](auto& e) { return files.at(e.place.file); });
    column([](auto& e) { return e.place.offset; });
    column([](auto& e) { return e.place.length; });
    column([](auto& e) { return e.statistics.keys; });
    column([](auto& e) { return e.statistics.tree_bytes; });
    column([](auto& e) { return e.statistics.indirect_bytes; });
  }
  return close_envelope(kNodeMagic, c.zstd, std::move(out.text()));
}

}  // namespace strata::checkpoint::ocdbt
