#include "strata/cli/data/data_describe.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "strata/base/text.h"
#include "strata/cli/command.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/file_source.h"
#include "strata/data/pipeline/graph.h"
#include "strata/data/pipeline/pipeline.h"
#include "strata/train/report/graph_picture.h"

namespace strata::cli {
namespace {

using json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Of a file, or of all files in a folder.
std::int64_t bytes_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return static_cast<std::int64_t>(fs::file_size(path, error));
  std::int64_t out = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path, error))
    if (entry.is_regular_file(error)) out += static_cast<std::int64_t>(entry.file_size(error));
  return out;
}

/// Files that are read by number where all can be, else in their order.
Result<data::IterDataset> dataset_of(const std::vector<std::string>& files, json& rows) {
  std::vector<data::MapDataset> by_number;
  std::vector<data::IterDataset> in_order;
  for (const std::string& file : files) {
    json row = {
        {"file", file}, {"format", data::element_format_of(file)->name}, {"bytes", bytes_of(file)}};
    auto source = data::open_source(file, {});
    if (!source && source.status().code() != Code::unsupported) return source.status();
    if (source) {
      row["records"] = (*source)->size();
      by_number.push_back(data::MapDataset::source(*source));
    }
    auto stream = data::open_stream(file, {});
    if (!stream) return stream.status();
    in_order.push_back(data::IterDataset::source(*stream));
    rows.push_back(std::move(row));
  }
  if (by_number.size() == files.size())
    return (files.size() == 1 ? by_number.front() : data::MapDataset::concatenate(by_number))
        .to_iter_dataset();
  return files.size() == 1 ? in_order.front()
                           : data::IterDataset::interleave(in_order, {.cycle_length = 1});
}

}  // namespace

bool are_data_files(const std::vector<std::string>& arguments) {
  return !arguments.empty() && std::ranges::all_of(arguments, [](const std::string& a) {
    std::error_code error;
    return fs::exists(a, error) && data::element_format_of(a) != nullptr;
  });
}

int describe_files(const DescribeFiles& o) {
  json rows = json::array();
  auto ds = dataset_of(o.files, rows);
  if (!ds) return fail(ds.status());
  if (!o.picture.empty()) {
    const Status s = train::write_graph_picture(data::graph_nodes(*ds, o.measure), o.picture);
    if (!s.ok()) return fail(s);
  }
  const std::string graph = ds->describe(o.measure);
  if (o.json) {
    std::cout << json{{"files", rows}, {"graph", graph}}.dump(-1, ' ', false,
                                                              json::error_handler_t::replace)
              << "\n";
    return kDone;
  }
  std::size_t width = 4;
  for (const json& r : rows) width = std::max(width, r["file"].get<std::string>().size());
  std::cout << fmt::format("{:<{}}  {:<13}{:>11}{:>11}\n", "file", width, "format", "records",
                           "bytes");
  for (const json& r : rows)
    std::cout << fmt::format(
        "{:<{}}  {:<13}{:>11}{:>11}\n", r["file"].get<std::string>(), width,
        r["format"].get<std::string>(),
        r.contains("records") ? std::to_string(r["records"].get<std::int64_t>()) : "in order",
        human_count(r["bytes"].get<double>()) + "B");
  std::cout << "\n" << graph;
  if (!o.picture.empty()) std::cout << "\n" << o.picture << ": the graph as a picture\n";
  return kDone;
}

}  // namespace strata::cli
