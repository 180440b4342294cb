// Rows of the tensors of a safetensors file as elements.
//
// Source: huggingface/safetensors, README.md ("Format") and safetensors/src/tensor.rs, whose order
// of tensors the writer has: the widest types first, then by name. Of a record's members there is
// no order then: they are read in that of the file.
#include <algorithm>
#include <cstring>

#include "strata/base/large_file.h"
#include "strata/data/format/array_rows.h"
#include "strata/data/format/shallow_json.h"

namespace strata::data {
namespace {

using json = nlohmann::ordered_json;

constexpr std::uint64_t kMostHeader = 100'000'000;  // upstream's limit

/// Upstream's order of types, the last ones first in a file.
constexpr std::pair<DType, const char*> kTypes[] = {
    {DType::i1, "BOOL"},        {DType::ui8, "U8"},           {DType::i8, "I8"},
    {DType::f8E5M2, "F8_E5M2"}, {DType::f8E4M3FN, "F8_E4M3"}, {DType::f8E8M0FNU, "F8_E8M0"},
    {DType::i16, "I16"},        {DType::ui16, "U16"},         {DType::f16, "F16"},
    {DType::bf16, "BF16"},      {DType::i32, "I32"},          {DType::ui32, "U32"},
    {DType::f32, "F32"},        {DType::c64, "C64"},          {DType::f64, "F64"},
    {DType::i64, "I64"},        {DType::ui64, "U64"}};

int number_of(DType dtype) {
  const auto at = std::find_if(std::begin(kTypes), std::end(kTypes),
                               [&](const auto& t) { return t.first == dtype; });
  return at == std::end(kTypes) ? -1 : static_cast<int>(at - std::begin(kTypes));
}

struct Column {
  std::string name;
  Type row;
  std::string_view bytes;  // of all rows
};

/// A tensor of the header; `rows` is its first dimension.
Result<Column> column_of(const std::string& path, const std::string& name, const json& entry,
                         std::string_view data, std::int64_t& rows) {
  const auto corrupt = [&](const char* what) {
    return Status(Code::corrupt, "{}: tensor \"{}\": {}", path, name, what);
  };
  const json dtype = entry.is_object() ? entry.value("dtype", json()) : json(),
             shape = entry.is_object() ? entry.value("shape", json()) : json(),
             places = entry.is_object() ? entry.value("data_offsets", json()) : json();
  const auto numbers = [](const json& j) {
    return j.is_array() && std::all_of(j.begin(), j.end(), [](const json& n) {
             return n.is_number_unsigned() && n.get<std::uint64_t>() < std::uint64_t{1} << 62;
           });
  };
  if (!dtype.is_string() || !numbers(shape) || !numbers(places) || places.size() != 2)
    return corrupt("dtype, shape or data_offsets is missing or of another type");
  const auto type = std::find_if(std::begin(kTypes), std::end(kTypes), [&](const auto& t) {
    return t.second == dtype.get<std::string>();
  });
  if (type == std::end(kTypes))
    return Status(Code::unsupported, "{}: tensor \"{}\" has dtype {}", path, name, dtype.dump());
  if (shape.empty())
    return Status(Code::invalid,
                  "{}: \"{}\" is one number: records are the rows of tensors of one leading size",
                  path, name);
  std::vector<std::int64_t> sizes = shape.get<std::vector<std::int64_t>>();
  const auto begin = places[0].get<std::uint64_t>(), end = places[1].get<std::uint64_t>();
  if (begin > end || end > data.size()) return corrupt("it lies outside of the file");
  std::uint64_t bytes = byte_width(type->first);
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  for (const std::int64_t n : sizes) {
    if (!empty && bytes > data.size() / static_cast<std::uint64_t>(n))
      return corrupt("its shape is larger than the file");
    bytes = empty ? 0 : bytes * static_cast<std::uint64_t>(n);
  }
  if (bytes != end - begin) return corrupt("its bytes do not fit its shape");
  rows = sizes.front();
  // A row of nothing takes no bytes of the file, so its number is bounded by nothing.
  if (empty && rows > 0) return corrupt("its rows are empty");
  sizes.erase(sizes.begin());
  return Column{name, Type(type->first, Shape::of(sizes)), data.substr(begin, bytes)};
}

class Scanner : public ElementScanner {
 public:
  Scanner(std::shared_ptr<const MappedFile> file, std::vector<Column> columns, std::int64_t rows)
      : file_(std::move(file)), columns_(std::move(columns)), rows_(rows) {}
  Result<bool> next(Element& out) override {
    if (at_ >= rows_) return false;
    Element::Fields fields;
    for (Column& c : columns_) {
      Literal row(c.row);
      if (row.bytes() > 0)
        std::memcpy(row.mutable_data(),
                    c.bytes.data() + static_cast<std::size_t>(at_) * row.bytes(), row.bytes());
      if (c.row.dtype() == DType::i1)
        for (std::size_t i = 0; i < row.bytes(); ++i)
          if (row.data()[i] > std::byte{1}) {
            ++at_;
            return Status(Code::corrupt, "row {} of \"{}\": a boolean is neither 0 nor 1", at_ - 1,
                          c.name);
          }
      fields.emplace_back(c.name, std::move(row));
    }
    ++at_;
    out = Element::dict(std::move(fields));
    return true;
  }
  std::uint64_t passed() const override { return static_cast<std::uint64_t>(at_); }
  std::uint64_t total() const override { return static_cast<std::uint64_t>(rows_); }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<Column> columns_;
  std::int64_t rows_, at_ = 0;
};

class Writer : public ElementWriter {
 public:
  explicit Writer(FileWriter file) : file_(std::move(file)) {}
  Status add(const Element& e) override { return columns_.add(e, "record"); }
  Status close() override {
    NamedLiterals tensors = columns_.take();
    for (const auto& [name, t] : tensors)
      if (number_of(t.dtype()) < 0)
        return Status(Code::unsupported, "safetensors has no name for {} (\"{}\")",
                      strata::name(t.dtype()), name);
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
      const int x = number_of(a.second.dtype()), y = number_of(b.second.dtype());
      return x != y ? x > y : a.first < b.first;
    });
    json header = json::object();
    std::uint64_t at = 0;
    for (const auto& [name, t] : tensors) {
      header[name] = {{"dtype", kTypes[number_of(t.dtype())].second},
                      {"shape", t.shape().sizes()},
                      {"data_offsets", {at, at + t.bytes()}}};
      at += t.bytes();
    }
    std::string head = header.dump();
    head.append((8 - head.size() % 8) % 8, ' ');
    const std::uint64_t length = head.size();
    std::string size(8, '\0');
    std::memcpy(size.data(), &length, 8);
    if (Status s = file_.write(size + head); !s.ok()) return s;
    for (const auto& [name, t] : tensors)
      if (Status s = file_.write({reinterpret_cast<const char*>(t.data()), t.bytes()}); !s.ok())
        return s;
    return file_.commit();
  }

