#include "strata/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/checkpoint/manifest.h"
#include "strata/checkpoint/retention.h"
#include "strata/checkpoint/safetensors.h"

namespace strata::checkpoint {
namespace {

constexpr const char* kEnding = ".safetensors";

std::string folder_of(const std::string& root, std::int64_t step) {
  return fmt::format("{}/{}", root, step);
}

/// The step that a folder's name spells; "0400" and "400.tmp" spell none.
std::optional<std::int64_t> step_of(const std::string& name) {
  std::int64_t step = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || std::to_string(step) != name ||
      step < 0)
    return {};
  return step;
}

Result<FileEntry> write_part(const std::string& path, const Tensors& tensors) {
  const TensorFile file{tensors, {{"format", "strata"}}};
  auto pieces = safetensors_pieces(file);
  if (!pieces) return pieces.status();
  std::vector<std::string_view> all = {pieces->header};
  all.insert(all.end(), pieces->tensors.begin(), pieces->tensors.end());
  if (Status s = write_file_synced(path, all); !s.ok()) return s;
  FileEntry out;
  for (std::string_view piece : all) {
    out.bytes += piece.size();
    out.crc32c = crc32c(piece, out.crc32c);
  }
  for (const auto& [name, tensor] : tensors) out.tensors[name] = describe(tensor);
  return out;
}

/// All files of a checkpoint in a folder that is still under its temporary name.
Status write_folder(const std::string& folder, const Checkpoint& c) {
  if (Status s = make_folders(folder); !s.ok()) return s;
  Manifest manifest;
  manifest.step = c.step;
  manifest.notes = c.notes;
  for (const auto& [name, tensors] : c.parts) {
    auto entry = write_part(fmt::format("{}/{}{}", folder, name, kEnding), tensors);
    if (!entry) return entry.status();
    manifest.files[name + kEnding] = std::move(*entry);
  }
  if (Status s = write_file_synced(folder + "/manifest.json", encode_manifest(manifest)); !s.ok())
    return s;
  return sync_folder(folder);
}

std::uint64_t bytes_of(const TensorEntry& t) {
  std::uint64_t out = byte_width(parse_dtype(t.dtype).value_or(DType::i8));
  for (std::int64_t n : t.shape) out *= static_cast<std::uint64_t>(n);
  return out;
}

/// The first tensor that a file cut to `size` bytes lacks a part of: they lie in the order of their
/// names, up to the end.
std::string first_cut(const FileEntry& entry, std::uint64_t size) {
  std::uint64_t data = 0;
  for (const auto& [name, t] : entry.tensors) data += bytes_of(t);
  std::uint64_t end = entry.bytes - data;
  for (const auto& [name, t] : entry.tensors) {
    end += bytes_of(t);
    if (size < end) return fmt::format(", cut in tensor '{}'", name);
  }
  return "";
}

/// What two descriptions of a tensor disagree about.
Status mismatch(const std::string& path, const std::string& name, const TensorEntry& have,
                const TensorEntry& want) {
  if (have.dtype == want.dtype && have.shape == want.shape)
    return Status(Code::corrupt, "{}: tensor '{}' does not match its checksum", path, name);
  return Status(Code::corrupt, "{}: tensor '{}' is {}[{}], the manifest says {}[{}]", path, name,
                have.dtype, fmt::join(have.shape, ","), want.dtype, fmt::join(want.shape, ","));
}

/// The tensors of one file; adds what is wrong with it to `wrong`.
Tensors read_part(const std::string& path, const FileEntry& entry, std::vector<Status>& wrong) {
  auto bytes = read_file(path);
  if (!bytes) {
    wrong.push_back(bytes.status().code() == Code::not_found
                        ? Status(Code::corrupt, "{}: the file is missing", path)
                        : bytes.status());
    return {};
  }
  if (bytes->size() != entry.bytes) {
    wrong.push_back(Status(Code::corrupt, "{}: {} bytes, the manifest says {}{}", path,
                           bytes->size(), entry.bytes,
                           bytes->size() < entry.bytes ? first_cut(entry, bytes->size()) : ""));
    return {};
  }
  const bool whole = crc32c(*bytes) == entry.crc32c;
  auto file = decode_safetensors(*bytes, path);
  if (!file) {
    wrong.push_back(file.status());
    return {};
  }
  const std::size_t before = wrong.size();
  for (const auto& [name, want] : entry.tensors) {
    auto found = file->tensors.find(name);
    if (found == file->tensors.end()) {
      wrong.push_back(Status(Code::corrupt, "{}: tensor '{}' is missing", path, name));
    } else if (const TensorEntry have = describe(found->second); !(have == want)) {
      wrong.push_back(mismatch(path, name, have, want));
    }
  }
  for (const auto& [name, tensor] : file->tensors) {
    if (!entry.tensors.count(name))
      wrong.push_back(Status(Code::corrupt, "{}: tensor '{}' is not in the manifest", path, name));
  }
  if (!whole && wrong.size() == before)
    wrong.push_back(Status(Code::corrupt, "{}: the file does not match its checksum", path));
  return std::move(file->tensors);
}

/// A checkpoint's folder as far as it can be read; adds what is wrong with it to `wrong`.
Checkpoint read_folder(const std::string& folder, std::vector<Status>& wrong) {
  Checkpoint out;
  auto text = read_file(folder + "/manifest.json");
  auto manifest =
      text ? decode_manifest(*text, folder + "/manifest.json") : Result<Manifest>(text.status());
  if (!manifest) {
    wrong.push_back(manifest.status());
    return out;
  }
  out.step = manifest->step;
  out.notes = manifest->notes;
  for (const auto& [name, entry] : manifest->files)
    out.parts[name.substr(0, name.size() - std::string_view(kEnding).size())] =
        read_part(folder + "/" + name, entry, wrong);
  return out;
}

/// Whether a checkpoint that cannot be loaded may be passed over: its bytes are not, or no longer,
/// what was written.
bool is_damage(const Status& s) {
  return s.code() != Code::denied && s.code() != Code::unsupported;
}

}  // namespace

