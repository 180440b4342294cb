#include "strata/type/type.h"

#include <fmt/format.h>

#include <bit>

#include "strata/type/number.h"

namespace strata {
namespace {

std::string joined(const std::vector<Type>& types) {
  std::string out;
  for (const Type& t : types) out += (out.empty() ? "" : ", ") + t.to_string();
  return out;
}

/// "!quant.uniform<i8<-127:127>:f32:1, {5.000000e-01,2.500000e-01:3}>": bounds unless the storage
/// type's own, the axis unless per tensor, zero points unless 0.
std::string quantized_text(DType storage, const Quantization& q) {
  std::string out = fmt::format("!quant.uniform<{}{}", is_unsigned(storage) ? 'u' : 'i',
                                bit_width(storage));  // u8, not ui8
  auto [low, high] = storage_bounds(storage);
  if (q.storage_min != low || q.storage_max != high)
    out += fmt::format("<{}:{}>", q.storage_min, q.storage_max);
  out += fmt::format(":{}", name(q.expressed));
  if (q.axis >= 0) out += fmt::format(":{}", q.axis);
  std::string parameters;
  for (std::size_t i = 0; i < q.scales.size(); ++i) {
    if (i > 0) parameters += ",";
    parameters += float_text(std::bit_cast<std::uint64_t>(q.scales[i]), DType::f64);
    if (i < q.zero_points.size() && q.zero_points[i] != 0)
      parameters += fmt::format(":{}", q.zero_points[i]);
  }
  return out + ", " + (q.axis >= 0 ? "{" + parameters + "}" : parameters) + ">";
}

}  // namespace

std::pair<std::int64_t, std::int64_t> storage_bounds(DType storage) {
  int digits = bit_width(storage) - (is_signed(storage) ? 1 : 0);
  std::int64_t high = digits >= 63 ? INT64_MAX : (std::int64_t{1} << digits) - 1;
  return {is_signed(storage) ? -high - 1 : 0, high};
}

constinit const Type::Parts Type::kScalar{};

template <>
void Shared<Type::Parts>::discard(Node* node) {
  delete node;
}

template <class F>
Type Type::changed(F&& f) const {
  Type out = *this;
  f(out.parts_.own());
  return out;
}

Type::Type(DType dtype, Shape shape)
    : parts_(Shared<Parts>::of(Kind::tensor, dtype, MemorySpace::device, std::move(shape))) {}
Type Type::token() {
  return Type().changed([](Parts& p) { p.kind = Kind::token; });
}
Type Type::ref(DType dtype, Shape shape) {
  return Type(dtype, std::move(shape)).changed([](Parts& p) { p.kind = Kind::ref; });
}
Type Type::tuple(std::vector<Type> elements) {
  return Type().changed([&](Parts& p) {
    p.kind = Kind::tuple;
    p.elements = std::move(elements);
  });
}
Type Type::future(std::vector<Type> elements) {
  return Type().changed([&](Parts& p) {
    p.kind = Kind::future;
    p.elements = std::move(elements);
  });
}
Type Type::in(MemorySpace space) const {
  return changed([&](Parts& p) { p.space = space; });
}
Type Type::with(DType dtype) const {
  return changed([&](Parts& p) { p.dtype = dtype; });
}
Type Type::with(Shape shape) const {
  return changed([&](Parts& p) { p.shape = std::move(shape); });
}
Type Type::with(Quantization q) const {
  return changed([&](Parts& p) { p.quantization = Shared<Quantization>::of(std::move(q)); });
}
Type Type::storage() const {
  return is_quantized() ? changed([](Parts& p) { p.quantization = {}; }) : *this;
}
Type Type::expressed() const {
  return is_quantized() ? storage().with(quantization()->expressed) : *this;
}

bool Type::operator==(const Type& other) const {
  const Parts &a = parts(), &b = other.parts();
  return &a == &b || (a.kind == b.kind && a.dtype == b.dtype && a.space == b.space &&
                      a.shape == b.shape && a.elements == b.elements &&
                      (a.quantization.get() == b.quantization.get() ||
                       (a.quantization && b.quantization && *a.quantization == *b.quantization)));
}

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
  std::string sizes = shape().to_string();
  if (!sizes.empty()) sizes += 'x';
  switch (kind()) {
    case Kind::token: return "!stablehlo.token";
    case Kind::ref: return fmt::format("!strata.ref<{}{}>", sizes, name(dtype()));
    case Kind::tuple: return "tuple<" + joined(elements()) + ">";
    case Kind::future: return "!stablehlo.future<" + joined(elements()) + ">";
    case Kind::tensor: break;
  }
  std::string encoding;
  for (const Dim& d : shape().dims())
    if (d.is_bounded()) {  // StableHLO prints bounds of all dimensions when one is bounded
      for (const Dim& e : shape().dims())
        encoding +=
            (encoding.empty() ? "" : ", ") +
            (e.is_static() || !e.is_bounded() ? std::string("?") : fmt::format("{}", e.bound()));
      encoding = ", #stablehlo.bounds<" + encoding + ">";
      break;
    }
  return fmt::format(
      "tensor<{}{}{}>", sizes,
      is_quantized() ? quantized_text(dtype(), *quantization()) : std::string(name(dtype())),
      encoding);
}

}  // namespace strata
