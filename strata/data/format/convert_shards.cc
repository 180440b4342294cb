#include "strata/data/format/convert_shards.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/data/format/quarantine.h"

namespace strata::data {
namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

/// NAME and .ENDING of a path, a compression's ending with it: "a/train", ".jsonl.zst".
std::pair<std::string, std::string> split_name(const std::string& path) {
  std::size_t end = path.size();
  if (compression_of_path(path)) end = path.rfind('.');
  const std::size_t folder = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  const std::size_t dot = path.rfind('.', end - 1);
  if (dot == std::string::npos || dot < folder) return {path, ""};
  return {path.substr(0, dot), path.substr(dot)};
}

/// What tells a source from another one under its name: of each file its name, size and time.
json source_of(const std::string& path) {
  json out = json::array({path});
  std::error_code error;
  auto add = [&](const fs::path& file) {
    const auto size = fs::file_size(file, error);
    const auto time = fs::last_write_time(file, error).time_since_epoch().count();
    out.push_back({file.lexically_relative(path).string(), error ? 0 : size, error ? 0 : time});
  };
  if (!fs::is_directory(path, error)) {
    if (fs::exists(path, error)) add(path);
    return out;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path, error))
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) add(file);
  return out;
}

json head_of(const std::string& from, std::int64_t shard_records, const ConvertOptions& o) {
  const ElementOptions& e = o.options;
  return {
      {"source", source_of(from)},
      {"shard_records", shard_records},
      {"options",
       {o.from_format, o.to_format, e.records, e.group_size, e.compression, e.split, e.shard_bytes,
        std::string(1, e.delimiter), e.dtype, static_cast<int>(o.on_damage), o.limit}}};
}

/// What the journal says is done.
struct Done {
  std::int64_t shards = 0, records = 0, taken = 0, damaged = 0;
  std::string first_damage;
  bool ended = false;
};

json line_of(const Done& d) {
  return {{"shards", d.shards},   {"records", d.records},           {"taken", d.taken},
          {"damaged", d.damaged}, {"first_damage", d.first_damage}, {"ended", d.ended}};
}

Result<Done> read_journal(const std::string& path, const json& head) {
  auto text = read_file(path);
  if (!text) return text.status();
  Done out;
  std::istringstream lines(*text);
  bool first = true;
  for (std::string line; std::getline(lines, line); first = false) {
    const json j = json::parse(line, nullptr, false);
    // A kill of the machine may leave a part of the last line; what it says was not relied upon.
    if (lines.eof() && text->back() != '\n') break;
    if (first && j != head)
      return Status(Code::invalid,
                    "{} is of another conversion: of a source that has changed, or of other "
                    "options; remove it to begin anew",
                    path);
    if (first) continue;
    const auto number = [&](const char* key) {
      return j.is_object() && j.contains(key) && j[key].is_number_integer()
                 ? j[key].get<std::int64_t>()
                 : -1;
    };
    Done next{number("shards"), number("records"), number("taken"), number("damaged"), "", false};
    if (next.shards < out.shards || next.records < out.records || next.taken < next.records ||
        next.damaged < 0 || !j["first_damage"].is_string() || !j["ended"].is_boolean())
      return Status(Code::corrupt, "{}: a line that no conversion wrote: {}", path, line);
    next.first_damage = j["first_damage"].get<std::string>();
    next.ended = j["ended"].get<bool>();
    out = std::move(next);
  }
  return out;
}

class Shards {
 public:
  Shards(std::string from, std::string to, std::int64_t records, const ConvertOptions& options)
      : from_(std::move(from)), journal_path_(to + ".journal"), records_(records), o_(options) {
    std::tie(name_, ending_) = split_name(to);
    const ElementFormat* format =
        o_.to_format.empty() ? element_format_of(to) : element_format_named(o_.to_format);
    if (format) to_format_ = format->name;
  }

  Result<ConvertedShards> run() {
    if (to_format_.empty())
      return Status(Code::invalid, "{}{}: the name does not say a format to write", name_, ending_);
    if (Status s = open_journal(); !s.ok()) return s;
    ConvertedShards out;
    out.resumed = done_.records;
    if (!done_.ended)
      if (Status s = write_rest(); !s.ok()) return s;
    if (Status s = give_names(); !s.ok()) return s;
    out.total = {done_.records, done_.damaged, done_.first_damage};
    out.shards = done_.shards;
    return out;
  }

 private:
  std::string shard(std::int64_t number, const std::string& count = "XXXXX") const {
    return fmt::format("{}-{:05}-of-{}{}", name_, number, count, ending_);
  }

