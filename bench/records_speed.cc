// Reads files of records from memory's cache of the disk, in order: bytes of records a second.
//
//   ninja -C build bin/records-speed
//   build/bin/records-speed FOLDER
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "strata/data/format/array_record.h"
#include "strata/data/format/tf_record.h"

using namespace strata;
using namespace strata::data;

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 30;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string record(std::size_t size, std::size_t i) {
  std::string out(size, '\0');
  for (std::size_t k = 0; k < size; ++k) out[k] = static_cast<char>(k * 131 + i);
  return out;
}

void write(RecordWriter& writer, std::size_t size) {
  const std::string r = record(size, 1);
  for (std::size_t i = 0; i < kBytes / size; ++i)
    if (!writer.add(r).ok()) std::abort();
  if (Status s = writer.close(); !s.ok()) std::abort();
}

void measure(const std::string& what, std::size_t size, RecordScanner& scanner) {
  const double begin = seconds();
  std::size_t bytes = 0, records = 0;
  const Status s = each_record(scanner, [&](std::string_view r) { bytes += r.size(), ++records; });
  const double took = seconds() - begin;
  if (!s.ok() || bytes != kBytes / size * size) std::abort();
  std::printf("%-36s records of %7zu bytes: %6.2f GB/s, %8.2f M records/s\n", what.c_str(), size,
              static_cast<double>(bytes) / took * 1e-9, static_cast<double>(records) / took * 1e-6);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  for (std::size_t size : {std::size_t{100}, std::size_t{4096}, std::size_t{1} << 20}) {
    const std::string tf = folder + "/speed.tfrecord", array = folder + "/speed.array_record";
    write(*TfRecordWriter::create(tf).value(), size);
    for (int i = 0; i < 3; ++i) measure("TFRecord", size, *TfRecordReader::open(tf).value());
    std::filesystem::remove(tf);
    for (BlockCompression how : {BlockCompression::none, BlockCompression::zstd})
      for (std::int64_t group : {std::int64_t{1}, std::int64_t{1000}}) {
        if (static_cast<std::size_t>(group) * size > (std::size_t{64} << 20)) continue;
        write(*ArrayRecordWriter::create(array, {group, how}).value(), size);
        const std::string what = how == BlockCompression::zstd ? "ArrayRecord of zstd, groups of "
                                                               : "ArrayRecord, groups of ";
        for (int i = 0; i < 3; ++i)
          measure(what + std::to_string(group), size, *ArrayRecordReader::open(array).value());
        std::filesystem::remove(array);
      }
  }
}
