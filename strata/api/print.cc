// Arrays as NumPy prints them: columns aligned, at most eight digits after the point, long arrays
// shortened.
#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>

#include "strata/api/array.h"
#include "strata/api/trace.h"

namespace strata {
namespace {

constexpr std::int64_t kThreshold = 1000, kEdge = 3;
constexpr int kPrecision = 8;
constexpr std::size_t kLineWidth = 75;

/// The shortest decimal digits of a float, as mantissa digits and decimal exponent ("d.ddde+XX").
template <class T>
std::string shortest_scientific(T v) {
  for (int digits = 0;; ++digits) {
    std::string text = fmt::format("{:.{}e}", v, digits);
    if (digits >= 17 || static_cast<T>(std::stod(text)) == v) return text;
  }
}

/// Digits after the point that the shortest form of v needs, at most kPrecision.
template <class T>
int fraction_digits(T v) {
  const std::string text = shortest_scientific(std::abs(v));
  const std::size_t e = text.find('e');
  const int mantissa = e > 1 ? static_cast<int>(e) - 2 : 0,
            exponent = std::stoi(text.substr(e + 1));
  return std::clamp(mantissa - exponent, 0, kPrecision);
}

template <class T>
std::string special(T v) {
  return std::isnan(v) ? "nan" : v > 0 ? "inf" : "-inf";
}

/// One text per element; NumPy chooses fixed or scientific form for all of them together.
template <class T>
std::vector<std::string> float_texts(const std::vector<T>& values) {
  T largest = 0, smallest = std::numeric_limits<T>::infinity();
  for (T v : values)
    if (std::isfinite(v) && v != 0) {
      largest = std::max(largest, std::abs(v));
      smallest = std::min(smallest, std::abs(v));
    }
  const bool scientific =
      largest > 0 && (largest >= static_cast<T>(1e8) || smallest < static_cast<T>(1e-4) ||
                      largest / smallest > 1000);
  int digits = 0;
  for (T v : values) {
    if (!std::isfinite(v)) continue;
    if (!scientific)
      digits = std::max(digits, fraction_digits(v));
    else if (const std::string s = shortest_scientific(v); s.find('.') != std::string::npos)
      digits =
          std::max(digits, std::min(kPrecision, static_cast<int>(s.find('e') - s.find('.')) - 1));
  }
  std::vector<std::string> out;
  for (T v : values) {
    if (!std::isfinite(v)) {
      out.push_back(special(v));
      continue;
    }
    // In fixed form each element has the digits it needs, then blanks, so that points stand below
    // each other.
    const int own = scientific ? digits : fraction_digits(v);
    std::string text = scientific ? fmt::format("{:.{}e}", v, own) : fmt::format("{:.{}f}", v, own);
    if (own == 0) text.insert(std::min(text.find('e'), text.size()), ".");
    out.push_back(text + std::string(static_cast<std::size_t>(digits - own), ' '));
  }
  return out;
}

/// A single float as Python's repr writes it: the shortest digits, with a point or an exponent.
template <class T>
std::string scalar_text(T v) {
  if (!std::isfinite(v)) return special(v);
  const std::string text = shortest_scientific(v);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  if (v != 0 && (exponent < -4 || exponent >= 16)) return text;
  const std::size_t point = text.find('.');
  const int mantissa =
      point == std::string::npos ? 0 : static_cast<int>(e - point) - 1;  // digits after the point
  return fmt::format("{:.{}f}", v, std::max(1, mantissa - exponent));
}

std::vector<std::string> element_texts(const Literal& l, const std::vector<std::int64_t>& at) {
  return dispatch(l.dtype(), [&](auto t) {
    using T = decltype(t);
    std::vector<std::string> out;
    if constexpr (std::same_as<T, bool>) {
      for (std::int64_t i : at) out.push_back(l.integer(i) ? "True" : "False");
    } else if constexpr (std::integral<T>) {
      for (std::int64_t i : at)
        out.push_back(fmt::format("{}", l.span<T>()[static_cast<std::size_t>(i)]));
    } else if constexpr (std::same_as<T, float> || std::same_as<T, double>) {
      std::vector<T> values;
      for (std::int64_t i : at) values.push_back(l.span<T>()[static_cast<std::size_t>(i)]);
      out = float_texts(values);
    } else if constexpr (std::same_as<T, std::complex<float>> ||
                         std::same_as<T, std::complex<double>>) {
      std::vector<typename T::value_type> re, im;
      for (std::int64_t i : at) {
        re.push_back(l.span<T>()[static_cast<std::size_t>(i)].real());
        im.push_back(std::abs(l.span<T>()[static_cast<std::size_t>(i)].imag()));
      }
      const std::vector<std::string> r = float_texts(re), m = float_texts(im);
      for (std::size_t i = 0; i < at.size(); ++i)
        out.push_back(
            r[i] + (std::signbit(l.span<T>()[static_cast<std::size_t>(at[i])].imag()) ? "-" : "+") +
            m[i] + "j");
    } else {
      // bf16 and f16: the shortest digits that give the same value back.
      for (std::int64_t i : at) {
        const float v = static_cast<float>(l.span<T>()[static_cast<std::size_t>(i)]);
        std::string text = std::isfinite(v) ? std::string() : special(v);
        for (int digits = 1; text.empty(); ++digits) {
          std::string s = fmt::format("{:.{}g}", v, digits);
          if (static_cast<float>(T(std::stof(s))) == v) text = s;
        }
        out.push_back(text);
      }
    }
    return out;
  });
}

class Printer {
 public:
  explicit Printer(const Literal& l)
      : literal_(l),
        sizes_(l.shape().sizes()),
        strides_(l.shape().strides()),
        short_(l.count() > kThreshold) {
    collect(0, 0);
    texts_ = element_texts(literal_, shown_);
    for (const std::string& t : texts_) width_ = std::max(width_, t.size());
  }
  std::string text() {
    if (sizes_.empty()) {
      if (literal_.dtype() == DType::f32) return scalar_text(literal_.span<float>()[0]);
      if (literal_.dtype() == DType::f64) return scalar_text(literal_.span<double>()[0]);
      std::string out = texts_[0];
      return out.substr(out.find_first_not_of(' '));
    }
    return block(0, 0);
  }

