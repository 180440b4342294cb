// CSV as RFC 4180 has it: a first line of names, then records as dicts of texts. Fields may be
// quoted, hold line ends and doubled quotes. Written: what is no text as JSON writes it.
#include <algorithm>

#include "strata/base/result.h"
#include "strata/data/compression/stream.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/json.h"
#include "strata/tokenizer/utf8.h"

namespace strata::data {
namespace {

class CsvScanner : public ElementScanner {
 public:
  CsvScanner(Input input, char delimiter) : input_(std::move(input)), delimiter_(delimiter) {}
  std::uint64_t passed() const override { return input_.passed(); }
  std::uint64_t total() const override { return input_.file_bytes(); }
  std::string_view damaged() const override { return record_; }

  /// Reads the names.
  Status begin() {
    auto more = fields(names_);
    if (!more) return more.status();
    if (!*more) return Status(Code::invalid, "{}: no line of names", input_.name());
    if (names_.front().starts_with("\xef\xbb\xbf")) names_.front().erase(0, 3);
    std::vector<std::string> sorted = names_;
    std::sort(sorted.begin(), sorted.end());
    if (auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      return Status(Code::invalid, "{}: two columns are named \"{}\"", input_.name(), *twice);
    return {};
  }

  Result<bool> next(Element& out) override {
    std::vector<std::string> values;
    do {
      auto more = fields(values);
      if (!more || !*more) return more;
    } while (values.size() == 1 && values.front().empty() && names_.size() > 1);
    if (values.size() != names_.size())
      return Status(Code::corrupt, "{}:{}: {} fields, where the first line has {}", input_.name(),
                    line_, values.size(), names_.size());
    if (tokenizer::first_invalid(record_) != std::string::npos)
      return Status(Code::corrupt, "{}:{}: not UTF-8", input_.name(), line_);
    Element::Fields made;
    for (std::size_t i = 0; i < names_.size(); ++i)
      made.emplace_back(names_[i], Element(std::move(values[i])));
    record_.clear();
    out = Element::dict(std::move(made));
    return true;
  }

 private:
  /// The fields of a record, which stays in `record_`; false at the end.
  Result<bool> fields(std::vector<std::string>& out) {
    out.assign(1, "");
    record_.clear();
    bool quoted = false, was_quoted = false;
    do {
      auto line = ended_ ? Result<std::string_view>(std::string_view()) : input_.line();
      if (!line || !line->data()) {
        ended_ = true;
        if (!line) return line.status();
        if (!quoted) return false;
        return Status(Code::corrupt, "{}:{}: a quoted field without its end", input_.name(), line_);
      }
      ++line_;
      if (quoted) out.back() += '\n', record_ += '\n';
      record_ += *line;
      if (record_.size() > Input::kMostAtOnce)
        return Status(Code::corrupt, "{}:{}: a record of {} bytes", input_.name(), line_,
                      record_.size());
      std::string_view rest = *line;
      while (!rest.empty()) {
        const char c = rest.front();
        const std::string_view behind = rest.substr(1);
        rest.remove_prefix(1);
        if (quoted && c == '"' && behind.starts_with('"'))
          out.back() += '"', rest.remove_prefix(1);
        else if (quoted && c == '"')
          quoted = false;
        else if (quoted)
          out.back() += c;
        else if (c == '"' && out.back().empty() && !was_quoted)
          quoted = was_quoted = true;
        else if (c == delimiter_)
          out.emplace_back(), was_quoted = false;
        else if (c != '\r' || !behind.empty())
          out.back() += c;
      }
    } while (quoted);
    return true;
  }

  Input input_;
  char delimiter_;
  std::vector<std::string> names_;
  std::string record_;
  std::int64_t line_ = 0;
  bool ended_ = false;
};

class CsvWriter : public ElementWriter {
 public:
  CsvWriter(Output output, char delimiter) : output_(std::move(output)), delimiter_(delimiter) {}
  Status close() override { return output_.close(); }

  /// The first element names the columns.
  Status add(const Element& e) override {
    if (e.kind() != Element::Kind::dict)
      return Status(Code::invalid, "CSV holds dicts, not {}", name(e.kind()));
    if (names_.empty()) {
      std::vector<std::string> quoted;
      for (const auto& [key, value] : e.fields()) {
        names_.push_back(key);
        quoted.push_back(field(key));
      }
      if (names_.empty()) return Status(Code::invalid, "CSV holds dicts with members");
      if (Status s = line(quoted); !s.ok()) return s;
    }
    if (e.fields().size() != names_.size())
      return Status(Code::invalid, "a record of {} members, where the first has {}",
                    e.fields().size(), names_.size());
    std::vector<std::string> values;
    for (const std::string& key : names_) {
      if (!e.contains(key))
        return Status(Code::invalid, "a record without the member \"{}\" of the first", key);
      values.push_back(field(text_of(e.at(key))));
    }
    return line(values);
  }

 private:
  static std::string text_of(const Element& e) {
    if (e.kind() == Element::Kind::text) return std::string(e.view());
    return e.is_none() ? "" : json_of(e);
  }
  std::string field(const std::string& text) const {
    const bool plain = text.find_first_of("\"\r\n") == std::string::npos &&
                       text.find(delimiter_) == std::string::npos;
    if (plain) return text;
    std::string out = "\"";
    for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
  }
  Status line(const std::vector<std::string>& values) {
    std::string out;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out += delimiter_;
      out += values[i];
    }
    if (values.size() == 1 && out.empty()) out = "\"\"";  // else it would be a blank line
    return output_.write(out + "\r\n");
  }

  Output output_;
  char delimiter_;
  std::vector<std::string> names_;
};

char delimiter_of(const std::string& path, const ElementOptions& o) {
  return o.delimiter == ',' && path.find(".tsv") != std::string::npos ? '\t' : o.delimiter;
}

}  // namespace

OpenedElements open_csv(const std::string& path, const ElementOptions& o) {
  auto input = Input::open(path);
  if (!input) return input.status();
  auto out = std::make_unique<CsvScanner>(std::move(*input), delimiter_of(path, o));
  if (Status s = out->begin(); !s.ok()) return s;
  return std::unique_ptr<ElementScanner>(std::move(out));
}

CreatedElements create_csv(const std::string& path, const ElementOptions& o) {
  auto output = Output::create(path);
  if (!output) return output.status();
  return std::unique_ptr<ElementWriter>(
      std::make_unique<CsvWriter>(std::move(*output), delimiter_of(path, o)));
}

}  // namespace strata::data
