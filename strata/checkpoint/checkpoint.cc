#include "strata/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/base/large_file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/chunks.h"
#include "strata/checkpoint/damage.h"
#include "strata/checkpoint/manifest.h"
#include "strata/checkpoint/read_tensors.h"
#include "strata/checkpoint/retention.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/checkpoint/store/commit.h"

namespace strata::checkpoint {
namespace {

constexpr const char* kEnding = ".safetensors";

std::string folder_of(const std::string& root, std::int64_t step) {
  return fmt::format("{}/{}", root, step);
}

/// The folder above one, whose name may end in "/".
std::string above(std::string folder) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
  if (is_object_path(folder)) return folder.substr(0, folder.rfind('/'));
  const std::string out = std::filesystem::path(folder).parent_path().string();
  return out.empty() ? "." : out;
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

std::string_view bytes_in(const Literal& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()};
}

/// The manifest of the newest step before one; an empty one where that cannot be read.
Manifest newest_manifest(const std::string& root, std::int64_t before) {
  auto all = steps(root);
  if (all) std::erase_if(*all, [&](std::int64_t step) { return step >= before; });
  if (!all || all->empty()) return {};
  const std::string path = folder_of(root, all->back()) + "/manifest.json";
  auto text = read_file(path);
  auto manifest = text ? decode_manifest(*text, path) : Result<Manifest>(text.status());
  return manifest ? std::move(*manifest) : Manifest();
}

/// Whether the step before had a tensor with this checksum there.
bool stayed(const Manifest& newest, const std::string& file, const std::string& tensor,
            const TensorEntry& now) {
  const auto then = newest.files.find(file);
  if (then == newest.files.end()) return false;
  const auto found = then->second.tensors.find(tensor);
  return found != then->second.tensors.end() && found->second.dtype == now.dtype &&
         found->second.shape == now.shape && found->second.crc32c == now.crc32c;
}

bool says(const Still& still, const std::string& part, const std::string& tensor) {
  const auto found = still.find(part);
  return found != still.end() && found->second.count(tensor) != 0;
}

/// The manifest of a checkpoint, without sizes and checksums of files: decides which tensors are
/// stored as chunks and which in the files.
Manifest plan(const std::string& root, const Checkpoint& c, const Still& still) {
  Manifest out;
  out.step = c.step;
  out.notes = c.notes;
  const Manifest newest = newest_manifest(root, c.step);
  for (const auto& [part, tensors] : c.parts) {
    FileEntry& entry = out.files[part + kEnding];
    for (const auto& [name, tensor] : tensors) {
      TensorEntry& t = entry.tensors[name] = describe(tensor);
      if (tensor.bytes() < kLeastChunk) continue;
      if (!says(still, part, name) && !stayed(newest, part + kEnding, name, t)) continue;
      t.chunk = chunk_name(bytes_in(tensor));
      out.format = 2;
    }
  }
  return out;
}

/// The chunks that a manifest names, each durable before it.
Status write_chunks(const std::string& root, const Checkpoint& c, const Manifest& manifest) {
  for (const auto& [part, tensors] : c.parts)
    for (const auto& [name, t] : manifest.files.at(part + kEnding).tensors) {
      if (t.chunk.empty()) continue;
      if (Status s = write_chunk(root, t.chunk, bytes_in(tensors.at(name))); !s.ok()) return s;
    }
  return {};
}

/// The file of what is no chunk; adds its size and checksum to its entry.
Status write_part(const std::string& path, const Tensors& tensors, FileEntry& entry) {
  TensorFile file{{}, {{"format", "strata"}}};
  for (const auto& [name, tensor] : tensors)
    if (entry.tensors.at(name).chunk.empty()) file.tensors.emplace(name, tensor);
  auto pieces = safetensors_pieces(file);
  if (!pieces) return pieces.status();
  std::vector<std::string_view> all = {pieces->header};
  all.insert(all.end(), pieces->tensors.begin(), pieces->tensors.end());
  if (Status s = write_file_synced(path, all); !s.ok()) return s;
  for (std::string_view piece : all) {
    entry.bytes += piece.size();
    entry.crc32c = crc32c(piece, entry.crc32c);
  }
  return {};
}

/// All files of a checkpoint in a folder, the manifest last.
Status write_folder(const std::string& folder, const Checkpoint& c, Manifest manifest) {
  if (Status s = make_folders(folder); !s.ok()) return s;
  for (const auto& [part, tensors] : c.parts) {
    const std::string file = part + kEnding;
    if (Status s = write_part(folder + "/" + file, tensors, manifest.files.at(file)); !s.ok())
      return s;
  }
  const std::string end = folder + "/manifest.json";
  if (is_object_path(end)) return commit_object(end, encode_manifest(manifest));
  if (Status s = write_file_synced(end, encode_manifest(manifest)); !s.ok()) return s;
  return sync_folder(folder);
}

/// Where nothing can be renamed: the manifest at the end makes a checkpoint of what is there. One
/// of that step that is replaced goes first, its manifest before all.
Status save_to_bucket(const std::string& folder, const Checkpoint& c, Manifest manifest) {
  if (Status s = remove_step(folder); !s.ok()) return s;
  const Status written = write_folder(folder, c, std::move(manifest));
  // The first failure is the one to report. What another process committed stays.
  if (!written.ok() && written.code() != Code::exists) (void)remove_step(folder);
  return written;
}

/// On a disk: written beside, and given its name at the end.
Status save_to_folder(const std::string& folder, const Checkpoint& c, Manifest manifest) {
  const std::string beside = folder + ".tmp";
  if (Status s = remove_all(beside); !s.ok()) return s;
  if (Status s = write_folder(beside, c, std::move(manifest)); !s.ok()) {
    (void)remove_all(beside);  // gives the space back; the first failure is the one to report
    return s;
  }
  return exchange_synced(beside, folder);
}

std::uint64_t bytes_of(const TensorEntry& t) {
  std::uint64_t out = byte_width(parse_dtype(t.dtype).value_or(DType::i8));
  for (std::int64_t n : t.shape) out *= static_cast<std::uint64_t>(n);
  return out;
}

/// The first tensor that a file cut to `size` bytes lacks a part of: they are in the order of their
/// names, up to the end.
std::string first_cut(const FileEntry& entry, std::uint64_t size) {
  std::uint64_t data = 0;
  for (const auto& [name, t] : entry.tensors) data += t.chunk.empty() ? bytes_of(t) : 0;
  std::uint64_t end = entry.bytes - data;
  for (const auto& [name, t] : entry.tensors) {
    if (!t.chunk.empty()) continue;
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

/// A tensor that is a chunk below `root`, the folder above the step's.
Result<Literal> read_chunk(const std::string& root, const std::string& part,
                           const std::string& name, const TensorEntry& t) {
  const std::string path = chunk_path(root, t.chunk);
  auto file = MappedFile::open(path);
  if (!file && file.status().code() == Code::not_found)
    return Status(
        Code::corrupt,
        "{}: the chunk is missing, which holds tensor '{}' of {}; a step's folder that is "
        "copied needs the folder of chunks beside it (`strata checkpoint convert` writes "
        "one that needs none)",
        path, name, part);
  if (!file) return file.status();
  const std::string_view bytes = (*file)->bytes();
  const auto dtype = parse_dtype(t.dtype);
  if (!dtype) return Status(Code::corrupt, "{}: there is no dtype '{}'", path, t.dtype);
  if (bytes.size() != bytes_of(t))
    return Status(Code::corrupt, "{}: the chunk has {} bytes, tensor '{}' of {} has {}", path,
                  bytes.size(), name, part, bytes_of(t));
  if (crc32c(bytes) != t.crc32c)
    return Status(Code::corrupt,
                  "{}: the chunk does not match its checksum; it holds tensor '{}' of {}", path,
                  name, part);
  Literal out(Type(*dtype, Shape::of(t.shape)));
  if (!bytes.empty()) std::memcpy(out.mutable_data(), bytes.data(), bytes.size());
  return out;
}

/// Adds the tensors of a part that are chunks.
void add_chunks(const std::string& folder, const std::string& part, const FileEntry& entry,
                Tensors& tensors, std::vector<Status>& wrong) {
  const std::string root = above(folder);
  for (const auto& [name, t] : entry.tensors) {
    if (t.chunk.empty()) continue;
    auto tensor = read_chunk(root, part, name, t);
    if (tensor) {
      tensors.emplace(name, std::move(*tensor));
    } else {
      wrong.push_back(tensor.status());
    }
  }
}

/// The tensors of one file; adds what is wrong with it to `wrong`.
Tensors read_part(const std::string& path, const FileEntry& entry, std::vector<Status>& wrong) {
  auto read = read_tensors(path, entry.bytes);
  if (!read) {
    wrong.push_back(read.status().code() == Code::not_found
                        ? Status(Code::corrupt, "{}: the file is missing", path)
                        : read.status());
    return {};
  }
  if (read->size != entry.bytes) {
    wrong.push_back(Status(Code::corrupt, "{}: {} bytes, the manifest says {}{}", path, read->size,
                           entry.bytes,
                           read->size < entry.bytes ? first_cut(entry, read->size) : ""));
    return {};
  }
  const bool whole = read->crc32c == entry.crc32c;
  TensorFile* const file = &read->file;
  const std::size_t before = wrong.size();
  for (const auto& [name, want] : entry.tensors) {
    if (!want.chunk.empty()) continue;
    auto found = file->tensors.find(name);
    if (found == file->tensors.end()) {
      wrong.push_back(Status(Code::corrupt, "{}: tensor '{}' is missing", path, name));
    } else if (const TensorEntry have = describe(found->second); !(have == want)) {
      wrong.push_back(mismatch(path, name, have, want));
    }
  }
  for (const auto& [name, tensor] : file->tensors) {
    const auto said = entry.tensors.find(name);
    if (said == entry.tensors.end() || !said->second.chunk.empty())
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
  for (const auto& [name, entry] : manifest->files) {
    const std::string part = name.substr(0, name.size() - std::string_view(kEnding).size());
    Tensors& tensors = out.parts[part] = read_part(folder + "/" + name, entry, wrong);
    add_chunks(folder, part, entry, tensors, wrong);
  }
  return out;
}

}  // namespace

bool is_damage(const std::string& path, const Status& s) {
  if (s.code() == Code::io) return !is_object_path(path);
  return s.code() != Code::denied && s.code() != Code::unsupported;
}

Status save(const std::string& root, const Checkpoint& c, Keep keep, const Still& still) {
  if (Status s = make_folders(root); !s.ok()) return s;
  if (!is_object_path(root))
    if (Status s = sync_folder(above(root)); !s.ok()) return s;  // which may have just got it
  Manifest manifest = plan(root, c, still);
  std::optional<ChunkLock> lock;
  if (manifest.format == 2) {
    auto taken = ChunkLock::wait(root);
    if (!taken) return taken.status();
    lock = std::move(*taken);
    if (Status s = write_chunks(root, c, manifest); !s.ok()) {
      lock.reset();
      (void)collect_chunks(root);  // gives the space back
      return s;
    }
  }
  const std::string folder = folder_of(root, c.step);
  Status s = is_object_path(root) ? save_to_bucket(folder, c, std::move(manifest))
                                  : save_to_folder(folder, c, std::move(manifest));
  lock.reset();
  if (s.ok()) return tidy(root, c.step, keep);
  (void)collect_chunks(root);
  return s;
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
  const bool bucket = is_object_path(root);
  auto names = list_folder(root);
  if (!names && names.status().code() == Code::not_found) return out;
  if (!names) return names.status();
  for (const std::string& name : *names) {
    const auto step = step_of(name);
    if (!step) continue;
    if (bucket) {  // the manifest, which is written last, makes it one
      auto inside = list_folder(root + "/" + name);
      if (!inside) return inside.status();
      if (!std::binary_search(inside->begin(), inside->end(), "manifest.json")) continue;
    }
    out.push_back(*step);
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
      if (!is_damage(root, checkpoint.status())) return checkpoint.status();
      out.damaged.push_back(checkpoint.status());
      continue;
    }
    out.checkpoint = std::move(*checkpoint);
    out.folder = folder_of(root, *step);
    break;
  }
  return out;
}

Result<std::string> root_of(const std::string& path) {
  if (path.empty())
    return Status(Code::invalid, "{}", "the path is empty: name a folder or a file");
  const std::string below = path + "/checkpoints";
  const auto there = is_there(below);
  if (!there) return there.status();
  return *there ? below : path;
}

Result<Latest> find(const std::string& path) {
  const auto one = is_there(path + "/manifest.json");
  if (!one) return one.status();
  if (*one) {
    auto checkpoint = load(path);
    if (!checkpoint) return checkpoint.status();
    return Latest{std::move(*checkpoint), path, {}};
  }
  const auto root = root_of(path);
  if (!root) return root.status();
  auto latest = load_latest(*root);
  if (!latest || latest->checkpoint) return latest;
  if (latest->damaged.empty()) return Status(Code::not_found, "{}: no checkpoint there", path);
  return Status(Code::corrupt, "{}: no checkpoint is whole; the newest one: {}", path,
                latest->damaged.front().message());
}

}  // namespace strata::checkpoint
