#include "strata/cli/data/data_convert.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "strata/base/progress.h"
#include "strata/base/text.h"
#include "strata/cli/command.h"
#include "strata/data/format/convert_shards.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/json.h"

namespace strata::cli {
namespace {

using json = nlohmann::ordered_json;

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string formats_help() {
  std::string out = "Formats, told by the ending of a name or by --from and --to:\n";
  for (const data::ElementFormat& f : data::element_formats())
    out += fmt::format("  {:<13}{:<36}{}\n", f.name, f.endings, f.summary);
  return out + "A compression's ending may follow: .gz .zst .xz .bz2\n";
}

struct Convert {
  std::string from, to, damaged = "fail", delimiter = ",";
  data::ConvertOptions convert;
  std::int64_t shard_records = 0;
  bool json = false;
};

/// In one file, or in shards; the shards and what earlier calls had written where there are any.
Result<data::ConvertedShards> converted(const Convert& o) {
  if (o.shard_records > 0) return data::convert_in_shards(o.from, o.to, o.shard_records, o.convert);
  auto done = data::convert_elements(o.from, o.to, o.convert);
  if (!done) return done.status();
  return data::ConvertedShards{.total = std::move(*done)};
}

int convert(Convert o) {
  if (o.delimiter.size() != 1)
    return fail(Status(Code::invalid, "--delimiter is one character, not \"{}\"", o.delimiter));
  o.convert.options.delimiter = o.delimiter.front();
  o.convert.on_damage = o.damaged == "skip"         ? data::OnDamage::skip
                        : o.damaged == "quarantine" ? data::OnDamage::quarantine
                                                    : data::OnDamage::fail;
  Progress progress(STDERR_FILENO);
  o.convert.progress = [&](std::int64_t records, double share) {
    progress.show(fmt::format("{} records, {:.0f} %", records, 100 * share));
  };
  const double begin = seconds_now();
  auto made = converted(o);
  progress.clear();
  if (!made) return fail(made.status());
  const data::Converted* done = &made->total;
  if (done->damaged > 0)
    std::cerr << fmt::format("strata: {} passed over{}; the first: {}\n",
                             done->damaged == 1
                                 ? "1 damaged record was"
                                 : fmt::format("{} damaged records were", done->damaged),
                             o.damaged == "quarantine" ? " and put aside" : "", done->first_damage);
  if (o.json) {
    json out = {
        {"from", o.from}, {"to", o.to}, {"records", done->records}, {"damaged", done->damaged}};
    if (o.shard_records > 0) out.update({{"shards", made->shards}, {"resumed", made->resumed}});
    std::cout << dump(out) << "\n";
    return kDone;
  }
  std::string where;
  if (o.shard_records > 0) where = fmt::format(" in {} shards", made->shards);
  if (made->resumed > 0) where += fmt::format(", {} of them by earlier calls", made->resumed);
  std::cout << fmt::format("{}: {} records from {}{}, in {:.1f} s\n", o.to, done->records, o.from,
                           where, seconds_now() - begin);
  return kDone;
}

struct Show {
  std::string file, format;
  data::ElementOptions options;
  std::int64_t records = 3;
  bool json = false;
};

/// What a value is: "text", "i32[3]", "list".
std::string kind_of(const data::Element& e) {
  if (e.kind() == data::Element::Kind::array) return e.array().type().to_string();
  return std::string(data::name(e.kind()));
}

/// What is seen of a member over all records.
struct Seen {
  std::string kind;
  bool same = true;
  std::int64_t records = 0, bytes = 0;
};

class Schema {
 public:
  void add(const data::Element& e) {
    if (e.kind() != data::Element::Kind::dict) return add("", e);
    for (const auto& [key, value] : e.fields()) add(key, value);
  }
  const std::vector<std::pair<std::string, Seen>>& members() const { return members_; }

