#include "strata/train/report/metrics.h"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "strata/train/report/events.h"

namespace strata::train {
namespace {

/// TensorBoard reads every file of the folder whose name holds "tfevents".
constexpr const char* kEventsName = "events.out.tfevents.0.strata";

std::optional<nlohmann::ordered_json> parse_line(std::string_view text) {
  auto line = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer()) return {};
  return line;
}

/// Calls f(line with its end) for each whole line.
template <class F>
void for_each_line(std::string_view text, F&& f) {
  for (std::size_t from = 0, end; (end = text.find('\n', from)) != std::string_view::npos;
       from = end + 1)
    f(text.substr(from, end + 1 - from));
}

/// The lines of `text` that are whole and of steps up to `step`.
std::string kept_lines(std::string_view text, std::int64_t step) {
  std::string out;
  for_each_line(text, [&](std::string_view line) {
    auto value = parse_line(line);
    if (value && (*value)["step"].get<std::int64_t>() <= step) out += line;
  });
  return out;
}

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string record(Event event) {
  event.wall_time = wall_time();
  return encode_record(encode_event(event));
}

/// The records of `bytes` that are whole and of steps up to `step`; the version alone when there is
/// none.
std::string kept_records(std::string_view bytes, std::int64_t step, const std::string& path) {
  const EventFile file = read_events(bytes, path);
  std::string out;
  for (std::size_t i = 0, from = 0; i < file.events.size(); from = file.ends[i++]) {
    if (file.events[i].step <= step) out += bytes.substr(from, file.ends[i] - from);
  }
  return out.empty() ? record({.file_version = kEventVersion}) : out;
}

/// Opens `path` for adding after `keep` has said what of its contents stays.
template <class Keep>
Result<LineWriter> open_kept(const std::string& path, Keep&& keep) {
  std::string old;
  if (file_exists(path)) {
    auto text = read_file(path);
    if (!text) return text.status();
    old = std::move(*text);
  }
  if (const std::string kept = keep(old); kept != old) {
    if (Status s = write_file_atomic(path, kept); !s.ok()) return s;
  }
  return LineWriter::open(path);
}

}  // namespace

Result<Metrics> Metrics::open(const MetricsPlaces& places, std::int64_t step) {
  if (Status s = make_folders(places.events); !s.ok()) return s;
  if (const std::size_t slash = places.lines.rfind('/'); slash != std::string::npos && slash > 0) {
    if (Status s = make_folders(places.lines.substr(0, slash)); !s.ok()) return s;
  }
  auto lines =
      open_kept(places.lines, [&](const std::string& old) { return kept_lines(old, step); });
  if (!lines) return lines.status();
  const std::string events_path = places.events + "/" + kEventsName;
  auto events = open_kept(
      events_path, [&](const std::string& old) { return kept_records(old, step, events_path); });
  if (!events) return events.status();
  return Metrics(std::move(*lines), std::move(*events));
}

Status Metrics::add(std::int64_t step, const Scalars& scalars) {
  std::string line = fmt::format(R"({{"step":{})", step);
  for (const auto& [name, value] : scalars) {
    line += fmt::format(R"(,{}:)", nlohmann::json(name).dump());
    line += std::isfinite(value) ? fmt::format("{}", value) : "null";
  }
  if (Status s = lines_.add(line + "}"); !s.ok()) return s;
  return events_.add_bytes(record({.step = step, .scalars = scalars}));
}

Status Metrics::sync() {
  if (Status s = lines_.sync(); !s.ok()) return s;
  return events_.sync();
}

Result<std::vector<MetricsLine>> read_metrics(const std::string& path) {
  auto text = read_file(path);
  if (!text) return text.status();
  std::vector<MetricsLine> out;
  for_each_line(*text, [&](std::string_view line) {
    auto value = parse_line(line);
    if (!value) return;
    MetricsLine& one = out.emplace_back();
    one.step = (*value)["step"].get<std::int64_t>();
    for (const auto& [name, number] : value->items()) {
      if (name != "step" && number.is_number()) one.values[name] = number.get<double>();
    }
  });
  return out;
}

}  // namespace strata::train
