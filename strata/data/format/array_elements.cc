// Arrays as elements: NumPy's files by rows, tokens of Megatron's and Strata's files by sequences.
#include <cstring>

#include "strata/base/file.h"
#include "strata/base/result.h"
#include "strata/data/format/array_rows.h"
#include "strata/data/format/elements.h"
#include "strata/data/format/megatron.h"
#include "strata/data/tokens/token_file.h"
#include "strata/type/npy.h"

namespace strata::data {
namespace {

Literal row_of(const Literal& a, std::int64_t i) {
  std::vector<std::int64_t> sizes = a.shape().sizes();
  sizes.erase(sizes.begin());
  Literal out(Type(a.dtype(), Shape::of(sizes)));
  if (out.bytes() > 0)
    std::memcpy(out.mutable_data(), a.data() + static_cast<std::size_t>(i) * out.bytes(),
                out.bytes());
  return out;
}

/// Arrays as their rows put below each other.
class NpyWriter : public ElementWriter {
 public:
  NpyWriter(FileWriter file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), named_(path_.ends_with(".npz")) {}
  Status add(const Element& e) override {
    if (!named_ && e.kind() == Element::Kind::dict && e.fields().size() != 1)
      return Status(Code::invalid, "a .npy file holds one array, the record has {}: write .npz",
                    e.fields().size());
    return columns_.add(e);
  }
  Status close() override {
    const NamedLiterals arrays = columns_.take();
    if (arrays.empty() && !named_)
      return Status(Code::invalid, "{}: no record: a .npy file needs the type of one", path_);
    auto bytes = named_ ? encode_npz(arrays) : encode_npy(arrays.front().second);
    if (!bytes) return bytes.status();
    if (Status s = file_.write(*bytes); !s.ok()) return s;
    return file_.commit();
  }

 private:
  FileWriter file_;
  std::string path_;
  bool named_;
  ArrayColumns columns_{"NumPy's files"};
};

/// The tokens of an element: an array of rank 1, a list of integers, or a dict's member "tokens".
Result<Literal> tokens_of(const Element& e, DType dtype) {
  const bool member = e.kind() == Element::Kind::dict && e.contains("tokens");
  const Element& tokens = member ? e.at("tokens") : e;
  if (tokens.kind() == Element::Kind::array && tokens.array().dtype() == dtype)
    return tokens.array();
  std::vector<std::int64_t> values;
  bool good = true;
  if (tokens.kind() == Element::Kind::list) {
    for (const Element& item : tokens.items()) {
      good = good && item.kind() == Element::Kind::integer;
      if (good) values.push_back(item.integer());
    }
  } else if (tokens.kind() == Element::Kind::array && has_storage(tokens.array().dtype())) {
    auto as = [&]<class T>(T) {
      if constexpr (std::is_integral_v<T>)
        for (T v : tokens.array().span<T>()) values.push_back(static_cast<std::int64_t>(v));
      else
        good = false;
    };
    dispatch(tokens.array().dtype(), as);
  } else {
    good = false;
  }
  if (!good)
    return Status(Code::invalid,
                  "tokens are arrays or lists of integers, under \"tokens\", not {}; `strata data "
                  "tokenize` makes tokens of texts",
                  e.to_string().substr(0, 80));
  Literal out(Type(dtype, {std::ssize(values)}));
  auto as = [&]<class T>(T) -> Status {
    for (std::size_t i = 0; i < values.size(); ++i) {
      T v{};
      if constexpr (std::is_arithmetic_v<T>) {
        v = static_cast<T>(values[i]);
        if (static_cast<std::int64_t>(v) != values[i])
          return Status(Code::invalid, "token {} does not fit into {}", values[i], name(dtype));
      }
      std::memcpy(out.mutable_data() + i * sizeof(T), &v, sizeof v);
    }
    return {};
  };
  if (Status s = dispatch(dtype, as); !s.ok()) return s;
  return out;
}

/// Each element is a document, unless its member "document" is that of the one before.
class MegatronElements : public ElementWriter {
 public:
  MegatronElements(MegatronWriter writer, DType dtype)
      : writer_(std::move(writer)), dtype_(dtype) {}
  Status add(const Element& e) override {
    auto tokens = tokens_of(e, dtype_);
    if (!tokens) return tokens.status();
    const bool said = e.kind() == Element::Kind::dict && e.contains("document") &&
                      e.at("document").kind() == Element::Kind::integer;
    const std::int64_t document = said ? e.at("document").integer() : -1;
    if (any_ && (!said || document != document_)) writer_.end_document();
    any_ = true;
    document_ = document;
    return writer_.add(*tokens);
  }
  Status close() override { return writer_.close(); }

