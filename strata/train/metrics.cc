#include "strata/train/metrics.h"

#include <nlohmann/json.hpp>

namespace strata::train {
namespace {

/// The lines at the start of `text` that are whole and of steps up to `step`.
std::string kept_lines(const std::string& text, std::int64_t step) {
  std::string out;
  for (std::size_t from = 0, end; (end = text.find('\n', from)) != std::string::npos; from = end + 1) {
    const auto line = nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(from),
                                            text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (!line.is_object() || !line.contains("step") || !line["step"].is_number_integer() || line["step"].get<std::int64_t>() > step)
      continue;
    out.append(text, from, end + 1 - from);
  }
  return out;
}

}  // namespace

Result<Metrics> Metrics::open(const std::string& path, std::int64_t step) {
  if (file_exists(path)) {
    auto text = read_file(path);
    if (!text) return text.status();
    if (const std::string kept = kept_lines(*text, step); kept != *text) {
      if (Status s = write_file_atomic(path, kept); !s.ok()) return s;
    }
  }
  auto writer = LineWriter::open(path);
  if (!writer) return writer.status();
  return Metrics(std::move(*writer));
}

Status Metrics::add_step(std::int64_t step, float loss, double tokens_per_second, double seconds) {
  return writer_.add(
      fmt::format(R"({{"step":{},"loss":{},"tokens_per_second":{:.1f},"seconds":{:.4f}}})", step, loss, tokens_per_second, seconds));
}

Status Metrics::add_eval(std::int64_t step, float loss) { return writer_.add(fmt::format(R"({{"step":{},"eval_loss":{}}})", step, loss)); }

}  // namespace strata::train
