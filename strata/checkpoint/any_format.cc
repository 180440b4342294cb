#include "strata/checkpoint/any_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "strata/base/file.h"
#include "strata/base/object_store/object_store.h"
#include "strata/base/presence.h"
#include "strata/checkpoint/damage.h"
#include "strata/checkpoint/gguf.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/checkpoint/orbax/reshard.h"
#include "strata/checkpoint/retention.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/checkpoint/target.h"

namespace strata::checkpoint::any_format {
namespace {

constexpr std::pair<Format, std::string_view> kNames[] = {{Format::strata, "strata"},
                                                          {Format::orbax, "orbax"},
                                                          {Format::orbax2, "orbax-v1"},
                                                          {Format::safetensors, "safetensors"},
                                                          {Format::gguf, "gguf"}};

/// Whether a folder has steps of Orbax's; of a root that is not there, no.
Result<bool> has_orbax_steps(const std::string& root) {
  const auto steps = orbax::steps(root);
  if (steps) return !steps->empty();
  if (steps.status().code() == Code::not_found) return false;
  return steps.status();
}

Result<Checkpoint> read_file_of_tensors(const std::string& path, Format format) {
  Checkpoint out;
  Tensors& part = out.parts["model"];
  if (format == Format::safetensors) {
    auto file = read_safetensors(path);
    if (!file) return file.status();
    part = std::move(file->tensors);
    return out;
  }
  auto file = Gguf::open(path);
  if (!file) return file.status();
  for (const GgufTensor& t : file->tensors()) {
    auto value = t.type.is_plain() ? Result<Literal>(file->bytes_of(t)) : file->numbers_of(t);
    if (!value) return value.status();
    part[t.name] = std::move(*value);
  }
  return out;
}

/// The tensors of all parts.
Tensors together(const Checkpoint& c) {
  if (c.parts.size() == 1) return c.parts.begin()->second;
  Tensors out;
  for (const auto& [part, tensors] : c.parts)
    for (const auto& [name, t] : tensors) out[part + "/" + name] = t;
  return out;
}

Status write_gguf(const std::string& path, const Tensors& tensors) {
  std::vector<GgufTensor> list;
  for (const auto& [name, t] : tensors) {
    const DType d = t.dtype();
    const bool known = d == DType::f32 || d == DType::f16 || d == DType::bf16 || d == DType::f64 ||
                       d == DType::i8 || d == DType::i16 || d == DType::i32 || d == DType::i64;
    if (!known)
      return Status(Code::unsupported,
                    "{}: GGUF has no plain tensors of {} ('{}'); Orbax's format holds every dtype",
                    path, strata::name(d), name);
    list.push_back({.name = name, .shape = t.shape().sizes(), .type = d});
  }
  auto writer = GgufWriter::create(path, {}, std::move(list));
  if (!writer) return writer.status();
  for (const auto& [name, t] : tensors)
    if (Status s = writer->add({reinterpret_cast<const char*>(t.data()), t.bytes()}); !s.ok())
      return s;
  return writer->finish();
}

/// Whether a path is a file, and whether it is a folder; of a bucket by what is there.
struct Kinds {
  bool file = false, folder = false;
};
Result<Kinds> kinds_of(const std::string& path) {
  namespace fs = std::filesystem;
  const auto there = is_there(path);
  if (!there) return there.status();
  std::error_code error;
  if (!is_object_path(path))
    return Kinds{fs::is_regular_file(path, error), fs::is_directory(path, error)};
  auto at = find_object(path);
  if (!at) return at.status();
  if (!*there || at->key.empty()) return Kinds{.folder = *there};
  const auto object = at->store->stat(at->key);
  if (!object && object.status().code() != Code::not_found) return object.status();
  return Kinds{.file = object.ok(), .folder = !object.ok()};
}

/// Whether a path is a folder of one of Strata's checkpoints.
Result<bool> is_ours(const std::string& path) { return is_there(path + "/manifest.json"); }

/// Whether a path is a folder of one of Orbax's checkpoints, and of none of Strata's.
Result<bool> is_orbax(const std::string& path) {
  const auto ours = is_ours(path);
  if (!ours) return ours.status();
  if (*ours) return false;
  return orbax::is_checkpoint(path);
}

/// One checkpoint's folder, whatever its reader needs.
Result<Checkpoint> load_unchecked(const std::string& folder) {
  const auto orbax = is_orbax(folder);
  if (!orbax) return orbax.status();
  if (*orbax) return orbax::load(folder);
  auto out = checkpoint::load(folder);
  const std::string name = std::filesystem::path(folder).filename().string();
  if (out && name.find_first_not_of("0123456789") == name.npos &&
      name != fmt::format("{}", out->step))
    return Status(Code::corrupt, "{}: the manifest is of step {}", folder, out->step);
  return out;
}

Status write_orbax(const std::string& path, const Checkpoint& c, Format format,
                   const WriteOptions& options) {
  orbax::Contents contents = orbax::contents_of(c);
  contents.in_folder = options.in_folder && format == Format::orbax;
  for (auto& [item, leaves] : contents.items)
    for (orbax::Leaf& leaf : leaves) orbax::cut(leaf, options.shards);
  return orbax::save(
      path, contents,
      {.api = format == Format::orbax2 ? 2 : 1, .tree = {.compressed = options.compressed}});
}

bool is_file(std::optional<Format> format) {
  return format == Format::safetensors || format == Format::gguf;
}

}  // namespace

std::string_view name(Format format) {
  for (const auto& [f, n] : kNames)
    if (f == format) return n;
  STRATA_UNREACHABLE("format");
}

std::optional<Format> named(std::string_view name) {
  for (const auto& [f, n] : kNames)
    if (n == name) return f;
  return {};
}

Status no_checkpoint(const std::string& path) {
  const auto kinds = kinds_of(path);
  if (!kinds) return kinds.status();
  return Status(Code::not_found, "{}: no checkpoint there: {}", path,
                kinds->folder ? "the folder is no checkpoint's, and no run's that has saved one"
                : kinds->file ? "files of tensors end in .safetensors or .gguf, and other "
                                "checkpoints are folders"
                              : "there is no such file or folder");
}

Result<std::optional<Format>> format_of(const std::string& path) {
  using Found = std::optional<Format>;
  const auto kinds = kinds_of(path);
  if (!kinds) return kinds.status();
  if (kinds->file) {
    if (path.ends_with(".safetensors")) return Found(Format::safetensors);
    if (path.ends_with(".gguf")) return Found(Format::gguf);
    return Found();
  }
  if (!kinds->folder) return Found();
  const auto orbax = is_orbax(path);
  if (!orbax) return orbax.status();
  if (*orbax) {
    const auto second = is_there(path + "/orbax.checkpoint");
    if (!second) return second.status();
    return Found(*second ? Format::orbax2 : Format::orbax);
  }
  const auto ours = is_ours(path);
  if (!ours) return ours.status();
  if (*ours) return Found(Format::strata);
  const auto root = root_of(path);
  if (!root) return root.status();
  const auto steps = has_orbax_steps(*root);
  if (!steps) return steps.status();
  return Found(*steps ? Format::orbax : Format::strata);
}

Result<std::vector<std::pair<std::int64_t, std::string>>> steps(const std::string& root) {
  std::map<std::int64_t, std::string> all;
  auto ours = checkpoint::steps(root);
  if (!ours) return ours.status();
  for (std::int64_t step : *ours) all[step] = fmt::format("{}/{}", root, step);
  auto theirs = orbax::steps(root);
  if (!theirs && theirs.status().code() == Code::not_found)
    return std::vector<std::pair<std::int64_t, std::string>>();
  if (!theirs) return theirs.status();
  for (auto& [step, folder] : *theirs) all.emplace(step, std::move(folder));
  return std::vector<std::pair<std::int64_t, std::string>>(all.begin(), all.end());
}

Result<Checkpoint> load(const std::string& folder, const Check& check) {
  auto out = load_unchecked(folder);
  if (!out || !check) return out;
  if (const Status s = check(*out); !s.ok()) return Status(s.code(), "{}: {}", folder, s.message());
  return out;
}

Result<Latest> load_latest(const std::string& root, const Check& check) {
  auto all = steps(root);
  if (!all) return all.status();
  Latest out;
  for (auto step = all->rbegin(); step != all->rend(); ++step) {
    auto c = load(step->second, check);
    if (!c) {
      if (!is_damage(root, c.status())) return c.status();
      out.damaged.push_back(c.status());
      continue;
    }
    out.checkpoint = std::move(*c);
    out.folder = step->second;
    break;
  }
  return out;
}

Result<Latest> find(const std::string& path, const Check& check) {
  const auto format = format_of(path);
  if (!format) return format.status();
  if (is_file(*format)) {
    auto c = read_file_of_tensors(path, **format);
    if (!c) return c.status();
    return Latest{std::move(*c), path, {}};
  }
  const auto orbax = is_orbax(path), ours = is_ours(path);
  if (!orbax || !ours) return !orbax ? orbax.status() : ours.status();
  if (*orbax) {
    auto c = orbax::load(path);
    if (!c) return c.status();
    return Latest{std::move(*c), path, {}};
  }
  if (*ours) return checkpoint::find(path);
  const auto root = root_of(path);
  if (!root) return root.status();
  auto latest = load_latest(*root, check);
  if (!latest || latest->checkpoint) return latest;
  if (latest->damaged.empty()) return no_checkpoint(path);
  return Status(Code::corrupt, "{}: no checkpoint is whole; the newest one: {}", path,
                latest->damaged.front().message());
}

Status save(const std::string& root, const Checkpoint& checkpoint, Keep keep, Format format,
            const Still& still) {
  const std::string folder = fmt::format("{}/{}", root, checkpoint.step);
  if (format == Format::strata) return checkpoint::save(root, checkpoint, keep, still);
  const Status written = format == Format::orbax || format == Format::orbax2
                             ? write_orbax(folder, checkpoint, format, {})
                             : write(folder, checkpoint, format, {});
  if (!written.ok()) return written;
  return tidy(root, checkpoint.step, keep);
}

std::vector<Status> verify(const std::string& path) {
  const auto format = format_of(path);
  if (!format) return {format.status()};
  if (!*format || **format == Format::strata) return checkpoint::verify(path);
  if (!is_file(*format)) return orbax::verify(path);
  auto c = read_file_of_tensors(path, **format);
  if (!c) return {c.status()};
  return {};
}

Result<std::vector<std::string>> all_of(const std::string& path) {
  const auto format = format_of(path);
  if (!format) return format.status();
  const auto orbax = is_orbax(path), ours = is_ours(path);
  if (!orbax || !ours) return !orbax ? orbax.status() : ours.status();
  if (is_file(*format) || *orbax || *ours) return std::vector<std::string>{path};
  const auto root = root_of(path);
  if (!root) return root.status();
  auto all = steps(*root);
  if (!all) return all.status();
  std::vector<std::string> out;
  for (auto& [step, folder] : *all) out.push_back(std::move(folder));
  if (out.empty()) return no_checkpoint(path);
  return out;
}

Status write(const std::string& path, const Checkpoint& c, Format format,
             const WriteOptions& options) {
  switch (format) {
    case Format::strata: return checkpoint::save(path, c, options.keep);
    case Format::safetensors: return write_safetensors(path, {together(c), {}});
    case Format::gguf: return write_gguf(path, together(c));
    case Format::orbax:
    case Format::orbax2: break;
  }
  if (Status s = check_target(path); !s.ok()) return s;
  return write_orbax(path, c, format, options);
}

}  // namespace strata::checkpoint::any_format
