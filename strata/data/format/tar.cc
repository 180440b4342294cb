#include "strata/data/format/tar.h"

#include <charconv>
#include <cstring>
#include <optional>

namespace strata::data {
namespace {

constexpr std::size_t kBlock = 512, kRecord = 10240, kMostName = 100;
constexpr std::size_t kMostExtra = std::size_t{1} << 20;  // of a pax header or a long name

/// A field up to its first zero byte.
std::string_view text(std::string_view header, std::size_t at, std::size_t size) {
  const std::string_view field = header.substr(at, size);
  return field.substr(0, field.find('\0'));
}

/// Octal digits between spaces and zero bytes, or base 256 behind a set high bit.
std::optional<std::uint64_t> number(std::string_view header, std::size_t at, std::size_t size) {
  std::string_view field = header.substr(at, size);
  std::uint64_t out = 0;
  if (static_cast<unsigned char>(field.front()) == 0x80) {
    for (char c : field.substr(1)) {
      if (out >> 55) return std::nullopt;
      out = out << 8 | static_cast<unsigned char>(c);
    }
    return out;
  }
  while (field.starts_with(' ')) field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), out, 8);
  const std::string_view rest = field.substr(static_cast<std::size_t>(end - field.data()));
  const bool empty = rest.find_first_not_of(std::string_view(" \0", 2)) == std::string_view::npos;
  if (!empty || (error != std::errc() && end != field.data())) return std::nullopt;
  return out;
}

std::uint64_t checksum(std::string_view header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<unsigned char>(header[i]);
  return sum;
}

std::size_t padding(std::size_t size) { return (kBlock - size % kBlock) % kBlock; }

/// The value of `key` in a pax header: records "LENGTH KEY=VALUE\n".
std::string_view pax_value(std::string_view records, std::string_view key) {
  std::string_view out;
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] =
        std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<std::size_t>(end - records.data());
    if (error != std::errc() || length > records.size() || length < digits + 2) return out;
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    if (record.starts_with(key) && record.substr(key.size()).starts_with('='))
      out = record.substr(key.size() + 1);
    records.remove_prefix(length);
  }
  return out;
}

}  // namespace

Result<bool> TarReader::next(Member& out) {
  if (ended_) return false;
  auto more = next_member(out);
  if (!more || !*more) ended_ = true;
  return more;
}

Result<bool> TarReader::next_member(Member& out) {
  std::string name;
  std::optional<std::uint64_t> pax_size;
  for (;;) {
    const std::uint64_t at = input_.position();
    auto corrupt = [&](std::string_view what) {
      return Status(Code::corrupt, "{}: the tar header at byte {}: {}", input_.name(), at, what);
    };
    auto taken = input_.take(kBlock);
    if (!taken) return taken.status();
    if (taken->empty() && at > 0)
      return corrupt("none is there, nor the two blocks of zeros that end an archive");
    if (taken->size() < kBlock) return corrupt("the file ends in it");
    const std::string header(*taken);
    if (header.find_first_not_of('\0') == std::string::npos) {
      auto second = input_.take(kBlock);
      if (!second) return second.status();
      if (second->size() < kBlock || second->find_first_not_of('\0') != std::string_view::npos)
        return corrupt("one block of zeros, where two end an archive");
      return false;
    }
    const auto sum = number(header, 148, 8);
    auto size = number(header, 124, 12);
    if (!sum || *sum != checksum(header)) return corrupt("a wrong checksum, or no tar archive");
    if (!size) return corrupt("a size that is no number");
    const char type = header[156];
    const bool regular = type == '0' || type == '\0' || type == '7';
    if (regular && pax_size) size = pax_size;
    const bool extra = type == 'x' || type == 'L';
    if (*size > (extra ? kMostExtra : Input::kMostAtOnce))
      return corrupt(fmt::format("a member of {} bytes", *size));
    auto bytes = input_.take(*size + padding(*size));
    if (!bytes) return bytes.status();
    if (bytes->size() < *size + padding(*size)) return corrupt("the file ends in its member");
    const std::string_view content = bytes->substr(0, *size);
    if (type == 'L') name = content.substr(0, content.find('\0'));
    if (type == 'x') {
      if (const std::string_view path = pax_value(content, "path"); !path.empty()) name = path;
      if (const std::string_view n = pax_value(content, "size"); !n.empty()) {
        std::uint64_t value = 0;
        std::from_chars(n.data(), n.data() + n.size(), value);
        pax_size = value;
      }
    }
    if (extra || type == 'g' || type == 'K') continue;
    if (!regular) {
      name.clear(), pax_size.reset();
      continue;
    }
    if (name.empty()) {
      name = text(header, 0, kMostName);
      const std::string_view prefix = text(header, 345, 155);
      if (header.substr(257, 5) == "ustar" && header[262] == '\0' && !prefix.empty())
        name = std::string(prefix) + "/" + name;
    }
    out.name = std::move(name);
    out.bytes = content;
    return true;
  }
}

Status TarWriter::add(const std::string& name, std::string_view bytes) {
  if (name.size() > kMostName) {
    const std::string path = "path=" + name + "\n";
    std::size_t length = path.size() + 2;
    while (std::to_string(length).size() + 1 + path.size() != length) ++length;
    if (Status s = add('x', "././@PaxHeader", std::to_string(length) + " " + path); !s.ok())
      return s;
  }
  return add('0', name, bytes);
}

Status TarWriter::add(char type, const std::string& name, std::string_view bytes) {
  char header[kBlock] = {};
  auto put = [&](std::size_t at, const std::string& value) {
    std::memcpy(header + at, value.data(), value.size());
  };
  put(0, name.substr(0, kMostName));
  put(100, "0000444");
  put(108, "0000000");
  put(116, "0000000");
  if (bytes.size() >> 33)
    return Status(Code::unsupported, "{}: a member of {} bytes", name, bytes.size());
  put(124, fmt::format("{:011o}", bytes.size()));
  put(136, "00000000000");
  header[156] = type;
  put(257, std::string("ustar\0"
                       "00",
                       8));
  put(265, "u");
  put(297, "g");
  put(148, fmt::format("{:06o}", checksum({header, kBlock})));
  header[155] = ' ';
  const std::string zeros(padding(bytes.size()), '\0');
  for (std::string_view piece : {std::string_view(header, kBlock), bytes, std::string_view(zeros)})
    if (Status s = output_.write(piece); !s.ok()) return s;
  return {};
}

Status TarWriter::close() {
  const std::size_t end = output_.written() + 2 * kBlock;
  const std::string zeros(2 * kBlock + (kRecord - end % kRecord) % kRecord, '\0');
  if (Status s = output_.write(zeros); !s.ok()) return s;
  return output_.close();
}

}  // namespace strata::data
