// Lines of text as elements: plain text (a dict with the member "text" for each line), JSONL, and
// the same compressed.
#include "strata/base/result.h"
#include "strata/data/compression/stream.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/json.h"
#include "strata/tokenizer/utf8.h"

namespace strata::data {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";  // a byte order mark is no text

class Lines : public ElementScanner {
 public:
  explicit Lines(Input input) : input_(std::move(input)) {}
  std::uint64_t passed() const override { return input_.passed(); }
  std::uint64_t total() const override { return input_.file_bytes(); }
  std::string_view damaged() const override { return damaged_; }

 protected:
  /// False at the end, and for good after a failure of the stream.
  Result<bool> line(std::string_view& out) {
    damaged_ = {};
    if (ended_) return false;
    auto line = input_.line();
    if (!line || !line->data()) {
      ended_ = true;
      return line ? Result<bool>(false) : line.status();
    }
    out = *line;
    if (++number_ == 1 && out.starts_with(kMark)) out.remove_prefix(kMark.size());
    if (out.ends_with('\r')) out.remove_suffix(1);
    return true;
  }
  std::string where() const { return fmt::format("{}:{}", input_.name(), number_); }
  Status bad(Status s, std::string_view line) {
    damaged_ = line;
    return s;
  }

 private:
  Input input_;
  std::int64_t number_ = 0;
  bool ended_ = false;
  std::string_view damaged_;
};

class TextScanner : public Lines {
 public:
  using Lines::Lines;
  Result<bool> next(Element& out) override {
    std::string_view text;
    auto more = line(text);
    if (!more || !*more) return more;
    if (std::size_t at = tokenizer::first_invalid(text); at != std::string::npos)
      return bad(Status(Code::corrupt, "{}: not UTF-8: byte {} of the line", where(), at), text);
    out = Element::dict({{"text", Element(std::string(text))}});
    return true;
  }
};

class JsonScanner : public Lines {
 public:
  using Lines::Lines;
  Result<bool> next(Element& out) override {
    std::string_view text;
    do {
      auto more = line(text);
      if (!more || !*more) return more;
    } while (text.find_first_not_of(" \t") == std::string_view::npos);
    auto element = element_of_json(text, where());
    if (!element) return bad(element.status(), text);
    out = std::move(*element);
    return true;
  }
};

class LineWriter : public ElementWriter {
 public:
  explicit LineWriter(Output output) : output_(std::move(output)) {}
  Status close() override { return output_.close(); }

 protected:
  Status put(std::string line) {
    line += '\n';
    return output_.write(line);
  }

 private:
  Output output_;
};

class JsonWriter : public LineWriter {
 public:
  using LineWriter::LineWriter;
  Status add(const Element& e) override {
    // A record that is bytes alone is a member of its own, so that every line is an object.
    if (e.kind() == Element::Kind::dict) return put(json_of(e));
    return put(json_of(Element::dict({{"record", e}})));
  }
};

class TextWriter : public LineWriter {
 public:
  using LineWriter::LineWriter;
  Status add(const Element& e) override {
    const bool member = e.kind() == Element::Kind::dict && e.contains("text");
    const Element& text = member ? e.at("text") : e;
    if (text.kind() != Element::Kind::text && text.kind() != Element::Kind::bytes)
      return Status(Code::invalid,
                    "text files hold texts, or dicts with the member \"text\", not {}",
                    e.to_string().substr(0, 80));
    if (text.view().find('\n') != std::string_view::npos)
      return Status(Code::invalid,
                    "a text of several lines is no line of a text file: write JSONL");
    return put(std::string(text.view()));
  }
};

template <class Scanner>
OpenedElements open_lines(const std::string& path) {
  auto input = Input::open(path);
  if (!input) return input.status();
  return std::unique_ptr<ElementScanner>(std::make_unique<Scanner>(std::move(*input)));
}

template <class Writer>
CreatedElements create_lines(const std::string& path) {
  auto output = Output::create(path);
  if (!output) return output.status();
  return std::unique_ptr<ElementWriter>(std::make_unique<Writer>(std::move(*output)));
}

}  // namespace

OpenedElements open_text(const std::string& path, const ElementOptions&) {
  return open_lines<TextScanner>(path);
}
OpenedElements open_jsonl(const std::string& path, const ElementOptions&) {
  return open_lines<JsonScanner>(path);
}
CreatedElements create_text(const std::string& path, const ElementOptions&) {
  return create_lines<TextWriter>(path);
}
CreatedElements create_jsonl(const std::string& path, const ElementOptions&) {
  return create_lines<JsonWriter>(path);
}

}  // namespace strata::data