 private:
  FileWriter file_;
  ArrayColumns columns_{"safetensors files"};
};

}  // namespace

OpenedElements open_safetensors(const std::string& path, const ElementOptions&) {
  auto file = MappedFile::open(path);
  if (!file) return file.status();
  const std::string_view bytes = (*file)->bytes();
  const auto corrupt = [&](const std::string& what) {
    return Status(Code::corrupt, "{}: no whole safetensors file: {}", path, what);
  };
  std::uint64_t length = 0;
  if (bytes.size() < 8) return corrupt(fmt::format("{} bytes", bytes.size()));
  std::memcpy(&length, bytes.data(), 8);
  if (length > kMostHeader || length > bytes.size() - 8)
    return corrupt(
        fmt::format("its header says {} bytes, the file has {}", length, bytes.size() - 8));
  const std::string_view head = bytes.substr(8, length), data = bytes.substr(8 + length);
  const json header = shallow_json(head);
  if (!header.is_object()) return corrupt("its header is no JSON object");
  std::vector<Column> columns;
  std::vector<std::string_view> parts;
  std::int64_t rows = 0;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    std::int64_t here = 0;
    auto column = column_of(path, name, entry, data, here);
    if (!column) return column.status();
    if (!columns.empty() && here != rows)
      return Status(Code::invalid,
                    "{}: \"{}\" has {} rows, \"{}\" has {}: records are the rows of tensors of one "
                    "leading size; tensors of a model are `strata convert`'s",
                    path, columns.front().name, rows, name, here);
    rows = here;
    parts.push_back(column->bytes);
    columns.push_back(std::move(*column));
  }
  // As upstream: all of the data are of one tensor each.
  std::sort(parts.begin(), parts.end(),
            [](std::string_view a, std::string_view b) { return a.data() < b.data(); });
  const char* at = data.data();
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    if (part.data() != at) return corrupt("its tensors overlap or leave holes");
    at += part.size();
  }
  if (at != data.data() + data.size()) return corrupt("bytes behind the last tensor");
  return std::unique_ptr<ElementScanner>(
      std::make_unique<Scanner>(std::move(*file), std::move(columns), rows));
}

CreatedElements create_safetensors(const std::string& path, const ElementOptions&) {
  auto file = FileWriter::create(path);
  if (!file) return file.status();
  return std::unique_ptr<ElementWriter>(std::make_unique<Writer>(std::move(*file)));
}

}  // namespace strata::data
