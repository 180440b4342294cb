#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "strata/base/error.h"
#include "strata/base/file.h"
#include "strata/model/convert/plan.h"

namespace strata::model::conversion {
namespace {

using json = nlohmann::ordered_json;

std::uint64_t bytes_of(const Planned& t) {
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < t.shape.size(); ++d) rows *= t.shape[d];
  return static_cast<std::uint64_t>(rows * row_bytes(t.type, t.shape.empty() ? 1 : t.shape.back()));
}

/// Hands a tensor's bytes to `add`, a few rows at a time.
template <class Add>
Status stream(const Plan& plan, const Planned& t, const Add& add) {
  constexpr std::size_t kTogether = 1u << 20;
  std::string out;
  if (t.make) {
    const std::int64_t length = t.shape.empty() ? 1 : t.shape.back();
    std::int64_t count = 1;
    for (std::size_t d = 0; d + 1 < t.shape.size(); ++d) count *= t.shape[d];
    std::vector<float> row(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < count; ++i) {
      if (Status s = t.make(i, row.data()); !s.ok())
        return Status(s.code(), "tensor {}: {}", t.name, s.message());
      append_row(row.data(), length, t.type, out);
      if (out.size() < kTogether && i + 1 < count) continue;
      if (Status s = add(out); !s.ok()) return s;
      out.clear();
    }
    return {};
  }
  if (t.from.empty()) {
    append_row(t.numbers.data(), std::ssize(t.numbers), t.type, out);
    return add(out);
  }
  if (!t.more.empty()) {
    Planned one = t;
    one.more.clear();
    for (std::size_t i = 0; i <= t.more.size(); ++i) {
      if (i > 0) one.from = t.more[i - 1];
      if (Status s = stream(plan, one, add); !s.ok()) return s;
    }
    return {};
  }
  const Stored& from = plan.source.at(t.from);
  const Rows rows(from, t.change);
  std::vector<float> row(static_cast<std::size_t>(rows.row_length()));
  for (std::int64_t i = 0; i < rows.rows(); ++i) {
    if (Status s = rows.read(i, row.data()); !s.ok())
      return Status(s.code(), "tensor {}: {}", t.from, s.message());
    if (t.update) t.update->add_to(i, row.data());
    try {
      append_row(row.data(), rows.row_length(), t.type, out);
    } catch (const Error& e) {
      return Status(Code::invalid, "tensor {}: row {}: {}", t.from, i, e.message());
    }
    if (out.size() < kTogether && i + 1 < rows.rows()) continue;
    if (Status s = add(out); !s.ok()) return s;
    out.clear();
    from.file->release(from.bytes);
  }
  return {};
}

/// A safetensors file of some tensors, in this order.
Status write_shard(const std::string& path, const Plan& plan,
                   const std::vector<const Planned*>& tensors) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t offset = 0;
  for (const Planned* t : tensors) {
    header[t->name] = {{"dtype", t->type.name()},
                       {"shape", t->shape},
                       {"data_offsets", {offset, offset + bytes_of(*t)}}};
    offset += bytes_of(*t);
  }
  std::string head = header.dump();
  head.append((8 - head.size() % 8) % 8, ' ');
  const std::uint64_t length = head.size();
  auto file = FileWriter::create(path);
  if (!file) return file.status();
  if (Status s = file->write({reinterpret_cast<const char*>(&length), 8}); !s.ok()) return s;
  if (Status s = file->write(head); !s.ok()) return s;
  for (const Planned* t : tensors)
    if (Status s = stream(plan, *t, [&](const std::string& bytes) { return file->write(bytes); });
        !s.ok())
      return s;
  return file->commit();
}

/// Tensors by files of at most so many bytes, one tensor at least.
std::vector<std::vector<const Planned*>> shards_of(const Plan& plan, std::uint64_t most) {
  std::vector<const Planned*> sorted;
  for (const Planned& t : plan.tensors) sorted.push_back(&t);
  std::sort(sorted.begin(), sorted.end(),
            [](const Planned* a, const Planned* b) { return a->name < b->name; });
  std::vector<std::vector<const Planned*>> out(1);
  std::uint64_t bytes = 0;
  for (const Planned* t : sorted) {
    if (!out.back().empty() && bytes + bytes_of(*t) > most) out.emplace_back(), bytes = 0;
    out.back().push_back(t);
    bytes += bytes_of(*t);
  }
  return out;
}

}  // namespace

Status write_hugging_face(const std::string& folder, const Plan& plan,
                          const ConvertOptions& options, std::vector<std::string>& files) {
  const auto shards = shards_of(plan, options.shard_bytes);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < shards.size(); ++i)
    names.push_back(shards.size() == 1
                        ? "model.safetensors"
                        : fmt::format("model-{:05}-of-{:05}.safetensors", i + 1, shards.size()));
  std::map<std::string, std::string> beside = plan.files;
  if (shards.size() > 1) {
    json map = json::object();
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < shards.size(); ++i)
      for (const Planned* t : shards[i]) map[t->name] = names[i], bytes += bytes_of(*t);
    beside["model.safetensors.index.json"] =
        json{{"metadata", {{"total_size", bytes}}}, {"weight_map", map}}.dump(2) + "\n";
  }
  files = names;
  for (const auto& [name, text] : beside) files.push_back(name);
  if (options.dry_run) return {};
  if (Status s = make_folders(folder); !s.ok()) return s;
  for (std::size_t i = 0; i < shards.size(); ++i)
    if (Status s = write_shard(folder + "/" + names[i], plan, shards[i]); !s.ok()) return s;
  for (const auto& [name, text] : beside)
    if (Status s = write_file_atomic(folder + "/" + name, text); !s.ok()) return s;
  return {};
}

Status write_gguf(const std::string& path, const Plan& plan) {
  std::vector<checkpoint::GgufTensor> tensors;
  for (const Planned& t : plan.tensors) tensors.push_back({t.name, t.shape, t.type});
  auto writer = checkpoint::GgufWriter::create(path, plan.metadata, std::move(tensors));
  if (!writer) return writer.status();
  for (const Planned& t : plan.tensors)
    if (Status s = stream(plan, t, [&](const std::string& bytes) { return writer->add(bytes); });
        !s.ok())
      return s;
  return writer->finish();
}

}  // namespace strata::model::conversion
