#include "strata/train/configurations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "strata/base/file.h"
#include "strata/base/presence.h"

namespace strata::train {
namespace {

using nlohmann::ordered_json;

std::string path_in(const std::string& run) { return run + "/configurations.jsonl"; }

std::optional<Configuration> parse_line(const std::string& text) {
  const auto line = ordered_json::parse(text, nullptr, false);
  if (!line.is_object() || !line.contains("from") || !line["from"].is_number_integer()) return {};
  for (const char* key : {"config", "data"})
    if (!line.contains(key) || !line[key].is_object()) return {};
  return Configuration{line["from"].get<std::int64_t>(), line["config"].dump(),
                       line["data"].dump()};
}

std::string to_line(const Configuration& c) {
  return fmt::format(R"({{"from":{},"config":{},"data":{}}})"
                     "\n",
                     c.from, c.config, c.data);
}

}  // namespace

Result<std::vector<Configuration>> read_configurations(const std::string& run) {
  std::vector<Configuration> out;
  const std::string path = path_in(run);
  const auto there = is_there(path);
  if (!there) return there.status();
  if (!*there) return out;
  auto text = read_file(path);
  if (!text) return text.status();
  std::istringstream lines(*text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    auto c = parse_line(line);
    ++number;
    if (!c || c->from < 0 || (!out.empty() && c->from <= out.back().from))
      return Status(Code::corrupt,
                    "{}: line {} is no object of from, config and data behind those before it",
                    path, number);
    out.push_back(std::move(*c));
  }
  return out;
}

Status note_configuration(const std::string& run, std::int64_t from, const Config& config,
                          const data::Dataset& data) {
  auto known = read_configurations(run);
  if (!known && known.status().code() != Code::corrupt) return known.status();
  std::vector<Configuration> lines = known ? std::move(*known) : std::vector<Configuration>();
  const std::size_t before = lines.size();
  std::erase_if(lines, [&](const Configuration& c) { return c.from >= from; });
  const std::string text = ordered_json::parse(to_json(config)).dump();
  const bool same =
      !lines.empty() && lines.back().config == text && data.check_state(lines.back().data).empty();
  if (same && known && lines.size() == before) return {};
  if (!same) lines.push_back({from, text, ordered_json::parse(data.state(from)).dump()});
  std::string out;
  for (const Configuration& c : lines) out += to_line(c);
  return write_file_atomic(path_in(run), out);
}

}  // namespace strata::train