 private:
  /// Indices along one dimension that are shown; -1 stands for the dots.
  std::vector<std::int64_t> visible(std::size_t dim) const {
    std::vector<std::int64_t> out;
    const std::int64_t n = sizes_[dim];
    for (std::int64_t i = 0; i < n; ++i) {
      if (short_ && n > 2 * kEdge && i == kEdge) {
        out.push_back(-1);
        i = n - kEdge;
      }
      out.push_back(i);
    }
    return out;
  }
  void collect(std::size_t dim, std::int64_t offset) {
    if (dim == sizes_.size()) return shown_.push_back(offset);
    for (std::int64_t i : visible(dim))
      if (i >= 0) collect(dim + 1, offset + i * strides_[dim]);
  }
  std::string block(std::size_t dim, std::size_t indent) {
    if (dim + 1 == sizes_.size()) return row(indent);
    std::string out = "[", separator = std::string(sizes_.size() - dim - 1, '\n') +
                                       std::string(indent + 1, ' ');
    bool first = true;
    for (std::int64_t i : visible(dim)) {
      if (!std::exchange(first, false)) out += separator;
      out += i < 0 ? "..." : block(dim + 1, indent + 1);
    }
    return out + "]";
  }
  std::string row(std::size_t indent) {
    std::string out = "[";
    std::size_t column = indent + 1;
    bool first = true;
    for (std::int64_t i : visible(sizes_.size() - 1)) {
      const std::string text =
          i < 0 ? "..." : std::string(width_ - texts_[next_].size(), ' ') + texts_[next_];
      if (i >= 0) ++next_;
      if (!first && column + 1 + text.size() > kLineWidth) {
        out += "\n" + std::string(indent + 1, ' ');
        column = indent + 1;
        first = true;
      }
      if (!std::exchange(first, false)) {
        out += ' ';
        ++column;
      }
      out += text;
      column += text.size();
    }
    return out + "]";
  }

  const Literal& literal_;
  std::vector<std::int64_t> sizes_, strides_;
  bool short_;
  std::vector<std::int64_t> shown_;
  std::vector<std::string> texts_;
  std::size_t width_ = 0, next_ = 0;
};

}  // namespace

std::string Array::to_string() const {
  if (!has_value()) return "<no value>";
  if (is_traced()) return "Traced<" + internal::describe(type()) + ">";
  const Literal l = literal();
  if (!has_storage(l.dtype())) return internal::describe(type());
  return Printer(l).text();
}

std::ostream& operator<<(std::ostream& out, const Array& x) { return out << x.to_string(); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << "(";
  for (int d = 0; d < shape.rank(); ++d) {
    const Dim& dim = shape.dim(d);
    out << (d ? ", " : "");
    if (dim.is_static())
      out << dim.size();
    else
      out << (dim.is_symbolic() ? dim.symbol() : "?");
  }
  return out << (shape.rank() == 1 ? ",)" : ")");
}

}  // namespace strata