  /// A journal begins under another name, so its head is whole.
  Status open_journal() {
    const json head = head_of(from_, records_, o_);
    auto lock = FileLock::take(journal_path_ + ".lock");
    if (!lock) return lock.status();
    lock_.emplace(std::move(*lock));
    if (file_exists(journal_path_)) {
      auto done = read_journal(journal_path_, head);
      if (!done) return done.status();
      done_ = std::move(*done);
    }
    // What is read is written anew, a part of a last line left out.
    const std::string text =
        head.dump() + "\n" + (done_.taken > 0 || done_.ended ? line_of(done_).dump() + "\n" : "");
    if (Status s = write_file_atomic(journal_path_, text); !s.ok()) return s;
    auto journal = LineWriter::open(journal_path_);
    if (!journal) return journal.status();
    journal_.emplace(std::move(*journal));
    return {};
  }

  Status note() {
    if (Status s = journal_->add(line_of(done_).dump()); !s.ok()) return s;
    return journal_->sync();
  }

  void show() const {
    const auto total = static_cast<double>(scanner_->total());
    o_.progress(done_.records + here_,
                total > 0 ? static_cast<double>(scanner_->passed()) / total : 0);
  }

  Status write_rest() {
    auto scanner = open_elements(from_, o_.from_format, o_.options);
    if (!scanner) return scanner.status();
    scanner_ = std::move(*scanner);
    Element element;
    for (std::int64_t i = 0; i < done_.taken; ++i) {
      auto more = scanner_->next(element);
      if (!more && more.status().code() != Code::corrupt) return more.status();
      if (more && !*more)
        return Status(Code::corrupt, "{} ends at record {}, where {} were read before", from_, i,
                      done_.taken);
    }
    while (!done_.ended) {
      if (Status s = write_shard(); !s.ok()) return s;
      show();
      if (Status s = note(); !s.ok()) return s;
      show();
    }
    return {};
  }

  /// The next shard. Damage behind the last record belongs to the last shard.
  Status write_shard() {
    const std::string path = shard(done_.shards);
    if (Status s = remove_all(path); !s.ok()) return s;  // of a call that did not come to note it
    Quarantine quarantine(path + ".quarantine.jsonl");
    std::unique_ptr<ElementWriter> writer;
    Done next = done_;
    here_ = 0;
    Element element;
    while (here_ < records_ && !next.ended) {
      if (o_.limit >= 0 && next.records >= o_.limit) {
        next.ended = true;
        break;
      }
      auto more = scanner_->next(element);
      if (!more) {
        if (more.status().code() != Code::corrupt || o_.on_damage == OnDamage::fail)
          return more.status();
        ++next.taken;
        if (next.damaged++ == 0) next.first_damage = more.status().message();
        if (o_.on_damage == OnDamage::quarantine)
          if (Status s = quarantine.add(more.status(), scanner_->damaged()); !s.ok()) return s;
        continue;
      }
      if (!*more) {
        next.ended = true;
        break;
      }
      if (!writer) {
        auto made = create_elements(path, to_format_, o_.options);
        if (!made) return made.status();
        writer = std::move(*made);
      }
      if (Status s = writer->add(element); !s.ok())
        return Status(s.code(), "{}: record {}: {}", path, here_, s.message());
      ++next.taken, ++next.records;
      if (++here_ % 1024 == 0) show();
    }
    // No records at all are one shard of none.
    if (!writer && next.ended && next.shards == 0) {
      auto made = create_elements(path, to_format_, o_.options);
      if (!made) return made.status();
      writer = std::move(*made);
    }
    if (Status s = quarantine.close(); !s.ok()) return s;
    if (writer) {
      if (Status s = writer->close(); !s.ok()) return s;
      ++next.shards;
    }
    here_ = 0;
    done_ = std::move(next);
    return {};
  }

  /// The names that say how many there are; those that have theirs already are passed over.
  Status give_names() {
    const std::string count = fmt::format("{:05}", done_.shards);
    for (std::int64_t i = 0; i <= done_.shards; ++i)
      for (const char* beside : {"", ".quarantine.jsonl"}) {
        const std::string old = shard(i) + beside;
        if (!file_exists(old) || (i == done_.shards && *beside == '\0')) continue;
        if (Status s = rename_synced(old, shard(i, count) + beside); !s.ok()) return s;
      }
    for (std::int64_t i = 0; i < done_.shards; ++i)
      if (!file_exists(shard(i, count)))
        return Status(Code::not_found, "{} says that {} was written, but it is not there",
                      journal_path_, shard(i));
    journal_.reset();
    if (Status s = remove_all(journal_path_); !s.ok()) return s;
    return remove_all(journal_path_ + ".lock");
  }

  std::string from_, journal_path_, name_, ending_, to_format_;
  std::int64_t records_, here_ = 0;
  const ConvertOptions& o_;
  Done done_;
  std::optional<FileLock> lock_;
  std::optional<LineWriter> journal_;
  std::unique_ptr<ElementScanner> scanner_;
};

}  // namespace

Result<ConvertedShards> convert_in_shards(const std::string& from, const std::string& to,
                                          std::int64_t shard_records,
                                          const ConvertOptions& options) {
  if (shard_records < 1)
    throw Error("convert_in_shards", "a shard has 1 record or more, got {}", shard_records);
  return Shards(from, to, shard_records, options).run();
}

}  // namespace strata::data
