#include "strata/checkpoint/orbax/pytree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "strata/checkpoint/ocdbt/writer.h"
#include "strata/checkpoint/store/parallel.h"

namespace strata::checkpoint::orbax {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::pair<Kind, const char*> kKinds[] = {
    {Kind::jax_array, "jax.Array"},
    {Kind::numpy_array, "np.ndarray"},
    {Kind::scalar, "scalar"},
    {Kind::string, "string"},
    {Kind::none, "None"},
    {Kind::dict, "Dict"},
    {Kind::list, "List"},
    {Kind::tuple, "Tuple"},
    {Kind::named_tuple, "NamedTuple"},
};

const char* type_name(Kind kind) {
  for (const auto& [k, name] : kKinds)
    if (k == kind) return name;
  STRATA_UNREACHABLE("kind of leaf");
}

/// What the arrays of a leaf are called: its keys joined by a dot.
std::string parameter(const Leaf& leaf) {
  std::string out;
  for (const Key& k : leaf.path) out += (out.empty() ? "" : ".") + k.name;
  return out;
}

/// Python's repr of a text.
std::string repr(const std::string& text) {
  const char quote = text.find('\'') != text.npos && text.find('"') == text.npos ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + quote;
}

std::string repr(const std::vector<Key>& path) {
  std::string out = "(";
  for (std::size_t i = 0; i < path.size(); ++i) out += (i ? ", " : "") + repr(path[i].name);
  return out + (path.size() == 1 ? ",)" : ")");
}

std::string base64url(std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Status wrong(const std::string& name, const std::string& what) {
  return Status(Code::corrupt, "{}: {}", name, what);
}

Result<json> read_json(const KeyValueReader& store, const std::string& key) {
  auto bytes = store.read(key);
  if (!bytes) return bytes.status();
  json out = json::parse(*bytes, nullptr, false);
  if (!out.is_object()) return wrong(store.name_of(key), "is no JSON object");
  return out;
}

/// An object without some of its members, as text; empty where nothing is left.
std::string rest_of(json all, std::initializer_list<const char*> known) {
  for (const char* member : known) all.erase(member);
  return all.empty() ? "" : all.dump();
}

/// Adds the members of a JSON object that stand in a text.
void add_members(ordered_json& to, const std::string& text) {
  if (text.empty()) return;
  const ordered_json more = ordered_json::parse(text, nullptr, false);
  if (!more.is_object()) throw Error("orbax", "entries and metadata are JSON objects");
  to.update(more);
}

Result<Leaf> leaf_of(const json& entry, const std::string& name) {
  Leaf out;
  if (!entry.is_object() || !entry.contains("key_metadata") || !entry["key_metadata"].is_array() ||
      !entry.contains("value_metadata"))
    return wrong(name, "an entry of the tree lacks its keys or its value");
  for (const json& key : entry["key_metadata"]) {
    if (!key.is_object() || !key.contains("key")) return wrong(name, "a key is no key");
    const json& k = key["key"];
    out.path.push_back(
        {k.is_string() ? k.get<std::string>() : k.dump(), key.value("key_type", json()) == 1});
  }
  const json& value = entry["value_metadata"];
  const json type = value.is_object() ? value.value("value_type", json()) : json();
  if (!type.is_string()) return wrong(name, "a leaf without a type");
  out.tree_entry = rest_of(value, {"value_type", "skip_deserialize", "write_shape"});
  for (const auto& [kind, text] : kKinds) {
    if (type != text) continue;
    out.kind = kind;
    return out;
  }
  if (value.value("skip_deserialize", json()) == true) {
    out.kind = Kind::none;
    out.tree_entry = rest_of(value, {"skip_deserialize", "write_shape"});  // its type is kept
    return out;
  }
  return Status(Code::unsupported, "{}: leaves of type '{}' are not known", name,
                type.get<std::string>());
}

void check(const std::vector<Leaf>& leaves) {
  std::set<std::string> seen;
  for (const Leaf& leaf : leaves) {
    if (leaf.path.empty() && leaves.size() > 1) throw Error("orbax", "a leaf without a path");
    if (!seen.insert(parameter(leaf)).second)
      throw Error("orbax", "two leaves have the parameter name '{}'", parameter(leaf));
    if (!leaf.is_array()) continue;
    if (!leaf.value) throw Error("orbax", "'{}' has no value", leaf.name());
    if (leaf.value->count() == 0)
      throw Error("orbax", "'{}' has no elements, which Orbax does not store", leaf.name());
    if (!leaf.path.empty() && !is_plain_key(parameter(leaf)))
      throw Error("orbax", "'{}' cannot be the name of a folder", parameter(leaf));
  }
}

std::vector<std::int64_t> chunk_of(const Leaf& leaf) {
  return leaf.chunk.empty() ? leaf.value->shape().sizes() : leaf.chunk;
}

ordered_json metadata_of(const Leaf& leaf) {
  ordered_json keys = ordered_json::array();
  for (const Key& k : leaf.path)
    keys.push_back({{"key", k.name}, {"key_type", k.sequence ? 1 : 2}});
  ordered_json value = {{"value_type", type_name(leaf.kind)},
                        {"skip_deserialize", leaf.kind >= Kind::none}};
  if (leaf.kind == Kind::jax_array) value["write_shape"] = chunk_of(leaf);
  add_members(value, leaf.tree_entry);
  return {{"key_metadata", keys}, {"value_metadata", value}};
}

/// What `array_metadatas` says of an array.
ordered_json array_entry_of(const Leaf& leaf) {
  ordered_json out = {{"param_name", parameter(leaf)},
                      {"write_shape", chunk_of(leaf)},
                      {"chunk_shape", chunk_of(leaf)},
                      {"ext_metadata", nullptr}};
  add_members(out, leaf.array_entry);
  return {{"array_metadata", out}};
}

/// Where the keys and values of arrays go: files, or one database for each process.
class ArrayWriter {
 public:
  ArrayWriter(KeyValueStore& store, std::string folder, const TreeOptions& options)
      : store_(store), folder_(std::move(folder)), options_(options) {
    for (int i = 0; options.ocdbt && i < options.processes; ++i)
      databases_.emplace_back(store, fmt::format("{}ocdbt.process_{}/", folder_, i));
  }
  /// Writes the arrays of leaves, one after the other.
  Status write(const std::vector<const Leaf*>& leaves) {
    std::vector<zarr::Encoder> arrays;
    std::vector<Piece> pieces;
    for (const Leaf* leaf : leaves) {
      arrays.emplace_back(parameter(*leaf),
                          zarr::metadata_of(options_.zarr_format, leaf->value->type(),
                                            chunk_of(*leaf), options_.compressed),
                          *leaf->value);
      for (std::int64_t i = -1; i < arrays.back().chunks(); ++i)
        pieces.push_back({arrays.size() - 1, i});
    }
    const auto at = [&](std::int64_t i) { return pieces[static_cast<std::size_t>(i)]; };
    return in_order(std::ssize(pieces),
                    {.bytes = [&](std::int64_t i) -> std::uint64_t {
                       return at(i).chunk < 0 ? 256 : arrays[at(i).array].chunk_bytes();
                     },
                     .make = [&](std::int64_t i) -> Payload {
                       const zarr::Encoder& a = arrays[at(i).array];
                       if (at(i).chunk < 0) return a.metadata_text();
                       return a.chunk(at(i).chunk);
                     },
                     .take =
                         [&](std::int64_t i, Payload bytes) {
                           const zarr::Encoder& a = arrays[at(i).array];
                           return put(at(i).chunk,
                                      at(i).chunk < 0 ? a.metadata_key() : a.chunk_key(at(i).chunk),
                                      std::move(bytes));
                         }});
  }
  /// Commits the databases and makes one of them that refers to all.
  Status commit() {
    if (databases_.empty()) return {};
    ocdbt::Writer merged(store_, folder_);
    for (std::size_t i = 0; i < databases_.size(); ++i) {
      if (Status s = databases_[i].commit(); !s.ok()) return s;
      const std::string below = fmt::format("ocdbt.process_{}/", i);
      auto written = ocdbt::Database::open(store_, folder_ + below);
      if (!written) return written.status();
      if (Status s = merged.copy(*written, below); !s.ok()) return s;
    }
    return merged.commit();
  }

 private:
  /// A chunk of an array; -1: its metadata.
  struct Piece {
    std::size_t array;
    std::int64_t chunk;
  };
  /// The metadata and the first chunk go to process 0.
  Status put(std::int64_t chunk, const std::string& key, Payload value) {
    if (databases_.empty()) return store_.write(folder_ + key, value.view());
    const auto at = static_cast<std::size_t>(std::max<std::int64_t>(chunk, 0));
    return databases_[at % databases_.size()].write(key, std::move(value));
  }

  KeyValueStore& store_;
  std::string folder_;
  const TreeOptions& options_;
  std::vector<ocdbt::Writer> databases_;
};

}  // namespace

std::string Leaf::name() const {
  std::string out;
  for (const Key& k : path) out += (out.empty() ? "" : "/") + k.name;
  return out;
}

Result<PyTree> PyTree::open(std::shared_ptr<const KeyValueReader> store,
                            const std::string& folder) {
  const std::string name = store->name_of(folder + "_METADATA");
  auto metadata = read_json(*store, folder + "_METADATA");
  if (!metadata) return metadata.status();
  const json tree = metadata->value("tree_metadata", json());
  if (!tree.is_object()) return wrong(name, "lacks 'tree_metadata'");
  PyTree out;
  json strings = json::object(), shardings = json::object();
  for (auto [key, to] : {std::pair("_strings.json", &strings), {"_sharding", &shardings}}) {
    auto read = read_json(*store, folder + key);
    if (!read && read.status().code() != Code::not_found) return read.status();
    if (read) *to = std::move(*read);
  }
  for (const auto& [key, entry] : tree.items()) {
    auto leaf = leaf_of(entry, name);
    if (!leaf) return leaf.status();
    const json text = strings.value(parameter(*leaf), json());
    if (leaf->kind == Kind::string) {
      if (!text.is_string())
        return wrong(name, fmt::format("the text of '{}' is missing", leaf->name()));
      leaf->text = text.get<std::string>();
    }
    const json sharding = shardings.value(base64url(parameter(*leaf)), json());
    if (sharding.is_string()) leaf->sharding = sharding.get<std::string>();
    out.leaves_.push_back(std::move(*leaf));
  }
  out.store_ = std::move(store);
  out.folder_ = folder;
  out.below_ = std::make_shared<Below>(*out.store_, folder);
  out.metadata_ = rest_of(*metadata, {"tree_metadata", "use_ocdbt", "use_zarr3"});
  if (out.metadata_.empty()) out.metadata_ = "{}";
  out.zarr3_ = metadata->value("use_zarr3", json()) == true;
  const json use = metadata->value("use_ocdbt", json());
  const auto manifest = out.store_->size(folder + "manifest.ocdbt");
  if (!manifest && manifest.status().code() != Code::not_found) return manifest.status();
  if (use == true || (use.is_null() && manifest.ok())) {
    auto database = ocdbt::Database::open(*out.store_, folder);
    if (!database && database.status().code() == Code::not_found) {
      const bool arrays = std::any_of(out.leaves_.begin(), out.leaves_.end(),
                                      [](const Leaf& leaf) { return leaf.is_array(); });
      if (arrays) return wrong(out.store_->name_of(folder + "manifest.ocdbt"), "is missing");
      return out;
    }
    if (!database) return database.status();
    out.ocdbt_ = std::make_shared<const ocdbt::Database>(std::move(*database));
  }
  return out;
}

const Leaf* PyTree::find(std::string_view name) const {
  for (const Leaf& leaf : leaves_)
    if (leaf.name() == name) return &leaf;
  return nullptr;
}

Result<std::vector<Leaf>> PyTree::leaves_with_entries() const {
  std::vector<Leaf> out = leaves_;
  std::map<std::string, Leaf*> by_name;
  for (Leaf& leaf : out) by_name[parameter(leaf)] = &leaf;
  auto files = store_->list(folder_ + "array_metadatas/");  // one of each process
  if (!files) return files.status();
  for (const std::string& file : *files) {
    auto read = read_json(*store_, file);
    if (!read) return read.status();
    const json all = read->value("array_metadatas", json());
    if (!all.is_array()) return wrong(store_->name_of(file), "lacks 'array_metadatas'");
    for (const json& one : all) {
      const json entry = one.is_object() ? one.value("array_metadata", json()) : json();
      const json name = entry.is_object() ? entry.value("param_name", json()) : json();
      if (!name.is_string()) return wrong(store_->name_of(file), "an array without a name");
      if (const auto leaf = by_name.find(name.get<std::string>()); leaf != by_name.end())
        leaf->second->array_entry = rest_of(entry, {"param_name", "write_shape", "chunk_shape"});
    }
  }
  return out;
}

Result<std::vector<std::string>> PyTree::strays() const {
  auto keys = arrays().list("");
  if (!keys) return keys.status();
  std::set<std::string> known;
  for (const Leaf& leaf : leaves_) known.insert(parameter(leaf));
  std::vector<std::string> out;
  for (const std::string& key : *keys) {
    const std::size_t slash = key.rfind('/');
    const std::string last = slash == key.npos ? key : key.substr(slash + 1);
    const std::string name = slash == key.npos ? "" : key.substr(0, slash);
    if ((last == ".zarray" || last == "zarr.json") && !known.count(name)) out.push_back(name);
  }
  return out;
}

const KeyValueReader& PyTree::arrays() const {
  if (ocdbt_) return *ocdbt_;
  return *below_;
}

Result<zarr::Array> PyTree::array(const Leaf& leaf) const {
  const KeyValueReader& from = arrays();
  auto out = zarr::Array::open(from, parameter(leaf));
  if (!out && out.status().code() == Code::not_found)
    return wrong(from.name_of(parameter(leaf)), "an array of the tree is missing");
  return out;
}

Result<Literal> PyTree::read(const Leaf& leaf) const {
  const Leaf* one = &leaf;
  auto out = read(std::span(&one, 1));
  if (!out) return out.status();
  return std::move(out->front());
}

Result<std::vector<Literal>> PyTree::read(std::span<const Leaf* const> leaves) const {
  std::vector<Box> boxes;
  for (const Leaf* leaf : leaves) {
    auto a = array(*leaf);
    if (!a) return a.status();
    std::vector<std::int64_t> sizes = a->metadata().shape;
    boxes.push_back({std::move(*a), std::vector<std::int64_t>(sizes.size()), std::move(sizes)});
  }
  return read_boxes(boxes);
}

Result<Literal> PyTree::read(const Leaf& leaf, const std::vector<std::int64_t>& begin,
                             const std::vector<std::int64_t>& sizes) const {
  auto a = array(leaf);
  if (!a) return a.status();
  const Box box{std::move(*a), begin, sizes};
  auto out = read_boxes(std::span(&box, 1));
  if (!out) return out.status();
  return std::move(out->front());
}

Result<std::vector<Literal>> PyTree::read_boxes(std::span<const Box> boxes) const {
  std::vector<Literal> out;
  std::vector<zarr::Grid> grids;
  std::vector<std::int64_t> ends;  // of each box's chunks among all
  for (const Box& box : boxes) {
    grids.push_back(box.array.chunks(box.begin, box.sizes));
    const std::int64_t n = grids.back().count();
    ends.push_back((ends.empty() ? 0 : ends.back()) + n);
    // A size that a damaged file says is not believed before its last chunk is seen.
    const std::string last = n > 0 ? box.array.chunk_key(grids.back().place(n - 1)) : "";
    if (const auto there = n > 0 ? arrays().size(last) : Result<std::uint64_t>(0); !there) {
      if (there.status().code() != Code::not_found) return there.status();
      return wrong(store_->name_of(folder_ + last), "is missing");
    }
    auto blank = box.array.blank(box.sizes);
    if (!blank) return blank.status();
    out.push_back(std::move(*blank));
  }
  std::vector<char*> targets;
  for (Literal& value : out) targets.push_back(reinterpret_cast<char*>(value.mutable_data()));
  const Status s = for_each(ends.empty() ? 0 : ends.back(), [&](std::int64_t i) -> Status {
    const auto at =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), i) - ends.begin());
    const Box& box = boxes[at];
    const auto chunk = grids[at].place(i - (at == 0 ? 0 : ends[at - 1]));
    auto there = box.array.read_chunk(chunk, box.begin, box.sizes, targets[at]);
    if (!there) return there.status();
    if (*there) return {};
    // Orbax writes every chunk: what is absent was lost, and is not a fill value.
    return wrong(store_->name_of(folder_ + box.array.chunk_key(chunk)), "is missing");
  });
  if (!s.ok()) return s;
  return out;
}

