// WebDataset: a tar archive in which files that share a name up to its first dot are one sample.
//
// Source: webdataset, src/webdataset/tariterators.py (samples), autodecode.py and writer.py (which
// endings stand for which values). The name is the member "__key__"; `txt`, `text` and
// `transcript` are texts, `cls`, `cls2`, `index`, `inx` and `id` numbers, `json` and `jsn` JSON,
// `npy` arrays, and all others bytes. A repeated ending in a sample is Code::corrupt.
#include <algorithm>
#include <charconv>
#include <optional>

#include "strata/base/result.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/json.h"
#include "strata/data/format/tar.h"
#include "strata/tokenizer/utf8.h"
#include "strata/type/npy.h"

namespace strata::data {
namespace {

enum class Form { text, number, json, npy, bytes };

Form form_of(std::string_view field) {
  const std::string_view ending = field.substr(field.rfind('.') + 1);  // all of it without a dot
  auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), ending) != names.end();
  };
  if (is({"txt", "text", "transcript"})) return Form::text;
  if (is({"cls", "cls2", "index", "inx", "id"})) return Form::number;
  if (is({"json", "jsn"})) return Form::json;
  return is({"npy"}) ? Form::npy : Form::bytes;
}

Result<Element> decoded(std::string_view field, std::string_view bytes, const std::string& where) {
  switch (form_of(field)) {
    case Form::text:
      if (tokenizer::first_invalid(bytes) == std::string::npos) return Element(std::string(bytes));
      return Status(Code::corrupt, "{}: not UTF-8", where);
    case Form::number: {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
      if (error == std::errc() && end == bytes.data() + bytes.size()) return Element(value);
      return Status(Code::corrupt, "{}: no integer", where);
    }
    case Form::json: return element_of_json(bytes, where);
    case Form::npy: {
      auto array = decode_npy(bytes, where);
      return array ? Result<Element>(Element(std::move(*array))) : array.status();
    }
    case Form::bytes: break;
  }
  return Element::bytes(std::string(bytes));
}

Result<std::string> encoded(std::string_view field, const Element& e) {
  const bool raw = e.kind() == Element::Kind::text || e.kind() == Element::Kind::bytes;
  const Form form = form_of(field);
  if (form == Form::json) return json_of(e);
  if (raw) return std::string(e.view());
  if (form == Form::npy && e.kind() == Element::Kind::array) return encode_npy(e.array());
  if (form == Form::number && e.kind() == Element::Kind::integer)
    return std::to_string(e.integer());
  return Status(Code::invalid, "\"{}\" holds {}: no such file", field, name(e.kind()));
}

/// The ending that says what a value is, for members whose names say nothing.
std::string ending_for(const std::string& key, const Element& e) {
  if (key.find('.') != std::string::npos || form_of(key) != Form::bytes ||
      e.kind() == Element::Kind::bytes)
    return key;
  switch (e.kind()) {
    case Element::Kind::text: return key + ".txt";
    case Element::Kind::integer: return key + ".cls";
    case Element::Kind::array: return key + ".npy";
    default: return key + ".json";
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Splits a path behind the first dot of its last component; false where it has none.
bool split(const std::string& path, std::string& key, std::string& field) {
  const std::size_t dot = path.find('.', path.rfind('/') + 1);
  if (dot == std::string::npos) return false;
  key = path.substr(0, dot);
  field = lower(path.substr(dot + 1));
  return true;
}

bool is_meta(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  return first.size() > 4 && first.starts_with("__") && first.ends_with("__");
}

class WebDatasetScanner : public ElementScanner {
 public:
  explicit WebDatasetScanner(TarReader tar) : tar_(std::move(tar)) {}
  std::uint64_t passed() const override { return tar_.input().passed(); }
  std::uint64_t total() const override { return tar_.input().file_bytes(); }

  Result<bool> next(Element& out) override {
    Element::Fields sample;
    Status bad;
    std::string key;
    for (;;) {
      auto more = held_ ? Result<bool>(true) : hold();
      if (!more) return more.status();
      if (!*more) break;
      if (sample.empty()) key = held_->key, sample.emplace_back("__key__", Element(key));
      if (held_->key != key) break;
      const bool twice = std::any_of(sample.begin(), sample.end(),
                                     [&](const auto& f) { return f.first == held_->field; });
      if (twice)
        bad = Status(Code::corrupt, "{}: {}.{} is there twice", tar_.input().name(), key,
                     held_->field);
      else if (!held_->value)
        bad = held_->value.status();
      else
        sample.emplace_back(held_->field, std::move(*held_->value));
      held_.reset();
    }
    if (sample.empty()) return false;
    if (!bad.ok()) return bad;
    out = Element::dict(std::move(sample));
    return true;
  }

 private:
  struct Held {
    std::string key, field;
    Result<Element> value;
  };
  /// Reads the next member that belongs to a sample; false at the end.
  Result<bool> hold() {
    for (TarReader::Member member;;) {
      auto more = tar_.next(member);
      if (!more || !*more) return more;
      std::string key, field;
      if (is_meta(member.name) || !split(member.name, key, field)) continue;
      auto value = decoded(field, member.bytes, tar_.input().name() + ": " + member.name);
      held_ = Held{std::move(key), std::move(field), std::move(value)};
      return true;
    }
  }
  TarReader tar_;
  std::optional<Held> held_;
};

class WebDatasetWriter : public ElementWriter {
 public:
  explicit WebDatasetWriter(TarWriter tar) : tar_(std::move(tar)) {}
  Status close() override { return tar_.close(); }
  Status add(const Element& e) override {
    std::string key = fmt::format("{:09}", count_++);
    Element::Fields fields = {{"bin", e}};
    if (e.kind() == Element::Kind::text) fields = {{"txt", e}};
    if (e.kind() == Element::Kind::dict) fields = e.fields();
    bool any = false;
    for (const auto& [name, value] : fields)
      if (name == "__key__" && value.kind() == Element::Kind::text) key = value.view();
    for (const auto& [name, value] : fields) {
      if (name == "__key__" || value.is_none()) continue;
      const std::string field = ending_for(name, value);
      auto bytes = encoded(field, value);
      if (!bytes) return bytes.status();
      if (Status s = tar_.add(key + "." + field, *bytes); !s.ok()) return s;
      any = true;
    }
    if (!any) return Status(Code::invalid, "a sample of WebDataset without a member");
    return {};
  }

 private:
  TarWriter tar_;
  std::int64_t count_ = 0;
};

}  // namespace

OpenedElements open_web_dataset(const std::string& path, const ElementOptions&) {
  auto input = Input::open(path);
  if (!input) return input.status();
  return std::unique_ptr<ElementScanner>(
      std::make_unique<WebDatasetScanner>(TarReader(std::move(*input))));
}

CreatedElements create_web_dataset(const std::string& path, const ElementOptions&) {
  auto output = Output::create(path);
  if (!output) return output.status();
  return std::unique_ptr<ElementWriter>(
      std::make_unique<WebDatasetWriter>(TarWriter(std::move(*output))));
}

}  // namespace strata::data
