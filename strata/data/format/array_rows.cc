#include "strata/data/format/array_rows.h"

#include <cstring>

namespace strata::data {
namespace {

Result<Literal> array_of(const Element& e, const std::string& format) {
  switch (e.kind()) {
    case Element::Kind::array: return e.array();
    case Element::Kind::integer: return Literal::scalar(e.integer());
    case Element::Kind::real: return Literal::scalar(e.real());
    case Element::Kind::boolean: return Literal::scalar(e.boolean());
    default: break;
  }
  return Status(Code::invalid, "{} hold arrays and numbers, not {}", format,
                e.to_string().substr(0, 80));
}

}  // namespace

Status ArrayColumns::add(const Element& e, const std::string& alone) {
  Element::Fields fields = {{alone, e}};
  if (e.kind() == Element::Kind::dict) fields = e.fields();
  if (rows_ > 0 && fields.size() != columns_.size())
    return Status(Code::invalid, "a record of {} arrays, where the first has {}", fields.size(),
                  columns_.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    auto row = array_of(fields[i].second, format_);
    if (!row) return row.status();
    if (rows_ == 0) columns_.push_back({fields[i].first, row->type(), {}});
    Column& c = columns_[i];
    if (fields[i].first != c.name || !(row->type() == c.type))
      return Status(Code::invalid, "\"{}\" is {}, where the first record has \"{}\", {}",
                    fields[i].first, row->type().to_string(), c.name, c.type.to_string());
    c.bytes.append(reinterpret_cast<const char*>(row->data()), row->bytes());
  }
  ++rows_;
  return {};
}

NamedLiterals ArrayColumns::take() {
  NamedLiterals out;
  for (Column& c : columns_) {
    std::vector<std::int64_t> sizes = c.type.shape().sizes();
    sizes.insert(sizes.begin(), rows_);
    Literal whole(Type(c.type.dtype(), Shape::of(sizes)));
    if (!c.bytes.empty()) std::memcpy(whole.mutable_data(), c.bytes.data(), c.bytes.size());
    out.emplace_back(c.name, std::move(whole));
    c.bytes = {};
  }
  columns_.clear();
  rows_ = 0;
  return out;
}

}  // namespace strata::data