Status save(const std::string& root, const Checkpoint& c, Keep keep) {
  if (Status s = make_folders(root); !s.ok()) return s;
  if (Status s = sync_folder(std::filesystem::path(root).parent_path().string()); !s.ok())
    return s;  // which may have just got it
  const std::string folder = folder_of(root, c.step), beside = folder + ".tmp";
  if (Status s = remove_all(beside); !s.ok()) return s;
  if (Status s = write_folder(beside, c); !s.ok()) {
    (void)remove_all(beside);  // gives the space back; the first failure is the one to report
    return s;
  }
  if (Status s = exchange_synced(beside, folder); !s.ok()) return s;
  return tidy(root, c.step, keep);
}

Result<Checkpoint> load(const std::string& folder) {
  std::vector<Status> wrong;
  Checkpoint out = read_folder(folder, wrong);
  if (!wrong.empty()) return wrong.front();
  return out;
}

Result<Checkpoint> load(const std::string& root, std::int64_t step) {
  const std::string folder = folder_of(root, step);
  auto out = load(folder);
  if (out && out->step != step)
    return Status(Code::corrupt, "{}: the manifest is of step {}", folder, out->step);
  return out;
}

std::vector<Status> verify(const std::string& folder) {
  std::vector<Status> wrong;
  (void)read_folder(folder, wrong);
  return wrong;
}

Result<std::vector<std::int64_t>> steps(const std::string& root) {
  std::vector<std::int64_t> out;
  if (!file_exists(root)) return out;
  auto names = list_folder(root);
  if (!names) return names.status();
  for (const std::string& name : *names) {
    if (auto step = step_of(name)) out.push_back(*step);
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<Latest> load_latest(const std::string& root) {
  auto all = steps(root);
  if (!all) return all.status();
  Latest out;
  for (auto step = all->rbegin(); step != all->rend(); ++step) {
    auto checkpoint = load(root, *step);
    if (!checkpoint) {
      if (!is_damage(checkpoint.status())) return checkpoint.status();
      out.damaged.push_back(checkpoint.status());
      continue;
    }
    out.checkpoint = std::move(*checkpoint);
    out.folder = folder_of(root, *step);
    break;
  }
  return out;
}

std::string root_of(const std::string& path) {
  const std::string below = path + "/checkpoints";
  return file_exists(below) ? below : path;
}

Result<Latest> find(const std::string& path) {
  if (file_exists(path + "/manifest.json")) {
    auto checkpoint = load(path);
    if (!checkpoint) return checkpoint.status();
    return Latest{std::move(*checkpoint), path, {}};
  }
  auto latest = load_latest(root_of(path));
  if (!latest || latest->checkpoint) return latest;
  if (latest->damaged.empty()) return Status(Code::not_found, "{}: no checkpoint there", path);
  return Status(Code::corrupt, "{}: no checkpoint is whole; the newest one: {}", path,
                latest->damaged.front().message());
}

}  // namespace strata::checkpoint