 private:
  void add(const std::string& key, const data::Element& e) {
    auto at = std::find_if(members_.begin(), members_.end(),
                           [&](const auto& m) { return m.first == key; });
    if (at == members_.end()) at = members_.insert(at, {key, {.kind = kind_of(e)}});
    at->second.same = at->second.same && at->second.kind == kind_of(e);
    ++at->second.records;
    at->second.bytes += e.byte_count();
  }
  std::vector<std::pair<std::string, Seen>> members_;
};

std::string on_one_line(const data::Element& e) {
  std::string out = data::json_of(e);
  std::size_t most = 200;
  if (out.size() <= most) return out;
  while ((out[most] & 0xc0) == 0x80) --most;  // a character stays whole
  return out.substr(0, most) + "...";
}

int show(const Show& o) {
  auto scanner = data::open_elements(o.file, o.format, o.options);
  if (!scanner) return fail(scanner.status());
  Schema schema;
  json first = json::array();
  std::vector<std::string> lines;
  std::int64_t records = 0, damaged = 0;
  Status damage;
  Progress progress(STDERR_FILENO);
  data::Element e;
  for (;;) {
    auto more = (*scanner)->next(e);
    if (!more && more.status().code() != Code::corrupt) return fail(more.status());
    if (!more) {
      if (damaged++ == 0) damage = more.status();
      continue;
    }
    if (!*more) break;
    schema.add(e);
    if (records < o.records) {
      lines.push_back(on_one_line(e));
      if (o.json) first.push_back(json::parse(data::json_of(e)));
    }
    if (++records % 1024 == 0) progress.show(fmt::format("{} records", records));
  }
  progress.clear();
  if (o.json) {
    json members = json::array();
    for (const auto& [key, seen] : schema.members())
      members.push_back({{"name", key},
                         {"kind", seen.same ? seen.kind : "several"},
                         {"records", seen.records},
                         {"bytes", seen.bytes}});
    std::cout << dump({{"file", o.file},
                       {"records", records},
                       {"damaged", damaged},
                       {"members", members},
                       {"first", first}})
              << "\n";
  } else {
    std::cout << fmt::format("{}: {} records{}\n", o.file, records,
                             damaged > 0 ? fmt::format(", {} damaged", damaged) : "");
    for (const auto& [key, seen] : schema.members())
      std::cout << fmt::format("  {:<20}{:<20}{:>10} records {:>9}B\n", key.empty() ? "-" : key,
                               seen.same ? seen.kind : seen.kind + " and others", seen.records,
                               human_count(static_cast<double>(seen.bytes)));
    for (const std::string& line : lines) std::cout << line << "\n";
  }
  return damaged > 0 ? fail(damage) : kDone;
}

}  // namespace

void add_data_convert(CommandLine& data, std::function<int()>& action) {
  CommandLine& command = data.add_subcommand("convert", "writes a dataset in another format");
  command.description(
      "Writes the records of a dataset in another format. The new file is whole or not there; "
      "checksums of the old one are verified.\n\n"
      "Example:\n  strata data convert train.jsonl.zst train.array_record\n"
      "  strata data convert --damaged quarantine old.tfrecord.gz new.jsonl\n"
      "  strata data convert --shard_records 100000 large.jsonl.zst large.array_record\n\n" +
      formats_help());
  auto o = std::make_shared<Convert>();
  command.add_option("input", o->from, "the file or folder to read").required();
  command.add_option("output", o->to, "the file or folder to write").required();
  command.add_option("--from", o->convert.from_format, "the format that is read");
  command.add_option("--to", o->convert.to_format, "the format that is written");
  command
      .add_option("--records", o->convert.options.records,
                  "what records of ArrayRecord, Bagz and TFRecord hold")
      .one_of({"auto", "raw", "json", "example"})
      .show_default();
  command
      .add_option("--damaged", o->damaged,
                  "what becomes of damaged records; quarantine writes them to "
                  "TO.quarantine.jsonl")
      .one_of({"fail", "skip", "quarantine"})
      .show_default();
  command
      .add_option("--group_size", o->convert.options.group_size, "ArrayRecord: records of a chunk")
      .in_range(std::int64_t{1}, std::int64_t{1} << 24)
      .show_default();
  command
      .add_option("--compression", o->convert.options.compression,
                  "of ArrayRecord, Parquet and Arrow; auto is zstd, for Arrow none")
      .one_of({"auto", "none", "zstd", "brotli", "snappy", "gzip", "lz4"})
      .show_default();
  command
      .add_option("--shard_bytes", o->convert.options.shard_bytes,
                  "MDS, Hugging Face: bytes of a shard")
      .in_range(std::int64_t{1024}, std::int64_t{1} << 32)
      .show_default();
  command
      .add_option("--shard_records", o->shard_records,
                  "write shards of so many records, NAME-00000-of-N.ENDING; the same command goes "
                  "on after a kill; 0 writes one file")
      .in_range(std::int64_t{0}, std::int64_t{1} << 40)
      .show_default();
  command.add_option("--dtype", o->convert.options.dtype, "Megatron: the type of tokens")
      .show_default();
  command.add_option("--split", o->convert.options.split,
                     "Hugging Face: which split is read, where there are several");
  command.add_option("--delimiter", o->delimiter, "CSV: between fields").show_default();
  command.add_option("--limit", o->convert.limit, "records at most; -1 for all")
      .in_range(std::int64_t{-1}, std::int64_t{1} << 50)
      .show_default();
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return convert(*o); }; });
}

void add_data_show(CommandLine& data, std::function<int()>& action) {
  CommandLine& command =
      data.add_subcommand("show", "reads a dataset through and says what its records hold");
  command.description(
      "Reads a dataset through, its checksums verified, and says how many records it has, what "
      "they hold, and what the first ones are.\n\n"
      "Example:\n  strata data show train.array_record\n\n" +
      formats_help());
  auto o = std::make_shared<Show>();
  command.add_option("file", o->file, "the file or folder").required();
  command.add_option("--format", o->format, "its format, where the name does not say it");
  command.add_option("--records", o->options.records, "what records of bytes hold")
      .one_of({"auto", "raw", "json", "example"})
      .show_default();
  command.add_option("--split", o->options.split,
                     "Hugging Face: which split, where there are several");
  command.add_option("--first", o->records, "so many records are printed")
      .in_range(std::int64_t{0}, std::int64_t{1} << 20)
      .show_default();
  command.add_flag("--json", o->json, "print one JSON object instead");
  command.callback([o, &action] { action = [o] { return show(*o); }; });
}

}  // namespace strata::cli