 private:
  MegatronWriter writer_;
  DType dtype_;
  std::int64_t document_ = 0;
  bool any_ = false;
};

}  // namespace

OpenedElements open_npy(const std::string& path, const ElementOptions&) {
  auto bytes = read_file(path);
  if (!bytes) return bytes.status();
  NamedLiterals arrays;
  const bool named = path.ends_with(".npz") || bytes->starts_with("PK");
  if (named) {
    auto read = decode_npz(*bytes, path);
    if (!read) return read.status();
    arrays = std::move(*read);
  } else {
    auto read = decode_npy(*bytes, path);
    if (!read) return read.status();
    arrays.emplace_back("arr_0", std::move(*read));
  }
  if (arrays.empty()) return Status(Code::invalid, "{}: no arrays", path);
  for (const auto& [name, a] : arrays)
    if (a.shape().rank() == 0 || a.shape()[0] != arrays.front().second.shape()[0])
      return Status(Code::invalid,
                    "{}: \"{}\" is {}: records are the rows of arrays of one leading size", path,
                    name, a.type().to_string());
  const std::int64_t rows = arrays.front().second.shape()[0];
  return by_number(rows, [arrays = std::move(arrays), named](std::int64_t i) {
    if (!named) return Element(row_of(arrays.front().second, i));
    Element::Fields fields;
    for (const auto& [name, a] : arrays) fields.emplace_back(name, Element(row_of(a, i)));
    return Element::dict(std::move(fields));
  });
}

OpenedElements open_megatron(const std::string& path, const ElementOptions&) {
  auto file = MegatronFile::open(path);
  if (!file) return file.status();
  const std::int64_t size = file->size();
  return by_number(size, [file = std::move(*file), d = std::int64_t{0}](std::int64_t i) mutable {
    while (d + 1 < file.documents() && file.document(d + 1) <= i) ++d;
    return Element::dict({{"tokens", Element(file.sequence(i))}, {"document", Element(d)}});
  });
}

OpenedElements open_tokens(const std::string& path, const ElementOptions&) {
  auto tokens = Tokens::open(path);
  if (!tokens) return tokens.status();
  const std::int64_t size = tokens->documents();
  return by_number(size, [tokens = std::move(*tokens)](std::int64_t d) {
    Literal out(Type(DType::i32, {tokens.document(d + 1) - tokens.document(d)}));
    tokens.copy(tokens.document(d), out.mutable_span<std::int32_t>());
    return Element::dict({{"tokens", Element(std::move(out))}});
  });
}

CreatedElements create_npy(const std::string& path, const ElementOptions&) {
  auto file = FileWriter::create(path);
  if (!file) return file.status();
  return std::unique_ptr<ElementWriter>(std::make_unique<NpyWriter>(std::move(*file), path));
}

CreatedElements create_megatron(const std::string& path, const ElementOptions& o) {
  for (DType dtype : {DType::ui8, DType::i8, DType::i16, DType::i32, DType::i64, DType::ui16}) {
    if (name(dtype) != o.dtype) continue;
    auto writer = MegatronWriter::create(path, dtype);
    if (!writer) return writer.status();
    return std::unique_ptr<ElementWriter>(
        std::make_unique<MegatronElements>(std::move(*writer), dtype));
  }
  return Status(Code::invalid,
                "tokens of Megatron's files are ui8, i8, ui16, i16, i32 or i64, not {}", o.dtype);
}

}  // namespace strata::data
