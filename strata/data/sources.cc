#include "strata/data/sources.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

namespace strata::data {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (std::size_t at; from <= text.size(); from = at + 1) {
    at = from;
    while (at < text.size() && text[at] != by) at += text[at] == '\\' ? 2 : 1;
    at = std::min(at, text.size());
    std::size_t begin = from, end = at;
    while (begin < end && std::isspace(static_cast<unsigned char>(text[begin]))) ++begin;
    while (end > begin && std::isspace(static_cast<unsigned char>(text[end - 1]))) --end;
    if (end > begin) out.push_back(text.substr(begin, end - begin));
  }
  return out;
}

/// A name as it is written, without the backslashes that keep a comma or a semicolon in it.
std::string plain(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool keeps =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == ';');
    out += text[keeps ? ++i : i];
  }
  return out;
}

bool is_file(const std::string& name) {
  std::error_code none;
  return fs::is_regular_file(name, none);
}

std::optional<double> number(const std::string& text) {
  double out;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return out;
}

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

std::string short_name(const std::string& pattern) {
  std::string out;
  for (const fs::path& part : fs::path(pattern)) {
    if (is_pattern(part.string())) return out.empty() ? "source" : out;
    if (part.string() != "." && part.string() != ".." && part.string() != "/" && !part.empty())
      out = part.string();
  }
  return fs::path(out).stem().string().empty() ? "source" : fs::path(out).stem().string();
}

/// Adds what is in `folder` and matches the parts from `at` on.
void match(const fs::path& folder, const std::vector<std::string>& parts, std::size_t at,
           std::set<std::string>& out) {
  std::error_code error;
  const bool last = at + 1 == parts.size();
  if (!is_pattern(parts[at])) {
    const fs::path next = folder / parts[at];
    if (last ? fs::exists(next, error) && !fs::is_directory(next, error)
             : fs::is_directory(next, error))
      last ? (void)out.insert(next.string()) : match(next, parts, at + 1, out);
    return;
  }
  if (parts[at] == "**" && !last) match(folder, parts, at + 1, out);
  for (const auto& entry : fs::directory_iterator(
           folder.empty() ? "." : folder, fs::directory_options::skip_permission_denied, error)) {
    const std::string name = entry.path().filename().string();
    const fs::path next = folder / name;
    const bool is_folder = entry.is_directory(error);
    if (parts[at] == "**") {
      if (name.starts_with('.')) continue;
      if (is_folder && !entry.is_symlink(error))
        match(next, parts, at, out);  // a link may lead back up
      if (last && !is_folder) out.insert(next.string());
      continue;
    }
    if (::fnmatch(parts[at].c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
    if (last && !is_folder) out.insert(next.string());
    if (!last && is_folder) match(next, parts, at + 1, out);
  }
}

}  // namespace

Result<std::vector<Source>> parse_sources(const std::vector<std::string>& entries) {
  std::vector<Source> out;
  std::set<std::string> names;
  for (const std::string& entry : entries) {
    const bool whole = is_file(entry);
    for (const std::string& text : whole ? std::vector{entry} : split(entry, ';')) {
      Source source;
      source.patterns = whole ? std::vector{entry} : split(text, ',');
      if (auto weight =
              whole || source.patterns.empty() ? std::nullopt : number(source.patterns.back())) {
        source.weight = *weight;
        source.patterns.pop_back();
      }
      if (!whole)
        for (std::string& pattern : source.patterns) pattern = plain(pattern);
      if (source.patterns.empty())
        return Status(Code::invalid, "train_files: '{}' names no files", text);
      const std::string name = short_name(source.patterns.front());
      source.name = name;
      for (int i = 2; !names.insert(source.name).second; ++i)
        source.name = fmt::format("{}-{}", name, i);
      out.push_back(std::move(source));
    }
  }
  if (out.empty()) return Status(Code::invalid, "train_files names no files");
  return out;
}

Result<std::vector<WeightStage>> parse_weight_stages(const std::vector<std::string>& entries) {
  std::vector<WeightStage> out;
  for (const std::string& entry : entries) {
    for (const std::string& text : split(entry, ';')) {
      const auto wrong = [&](std::string_view what) {
        return Status(Code::invalid,
                      "train_files_weights: '{}': {}; it is 'STEP: WEIGHT, WEIGHT', one a source",
                      text, what);
      };
      const std::size_t colon = text.find(':');
      if (colon == std::string::npos) return wrong("there is no ':'");
      const std::vector<std::string> steps = split(text.substr(0, colon), ',');
      const auto step = steps.size() == 1 ? number(steps[0]) : std::nullopt;
      if (!step || !(*step >= 0 && *step < 1e15) || *step != std::floor(*step))
        return wrong("the step is no whole number from 0 on");
      WeightStage stage{.step = static_cast<std::int64_t>(*step), .weights = {}};
      if (!out.empty() && stage.step <= out.back().step)
        return wrong("steps rise from one piece to the next");
      for (const std::string& weight : split(text.substr(colon + 1), ',')) {
        const auto value = number(weight);
        if (!value) return wrong("a weight is no number");
        stage.weights.push_back(*value);
      }
      out.push_back(std::move(stage));
    }
  }
  return out;
}

Result<std::vector<std::string>> expand_pattern(const std::string& pattern) {
  std::string text = pattern;
  if (const char* home = std::getenv("HOME"); home && text.starts_with("~/"))
    text = home + text.substr(1);
  if (!is_pattern(text) || is_file(text)) return std::vector<std::string>{text};
  std::vector<std::string> parts;
  for (const fs::path& part : fs::path(text).relative_path()) parts.push_back(part.string());
  std::set<std::string> found;
  match(text.starts_with('/') ? "/" : "", parts, 0, found);
  if (found.empty()) return Status(Code::not_found, "{}: no file matches", pattern);
  return std::vector<std::string>(found.begin(), found.end());
}

}  // namespace strata::data
