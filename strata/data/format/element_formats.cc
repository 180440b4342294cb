// Every format of elements.h: its table, and the formats that names and folders tell.
#include <algorithm>
#include <filesystem>
#include <vector>

#include "strata/base/file.h"
#include "strata/data/compression/stream.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/hugging_face.h"

namespace strata::data {
namespace {

constexpr ElementFormat kFormats[] = {
    {"array_record", ".array_record .arrayrecord .riegeli",
     "records by number in checked chunks; what Grain reads", open_array_record,
     create_array_record},
    {"arrow", ".arrow .arrows .feather .ipc", "columns in batches; Arrow's file, or its stream",
     open_arrow, create_arrow},
    {"bagz", ".bagz .bag", "records by number, each compressed alone", open_bagz, create_bagz},
    {"csv", ".csv .tsv", "a line of names, then records of texts", open_csv, create_csv},
    {"hugging_face", "", "a folder as datasets' save_to_disk writes it, or as on the hub",
     open_hugging_face, create_hugging_face},
    {"jsonl", ".jsonl .ndjson", "a JSON object on each line", open_jsonl, create_jsonl},
    {"mds", "", "a folder of shards with columns; mosaicml-streaming", open_mds, create_mds},
    {"megatron", ".bin .idx", "tokens of documents; Megatron-LM's indexed dataset", open_megatron,
     create_megatron},
    {"numpy", ".npy .npz", "the rows of arrays", open_npy, create_npy},
    {"parquet", ".parquet .pq", "columns in compressed pages", open_parquet, create_parquet},
    {"safetensors", ".safetensors", "the rows of tensors of one leading size", open_safetensors,
     create_safetensors},
    {"text", ".txt", "a record on each line", open_text, create_text},
    {"tfrecord", ".tfrecord .tfrecords", "records behind checksums, usually tf.train.Example",
     open_tf_record, create_tf_record},
    {"tokens", ".tokens", "Strata's token files", open_tokens, nullptr},
    {"webdataset", ".tar .tgz", "samples of files in a tar archive", open_web_dataset,
     create_web_dataset},
};

bool ends_as(std::string_view path, std::string_view endings) {
  while (!endings.empty()) {
    const std::size_t n = std::min(endings.find(' '), endings.size());
    if (path.ends_with(endings.substr(0, n))) return true;
    endings.remove_prefix(std::min(n + 1, endings.size()));
  }
  return false;
}

std::string names_of_formats() {
  std::string out;
  for (const ElementFormat& f : kFormats) out += (out.empty() ? "" : ", ") + std::string(f.name);
  return out;
}

/// Why nobody knows the format of what is to be read.
Status no_format(const std::string& path) {
  std::error_code error;
  const auto what = std::filesystem::status(path, error);
  if (what.type() == std::filesystem::file_type::not_found && path.find("://") == path.npos)
    return Status(Code::not_found, "{}: there is no such file or folder", path);
  if (what.type() != std::filesystem::file_type::directory) return {};
  (void)std::filesystem::directory_iterator(path, error);
  if (error) return Status(Code::denied, "{}: cannot open: {}", path, error.message());
  return Status(Code::invalid,
                "{}: a folder that holds no data set: no index.json (MDS), no state.json, "
                "dataset_dict.json or data files (Hugging Face)",
                path);
}

Result<const ElementFormat*> choose(const std::string& path, const std::string& format) {
  if (const ElementFormat* f =
          format.empty() ? element_format_of(path) : element_format_named(format))
    return f;
  if (!format.empty())
    return Status(Code::invalid, "no format {}; there are {}", format, names_of_formats());
  return Status(Code::invalid, "{}: the name does not say a format; give one of {}", path,
                names_of_formats());
}

}  // namespace

std::span<const ElementFormat> element_formats() { return kFormats; }

const ElementFormat* element_format_named(std::string_view name) {
  for (const ElementFormat& f : kFormats)
    if (f.name == name) return &f;
  return nullptr;
}

const ElementFormat* element_format_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    if (file_exists(path + "/index.json")) return element_format_named("mds");
    return hugging_face_splits(path) ? element_format_named("hugging_face") : nullptr;
  }
  std::string_view name = path;
  if (name.ends_with("index.json")) return element_format_named("mds");
  if (compression_of_path(name)) name = name.substr(0, name.rfind('.'));
  for (const ElementFormat& f : kFormats)
    if (ends_as(name, f.endings)) return &f;
  return nullptr;
}

OpenedElements open_elements(const std::string& path, const std::string& format,
                             const ElementOptions& options) {
  auto chosen = choose(path, format);
  if (chosen) return (*chosen)->open(path, options);
  const Status why = format.empty() ? no_format(path) : Status();
  return why.ok() ? chosen.status() : why;
}

CreatedElements create_elements(const std::string& path, const std::string& format,
                                const ElementOptions& options) {
  auto chosen = choose(path, format);
  if (!chosen) return chosen.status();
  if (!(*chosen)->create)
    return Status(Code::unsupported, "{}: the format {} is read, not written", path,
                  (*chosen)->name);
  return (*chosen)->create(path, options);
}

}  // namespace strata::data
