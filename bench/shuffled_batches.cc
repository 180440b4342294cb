// Reads an ArrayRecord file in a shuffled order, as batches, once or more: records a second.
//
//   ninja -C build bin/shuffled-batches
//   build/bin/shuffled-batches FILE [--write=RECORDS] [--batch=N] [--epochs=N] [--group=N]
//   [--compression=zstd] [--threads=N]
//
// Prints one JSON object.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "strata/data/format/array_record.h"
#include "strata/data/format/file_source.h"
#include "strata/data/pipeline/pipeline.h"

using namespace strata;
using namespace strata::data;

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void write(const std::string& path, std::int64_t records, const ArrayRecordOptions& options) {
  auto writer = ArrayRecordWriter::create(path, options);
  std::string record(100, '\0');
  for (std::int64_t i = 0; i < records; ++i) {
    for (std::size_t k = 0; k < record.size(); ++k)
      record[k] = static_cast<char>(1 + (static_cast<std::uint64_t>(i) * 31 + k * 7) % 250);
    if (!(*writer)->add(record).ok()) std::abort();
  }
  if (!(*writer)->close().ok()) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("shuffled batches of an ArrayRecord file");
  std::string path, compression = "none";
  std::int64_t records = 0, batch = 256, epochs = 1, group = 1;
  ReadOptions reading;
  app.add_option("file", path)->required();
  app.add_option("--write", records);
  app.add_option("--batch", batch);
  app.add_option("--epochs", epochs);
  app.add_option("--group", group);
  app.add_option("--threads", reading.num_threads);
  app.add_option("--compression", compression);
  CLI11_PARSE(app, argc, argv);
  if (records > 0) {
    const auto how = compression == "zstd" ? BlockCompression::zstd : BlockCompression::none;
    write(path, records, {.group_size = group, .compression = how});
    return 0;
  }
  reading.prefetch_buffer_size = 16;
  auto source = open_source(path, {});
  if (!source) {
    std::fprintf(stderr, "%s\n", source.status().message().c_str());
    return 1;
  }
  auto iterator = MapDataset::source(*source)
                      .seed(42)
                      .shuffle()
                      .repeat(epochs)
                      .batch(batch)
                      .to_iter_dataset(reading)
                      .iterate();
  const double begin = seconds();
  std::int64_t rows = 0;
  std::uint64_t sum = 0;
  for (Element e; iterator.next(e).value();) {
    rows += e.strings().shape[0];
    sum += static_cast<unsigned char>(e.strings().storage->front());
  }
  const double took = seconds() - begin;
  std::printf("{\"records\": %lld, \"seconds\": %.6f, \"records_per_s\": %.0f, \"sum\": %llu}\n",
              static_cast<long long>(rows), took, static_cast<double>(rows) / took,
              static_cast<unsigned long long>(sum));
}
