#include "strata/model/convert/stacked.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "strata/base/checksum.h"
#include "strata/base/file.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/manifest.h"
#include "strata/checkpoint/orbax/directory.h"
#include "strata/checkpoint/safetensors.h"
#include "strata/model/convert/own_run.h"
#include "strata/model/decoder/weights.h"
#include "strata/model/published/stream_weights.h"

namespace strata::model::conversion {
namespace {

namespace fs = std::filesystem;
namespace orbax = checkpoint::orbax;

using Elements = Result<std::vector<float>>;

/// An array that is not read yet.
struct Stacked {
  Type type;
  /// Elements begin .. begin + count, in the order of rows.
  std::function<Elements(std::int64_t begin, std::int64_t count)> read;
};

/// A checkpoint that is open: its notes, and the arrays of its part "params" by path, with slashes.
struct Opened {
  std::string folder;
  std::map<std::string, std::string> notes;
  std::map<std::string, Stacked> arrays;
};

template <class T>
std::vector<float> as_floats(const char* from, std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * std::int64_t{sizeof(T)}, sizeof(T));
    out[static_cast<std::size_t>(i)] = static_cast<float>(value);
  }
  return out;
}

/// Elements of an array in a mapped file, whose pages are given back.
Stacked mapped(const Type& type, std::string_view bytes, std::shared_ptr<const MappedFile> file) {
  return {type, [=](std::int64_t begin, std::int64_t count) -> Elements {
            const auto width = static_cast<std::int64_t>(byte_width(type.dtype()));
            const std::string_view part = bytes.substr(static_cast<std::size_t>(begin * width),
                                                       static_cast<std::size_t>(count * width));
            auto out = type.dtype() == DType::f32 ? as_floats<float>(part.data(), count)
                                                  : as_floats<BFloat16>(part.data(), count);
            file->release(part);
            return out;
          }};
}

/// An array whose elements are divided as they are read.
Stacked divided(Stacked array, float factor) {
  return {array.type,
          [read = array.read, factor](std::int64_t begin, std::int64_t count) -> Elements {
            auto out = read(begin, count);
            if (!out) return out.status();
            for (float& x : *out) x /= factor;
            return out;
          }};
}

