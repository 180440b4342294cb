#include "strata/data/format/mds.h"

#define XXH_INLINE_ALL
#include <openssl/evp.h>
#include <xxhash.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/data/compression/block.h"
#include "strata/data/compression/stream.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/shallow_json.h"

namespace strata::data {
namespace {

using json = nlohmann::json;  // keys sorted, as the original writes them

std::uint32_t load(std::string_view bytes, std::size_t at) {
  std::uint32_t out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// As Python's json.dumps writes it: a space behind commas and colons, beyond ASCII escaped.
std::string python_json(const json& j) {
  std::string out;
  auto all = [&](char begin, char end, auto write) {
    out += begin;
    for (auto at = j.begin(); at != j.end(); ++at) {
      if (at != j.begin()) out += ", ";
      write(at);
    }
    out += end;
  };
  if (j.is_object())
    all('{', '}',
        [&](auto at) { out += json(at.key()).dump(-1, ' ', true) + ": " + python_json(*at); });
  else if (j.is_array())
    all('[', ']', [&](auto at) { out += python_json(*at); });
  else
    out = j.dump(-1, ' ', true);
  return out;
}

/// The digest by one of python-xxhash's names; empty for another name.
std::string xxh_of(const std::string& kind, std::string_view bytes) {
  const void* data = bytes.data();
  if (kind == "xxh32") return hex32(XXH32(data, bytes.size(), 0));
  if (kind == "xxh64") return fmt::format("{:016x}", XXH64(data, bytes.size(), 0));
  if (kind == "xxh3_64") return fmt::format("{:016x}", XXH3_64bits(data, bytes.size()));
  if (kind != "xxh128" && kind != "xxh3_128") return "";
  const XXH128_hash_t hash = XXH3_128bits(data, bytes.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Status check_hash(const std::string& kind, const std::string& said, std::string_view bytes,
                  const std::string& path) {
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  std::string found;
  if (kind == "crc32") {
    found = hex32(static_cast<std::uint32_t>(crc32_z(0, data, bytes.size())));
  } else if (kind == "adler32") {
    found = hex32(static_cast<std::uint32_t>(adler32_z(1, data, bytes.size())));
  } else if (found = xxh_of(kind, bytes); found.empty()) {
    // Python's hashlib names them so: md5, sha1, sha256, sha3_256, blake2b.
    std::string name = kind == "blake2b" ? "blake2b512" : kind == "blake2s" ? "blake2s256" : kind;
    if (name.starts_with("sha3_")) name[4] = '-';
    const EVP_MD* method = EVP_get_digestbyname(name.c_str());
    if (!method || EVP_MD_get_size(method) < 1) return {};  // of nobody that is known
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(data, bytes.size(), digest.data(), &size, method, nullptr) != 1) return {};
    for (unsigned i = 0; i < size; ++i) found += fmt::format("{:02x}", digest[i]);
  }
  if (said == found) return {};
  return Status(Code::corrupt, "{}: its {} is {}, the index says {}", path, kind, found, said);
}

Result<std::vector<MdsColumn>> columns_of(const json& shard) {
  std::vector<MdsColumn> out;
  const auto &names = shard.at("column_names"), &encodings = shard.at("column_encodings"),
             &sizes = shard.at("column_sizes");
  if (names.size() != encodings.size() || names.size() != sizes.size() || names.empty())
    return Status(Code::corrupt, "columns of differing counts");
  for (std::size_t i = 0; i < names.size(); ++i) {
    MdsColumn c{names[i].get<std::string>(), encodings[i].get<std::string>()};
    if (!sizes[i].is_null()) c.size = sizes[i].get<std::int64_t>();
    if (c.size < -1) return Status(Code::corrupt, "a column of {} bytes", c.size);
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<const MdsFolder>> MdsFolder::open(const std::string& path) {
  const std::string folder =
      path.ends_with("index.json") ? std::filesystem::path(path).parent_path().string() : path;
  const std::string index = (std::filesystem::path(folder) / "index.json").string();
  auto text = read_file(index);
  if (!text) return text.status();
  const json j = shallow_json<json>(*text);
  auto corrupt = [&](const std::string& what) {
    return Status(Code::corrupt, "{}: no whole index of MDS: {}", index, what);
  };
  auto out = std::make_shared<MdsFolder>();
  try {
    if (!j.is_object() || j.at("version") != 2) return corrupt("no version 2");
    for (const json& s : j.at("shards")) {
      if (s.at("format") != "mds" || s.at("version") != 2)
        return corrupt("a shard of another format");
      Shard shard;
      auto columns = columns_of(s);
      if (!columns) return corrupt(columns.status().message());
      shard.columns = std::move(*columns);
      shard.first = out->size_;
      shard.samples = s.at("samples").get<std::int64_t>();
      const bool zip = !s.at("zip_data").is_null();
      const json& file = zip ? s.at("zip_data") : s.at("raw_data");
      const auto name = file.at("basename").get<std::string>();
      if (name.empty() || name.find('/') != std::string::npos || name.front() == '.')
        return corrupt("a shard outside of its folder: " + name);
      shard.path = (std::filesystem::path(folder) / name).string();
      shard.raw_bytes = s.at("raw_data").at("bytes").get<std::int64_t>();
      shard.hashes = file.at("hashes").get<std::map<std::string, std::string>>();
      shard.zip_bytes = file.at("bytes").get<std::int64_t>();
      if (zip) shard.compression = s.at("compression").get<std::string>();
      constexpr std::int64_t kMost = std::int64_t{1} << 32;  // places have 32 bits
      if (shard.samples < 0 || shard.samples > kMost || shard.raw_bytes < 0 ||
          shard.raw_bytes > kMost)
        return corrupt(
            fmt::format("a shard of {} samples, {} bytes", shard.samples, shard.raw_bytes));
      out->size_ += shard.samples;
      out->shards_.push_back(std::move(shard));
    }
  } catch (const json::exception& e) {
    return corrupt(e.what());
  }
  if (!out->shards_.empty()) out->columns_ = out->shards_.front().columns;
  return std::shared_ptr<const MdsFolder>(std::move(out));
}

Result<std::shared_ptr<const MdsFolder::Opened>> MdsFolder::shard(std::size_t number) const {
  {
    const std::lock_guard lock(mutex_);
    if (last_ && last_->number == number) return last_;
  }
  const Shard& s = shards_[number];
  auto corrupt = [&](const std::string& what) {
    return Status(Code::corrupt, "{}: no whole shard of MDS: {}", s.path, what);
  };
  auto out = std::make_shared<Opened>();
  out->number = number;
  auto file = MappedFile::open(s.path);
  if (!file) return file.status();
  out->file = *file;
  out->bytes = (*file)->bytes();
  if (std::ssize(out->bytes) != s.zip_bytes)
    return corrupt(fmt::format("{} bytes, the index says {}", out->bytes.size(), s.zip_bytes));
  for (const auto& [kind, said] : s.hashes)
    if (Status h = check_hash(kind, said, out->bytes, s.path); !h.ok()) return h;
  if (!s.compression.empty()) {
    const std::string how = s.compression.substr(0, s.compression.find(':'));
    const auto size = static_cast<std::uint64_t>(s.raw_bytes);
    const Compression* c = how == "snappy" ? nullptr : compression_of_path("." + how);
    if (!c && how != "snappy")
      return Status(Code::unsupported, "{}: compressed by {}", s.path, s.compression);
    if (!c) {
      if (Status u =
              unpack_block(BlockCompression::snappy, out->bytes, size, s.path, out->unpacked);
          !u.ok())
        return u;
    } else {
      auto unpacked = unpack(out->bytes, *c, s.path, size);
      if (!unpacked) return unpacked.status();
      out->unpacked = std::move(*unpacked);
    }
    out->bytes = out->unpacked;
  }
  if (std::ssize(out->bytes) != s.raw_bytes)
    return corrupt(fmt::format("{} bytes, the index says {}", out->bytes.size(), s.raw_bytes));
  const std::size_t size = out->bytes.size(), n = static_cast<std::size_t>(s.samples);
  if (size < 4 * (n + 2) || load(out->bytes, 0) != n)
    return corrupt("another number of samples than the index says");
  for (std::size_t i = 0; i < n; ++i)
    if (load(out->bytes, 4 * (i + 1)) > load(out->bytes, 4 * (i + 2)))
      return corrupt(fmt::format("sample {} ends before it begins", i));
  if (load(out->bytes, 4) < 4 * (n + 2) || load(out->bytes, 4 * (n + 1)) != size)
    return corrupt("samples beyond the file");
  const std::lock_guard lock(mutex_);
  last_ = out;
  return std::shared_ptr<const Opened>(std::move(out));
}

Result<Element> MdsFolder::read(std::int64_t index) const {
  STRATA_CHECK(index >= 0 && index < size_, "sample {} of {}", index, size_);
  auto at = std::prev(std::upper_bound(shards_.begin(), shards_.end(), index,
                                       [](std::int64_t i, const Shard& s) { return i < s.first; }));
  auto opened = shard(static_cast<std::size_t>(at - shards_.begin()));
  if (!opened) return opened.status();
  const std::string_view all = (*opened)->bytes;
  const auto i = static_cast<std::size_t>(index - at->first);
  const std::size_t begin = load(all, 4 * (i + 1));
  std::string_view heads = all.substr(begin, load(all, 4 * (i + 2)) - begin);
  const std::string where = fmt::format("{}: sample {}", at->path, i);
  auto corrupt = [&] { return Status(Code::corrupt, "{}: columns of other sizes", where); };
  std::size_t varying = 0;
  for (const MdsColumn& c : at->columns) varying += c.size < 0 ? 4 : 0;
  if (heads.size() < varying) return corrupt();
  std::string_view rest = heads.substr(varying);
  Element::Fields fields;
  for (const MdsColumn& c : at->columns) {
    auto size = static_cast<std::size_t>(c.size);
    if (c.size < 0) size = load(heads, 0), heads.remove_prefix(4);
    if (size > rest.size()) return corrupt();
    auto value = decode_mds(c.encoding, rest.substr(0, size), where + ": " + c.name);
    if (!value) return value.status();
    fields.emplace_back(c.name, std::move(*value));
    rest.remove_prefix(size);
  }
  if (!rest.empty()) return corrupt();
  return Element::dict(std::move(fields));
}

namespace {

class MdsScanner : public ElementScanner {
 public:
  explicit MdsScanner(std::shared_ptr<const MdsFolder> folder) : folder_(std::move(folder)) {}
  std::uint64_t passed() const override { return static_cast<std::uint64_t>(at_); }
  std::uint64_t total() const override { return static_cast<std::uint64_t>(folder_->size()); }
  Result<bool> next(Element& out) override {
    if (at_ >= folder_->size()) return false;
    auto element = folder_->read(at_++);
    if (!element) return element.status();
    out = std::move(*element);
    return true;
  }

 private:
  std::shared_ptr<const MdsFolder> folder_;
  std::int64_t at_ = 0;
};

/// What a value is written as where nobody says.
std::string encoding_for(const Element& e) {
  switch (e.kind()) {
    case Element::Kind::text: return "str";
    case Element::Kind::bytes: return "bytes";
    case Element::Kind::integer: return "int";
    case Element::Kind::real: return "float64";
    case Element::Kind::array: {
      const DType d = e.array().dtype();
      for (auto [name, dtype] : {std::pair{"uint8", DType::ui8},
                                 {"int8", DType::i8},
                                 {"uint16", DType::ui16},
                                 {"int16", DType::i16},
                                 {"float16", DType::f16},
                                 {"uint32", DType::ui32},
                                 {"int32", DType::i32},
                                 {"float32", DType::f32},
                                 {"uint64", DType::ui64},
                                 {"int64", DType::i64},
                                 {"float64", DType::f64}})
        if (d == dtype)
          return e.array().shape().rank() == 0 ? name : std::string("ndarray:") + name;
      return "json";
    }
    default: return "json";
  }
}

std::int64_t size_of(const std::string& encoding) {
  if (encoding == "int") return 8;
  for (auto [name, size] : {std::pair{"uint8", 1},
                            {"int8", 1},
                            {"uint16", 2},
                            {"int16", 2},
                            {"float16", 2},
                            {"uint32", 4},
                            {"int32", 4},
                            {"float32", 4},
                            {"uint64", 8},
                            {"int64", 8},
                            {"float64", 8}})
    if (encoding == name) return size;
  return -1;
}

/// Shards go into FOLDER.tmp, which takes its name at the end.
class MdsWriter : public ElementWriter {
 public:
  MdsWriter(std::string folder, std::int64_t limit) : folder_(std::move(folder)), limit_(limit) {}
  ~MdsWriter() override {
    if (!closed_) (void)remove_all(aside());
  }
  Status begin() {
    if (file_exists(folder_))
      return Status(Code::exists, "{}: there is something of that name already", folder_);
    if (Status s = remove_all(aside()); !s.ok()) return s;
    return make_folders(aside());
  }
  Status add(const Element& e) override {
    if (e.kind() != Element::Kind::dict || e.fields().empty())
      return Status(Code::invalid, "MDS holds dicts with members, not {}", name(e.kind()));
    if (columns_.empty()) set_columns(e);
    if (e.fields().size() != columns_.size())
      return Status(Code::invalid, "a record of {} members, where the first has {}",
                    e.fields().size(), columns_.size());
    std::string heads, body;
    for (const MdsColumn& c : columns_) {
      if (!e.contains(c.name))
        return Status(Code::invalid, "a record without the member \"{}\" of the first", c.name);
      auto bytes = encode_mds(c.encoding, e.at(c.name));
      if (!bytes)
        return Status(bytes.status().code(), "\"{}\": {}", c.name, bytes.status().message());
      if (c.size < 0) put(heads, static_cast<std::uint32_t>(bytes->size()));
      body += *bytes;
    }
    const std::int64_t size = std::ssize(heads) + std::ssize(body) + 4;
    if (bytes_ + size > limit_ && !samples_.empty())
      if (Status s = end_shard(); !s.ok()) return s;
    if (bytes_ + size > std::int64_t{0xffffffff})
      return Status(Code::unsupported, "a sample of {} bytes: MDS has 32 bits for places", size);
    samples_.push_back(heads + body);
    bytes_ += size;
    return {};
  }
  Status close() override {
    if (!samples_.empty())
      if (Status s = end_shard(); !s.ok()) return s;
    const json index = {{"shards", shards_}, {"version", 2}};
    if (Status s = write_file_synced(aside() + "/index.json", python_json(index)); !s.ok())
      return s;
    closed_ = true;
    return rename_synced(aside(), folder_);
  }

 private:
  std::string aside() const { return folder_ + ".tmp"; }
  void set_columns(const Element& first) {
    for (const auto& [name, value] : first.fields()) {
      const std::string encoding = encoding_for(value);
      columns_.push_back({name, encoding, size_of(encoding)});
    }
    std::sort(columns_.begin(), columns_.end(),
              [](const MdsColumn& a, const MdsColumn& b) { return a.name < b.name; });
    config_ = {{"version", 2},
               {"format", "mds"},
               {"compression", nullptr},
               {"hashes", json::array()},
               {"size_limit", limit_}};
    for (const char* key : {"column_names", "column_encodings", "column_sizes"})
      config_[key] = json::array();
    for (const MdsColumn& c : columns_) {
      config_["column_names"].push_back(c.name);
      config_["column_encodings"].push_back(c.encoding);
      config_["column_sizes"].push_back(c.size < 0 ? json() : json(c.size));
    }
    config_text_ = python_json(config_);
    bytes_ = empty_shard();
  }
  std::int64_t empty_shard() const { return 8 + std::ssize(config_text_); }
  Status end_shard() {
    std::string out;
    put(out, static_cast<std::uint32_t>(samples_.size()));
    auto place = static_cast<std::uint32_t>(4 + 4 * (samples_.size() + 1) + config_text_.size());
    put(out, place);
    for (const std::string& s : samples_) put(out, place += static_cast<std::uint32_t>(s.size()));
    out += config_text_;
    for (const std::string& s : samples_) out += s;
    const std::string name = fmt::format("shard.{:05}.mds", shards_.size());
    if (Status s = write_file_synced(aside() + "/" + name, out); !s.ok()) return s;
    json shard = config_;
    shard["samples"] = samples_.size();
    shard["raw_data"] = {{"basename", name}, {"bytes", out.size()}, {"hashes", json::object()}};
    shard["zip_data"] = nullptr;
    shards_.push_back(std::move(shard));
    samples_.clear();
    bytes_ = empty_shard();
    return {};
  }

  std::string folder_;
  std::int64_t limit_, bytes_ = 0;
  std::vector<MdsColumn> columns_;
  json config_, shards_ = json::array();
  std::string config_text_;
  std::vector<std::string> samples_;
  bool closed_ = false;
};

}  // namespace

OpenedElements open_mds(const std::string& path, const ElementOptions&) {
  auto folder = MdsFolder::open(path);
  if (!folder) return folder.status();
  return std::unique_ptr<ElementScanner>(std::make_unique<MdsScanner>(*folder));
}

CreatedElements create_mds(const std::string& path, const ElementOptions& o) {
  std::string folder = path;
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  auto out = std::make_unique<MdsWriter>(std::move(folder), o.shard_bytes);
  if (Status s = out->begin(); !s.ok()) return s;
  return std::unique_ptr<ElementWriter>(std::move(out));
}

}  // namespace strata::data