Status write_pytree(KeyValueStore& store, const std::string& folder,
                    const std::vector<Leaf>& leaves, const TreeOptions& options) {
  check(leaves);
  std::vector<const Leaf*> sorted, with_elements;
  for (const Leaf& leaf : leaves) sorted.push_back(&leaf);
  std::sort(sorted.begin(), sorted.end(),
            [](const Leaf* a, const Leaf* b) { return parameter(*a) < parameter(*b); });
  ArrayWriter arrays(store, folder, options);
  ordered_json tree = ordered_json::object(), strings = ordered_json::object(),
               shardings = ordered_json::object(), sizes = ordered_json::array();
  for (const Leaf* leaf : sorted) {
    tree[repr(leaf->path)] = metadata_of(*leaf);
    if (leaf->kind == Kind::string) strings[parameter(*leaf)] = leaf->text;
    if (!leaf->sharding.empty()) shardings[base64url(parameter(*leaf))] = leaf->sharding;
    if (!leaf->is_array()) continue;
    with_elements.push_back(leaf);
    if (leaf->kind == Kind::jax_array) sizes.push_back(array_entry_of(*leaf));
  }
  if (Status s = arrays.write(with_elements); !s.ok()) return s;
  if (Status s = arrays.commit(); !s.ok()) return s;
  ordered_json metadata = {{"tree_metadata", tree},
                           {"use_ocdbt", options.ocdbt},
                           {"use_zarr3", options.zarr_format == 3},
                           {"store_array_data_equal_to_fill_value", true},
                           {"custom_metadata", nullptr}};
  add_members(metadata, options.metadata);
  std::map<std::string, std::string> files = {{"_METADATA", metadata.dump()}};
  if (!shardings.empty()) files["_sharding"] = shardings.dump();
  if (!strings.empty()) files["_strings.json"] = strings.dump();
  if (!sizes.empty())
    files["array_metadatas/process_0"] = ordered_json{{"array_metadatas", sizes}}.dump();
  for (const auto& [key, text] : files)
    if (Status s = store.write(folder + key, std::string_view(text)); !s.ok()) return s;
  return {};
}

}  // namespace strata::checkpoint::orbax
