#include "strata/checkpoint/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "strata/base/checksum.h"
#include "strata/checkpoint/chunks.h"

namespace strata::checkpoint {
namespace {

using json = nlohmann::ordered_json;

std::string tail(std::string_view body) {
  return fmt::format(",\n \"crc32c\": \"{}\"\n}}\n", hex32(crc32c(body)));
}

std::uint32_t from_hex(const json& value) {
  return static_cast<std::uint32_t>(std::stoul(value.get<std::string>(), nullptr, 16));
}

json to_json(const FileEntry& file) {
  json tensors = json::object();
  for (const auto& [name, t] : file.tensors) {
    tensors[name] = {{"dtype", t.dtype}, {"shape", t.shape}, {"crc32c", hex32(t.crc32c)}};
    if (!t.chunk.empty()) tensors[name]["chunk"] = t.chunk;
  }
  return {{"bytes", file.bytes}, {"crc32c", hex32(file.crc32c)}, {"tensors", tensors}};
}

FileEntry file_from(const json& value) {
  FileEntry out{value.at("bytes").get<std::uint64_t>(), from_hex(value.at("crc32c")), {}};
  for (const auto& [name, t] : value.at("tensors").items()) {
    TensorEntry& entry = out.tensors[name];
    entry = {t.at("dtype").get<std::string>(), t.at("shape").get<std::vector<std::int64_t>>(),
             from_hex(t.at("crc32c")), t.value("chunk", "")};
    if (t.contains("chunk") && !is_chunk_name(entry.chunk))
      throw std::invalid_argument(fmt::format("'{}' is no name of a chunk", entry.chunk));
  }
  return out;
}

constexpr std::size_t kMostNesting = 64;

/// How deep JSON's brackets go; what writes JSON calls itself for each of them.
std::size_t nesting(std::string_view text) {
  std::size_t depth = 0, most = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) {
      i += c == '\\';  // whatever follows is no end of the string
      continue;
    }
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return most;
}

}  // namespace

std::string with_checksum(const std::string& body) { return body + tail(body); }

TensorEntry describe(const Literal& t) {
  return {std::string(name(t.dtype())),
          t.shape().sizes(),
          crc32c({reinterpret_cast<const char*>(t.data()), t.bytes()}),
          {}};
}

std::string encode_manifest(const Manifest& m) {
  json notes = json::object(), files = json::object();
  for (const auto& [name, text] : m.notes) notes[name] = json::parse(text);
  for (const auto& [name, file] : m.files) files[name] = to_json(file);
  const json all = {{"format", m.format}, {"step", m.step}, {"notes", notes}, {"files", files}};
  std::string body = all.dump(1);
  body.resize(body.size() - 2);  // "\n}": the checksum follows
  return with_checksum(body);
}

Result<Manifest> decode_manifest(const std::string& text, const std::string& name) {
  const std::size_t tail_bytes = tail("").size();
  if (text.size() < tail_bytes)
    return Status(Code::corrupt, "{}: {} bytes are too few for a manifest", name, text.size());
  const std::string body = text.substr(0, text.size() - tail_bytes);
  if (with_checksum(body) != text)
    return Status(Code::corrupt, "{}: the manifest does not match its checksum", name);
  if (nesting(text) > kMostNesting)
    return Status(Code::corrupt, "{}: nested more than {} deep", name, kMostNesting);
  try {
    const json all = json::parse(text);
    const auto format = all.at("format").get<std::int64_t>();
    if (format > Manifest::kFormat)
      return Status(Code::unsupported, "{}: format {} is newer than this Strata knows ({})", name,
                    format, Manifest::kFormat);
    if (format < 1) return Status(Code::corrupt, "{}: there is no format {}", name, format);
    Manifest out;
    out.format = format;
    out.step = all.at("step").get<std::int64_t>();
    for (const auto& [key, value] : all.at("notes").items()) out.notes[key] = value.dump();
    for (const auto& [key, value] : all.at("files").items()) {
      // Names are joined to a folder's: none may lead out of it.
      if (!key.ends_with(".safetensors") || key.find('/') != std::string::npos)
        return Status(Code::corrupt, "{}: '{}' is no file of a checkpoint", name, key);
      out.files[key] = file_from(value);
    }
    return out;
  } catch (const std::exception& e) {
    return Status(Code::corrupt, "{}: not a manifest: {}", name, e.what());
  }
}

}  // namespace strata::checkpoint
