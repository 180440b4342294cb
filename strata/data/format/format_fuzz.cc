// libFuzzer target: the first byte says which format the others are read as; all records are read.
// What is read as a tf.train.Example or as JSON is written and read again the same.
//
//   tools/fuzz.sh strata/data/format/format_fuzz.cc strata/data/format/testdata -max_total_time=60
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "strata/data/compression/stream.h"
#include "strata/data/format/array_record.h"
#include "strata/data/format/bagz.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/example.h"
#include "strata/data/format/json.h"
#include "strata/data/format/mds.h"
#include "strata/data/format/megatron.h"
#include "strata/data/format/riegeli/highway_hash.h"
#include "strata/data/format/tar.h"
#include "strata/data/format/tf_record.h"

namespace {

using namespace strata;
using namespace strata::data;

void drain(RecordScanner& scanner) {
  std::string_view record;
  for (int failures = 0; failures < 100;) {
    auto more = scanner.next(record);
    if (!more)
      ++failures;
    else if (!*more)
      return;
  }
}

/// A Riegeli file of true checksums, so that what stands behind them is reached: the bytes are the
/// data of its index.
void check_array_record(std::string_view bytes) {
  if (auto file = ArrayRecordFile::of(bytes, "fuzz")) {
    ArrayRecordReader reader(*file);
    drain(reader);
  }
  riegeli::ChunkWriter chunks;
  chunks.add('s', 0, 0, {});
  const std::uint64_t at = chunks.position();
  const std::size_t records = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]) % 8;
  chunks.add('r', records, bytes.size() / 2, bytes);
  std::string gathered, unpacked;
  auto chunk = riegeli::read_chunk(chunks.bytes, at, "fuzz", gathered);
  if (!chunk || chunk->data != bytes || chunk->end != chunks.position()) std::abort();
  std::vector<std::string_view> out;
  (void)riegeli::records_of(*chunk, "fuzz", unpacked, out);
}

void check_tf_record(std::string bytes) {
  drain(*TfRecordReader::of(bytes, "fuzz"));
  if (bytes.size() < 12) return;
  const std::uint32_t crc = masked_crc32c(std::string_view(bytes).substr(0, 8));
  std::memcpy(bytes.data() + 8, &crc, 4);
  drain(*TfRecordReader::of(bytes, "fuzz"));
}

void check_bagz(std::string_view bytes) {
  for (bool compressed : {false, true})
    if (auto file = BagzFile::of(bytes, compressed, "fuzz"))
      for (std::int64_t i = 0; i < (*file)->size(); ++i) (void)(*file)->read(i);
}

void check_megatron(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::size_t n = std::min<std::size_t>(static_cast<unsigned char>(bytes[0]), bytes.size());
  if (auto file = MegatronFile::of(bytes.substr(n), bytes.substr(0, n), "fuzz"))
    for (std::int64_t i = 0; i < std::min<std::int64_t>(file->size(), 1000); ++i)
      if (file->sequence(i).bytes() > n) std::abort();
}

void check_json(std::string_view bytes) {
  auto element = element_of_json(bytes, "fuzz");
  if (!element) return;
  const std::string text = json_of(*element);
  auto again = element_of_json(text, "again");
  if (!again || json_of(*again) != text) std::abort();
}

void check_example(std::string_view bytes) {
  auto element = decode_example(bytes, "fuzz");
  if (!element) return;
  auto written = encode_example(*element);
  if (!written) return;  // mixed texts and bytes have one
  auto again = decode_example(*written, "again");
  if (!again || again->fields().size() != element->fields().size()) std::abort();
}

void check_mds(std::string_view bytes) {
  for (const char* encoding : {"ndarray", "ndarray:int32", "ndarray:float32:2,2", "int", "str_int",
                               "str_float", "json", "uint16", "float64", "str"})
    (void)decode_mds(encoding, bytes, "fuzz");
}

void check_streams(std::string_view bytes) {
  for (const Compression& c : compressions()) (void)unpack(bytes, c, "fuzz", 1 << 20);
  for (char how : {'b', 'z', 's'}) {
    std::string out;
    (void)unpack_block(static_cast<BlockCompression>(how), bytes, 1000, "fuzz", out);
  }
}

void check_tar(std::string_view bytes) {
  TarReader tar(Input::of(bytes, "fuzz", nullptr));
  TarReader::Member member;
  for (auto more = tar.next(member); more && *more; more = tar.next(member))
    if (member.bytes.size() > bytes.size()) std::abort();
}

/// Formats that are read by their paths: the bytes are a file in memory, or the index of a folder.
void check_paths(const std::string& bytes) {
  static const std::string folder = "/dev/shm/strata_format_fuzz." + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  for (const char* name : {"x.csv", "x.jsonl", "x.txt", "x.safetensors", "index.json"}) {
    const std::string path = folder + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    if (auto scanner = open_elements(path)) {
      Element e;
      for (int failures = 0; failures < 100;) {
        auto more = (*scanner)->next(e);
        if (!more)
          ++failures;
        else if (!*more)
          break;
      }
    }
    std::filesystem::remove(path);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 10) {
    case 0: check_array_record(bytes); break;
    case 1: check_tf_record(bytes); break;
    case 2: check_bagz(bytes); break;
    case 3: check_megatron(bytes); break;
    case 4: check_json(bytes); break;
    case 5: check_example(bytes); break;
    case 6: check_mds(bytes); break;
    case 7: check_streams(bytes); break;
    case 8: check_tar(bytes); break;
    case 9: check_paths(bytes); break;
  }
  if (riegeli_hash(bytes) != riegeli_hash_by_words(bytes)) std::abort();
  return 0;
}
