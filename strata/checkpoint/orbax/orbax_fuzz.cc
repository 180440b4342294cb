// libFuzzer target: any bytes are read as a manifest and a node of an OCDBT database, as metadata
// of Zarr arrays, and as a chunk of one; what is read is written and read again the same.
//
//   tools/fuzz.sh strata/checkpoint/orbax/orbax_fuzz.cc strata/checkpoint/testdata/orbax/v0
//   -max_total_time=60
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "strata/base/checksum.h"
#include "strata/checkpoint/ocdbt/database.h"
#include "strata/checkpoint/ocdbt/format.h"
#include "strata/checkpoint/orbax/pytree.h"
#include "strata/checkpoint/zarr/array.h"

namespace {

using namespace strata::checkpoint;

/// The bytes in an envelope that holds, so that the reader behind it is reached.
std::string enveloped(std::uint32_t magic, const std::string& body) {
  std::string out;
  auto add = [&](auto x) { out.append(reinterpret_cast<const char*>(&x), sizeof x); };
  add(__builtin_bswap32(magic));
  add(std::uint64_t{body.size() + 18});
  out += std::string(2, '\0') + body;
  add(strata::crc32c(out));
  return out;
}

void check_database(const std::string& bytes) {
  for (const std::string& all : {bytes, enveloped(0x0cdb3a2a, bytes)}) {
    auto manifest = ocdbt::decode_manifest(all, "fuzz");
    if (!manifest) continue;
    if (manifest->configuration.kind == 0 &&
        !ocdbt::decode_manifest(ocdbt::encode_manifest(*manifest), "fuzz"))
      std::abort();
    MemoryStore store;
    store.values()["manifest.ocdbt"] = all;
    auto database = ocdbt::Database::open(store);
    if (database) (void)database->list("");
  }
  for (const std::string& all : {bytes, enveloped(0x0cdb20de, bytes)}) {
    auto node = ocdbt::decode_node(all, "base/", "fuzz");
    if (!node) continue;
    auto again = ocdbt::decode_node(ocdbt::encode_node(*node, {}), "", "fuzz");
    if (!again || again->entries.size() != node->entries.size()) std::abort();
  }
}

void check_array(const std::string& bytes) {
  constexpr std::uint64_t kMost = 1 << 20;
  for (auto decode : {zarr::decode_v2, zarr::decode_v3}) {
    auto metadata = decode(bytes, "fuzz");
    if (!metadata) continue;
    const bool v2 = metadata->format == 2;
    const std::string text = v2 ? zarr::encode_v2(*metadata) : zarr::encode_v3(*metadata);
    if (!decode(text, "fuzz")) std::abort();
  }
  // A line of metadata, then bytes that are every chunk's.
  const std::size_t line = bytes.find('\n');
  if (line == bytes.npos) return;
  MemoryStore store;
  store.values()["x/zarr.json"] = store.values()["y/.zarray"] = bytes.substr(0, line);
  for (const char* chunk : {"x/c/0", "x/c/0/0", "x/c", "y/0", "y/0.0", "y/0/0"})
    store.values()[chunk] = bytes.substr(line + 1);
  for (const char* key : {"x", "y"}) {
    auto array = zarr::Array::open(store, key);
    if (!array) continue;
    const auto grid = array->metadata().grid();
    std::uint64_t chunks = 1;
    for (std::int64_t n : grid)
      if (__builtin_mul_overflow(chunks, static_cast<std::uint64_t>(n), &chunks)) chunks = kMost;
    if (chunks < 1000) (void)array->read(kMost);
  }
}

void check_tree(const std::string& bytes) {
  auto store = std::make_shared<MemoryStore>();
  store->values()["_METADATA"] = bytes;
  auto tree = orbax::PyTree::open(store);
  if (!tree) return;
  for (const orbax::Leaf& leaf : tree->leaves())
    if (leaf.is_array() && tree->read(leaf).ok()) std::abort();  // there is no array
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_database(bytes);
  check_array(bytes);
  check_tree(bytes);
  return 0;
}