std::string with_slashes(std::string path) {
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

bool has_dtype(const Type& type) {
  return type.dtype() == DType::f32 || type.dtype() == DType::bf16;
}

/// Whether a mapped file's bytes have a checksum; their pages are given back.
bool matches(const MappedFile& file, std::uint32_t checksum) {
  constexpr std::size_t kStep = 8 << 20;
  std::uint32_t crc = 0;
  const std::string_view all = file.bytes();
  for (std::size_t at = 0; at < all.size(); at += kStep) {
    const std::string_view part = all.substr(at, kStep);
    crc = crc32c(part, crc);
    file.release(part);
  }
  return crc == checksum;
}

Result<std::optional<Opened>> open_strata(const std::string& folder) {
  const std::string page = folder + "/manifest.json";
  const auto text = read_file(page);
  if (!text) return text.status();
  const auto manifest = checkpoint::decode_manifest(*text, page);
  if (!manifest) return manifest.status();
  Opened out{.folder = folder, .notes = manifest->notes, .arrays = {}};
  const auto entry = manifest->files.find("params.safetensors");
  if (entry == manifest->files.end()) return std::optional<Opened>();
  const std::string path = folder + "/params.safetensors";
  const auto file = MappedFile::open(path);
  if (!file) return Status(Code::corrupt, "{}: {}", path, file.status().message());
  if ((*file)->bytes().size() != entry->second.bytes || !matches(**file, entry->second.crc32c))
    return Status(Code::corrupt, "{}: the file does not match its checksum", path);
  const auto places = checkpoint::index_safetensors((*file)->bytes(), path);
  if (!places) return places.status();
  for (const auto& [name, place] : places->tensors)
    out.arrays.emplace(with_slashes(name), mapped(place.type, place.bytes, *file));
  for (const auto& [name, t] : entry->second.tensors) {
    if (t.chunk.empty()) continue;
    const std::string root = fs::path(folder).parent_path().string();
    const std::string at = checkpoint::chunk_path(root, t.chunk);
    const auto chunk = MappedFile::open(at);
    const auto dtype = parse_dtype(t.dtype);
    if (!chunk || !dtype) return std::optional<Opened>();  // another check tells what is wrong
    const Type type(*dtype, Shape::of(t.shape));
    if ((*chunk)->bytes().size() != type.bytes() || !matches(**chunk, t.crc32c))
      return Status(Code::corrupt, "{}: the chunk does not match its checksum", at);
    out.arrays.emplace(with_slashes(name), mapped(type, (*chunk)->bytes(), *chunk));
  }
  return std::optional(std::move(out));
}

/// Elements of a leaf: whole rows of its first one or two dimensions.
Stacked leaf_of(const std::shared_ptr<const orbax::PyTree>& tree, const orbax::Leaf& leaf,
                const Type& type) {
  return {type, [tree, &leaf, type](std::int64_t begin, std::int64_t count) -> Elements {
            const std::vector<std::int64_t> shape = type.shape().sizes();
            std::vector<std::int64_t> first(shape.size(), 0), sizes = shape;
            std::int64_t inner = type.shape().count();
            for (std::size_t d = 0; d < shape.size() && inner > count; ++d) {
              inner /= shape[d];
              first[d] = begin / inner, begin %= inner;
              sizes[d] = 1;
            }
            const auto box = tree->read(leaf, first, sizes);
            if (!box) return box.status();
            const char* const data = reinterpret_cast<const char*>(box->data());
            return type.dtype() == DType::f32 ? as_floats<float>(data, box->count())
                                              : as_floats<BFloat16>(data, box->count());
          }};
}

Result<std::optional<Opened>> open_orbax(const std::string& folder) {
  const auto directory = orbax::Directory::open(folder);
  if (!directory) return directory.status();
  Opened out{.folder = folder, .notes = directory->json(), .arrays = {}};
  const auto& trees = directory->trees();
  if (std::find(trees.begin(), trees.end(), "params") == trees.end())
    return std::optional<Opened>();
  auto opened = directory->tree("params");
  if (!opened) return opened.status();
  const auto tree = std::make_shared<const orbax::PyTree>(std::move(*opened));
  for (const orbax::Leaf& leaf : tree->leaves()) {
    if (!leaf.is_array()) continue;
    const auto array = tree->array(leaf);
    if (!array) return array.status();
    out.arrays.emplace(with_slashes(leaf.name()), leaf_of(tree, leaf, array->type()));
  }
  return std::optional(std::move(out));
}

Result<std::optional<Opened>> open_one(const std::string& folder) {
  return file_exists(folder + "/manifest.json") ? open_strata(folder) : open_orbax(folder);
}

/// The checkpoint that a path means; of steps the newest that is whole.
Result<std::optional<Opened>> open_any(const std::string& path) {
  const auto itself = orbax::is_checkpoint(path);
  if (!itself) return itself.status();
  if (*itself || file_exists(path + "/manifest.json")) return open_one(path);
  const auto root = checkpoint::root_of(path);
  if (!root) return root.status();
  const auto steps = checkpoint::any_format::steps(*root);
  if (!steps) return steps.status();
  Result<std::optional<Opened>> last = std::optional<Opened>();
  for (auto it = steps->rbegin(); it != steps->rend(); ++it) {
    last = open_one(it->second);
    if (last || last.status().code() != Code::corrupt) return last;
  }
  return last;
}

/// The tensors of one checkpoint, of which the last one asked for is held.
class Tensors {
 public:
  Tensors(Described model, std::map<std::string, Stacked> arrays)
      : model_(std::move(model)),
        arrays_(std::move(arrays)),
        layout_(published::published_layout(model_.options, model_.names)) {}
  const std::vector<published::PublishedTensor>& layout() const { return layout_; }
  const Stacked& at(const std::string& path) const { return arrays_.at(path); }
  Status row(std::size_t tensor, std::int64_t i, float* out) {
    if (held_ != tensor) {
      numbers_ = {};  // before the next one is made
      held_ = kNone;
      const auto piece = [&](const std::string& path, std::int64_t k) -> Elements {
        const Stacked& from = arrays_.at(path);
        return from.read(k * size_of(path), size_of(path));
      };
      auto made = published::published_tensor(model_.options, model_.names, layout_[tensor], piece);
      if (!made) return made.status();
      numbers_ = std::move(*made);
      held_ = tensor;
    }
    const std::int64_t length = layout_[tensor].shape.empty() ? 1 : layout_[tensor].shape.back();
    std::copy_n(numbers_.begin() + i * length, length, out);
    return {};
  }

 private:
  static constexpr std::size_t kNone = std::size_t(-1);
  /// Elements of a piece of a weight: all of them by how many pieces there are.
  std::int64_t size_of(const std::string& path) {
    std::int64_t& size = sizes_[path];
    if (size > 0) return size;
    std::int64_t pieces = 0;
    for (const published::PublishedTensor& t : layout_)
      for (const auto& part : t.parts) pieces += part.path == path;
    return size = arrays_.at(path).type.shape().count() / std::max<std::int64_t>(pieces, 1);
  }
  Described model_;
  std::map<std::string, Stacked> arrays_;
  std::vector<published::PublishedTensor> layout_;
  std::map<std::string, std::int64_t> sizes_;
  std::vector<float> numbers_;
  std::size_t held_ = kNone;
};

}  // namespace

