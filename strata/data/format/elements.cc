#include "strata/data/format/elements.h"

#include <filesystem>

#include "strata/data/format/quarantine.h"

namespace strata::data {

Result<Converted> convert_elements(const std::string& from, const std::string& to,
                                   const ConvertOptions& o) {
  std::error_code error;
  if (std::filesystem::equivalent(from, to, error))
    return Status(Code::invalid, "{} and {} are one file", from, to);
  auto scanner = open_elements(from, o.from_format, o.options);
  if (!scanner) return scanner.status();
  auto writer = create_elements(to, o.to_format, o.options);
  if (!writer) return writer.status();
  Quarantine quarantine(to + ".quarantine.jsonl");
  Converted out;
  Element element;
  while (o.limit < 0 || out.records < o.limit) {
    auto more = (*scanner)->next(element);
    if (!more) {
      if (more.status().code() != Code::corrupt || o.on_damage == OnDamage::fail)
        return more.status();
      if (out.damaged++ == 0) out.first_damage = more.status().message();
      if (o.on_damage == OnDamage::quarantine)
        if (Status s = quarantine.add(more.status(), (*scanner)->damaged()); !s.ok()) return s;
      continue;
    }
    if (!*more) break;
    if (Status s = (*writer)->add(element); !s.ok())
      return Status(s.code(), "{}: record {}: {}", to, out.records, s.message());
    if (++out.records % 1024 == 0) {
      const auto total = static_cast<double>((*scanner)->total());
      o.progress(out.records, total > 0 ? static_cast<double>((*scanner)->passed()) / total : 0);
    }
  }
  if (Status s = quarantine.close(); !s.ok()) return s;
  if (Status s = (*writer)->close(); !s.ok()) return s;
  return out;
}

}  // namespace strata::data
