#include "strata/checkpoint/diff.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
namespace strata::checkpoint {
namespace {

using nlohmann::json;

/// Calls f(absolute value) for each element.
template <class F>
void each_magnitude(const Literal& tensor, F&& f) {
  if (is_complex(tensor.dtype())) {
    dispatch(tensor.dtype(), [&](auto kind) {
      using T = decltype(kind);
      if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>) {
        for (const T z : tensor.span<T>()) f(std::abs(std::complex<double>(z)));
      }
    });
    return;
  }
  for (std::int64_t i = 0; i < tensor.count(); ++i) f(std::fabs(tensor.number(i)));
}

bool same_element(const Literal& a, const Literal& b, std::int64_t i) {
  const std::size_t width = byte_width(a.dtype()), at = static_cast<std::size_t>(i) * width;
  return std::memcmp(a.data() + at, b.data() + at, width) == 0;
}

double distance(const Literal& a, const Literal& b, std::int64_t i) {
  if (is_complex(a.dtype())) {
    auto at = [i](const Literal& t) {
      return t.dtype() == DType::c64
                 ? std::complex<double>(t.span<std::complex<float>>()[static_cast<std::size_t>(i)])
                 : t.span<std::complex<double>>()[static_cast<std::size_t>(i)];
    };
    return std::abs(at(a) - at(b));
  }
  return std::fabs(a.number(i) - b.number(i));
}

/// Numbers between two real ones that are stored at `a` and `b`, whose type is `width` bytes wide:
/// floats are ordered as their bits are.
std::uint64_t ulps(const std::byte* a, const std::byte* b, std::size_t width, bool has_sign) {
  std::uint64_t x = 0, y = 0;
  std::memcpy(&x, a, width);
  std::memcpy(&y, b, width);
  const std::uint64_t sign = has_sign ? std::uint64_t{1} << (8 * width - 1) : 0;
  const std::uint64_t m = x & ~sign, n = y & ~sign;
  if ((x & sign) != (y & sign)) return m + n;
  return m > n ? m - n : n - m;
}

/// The same for an element of a tensor; of a complex one, that of the part which is further. An
/// integer's is the plain distance.
double ulps(const Literal& a, const Literal& b, std::int64_t i) {
  if (!is_inexact(a.dtype())) return distance(a, b, i);
  const std::size_t width = byte_width(a.dtype()), part = is_complex(a.dtype()) ? width / 2 : width;
  std::uint64_t out = 0;
  for (std::size_t at = static_cast<std::size_t>(i) * width, end = at + width; at < end; at += part)
    out = std::max(out, ulps(a.data() + at, b.data() + at, part, a.dtype() != DType::f8E8M0FNU));
  return static_cast<double>(out);
}

/// How two tensors of one type differ; nothing when they are the same bits.
std::optional<TensorDifference> elements(const Literal& a, const Literal& b) {
  if (a.same_bits(b)) return {};
  TensorDifference out;
  double squares = 0, size = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) {
    if (same_element(a, b, i)) continue;
    ++out.count;
    const double d = distance(a, b, i);
    squares += d * d;
    const bool finite = std::isfinite(d);
    out.max_abs = std::max(out.max_abs, finite ? d : std::numeric_limits<double>::infinity());
    out.max_ulp =
        std::max(out.max_ulp, finite ? ulps(a, b, i) : std::numeric_limits<double>::infinity());
  }
  each_magnitude(a, [&](double m) { size += m * m; });
  out.relative_l2 = std::sqrt(squares) / std::sqrt(size);
  return out;
}

/// The names of both maps.
template <class Map>
std::set<std::string> names(const Map& a, const Map& b) {
  std::set<std::string> out;
  for (const auto& [name, value] : a) out.insert(name);
  for (const auto& [name, value] : b) out.insert(name);
  return out;
}

void diff_part(const std::string& part, const Tensors& a, const Tensors& b, Differences& out) {
  for (const std::string& name : names(a, b)) {
    const auto left = a.find(name), right = b.find(name);
    std::optional<TensorDifference> found;
    if (right == b.end()) {
      found = TensorDifference{.kind = "only in the first"};
    } else if (left == a.end()) {
      found = TensorDifference{.kind = "only in the second"};
    } else if (!(left->second.type() == right->second.type())) {
      found = TensorDifference{.kind = fmt::format("{} and {}", left->second.type().to_string(),
                                                   right->second.type().to_string())};
    } else {
      ++out.compared;
      found = elements(left->second, right->second);
    }
    if (!found) continue;
    found->part = part;
    found->tensor = name;
    out.tensors.push_back(std::move(*found));
  }
}

/// The members of a JSON value by their path; a value that has none stands for itself under "".
json flat(const std::string& text) {
  const json value = json::parse(text, nullptr, false);
  return value.is_structured() && !value.empty() ? value.flatten() : json{{"", value}};
}

void diff_note(const std::string& note, const std::string* a, const std::string* b,
               std::vector<NoteDifference>& out) {
  const json left = a ? flat(*a) : json::object(), right = b ? flat(*b) : json::object();
  std::set<std::string> members;
  for (const json& side : {left, right}) {
    for (const auto& [member, value] : side.items()) members.insert(member);
  }
  auto text = [](const json& side, const std::string& member) {
    return side.contains(member) ? side.at(member).dump() : std::string();
  };
  for (const std::string& member : members) {
    if (text(left, member) != text(right, member))
      out.push_back({note, member, text(left, member), text(right, member)});
  }
}

}  // namespace

Norms norms(const Literal& tensor) {
  Norms out;
  double squares = 0;
  each_magnitude(tensor, [&](double m) {
    if (!std::isfinite(m)) {
      ++out.not_finite;
      return;
    }
    squares += m * m;
    out.max_abs = std::max(out.max_abs, m);
  });
  out.l2 = std::sqrt(squares);
  return out;
}

Differences diff(const Checkpoint& a, const Checkpoint& b) {
  Differences out;
  static const Tensors none;
  auto tensors = [](const Checkpoint& c, const std::string& part) -> const Tensors& {
    const auto found = c.parts.find(part);
    return found == c.parts.end() ? none : found->second;
  };
  for (const std::string& part : names(a.parts, b.parts))
    diff_part(part, tensors(a, part), tensors(b, part), out);
  if (a.step != b.step)
    out.others.push_back({"step", "", std::to_string(a.step), std::to_string(b.step)});
  auto note = [](const Checkpoint& c, const std::string& name) {
    const auto found = c.notes.find(name);
    return found == c.notes.end() ? nullptr : &found->second;
  };
  for (const std::string& name : names(a.notes, b.notes))
    diff_note(name, note(a, name), note(b, name), name == "data" ? out.data : out.others);
  return out;
}

}  // namespace strata::checkpoint
