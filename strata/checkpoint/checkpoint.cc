#include "strata/checkpoint/checkpoint.h"

#include <algorithm>
#include <charconv>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/checkpoint/manifest.h"
#include "strata/checkpoint/safetensors.h"

namespace strata::checkpoint {
namespace {

constexpr const char* kEnding = ".safetensors";

std::string folder_of(const std::string& root, std::int64_t step) { return fmt::format("{}/{}", root, step); }

/// The step that a folder's name spells; "0400" and "400.tmp" spell none.
std::optional<std::int64_t> step_of(const std::string& name) {
  std::int64_t step = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (error != std::errc() || end != name.data() + name.size() || std::to_string(step) != name || step < 0) return {};
  return step;
}

Result<FileEntry> write_part(const std::string& path, const Tensors& tensors) {
  auto bytes = encode_safetensors({tensors, {{"format", "strata"}}});
  if (!bytes) return bytes.status();
  if (Status s = write_file_synced(path, *bytes); !s.ok()) return s;
  FileEntry out{bytes->size(), crc32c(*bytes), {}};
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
  if (Status s = write_file_synced(folder + "/manifest.json", encode_manifest(manifest)); !s.ok()) return s;
  return sync_folder(folder);
}

Result<Tensors> read_part(const std::string& path, const FileEntry& entry) {
  auto bytes = read_file(path);
  if (!bytes) return bytes.status().code() == Code::not_found ? Status(Code::corrupt, "{}: the file is missing", path) : bytes.status();
  if (bytes->size() != entry.bytes) return Status(Code::corrupt, "{}: {} bytes, the manifest says {}", path, bytes->size(), entry.bytes);
  const bool whole = crc32c(*bytes) == entry.crc32c;
  auto file = decode_safetensors(*bytes, path);
  if (!file) return file.status();
  if (file->tensors.size() != entry.tensors.size())
    return Status(Code::corrupt, "{}: {} tensors, the manifest says {}", path, file->tensors.size(), entry.tensors.size());
  for (const auto& [name, want] : entry.tensors) {
    auto found = file->tensors.find(name);
    if (found == file->tensors.end()) return Status(Code::corrupt, "{}: tensor '{}' is missing", path, name);
    if (!(describe(found->second) == want)) return Status(Code::corrupt, "{}: tensor '{}' does not match its checksum", path, name);
  }
  if (!whole) return Status(Code::corrupt, "{}: the file does not match its checksum", path);
  return std::move(file->tensors);
}

/// Removes what earlier saves left unfinished, and old checkpoints beyond `keep`.
Status tidy(const std::string& root, std::int64_t saved, std::int64_t keep) {
  auto names = list_folder(root);
  if (!names) return names.status();
  for (const std::string& name : *names) {
    if (!name.ends_with(".tmp")) continue;
    if (Status s = remove_all(root + "/" + name); !s.ok()) return s;
  }
  auto all = steps(root);
  if (!all) return all.status();
  // Later steps stay: they can only be damaged ones, which the run passes again and replaces.
  std::erase_if(*all, [&](std::int64_t step) { return step >= saved; });
  const std::size_t removed = keep <= 0 ? 0 : all->size() - std::min(all->size(), static_cast<std::size_t>(keep - 1));
  for (std::size_t i = 0; i < removed; ++i) {
    // Renamed first, so that a crash in between leaves no half checkpoint under a step's name.
    const std::string folder = folder_of(root, (*all)[i]);
    if (Status s = rename_synced(folder, folder + ".tmp"); !s.ok()) return s;
    if (Status s = remove_all(folder + ".tmp"); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Status save(const std::string& root, const Checkpoint& c, std::int64_t keep) {
  if (Status s = make_folders(root); !s.ok()) return s;
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
  auto text = read_file(folder + "/manifest.json");
  if (!text) return text.status();
  auto manifest = decode_manifest(*text, folder + "/manifest.json");
  if (!manifest) return manifest.status();
  Checkpoint out{manifest->step, {}, manifest->notes};
  for (const auto& [name, entry] : manifest->files) {
    auto tensors = read_part(folder + "/" + name, entry);
    if (!tensors) return tensors.status();
    out.parts[name.substr(0, name.size() - std::string_view(kEnding).size())] = std::move(*tensors);
  }
  return out;
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
    const std::string folder = folder_of(root, *step);
    auto checkpoint = load(folder);
    if (checkpoint.ok() && checkpoint->step != *step)
      checkpoint = Status(Code::corrupt, "{}: the manifest is of step {}", folder, checkpoint->step);
    if (!checkpoint) {
      out.damaged.push_back(checkpoint.status());
      continue;
    }
    out.checkpoint = std::move(*checkpoint);
    out.folder = folder;
    break;
  }
  return out;
}

}  // namespace strata::checkpoint