Result<std::optional<Plan>> plan_stacked(const std::string& path) {
  if (is_object_path(path)) return std::optional<Plan>();
  auto opened = open_any(path);
  if (!opened) return opened.status();
  if (!*opened) return std::optional<Plan>();
  Opened& held = **opened;
  const auto note = held.notes.find("published_config"), own = held.notes.find("config");
  const auto run = note == held.notes.end() && own != held.notes.end()
                       ? own_run(own->second, held.folder)
                       : std::nullopt;
  if (note == held.notes.end() && !run) return std::optional<Plan>();
  Plan plan;
  if (const std::string folder = held.folder + "/../../model";
      file_exists(folder + "/config.json")) {
    auto files = files_beside_weights(folder);
    if (!files) return files.status();
    plan.files = std::move(*files);
  }
  if (run) {
    plan.files.insert(run->files.begin(), run->files.end());
    plan.notes = run->notes;
    std::map<std::string, Stacked> renamed;
    for (auto& [name, array] : held.arrays) renamed.emplace(published_path(name), std::move(array));
    held.arrays = std::move(renamed);
  }
  plan.files.emplace("config.json", run ? run->config : note->second);
  const auto [config, in_queries] = with_usual_scores(plan.files.at("config.json"));
  plan.files["config.json"] = config;
  if (in_queries != 1) {
    plan.notes.push_back(note_of_queries(in_queries));
    for (auto& [path, array] : held.arrays)
      if (is_query(path)) array = divided(std::move(array), in_queries);
  }
  Described model = described(plan.files.at("config.json"));
  for (const decoder::WeightShape& w : decoder::weight_shapes(model.options)) {
    const auto array = held.arrays.find(w.path);
    if (array == held.arrays.end() || !has_dtype(array->second.type)) return std::optional<Plan>();
    if (array->second.type.shape().sizes() != w.shape)
      return Status(Code::corrupt, "{}: {} is {}, its configuration says [{}]", held.folder, w.path,
                    array->second.type.to_string(), fmt::join(w.shape, ","));
  }
  const auto tensors = std::make_shared<Tensors>(std::move(model), std::move(held.arrays));
  for (std::size_t i = 0; i < tensors->layout().size(); ++i) {
    const published::PublishedTensor& t = tensors->layout()[i];
    Planned planned{.name = t.name, .shape = t.shape, .from = "", .change = {}, .numbers = {}};
    planned.type = tensors->at(t.parts.at(0).path).type.dtype();
    planned.make = [tensors, i](std::int64_t row, float* out) { return tensors->row(i, row, out); };
    plan.tensors.push_back(std::move(planned));
  }
  return std::optional(std::move(plan));
}

}  // namespace strata::model::conversion
