#include "strata/ir/bytecode/tables.h"

#include "strata/ir/bytecode/container.h"

namespace strata::ir::bytecode {
namespace {

// What stands before an entry in its pool.
constexpr std::size_t kDialect = 0, kIsText = 1, kPrefix = 2;

std::size_t dialect_of(std::string_view entry) {
  return static_cast<unsigned char>(entry[kDialect]);
}

/// Where the entries of one dialect that follow each other end.
std::size_t end_of_group(const std::deque<std::string>& entries, std::size_t begin) {
  std::size_t end = begin;
  while (end < entries.size() && dialect_of(entries[end]) == dialect_of(entries[begin])) ++end;
  return end;
}

}  // namespace

std::size_t Tables::Pool::number(std::string text) {
  if (auto it = numbers_.find(text); it != numbers_.end()) return it->second;
  texts_.push_back(std::move(text));
  numbers_.emplace(texts_.back(), texts_.size() - 1);
  return texts_.size() - 1;
}

std::size_t Tables::string(std::string_view text) { return strings_.number(std::string(text)); }

std::size_t Tables::entry(Pool& pool, std::string_view dialect, std::string encoded, bool is_text) {
  std::string prefix(kPrefix, '\0');
  prefix[kDialect] = static_cast<char>(dialects_.number(std::string(dialect)));
  prefix[kIsText] = is_text ? 1 : 0;
  return pool.number(std::move(prefix) + encoded);
}

std::size_t Tables::attribute(std::string_view dialect, std::string encoded, bool is_text) {
  return entry(attributes_, dialect, std::move(encoded), is_text);
}
std::size_t Tables::type(std::string_view dialect, std::string encoded, bool is_text) {
  return entry(types_, dialect, std::move(encoded), is_text);
}
std::size_t Tables::operation(std::string_view dialect, std::string_view name) {
  return entry(operations_, dialect, std::string(name), false);
}
std::size_t Tables::properties(std::string encoded) {
  return properties_.number(std::move(encoded));
}

std::string Tables::dialects() {
  ByteWriter names, out;
  const std::deque<std::string>& operations = operations_.all();
  names.varint(operations.size());
  for (std::size_t i = 0; i < operations.size();) {
    std::size_t end = end_of_group(operations, i);
    names.varint(dialect_of(operations[i]));
    names.varint(end - i);
    for (; i < end; ++i)
      names.flagged(string(std::string_view(operations[i]).substr(kPrefix)), true);
  }
  out.varint(dialects_.all().size());
  for (const std::string& d : dialects_.all()) out.flagged(string(d), false);
  out.bytes(names.text());
  return out.text();
}

void Tables::append_entries(const Pool& pool, ByteWriter& sizes, ByteWriter& data) {
  const std::deque<std::string>& entries = pool.all();
  for (std::size_t i = 0; i < entries.size();) {
    std::size_t end = end_of_group(entries, i);
    sizes.varint(dialect_of(entries[i]));
    sizes.varint(end - i);
    for (; i < end; ++i) {
      std::string_view encoded = std::string_view(entries[i]).substr(kPrefix);
      sizes.flagged(encoded.size(), entries[i][kIsText] == 0);
      data.bytes(encoded);
    }
  }
}

std::string Tables::strings() const {
  ByteWriter out;
  const std::deque<std::string>& all = strings_.all();
  out.varint(all.size());
  for (std::size_t i = all.size(); i-- > 0;) out.varint(all[i].size() + 1);
  for (const std::string& s : all) out.terminated(s);
  return out.text();
}

std::string Tables::property_lists() const {
  ByteWriter out;
  out.varint(properties_.all().size());
  for (const std::string& p : properties_.all()) out.blob(p);
  return out.text();
}

std::string Tables::file(std::string_view producer, std::string_view ir) {
  ByteWriter out, sizes, data;
  out.bytes(kMagic);
  out.varint(kNewestFormat);
  out.terminated(producer);
  out.section(Section::dialects, dialects());
  sizes.varint(attributes_.all().size());
  sizes.varint(types_.all().size());
  append_entries(attributes_, sizes, data);
  append_entries(types_, sizes, data);
  out.section(Section::offsets, sizes.text());
  out.section(Section::attributes_and_types, data.text());
  out.section(Section::ir, ir);
  out.section(Section::strings, strings());  // after what asks for strings
  out.section(Section::properties, property_lists());
  return out.text();
}

}  // namespace strata::ir::bytecode
