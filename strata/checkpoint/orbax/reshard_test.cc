// Checkpoints that Orbax wrote without items, and with them (tools/goldens/orbax_layouts.py): what
// is read of them, and that other chunks change nothing else.
#include "strata/checkpoint/orbax/reshard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "strata/base/file.h"
#include "strata/checkpoint/any_format.h"
#include "strata/checkpoint/orbax/directory.h"

namespace strata::checkpoint::orbax {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kData =
    (fs::path(__FILE__).parent_path().parent_path() / "testdata/orbax_layouts").string();

class Reshard : public testing::Test {
 protected:
  Reshard() {
    std::string name = testing::TempDir() + "strata_reshard_XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~Reshard() override { fs::remove_all(folder_); }
  /// Writes a checkpoint again, cut into two chunks where that can be.
  std::string in_two(const std::string& from) const {
    auto contents = read_contents(Directory::open(from).value());
    EXPECT_TRUE(contents.ok()) << contents.status().message();
    for (auto& [item, leaves] : contents->items)
      for (Leaf& leaf : leaves) cut(leaf, 2);
    EXPECT_TRUE(save(folder_ + "/again", *contents).ok());
    return folder_ + "/again";
  }
  /// A copy that may be changed.
  std::string copy(const std::string& name) const {
    fs::copy(kData + "/" + name, folder_ + "/copy", fs::copy_options::recursive);
    return folder_ + "/copy";
  }
  std::string folder_;
};

json read_json(const std::string& path) { return json::parse(read_file(path).value()); }
void write_json(const std::string& path, const json& value) { std::ofstream(path) << value; }

/// Elements 0, 1, 2 ... of one axis.
Literal counted(std::int64_t n) {
  Literal out(Type(DType::i32, {n}));
  for (std::int64_t i = 0; i < n; ++i) out.set_integer(i, i);
  return out;
}

TEST_F(Reshard, ATreeInTheFolderItselfStaysThere) {
  const std::string from = kData + "/standard", to = in_two(from);
  EXPECT_TRUE(Directory::open(to)->in_folder());
  EXPECT_TRUE(file_exists(to + "/_METADATA"));
  EXPECT_FALSE(fs::exists(to + "/default"));
  EXPECT_EQ(read_json(to + "/_CHECKPOINT_METADATA")["item_handlers"],
            read_json(from + "/_CHECKPOINT_METADATA")["item_handlers"]);
  EXPECT_TRUE(verify(to).empty());
  const PyTree before = Directory::open(from)->tree("default").value();
  const PyTree after = Directory::open(to)->tree("default").value();
  for (const Leaf& leaf : before.leaves()) {
    const Leaf* same = after.find(leaf.name());
    ASSERT_NE(same, nullptr) << leaf.name();
    EXPECT_EQ(same->kind, leaf.kind);
    if (leaf.is_array()) EXPECT_TRUE(after.read(*same)->same_bits(*before.read(leaf)));
  }
  EXPECT_THAT(after.array(*after.find("w"))->metadata().grid(), ElementsAre(2, 1));
}

TEST_F(Reshard, ItemsStayItems) {
  const std::string path = copy("items");
  fs::create_directory(path + "/words");
  std::ofstream(path + "/words/process_0.json") << "{}";
  const std::string to = in_two(path);
  const Directory directory = Directory::open(to).value();
  EXPECT_FALSE(directory.in_folder());
  EXPECT_THAT(directory.trees(), ElementsAre("default", "other"));
  EXPECT_EQ(directory.json().at("about"), R"({"q": 1})");
  EXPECT_TRUE(file_exists(to + "/words/process_0.json"));
  EXPECT_EQ(read_json(to + "/_CHECKPOINT_METADATA")["item_handlers"],
            read_json(path + "/_CHECKPOINT_METADATA")["item_handlers"]);
  EXPECT_EQ(read_json(to + "/other/_METADATA")["custom_metadata"], json({{"x", 1}}));
}

TEST_F(Reshard, WhatArrayMetadataSayBesidesChunksStays) {
  const std::string path = copy("standard"), file = "/array_metadatas/process_0";
  json arrays = read_json(path + file), tree = read_json(path + "/_METADATA");
  for (json& one : arrays["array_metadatas"]) one["array_metadata"]["later"] = {1, 2};
  tree["tree_metadata"]["('w',)"]["value_metadata"]["later"] = "so";
  tree["later"] = true;
  write_json(path + file, arrays);
  write_json(path + "/_METADATA", tree);
  const std::string to = in_two(path);
  const json again = read_json(to + file)["array_metadatas"];
  ASSERT_EQ(again.size(), 3u);
  for (const json& one : again) {
    const json& entry = one["array_metadata"];
    EXPECT_EQ(entry["later"], json({1, 2}));
    if (entry["param_name"] == "key") {
      EXPECT_EQ(entry["ext_metadata"], json({{"random_key_impl", "threefry2x32"}}));
      EXPECT_EQ(entry["chunk_shape"], json({1}));
    } else if (entry["param_name"] == "keys") {
      EXPECT_EQ(entry["ext_metadata"], json({{"random_key_impl", "rbg"}}));
      EXPECT_EQ(entry["chunk_shape"], json({2, 4}));
    } else {
      EXPECT_EQ(entry["ext_metadata"], json());
    }
  }
  EXPECT_EQ(read_json(to + "/_METADATA")["tree_metadata"]["('w',)"]["value_metadata"]["later"],
            "so");
  EXPECT_EQ(read_json(to + "/_METADATA")["later"], true);
  std::ofstream(path + file) << "{";
  EXPECT_EQ(read_contents(Directory::open(path).value()).status().code(), Code::corrupt);
  EXPECT_EQ(verify(path).size(), 1u);
}

TEST_F(Reshard, ATreeMayBeOneArray) {
  for (const char* name : {"one", "one_files", "one3_files"}) {
    const std::string from = kData + "/" + name;
    EXPECT_TRUE(verify(from).empty()) << name;
    EXPECT_TRUE(load(from)->parts.at("default").at("").same_bits(counted(7))) << name;
    const PyTree tree = Directory::open(from)->tree("default").value();
    const std::string to = in_two(from);
    const PyTree again = Directory::open(to)->tree("default").value();
    EXPECT_EQ(again.ocdbt(), tree.ocdbt()) << name;
    EXPECT_EQ(again.zarr3(), tree.zarr3()) << name;
    EXPECT_TRUE(verify(to).empty()) << name;
    EXPECT_TRUE(again.read(*again.find(""))->same_bits(counted(7))) << name;
    EXPECT_TRUE(
        again.read(*again.find(""), {2}, {1})->same_bits(*tree.read(*tree.find(""), {2}, {1})));
    EXPECT_EQ(read_json(to + "/_METADATA")["tree_metadata"],
              read_json(from + "/_METADATA")["tree_metadata"]);
  }
  Contents two{.items = {{"x", {{}, {.path = {{"b"}}}}}}};
  for (Leaf& leaf : two.items["x"]) leaf.value = counted(2);
  EXPECT_THROW((void)save(folder_ + "/two", two), Error);
}

TEST_F(Reshard, LeavesOfOneNameAreToldApart) {
  const Checkpoint c = load(kData + "/slashes").value();
  EXPECT_TRUE(c.parts.at("default").at("a/b").same_bits(counted(4)));
  EXPECT_TRUE(c.parts.at("default").at("a~1b").same_bits(counted(3)));
  const std::string to = in_two(kData + "/slashes");
  EXPECT_TRUE(load(to)->parts.at("default").at("a~1b").same_bits(counted(3)));
}

TEST_F(Reshard, TextsAndTheFolderItselfSurviveTensorsByName) {
  const Checkpoint c = load(kData + "/text").value();
  const std::string to = folder_ + "/converted";
  ASSERT_TRUE(any_format::write(to, c, any_format::Format::orbax, {.in_folder = true}).ok());
  const Directory directory = Directory::open(to).value();
  EXPECT_TRUE(directory.in_folder());
  EXPECT_EQ(directory.tree("default")->find("text")->text, "hello");
  EXPECT_EQ(load(to)->notes, c.notes);
  Checkpoint more = c;
  more.parts["second"] = c.parts.at("default");
  EXPECT_THROW((void)any_format::write(to, more, any_format::Format::orbax, {.in_folder = true}),
               Error);
}

TEST_F(Reshard, AnArrayWithoutItsLeafIsFound) {
  for (const char* name : {"standard", "one_files"}) {
    fs::remove_all(folder_ + "/copy");
    const std::string path = copy(name);
    json tree = read_json(path + "/_METADATA");
    tree["tree_metadata"].erase(tree["tree_metadata"].size() > 1 ? "('w',)" : "()");
    write_json(path + "/_METADATA", tree);
    const std::vector<Status> wrong = verify(path);
    ASSERT_EQ(wrong.size(), 1u) << name;
    EXPECT_EQ(wrong[0].code(), Code::corrupt);
    EXPECT_THAT(wrong[0].message(), HasSubstr("_METADATA: lacks a leaf"));
  }
}

}  // namespace
}  // namespace strata::checkpoint::orbax
