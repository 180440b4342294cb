#include "strata/type/type.h"

#include <fmt/format.h>

namespace strata {

bool Shape::is_static() const {
  for (const Dim& d : dims_)
    if (!d.is_static()) return false;
  return true;
}

std::vector<std::int64_t> Shape::sizes() const {
  std::vector<std::int64_t> out;
  out.reserve(dims_.size());
  for (const Dim& d : dims_) out.push_back(d.size());
  return out;
}

std::int64_t Shape::count() const {
  std::int64_t n = 1;
  for (const Dim& d : dims_) n *= d.size();
  return n;
}

std::vector<std::int64_t> Shape::strides() const {
  std::vector<std::int64_t> out(dims_.size(), 1);
  for (int i = rank() - 2; i >= 0; --i) out[i] = out[i + 1] * dims_[i + 1].size();
  return out;
}

std::string Shape::to_string() const {
  std::string out;
  for (const Dim& d : dims_) {
    if (!out.empty()) out += 'x';
    out += d.is_static() ? fmt::format("{}", d.size()) : "?";
  }
  return out;
}

std::string Type::to_string() const {
  std::string sizes = shape_.to_string();
  if (!sizes.empty()) sizes += 'x';
  switch (kind_) {
    case Kind::token: return "!stablehlo.token";
    case Kind::ref: return fmt::format("!strata.ref<{}{}>", sizes, name(dtype_));
    case Kind::tuple: {
      std::string out = "tuple<";
      for (std::size_t i = 0; i < elements_.size(); ++i) out += (i ? ", " : "") + elements_[i].to_string();
      return out + ">";
    }
    case Kind::tensor: break;
  }
  std::string encoding;
  for (const Dim& d : shape_.dims())
    if (d.is_bounded()) {  // StableHLO prints bounds of all dimensions when one is bounded
      for (const Dim& e : shape_.dims()) encoding += (encoding.empty() ? "" : ", ") + (e.is_static() || !e.is_bounded() ? std::string("?") : fmt::format("{}", e.bound()));
      encoding = ", #stablehlo.bounds<" + encoding + ">";
      break;
    }
  return fmt::format("tensor<{}{}{}>", sizes, name(dtype_), encoding);
}

}  // namespace strata
