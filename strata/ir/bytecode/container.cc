#include "strata/ir/bytecode/container.h"

#include <optional>

namespace strata::ir::bytecode {
namespace {

using Sections = std::array<std::optional<ByteReader>, kSections>;

Sections read_sections(ByteReader& r) {
  Sections out;
  while (!r.at_end()) {
    std::size_t start = r.offset();
    auto [id, data] = r.section();
    std::optional<ByteReader>& place = out[static_cast<std::size_t>(id)];
    if (place)
      throw FormatError{Code::invalid, start,
                        fmt::format("section {} twice", static_cast<int>(id))};
    place = data;
  }
  for (Section needed : {Section::strings, Section::dialects, Section::attributes_and_types,
                         Section::offsets, Section::ir})
    if (!out[static_cast<std::size_t>(needed)]) r.fail("no section {}", static_cast<int>(needed));
  return out;
}

/// The lengths stand in reverse; each counts the zero at the end.
std::vector<std::string_view> read_strings(ByteReader r) {
  std::vector<std::uint64_t> lengths(r.count("strings"));
  for (std::size_t i = lengths.size(); i-- > 0;) lengths[i] = r.varint("the length of a string");
  std::vector<std::string_view> out;
  for (std::uint64_t length : lengths) {
    std::string_view text = r.bytes(length, "a string");
    if (text.empty() || text.back() != '\0') r.fail("a string without a zero at its end");
    out.push_back(text.substr(0, text.size() - 1));
  }
  r.expect_end("the strings");
  return out;
}

/// Groups of (dialect, how many); `each` reads one of them.
template <class F>
void group(ByteReader& r, const std::vector<std::string_view>& dialects, F&& each) {
  std::string_view dialect = dialects[r.index(dialects.size(), "dialect")];
  for (std::uint64_t n = r.count("members of a dialect"); n > 0; --n) each(dialect);
}

std::vector<std::string_view> read_dialects(ByteReader r, Container& c) {
  std::vector<std::string_view> out;
  for (std::uint64_t n = r.count("dialects"); n > 0; --n) {
    std::size_t start = r.offset();
    auto [index, versioned] = c.format >= 1 ? r.flagged("the name of a dialect")
                                            : std::pair(r.varint("the name of a dialect"), false);
    if (index >= c.strings.size())
      throw FormatError{Code::invalid, start,
                        fmt::format("string {} of {}", index, c.strings.size())};
    out.push_back(c.strings[index]);
    if (versioned && r.section().first != Section::dialect_versions)
      throw FormatError{Code::invalid, start, "expected the version of a dialect"};
  }
  if (c.format >= 4) r.varint("how many operations there are");
  while (!r.at_end())
    group(r, out, [&](std::string_view dialect) {
      std::size_t start = r.offset();
      auto [index, registered] = c.format >= 5
                                     ? r.flagged("the name of an operation")
                                     : std::pair(r.varint("the name of an operation"), true);
      if (index >= c.strings.size())
        throw FormatError{Code::invalid, start,
                          fmt::format("string {} of {}", index, c.strings.size())};
      c.operations.push_back({dialect, c.strings[index], registered});
    });
  return out;
}

void read_offsets(ByteReader r, ByteReader data, const std::vector<std::string_view>& dialects,
                  Container& c) {
  std::size_t attributes = r.count("attributes"), types = r.count("types");
  auto fill = [&](std::vector<Entry>& entries, std::size_t size) {
    while (entries.size() < size) {
      std::size_t before = entries.size();
      group(r, dialects, [&](std::string_view dialect) {
        auto [length, is_own] = r.flagged("the size of an attribute or type");
        entries.push_back({dialect, data.part(length, "an attribute or type"), !is_own});
      });
      if (entries.size() == before) r.fail("a dialect without attributes and types");
    }
    if (entries.size() > size) r.fail("{} attributes or types, not {}", entries.size(), size);
  };
  fill(c.attributes, attributes);
  fill(c.types, types);
  r.expect_end("the sizes of attributes and types");
  data.expect_end("the attributes and types");
}

void read_properties(ByteReader r, Container& c) {
  for (std::uint64_t n = r.count("properties"); n > 0; --n)
    c.properties.push_back(r.blob("properties"));
  r.expect_end("the properties");
}

}  // namespace

Container open_container(std::string_view bytes) {
  ByteReader r(bytes);
  Container out;
  if (bytes.substr(0, kMagic.size()) != kMagic)
    r.fail("no bytecode: the first bytes are not those of MLIR");
  r.bytes(kMagic.size(), "");
  out.format = r.varint("a version of the format");
  if (out.format > kNewestFormat)
    r.unsupported("version {} of the format is newer than {}", out.format, kNewestFormat);
  out.producer = r.terminated("the producer's name");
  Sections sections = read_sections(r);
  auto at = [&](Section s) { return *sections[static_cast<std::size_t>(s)]; };
  out.strings = read_strings(at(Section::strings));
  std::vector<std::string_view> dialects = read_dialects(at(Section::dialects), out);
  read_offsets(at(Section::offsets), at(Section::attributes_and_types), dialects, out);
  if (sections[static_cast<std::size_t>(Section::properties)])
    read_properties(at(Section::properties), out);
  out.ir = at(Section::ir);
  return out;
}

}  // namespace strata::ir::bytecode
