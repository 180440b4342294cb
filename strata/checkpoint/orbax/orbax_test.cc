// Checkpoints that Orbax and TensorStore wrote (tools/goldens/orbax_checkpoints.py), whose arrays
// all count up from -3, and our own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "strata/base/file.h"
#include "strata/base/testing/peak_memory.h"
#include "strata/checkpoint/checkpoint.h"
#include "strata/checkpoint/ocdbt/database.h"
#include "strata/checkpoint/ocdbt/writer.h"
#include "strata/checkpoint/orbax/directory.h"

namespace strata::checkpoint::orbax {
namespace {

namespace fs = std::filesystem;
const std::string kData =
    (fs::path(__FILE__).parent_path().parent_path() / "testdata/orbax").string();

/// The value that the script gives to a dtype and shape.
Literal counted(const Type& type) {
  Literal out(type);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const std::int64_t n = i - 3;
    if (type.dtype() == DType::c64) {
      out.mutable_span<std::complex<float>>()[static_cast<std::size_t>(i)] = {static_cast<float>(n),
                                                                              -1.0f};
    } else if (type.dtype() == DType::c128) {
      out.mutable_span<std::complex<double>>()[static_cast<std::size_t>(i)] = {
          static_cast<double>(n), -1.0};
    } else if (is_bool(type.dtype())) {
      out.set_integer(i, n & 1);
    } else if (is_integer(type.dtype())) {
      out.set_integer(i, is_unsigned(type.dtype()) ? std::abs(n) : n);
    } else {
      out.set_number(i, static_cast<double>(n));
    }
  }
  return out;
}

class Folder {
 public:
  Folder() {
    // In memory where that can be had: tests sync thousands of times.
    const fs::path memory = "/dev/shm";
    std::string name =
        ((fs::exists(memory) ? memory : fs::temp_directory_path()) / "strata_orbax_XXXXXX")
            .string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

PyTree open_tree(const std::string& folder, const std::string& item = "default") {
  return Directory::open(folder).value().tree(item).value();
}

class Golden : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, Golden, testing::Values("v0", "v0_zarr3", "v0_files", "v1"));

TEST_P(Golden, EveryLeafIsRead) {
  const bool second = std::string(GetParam()) == "v1";
  const PyTree tree = open_tree(kData + "/" + GetParam(), second ? "state" : "default");
  std::set<std::string> dtypes;
  for (const Leaf& leaf : tree.leaves()) {
    if (!leaf.is_array() || leaf.name() == "pair/p" || leaf.kind == Kind::scalar) continue;
    const Literal value = tree.read(leaf).value();
    EXPECT_TRUE(value.same_bits(counted(value.type()))) << leaf.name();
    if (leaf.path[0].name == "dtypes") dtypes.insert(std::string(name(value.dtype())));
  }
  EXPECT_EQ(dtypes.size(), 19u);
  EXPECT_EQ(tree.find("text")->text, "h\u00e9llo");
  EXPECT_EQ(tree.find("none")->kind, Kind::none);
  EXPECT_EQ(tree.find("dict")->kind, Kind::dict);
  EXPECT_EQ(tree.find("empty_list")->kind, Kind::list);
  EXPECT_EQ(tree.find("empty_tuple")->kind, Kind::tuple);
  EXPECT_EQ(tree.read(*tree.find("float"))->number(0), 2.5);
  EXPECT_EQ(tree.read(*tree.find("list/1/1"))->integer(0), 3);
  EXPECT_TRUE(tree.find("list/1/1")->path[1].sequence);
  EXPECT_NE(tree.find("w")->sharding.find("NamedSharding"), std::string::npos);
  EXPECT_TRUE(verify(kData + "/" + GetParam()).empty());
}

TEST_P(Golden, AShardReadsItsChunksAlone) {
  const bool second = std::string(GetParam()) == "v1";
  const PyTree tree = open_tree(kData + "/" + GetParam(), second ? "state" : "default");
  const Leaf& w = *tree.find("w");
  const Literal whole = tree.read(w).value();
  for (std::int64_t row = 0; row < 8; row += 3) {
    for (std::int64_t column = 0; column < 6; ++column) {
      const Literal part = tree.read(w, {row, column}, {2, 1}).value();
      EXPECT_EQ(part.number(0), whole.number(row * 6 + column));
      EXPECT_EQ(part.number(1), whole.number((row + 1) * 6 + column));
    }
  }
  EXPECT_THROW((void)tree.read(w, {7, 0}, {2, 1}), Error);
}

TEST(Orbax, AManagersFolderLoadsAsTensors) {
  const Checkpoint c = load(kData + "/manager").value();
  EXPECT_EQ(c.step, 7);
  EXPECT_EQ(c.parts.at("state").at("step").integer(0), 7);
  EXPECT_EQ(c.notes.at("meta"), "{\"a\": 1}");
  EXPECT_EQ(c.notes.at("metrics"), "{\"loss\": 0.5}");
  EXPECT_EQ(load(kData + "/zarr").status().code(), Code::not_found);
}

TEST(Zarr, OptionsThatOrbaxDoesNotUse) {
  const FolderStore store(kData + "/zarr");
  for (const char* name : {"v2_big_endian", "v2_gzip", "v2_zlib", "v2_bz2", "v2_fortran", "v3_crc",
                           "v3_transpose", "v3_shards", "v3_shards_start", "v3_v2_keys"}) {
    const zarr::Array array = zarr::Array::open(store, name).value();
    const Literal value = array.read().value();
    EXPECT_TRUE(value.same_bits(counted(value.type()))) << name;
    const Literal part = array.read({1, 2}, {3, 4}).value();
    for (std::int64_t i = 0; i < 12; ++i)
      EXPECT_EQ(part.number(i), value.number((1 + i / 4) * 7 + 2 + i % 4)) << name;
    MemoryStore again;
    ASSERT_TRUE(zarr::write(again, "x", array.metadata(), value).ok());
    EXPECT_TRUE(zarr::Array::open(again, "x")->read()->same_bits(value)) << name;
  }
  const Literal nine = zarr::Array::open(store, "v2_slash")->read().value();
  EXPECT_EQ(nine.integer(0), -3);
  EXPECT_EQ(nine.integer(34), 9);
  const zarr::Array fill = zarr::Array::open(store, "v3_fill").value();
  EXPECT_TRUE(std::isnan(fill.read()->number(34)));
  EXPECT_EQ(fill.missing()->size(), 3u);
}

TEST(Ocdbt, ADatabaseOfSeveralLevels) {
  const FolderStore store(kData + "/deep");
  const ocdbt::Database database = ocdbt::Database::open(store).value();
  const std::vector<std::string> keys = database.list("a/long").value();
  ASSERT_EQ(keys.size(), 120u);
  for (int i = 0; i < 120; ++i) {
    const std::string key = fmt::format("a/long/prefix/{:03}", i);
    std::string value;
    for (int k = 0; k < 1 + i % 7; ++k) value += fmt::format("{:03}", i);
    // The script repeats by the place in its order, i = 37 * place modulo 120.
    int place = 0;
    while (place * 37 % 120 != i) ++place;
    value.resize(3);
    std::string want;
    for (int k = 0; k < 1 + place % 7; ++k) want += value;
    EXPECT_EQ(database.read(key).value(), want);
    EXPECT_EQ(keys[static_cast<std::size_t>(i)], key);
  }
  EXPECT_EQ(database.list("a/long/prefix/03")->size(), 10u);
  EXPECT_EQ(database.read("a/long/prefix/200").status().code(), Code::not_found);
  EXPECT_EQ(database.read("").status().code(), Code::not_found);
}

TEST(Ocdbt, TreesOfAnyHeightAreWrittenAndRead) {
  for (std::uint64_t node_bytes : {std::uint64_t{1}, std::uint64_t{300}, std::uint64_t{100000}}) {
    MemoryStore store;
    ocdbt::Writer writer(store, "x/", {.max_inline_bytes = 20, .max_node_bytes = node_bytes});
    std::map<std::string, std::string> want;
    for (int i = 0; i < 200; ++i) {
      const std::string key = fmt::format("layers.{}/{}", i % 17, i);
      want[key] = std::string(static_cast<std::size_t>(i % 41), static_cast<char>(i));
      ASSERT_TRUE(writer.write(key, want[key]).ok());
    }
    ASSERT_TRUE(writer.commit().ok());
    const ocdbt::Database database = ocdbt::Database::open(store, "x/").value();
    EXPECT_EQ(database.list("")->size(), 200u);
    for (const auto& [key, value] : want) EXPECT_EQ(database.read(key).value(), value) << key;
    EXPECT_EQ(database.read("layers.3/1").status().code(), Code::not_found);
  }
}

// A node of two entries whose children are one node, and so on down: 2^40 keys in a few bytes.
TEST(Ocdbt, NodesThatShareTheirChildren) {
  MemoryStore store;
  ocdbt::Node node{.height = 0, .entries = {{.key = ""}}};
  ocdbt::Manifest manifest;
  ocdbt::Version version;
  std::string file;
  for (std::uint8_t height = 0; height <= 40; ++height) {
    const std::string bytes = ocdbt::encode_node(node, {});
    const ocdbt::Place place{{"", "d/a"}, file.size(), bytes.size()};
    file += bytes;
    version.height = height;
    version.root = place;
    ocdbt::Entry a{.key = "a", .common_prefix = 1, .statistics = {}, .place = place};
    ocdbt::Entry b{.key = "b", .common_prefix = 1, .statistics = {}, .place = place};
    node = {static_cast<std::uint8_t>(height + 1), {a, b}};
  }
  manifest.versions = {version};
  store.values()["manifest.ocdbt"] = ocdbt::encode_manifest(manifest);
  store.values()["d/a"] = file;
  const ocdbt::Database database = ocdbt::Database::open(store).value();
  EXPECT_EQ(database.list("").status().code(), Code::corrupt);
  EXPECT_TRUE(database.read(std::string(40, 'b')).ok());
}

Contents sample() {
  Contents out;
  std::vector<Leaf>& leaves = out.items["state"];
  for (DType d : {DType::i1, DType::i4, DType::i8, DType::i32, DType::ui64, DType::f8E4M3FN,
                  DType::bf16, DType::f32, DType::f64, DType::c64}) {
    Leaf leaf{.path = {{"dtypes"}, {std::string(name(d))}}};
    leaf.value = counted(Type(d, {5}));
    leaves.push_back(leaf);
  }
  Leaf w{.path = {{"w"}}, .chunk = {3, 4}};
  w.value = counted(Type(DType::f32, {8, 6}));
  leaves.push_back(w);
  Leaf big{.path = {{"list"}, {"0", true}}, .chunk = {10, 50}};
  big.value = counted(Type(DType::i32, {40, 50}));
  leaves.push_back(big);
  Leaf scalar{.path = {{"list"}, {"1", true}}, .kind = Kind::scalar};
  scalar.value = Literal::scalar(std::int64_t{-3});
  leaves.push_back(scalar);
  leaves.push_back({.path = {{"text"}}, .kind = Kind::string, .text = "h\u00e9llo"});
  leaves.push_back({.path = {{"none"}}, .kind = Kind::none});
  leaves.push_back({.path = {{"dict"}}, .kind = Kind::dict});
  out.json["meta"] = R"({"a":1})";
  return out;
}

TEST(Orbax, WhatIsWrittenIsRead) {
  const Folder folder;
  int n = 0;
  for (int api : {1, 2})
    for (bool ocdbt : {true, false})
      for (bool compressed : {true, false})
        for (int processes : {1, 3}) {
          const std::string path = folder / std::to_string(n++);
          const Contents contents = sample();
          ASSERT_TRUE(
              save(path, contents,
                   {.api = api,
                    .tree = {.ocdbt = ocdbt, .compressed = compressed, .processes = processes}})
                  .ok());
          const PyTree tree = open_tree(path, "state");
          ASSERT_EQ(tree.leaves().size(), contents.items.at("state").size());
          for (const Leaf& leaf : contents.items.at("state")) {
            const Leaf* read = tree.find(leaf.name());
            ASSERT_NE(read, nullptr) << leaf.name();
            EXPECT_EQ(read->kind, leaf.kind);
            EXPECT_EQ(read->path, leaf.path);
            EXPECT_EQ(read->text, leaf.text);
            if (leaf.value) EXPECT_TRUE(tree.read(*read)->same_bits(*leaf.value)) << leaf.name();
          }
          EXPECT_EQ(Directory::open(path)->json().at("meta"), R"({"a":1})");
          EXPECT_TRUE(verify(path).empty());
        }
}

TEST(Orbax, MistakesAreNamed) {
  const Folder folder;
  Contents c = sample();
  c.items["state"].push_back(c.items["state"][0]);
  EXPECT_THROW((void)save(folder / "1", c), Error);
  c = sample();
  c.items["state"][0].value = Literal(Type(DType::f32, {0, 3}));
  EXPECT_THROW((void)save(folder / "1", c), Error);
  EXPECT_FALSE(file_exists(folder / "1"));
}

/// Two leaves, for tests of many saves.
Contents little() {
  Contents out;
  Leaf w{.path = {{"w"}}, .chunk = {20, 10}};
  w.value = counted(Type(DType::f32, {40, 20}));
  Leaf b{.path = {{"b"}}};
  b.value = counted(Type(DType::i8, {5}));
  out.items["state"] = {w, b};
  out.json["meta"] = R"({"a":1})";
  return out;
}

void put(const std::string& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

// Bytes flipped, and files cut: found, or the values are what they were. STRATA_ALL_FAULTS takes
// every byte and every length (make soak), else a hundredth of a file.
TEST(Orbax, DamageIsFound) {
  const Folder folder;
  const bool all = std::getenv("STRATA_ALL_FAULTS") != nullptr;
  // Chunks of the first API have zstd's checksum alone; format 3 has its own.
  for (const auto& [api, compressed] :
       {std::pair(1, true), std::pair(2, true), std::pair(2, false)}) {
    const std::string path = folder / fmt::format("{}{}", api, compressed);
    const Contents c = little();
    ASSERT_TRUE(save(path, c, {.api = api, .tree = {.compressed = compressed}}).ok());
    const Checkpoint whole = load(path).value();
    auto sound = [&](const std::string& what) {
      const auto read = load(path);
      if (!read) return;
      for (const auto& [part, tensors] : read->parts)
        for (const auto& [tensor, value] : tensors) {
          const auto found = whole.parts.find(part);
          if (found == whole.parts.end() || !found->second.count(tensor)) continue;  // renamed
          EXPECT_TRUE(found->second.at(tensor).same_bits(value)) << what << " " << tensor;
        }
    };
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      const std::string file = entry.path().string(), bytes = read_file(file).value();
      const std::size_t step = all ? 1 : bytes.size() / 97 + 1;
      for (std::size_t i = 0; i < bytes.size(); i += step) {
        std::string bad = bytes;
        bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
        put(file, bad);
        sound(fmt::format("{} byte {}", file, i));
        put(file, std::string_view(bytes).substr(0, i));
        sound(fmt::format("{} cut at {}", file, i));
      }
      put(file, bytes);
    }
    EXPECT_TRUE(load(path).ok());
  }
}

// What docs/checkpoints.md says: besides the leaves a save holds two groups of encoded chunks and
// three data files, and a load what it gives and a chunk for each thread. The 32 leaves share one
// array.
TEST(Orbax, AStateOf256MiBIsSavedAndLoadedInBoundedMemory) {
  const Folder folder;
  Contents c;
  Leaf leaf;
  leaf.kind = Kind::numpy_array;
  leaf.value = Literal(Type(DType::i32, Shape{2048, 1024}));
  std::uint32_t random = 1;
  for (std::int32_t& x : leaf.value->mutable_span<std::int32_t>())
    x = static_cast<std::int32_t>(random = random * 1664525 + 1013904223);
  for (int i = 0; i < 32; ++i) {
    leaf.path = {{fmt::format("w{}", i)}};
    c.items["state"].push_back(leaf);
  }
  for (const bool compressed : {true, false}) {
    forget_peak();
    double before = peak_mib();
    ASSERT_TRUE(save(folder / "big", c, {.tree = {.compressed = compressed}}).ok());
    EXPECT_LT(peak_mib() - before, 200) << compressed;  // groups and files of 32 MiB
    forget_peak();
    before = peak_mib();
    {
      const auto read = load(folder / "big");
      ASSERT_TRUE(read.ok());
      EXPECT_LT(peak_mib() - before, 256 + 64) << compressed;
      EXPECT_TRUE(read->parts.at("state").at("w31").same_bits(*leaf.value));
    }
  }
}

struct Killed {};

// A save that ends before any one of its writes, syncs and renames leaves the old or the new one.
TEST(Orbax, KilledAtEveryOperation) {
  const Folder folder;
  const std::string path = folder / "7";
  Contents old = little(), next = little();
  next.json["meta"] = R"({"a":2})";
  int survived = 0;
  for (int stop = 0;; ++stop) {
    fs::remove_all(path);
    ASSERT_TRUE(save(path, old).ok());
    int n = 0;
    bool ended = false;
    testing_hooks::set_before_io([&](const char*) {
      if (n++ == stop) throw Killed();
    });
    try {
      ended = save(path, next).ok();
    } catch (const Killed&) {
    }
    testing_hooks::set_before_io(nullptr);
    const auto all = steps(folder / "").value();
    ASSERT_EQ(all.size(), 1u) << stop;
    const std::string meta = Directory::open(all[0].second)->json().at("meta");
    EXPECT_TRUE(verify(all[0].second).empty()) << stop;
    survived += meta == R"({"a":2})";
    if (ended) {
      EXPECT_EQ(meta, R"({"a":2})");
      break;
    }
    ASSERT_LT(stop, 2000);
  }
  EXPECT_GT(survived, 0);
}

TEST(Store, KeysStayBelowTheirFolder) {
  const Folder folder;
  ASSERT_TRUE(write_file_synced(folder / "secret", std::string_view("x")).ok());
  const FolderStore store(folder / "in");
  EXPECT_EQ(store.read("../secret").status().code(), Code::corrupt);
  EXPECT_EQ(store.read("a/../../secret").status().code(), Code::corrupt);
  EXPECT_FALSE(is_plain_key("/etc/passwd"));
  EXPECT_FALSE(is_plain_key("a//b"));
  EXPECT_TRUE(is_plain_key("a/b.c"));
}

}  // namespace
}  // namespace strata::checkpoint::orbax
