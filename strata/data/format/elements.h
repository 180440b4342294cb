// Files of any format as elements in their order: what conversion and `strata data show` go by.
//
//   auto scanner = open_elements("train.jsonl.zst");
//   Element e;
//   while ((*scanner)->next(e).value()) use(e);
//
//   auto writer = create_elements("train.array_record", {});
//   (*writer)->add(e), (*writer)->close();
//
// The formats are the rows of the table `element_formats` (element_formats.cc); each has its own
// files beside this one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/data/element.h"

namespace strata::data {

class ElementScanner {
 public:
  virtual ~ElementScanner() = default;
  /// The next element; false at the end. Checksums are verified. After Code::corrupt the next call
  /// goes on behind the damage where the format lets one find that place; elsewhere it says false.
  virtual Result<bool> next(Element& out) = 0;
  /// How far it is, and how far it goes: of bytes or of elements, whatever the format counts.
  virtual std::uint64_t passed() const = 0;
  virtual std::uint64_t total() const = 0;
  /// The raw bytes of the record that the last call found damaged; empty where nobody knows.
  virtual std::string_view damaged() const { return {}; }
};

class ElementWriter {
 public:
  virtual ~ElementWriter() = default;
  /// Code::invalid for an element that the format cannot hold; the message says why.
  virtual Status add(const Element& element) = 0;
  /// Makes the file or folder durable under its name; without it nothing stays.
  virtual Status close() = 0;
};

/// What readers and writers may be told; each takes what its format has.
struct ElementOptions {
  /// How records of bytes hold elements that are more: "json", "example" or "raw"; "auto" looks at
  /// the first record, and writes "example" to TFRecord and "json" elsewhere.
  std::string records = "auto";
  /// ArrayRecord: records of a chunk.
  std::int64_t group_size = 1;
  /// ArrayRecord, Parquet, Arrow: "none", "zstd", "brotli", "snappy", "lz4", what the format has;
  /// "auto" is zstd, for Arrow none.
  std::string compression = "auto";
  /// Hugging Face: the split that is read; may be empty where there is one alone.
  std::string split;
  /// MDS, Hugging Face: the size in bytes from which on a new shard begins.
  std::int64_t shard_bytes = std::int64_t{1} << 26;
  /// CSV: the delimiter.
  char delimiter = ',';
  /// Megatron: the dtype of tokens ("ui16", "i32").
  std::string dtype = "i32";
};

struct ElementFormat {
  /// As users name it: "jsonl", "tfrecord".
  std::string_view name;
  /// Endings of its files, separated by spaces; a compression's ending may follow.
  std::string_view endings;
  std::string_view summary;
  Result<std::unique_ptr<ElementScanner>> (*open)(const std::string& path,
                                                  const ElementOptions& options);
  /// Null where Strata does not write it.
  Result<std::unique_ptr<ElementWriter>> (*create)(const std::string& path,
                                                   const ElementOptions& options);
};

/// All of them, in the order of their names.
std::span<const ElementFormat> element_formats();
/// By name; by how a path ends, or what a folder holds. Null for none.
const ElementFormat* element_format_named(std::string_view name);
const ElementFormat* element_format_of(const std::string& path);

/// Opens a file or folder; `format` is empty or names one. Code::invalid where nobody knows which.
Result<std::unique_ptr<ElementScanner>> open_elements(const std::string& path,
                                                      const std::string& format = "",
                                                      const ElementOptions& options = {});
Result<std::unique_ptr<ElementWriter>> create_elements(const std::string& path,
                                                       const std::string& format = "",
                                                       const ElementOptions& options = {});

/// What becomes of damaged records.
enum class OnDamage { fail, skip, quarantine };

struct ConvertOptions {
  std::string from_format, to_format;
  ElementOptions options;
  OnDamage on_damage = OnDamage::fail;
  /// Records at most; below 0 all.
  std::int64_t limit = -1;
  /// Called again and again with how far it is.
  std::function<void(std::int64_t records, double share)> progress = [](std::int64_t, double) {};
};
struct Converted {
  std::int64_t records = 0, damaged = 0;
  /// What the first damaged record's failure said.
  std::string first_damage;
};
/// Writes what `from` holds to `to`, which is whole or not there. With `quarantine` the damaged
/// records stand in TO.quarantine.jsonl, a line each: what is wrong, and the bytes where they are
/// known.
Result<Converted> convert_elements(const std::string& from, const std::string& to,
                                   const ConvertOptions& options);

using OpenedElements = Result<std::unique_ptr<ElementScanner>>;
using CreatedElements = Result<std::unique_ptr<ElementWriter>>;
// The rows of the table.
OpenedElements open_array_record(const std::string&, const ElementOptions&);
OpenedElements open_arrow(const std::string&, const ElementOptions&);
OpenedElements open_bagz(const std::string&, const ElementOptions&);
OpenedElements open_csv(const std::string&, const ElementOptions&);
OpenedElements open_hugging_face(const std::string&, const ElementOptions&);
OpenedElements open_jsonl(const std::string&, const ElementOptions&);
OpenedElements open_mds(const std::string&, const ElementOptions&);
OpenedElements open_megatron(const std::string&, const ElementOptions&);
OpenedElements open_npy(const std::string&, const ElementOptions&);
OpenedElements open_parquet(const std::string&, const ElementOptions&);
OpenedElements open_safetensors(const std::string&, const ElementOptions&);
OpenedElements open_text(const std::string&, const ElementOptions&);
OpenedElements open_tf_record(const std::string&, const ElementOptions&);
OpenedElements open_tokens(const std::string&, const ElementOptions&);
OpenedElements open_web_dataset(const std::string&, const ElementOptions&);
CreatedElements create_array_record(const std::string&, const ElementOptions&);
CreatedElements create_arrow(const std::string&, const ElementOptions&);
CreatedElements create_bagz(const std::string&, const ElementOptions&);
CreatedElements create_csv(const std::string&, const ElementOptions&);
CreatedElements create_hugging_face(const std::string&, const ElementOptions&);
CreatedElements create_jsonl(const std::string&, const ElementOptions&);
CreatedElements create_mds(const std::string&, const ElementOptions&);
CreatedElements create_megatron(const std::string&, const ElementOptions&);
CreatedElements create_npy(const std::string&, const ElementOptions&);
CreatedElements create_parquet(const std::string&, const ElementOptions&);
CreatedElements create_safetensors(const std::string&, const ElementOptions&);
CreatedElements create_text(const std::string&, const ElementOptions&);
CreatedElements create_tf_record(const std::string&, const ElementOptions&);
CreatedElements create_web_dataset(const std::string&, const ElementOptions&);

}  // namespace strata::data
