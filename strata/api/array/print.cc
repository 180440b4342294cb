// Arrays as NumPy prints them: columns aligned, at most eight digits after the point, long arrays
// shortened to their ends. Source: numpy/_core/arrayprint.py (2.4) with its default options, and
// how Python writes numbers of ml_dtypes (bf16, f8, i4).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "strata/api/trace/trace.h"
#include "strata/type/minifloat.h"

namespace strata {
namespace {

constexpr std::int64_t kThreshold = 1000, kEdge = 3;
constexpr int kPrecision = 8;
constexpr std::size_t kLineWidth = 75;

/// The type in which floats are compared and written: f16 has no functions of its own.
template <class T>
using wide_of = std::conditional_t<std::same_as<T, double>, double, float>;

/// From where on NumPy writes exponents: the type's decimal digits end.
template <class T>
constexpr double kExact = std::same_as<T, double>  ? 1e16
                          : std::same_as<T, float> ? 1e6
                                                   : 1e3;

/// A finite number without its sign in decimal digits: d.ddd times 10^exponent, no zeros at the
/// end.
struct Decimal {
  std::string digits;
  int exponent = 0;
  int fraction() const { return static_cast<int>(digits.size()) - 1 - exponent; }
};

/// Of what printf and to_chars write: "1.25e-03".
Decimal parse(std::string_view text) {
  const std::size_t e = text.find('e');
  Decimal out;
  for (char c : text.substr(0, e))
    if (c != '.') out.digits += c;
  while (out.digits.size() > 1 && out.digits.back() == '0') out.digits.pop_back();
  const std::size_t sign = text[e + 1] == '+' ? 2 : 1;
  std::from_chars(text.data() + e + sign, text.data() + text.size(), out.exponent);
  return out;
}

template <class... Format>
std::string to_text(double v, Format... format) {
  char text[512];
  return {text, std::to_chars(text, text + sizeof text, v, format...).ptr};
}

/// The fewest digits that only v is nearest to among numbers of its type.
template <class T>
Decimal shortest(T v) {
  if constexpr (std::same_as<T, Float16>) {
    const float wide = std::abs(static_cast<float>(v));
    for (int digits = 0;; ++digits) {
      const std::string text = to_text(wide, std::chars_format::scientific, digits);
      if (digits >= 8 || static_cast<float>(T(std::stof(text))) == wide) return parse(text);
    }
  } else {
    char text[64];
    const auto end =
        std::to_chars(text, text + sizeof text, std::abs(v), std::chars_format::scientific);
    return parse({text, end.ptr});
  }
}

/// Those, or where they are more than `places` behind the point, the exact number rounded there.
template <class T>
Decimal rounded(T v, int places) {
  const Decimal all = shortest(v);
  if (static_cast<int>(all.digits.size()) - 1 <= places) return all;
  const double wide = std::abs(static_cast<double>(static_cast<wide_of<T>>(v)));
  return parse(to_text(wide, std::chars_format::scientific, places));
}
/// The same of digits in fixed form: "12.5", without zeros at the end, but with the point.
template <class T>
std::string fixed(T v, int places) {
  const Decimal all = shortest(v);
  const double wide = std::abs(static_cast<double>(static_cast<wide_of<T>>(v)));
  std::string text;
  if (all.fraction() > places) {
    text = to_text(wide, std::chars_format::fixed, places);
    while (text.back() == '0') text.pop_back();
    return text;
  }
  text = all.digits;
  if (all.exponent < 0) {
    text.insert(0, static_cast<std::size_t>(-all.exponent), '0');
  } else if (all.fraction() < 0) {
    text.append(static_cast<std::size_t>(-all.fraction()), '0');
  }
  return text.insert(static_cast<std::size_t>(std::max(all.exponent, 0)) + 1, ".");
}
/// The exact number rounded to so many places, however few would tell it from others: "1.25e+003".
template <class T>
std::string scientific(T v, std::size_t places, std::size_t exponent_digits) {
  const double wide = std::abs(static_cast<double>(static_cast<wide_of<T>>(v)));
  std::string text = to_text(wide, std::chars_format::scientific, static_cast<int>(places));
  if (places == 0) text.insert(1, ".");
  const std::size_t digits = text.size() - text.find('e') - 2;
  if (digits < exponent_digits) text.insert(text.find('e') + 2, exponent_digits - digits, '0');
  return text;
}

/// How all floats of an array are written: NumPy's FloatingFormat.
template <class T>
class FloatFormat {
 public:
  FloatFormat(const std::vector<T>& values, bool plus) : plus_(plus) {
    wide_of<T> largest = 0, smallest = std::numeric_limits<wide_of<T>>::infinity();
    std::vector<T> finite;
    for (T v : values) {
      const auto x = static_cast<wide_of<T>>(v);
      if (!std::isfinite(x)) continue;
      finite.push_back(v);
      if (x == 0) continue;
      largest = std::max(largest, std::abs(x));
      smallest = std::min(smallest, std::abs(x));
    }
    // Bounds and quotient are numbers of the array's type.
    auto as = [](double bound) {
      return static_cast<wide_of<T>>(T(static_cast<wide_of<T>>(bound)));
    };
    exponents_ = largest > 0 && (largest >= as(std::min(1e8, kExact<T>)) || smallest < as(0.0001) ||
                                 as(largest / smallest) > 1000);
    for (T v : finite) measure(v);
    if (exponents_) right_ = exponent_digits_ + 2 + places_;
    if (finite.size() == values.size()) return;
    const bool signed_infinity =
        plus || std::any_of(values.begin(), values.end(), [](T v) {
          return static_cast<wide_of<T>>(v) == -std::numeric_limits<wide_of<T>>::infinity();
        });
    const std::size_t longest = 3 + (signed_infinity ? 1 : 0);
    if (longest > right_ + 1) left_ = std::max(left_, longest - right_ - 1);
  }
  std::string operator()(T v) const {
    const auto x = static_cast<wide_of<T>>(v);
    std::string text;
    if (!std::isfinite(x)) {
      text = std::isnan(x) ? (plus_ ? "+nan" : "nan") : sign(v) + "inf";
      const std::size_t width = left_ + right_ + 1;
      return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
    }
    if (exponents_) {
      text = sign(v) + scientific(v, places_, exponent_digits_);
    } else {
      text = sign(v) + fixed(v, kPrecision);
    }
    const std::size_t point = text.find('.');
    if (point < left_) text.insert(0, left_ - point, ' ');
    if (!exponents_) text.resize(std::max(text.size(), left_ + 1 + right_), ' ');
    return text;
  }

 private:
  std::string sign(T v) const {
    return std::signbit(static_cast<wide_of<T>>(v)) ? "-" : plus_ ? "+" : "";
  }
  void measure(T v) {
    if (exponents_) {
      const Decimal d = rounded(v, kPrecision);
      left_ = std::max(left_, sign(v).size() + 1);
      places_ = std::max(places_, d.digits.size() - 1);
      exponent_digits_ = std::max<std::size_t>(exponent_digits_, std::abs(d.exponent) > 99 ? 3 : 2);
    } else {
      const std::string text = fixed(v, kPrecision);
      const std::size_t point = text.find('.');
      left_ = std::max(left_, sign(v).size() + point);
      right_ = std::max(right_, text.size() - point - 1);
    }
  }
  bool plus_, exponents_ = false;
  /// Characters before the point, and behind it (with the exponent); digits.
  std::size_t left_ = 0, right_ = 0, places_ = 0, exponent_digits_ = 0;
};

/// A single float as Python writes it: all digits, with a point or an exponent. `bare`: no ".0".
template <class T>
std::string scalar_text(T v, bool bare = false) {
  const auto x = static_cast<wide_of<T>>(v);
  if (std::isnan(x)) return "nan";
  const std::string sign = std::signbit(x) ? "-" : "";
  if (std::isinf(x)) return sign + "inf";
  const Decimal d = shortest(v);
  std::string text;
  if (x != 0 && (static_cast<double>(std::abs(x)) < 1e-4 || std::abs(x) >= kExact<T>)) {
    text = scientific(v, d.digits.size() - 1, 2);
    if (d.digits.size() == 1) text.erase(1, 1);
  } else {
    text = fixed(v, 1000);
    if (text.back() == '.') bare ? text.pop_back() : text.push_back('0');
  }
  return sign + text;
}

template <class T>
constexpr bool is_real =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, Float16>;
template <class T>
constexpr bool is_complex_number =
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// Numbers of types that NumPy does not know, of which it aligns nothing.
bool is_foreign(DType d) { return d == DType::bf16 || !has_storage(d); }
std::string foreign_text(const Literal& l, std::int64_t i) {
  if (is_integer(l.dtype())) return fmt::format("{}", l.integer(i));
  const double v = l.number(i);
  return std::isnan(v) ? "nan" : fmt::format("{:.6g}", v);
}

std::string scalar(const Literal& l) {
  if (is_foreign(l.dtype())) return foreign_text(l, 0);
  return dispatch(l.dtype(), [&](auto v) -> std::string {
    using T = decltype(v);
    v = l.span<T>()[0];
    if constexpr (std::same_as<T, bool>) {
      return v ? "True" : "False";
    } else if constexpr (is_real<T>) {
      return scalar_text(v);
    } else if constexpr (is_complex_number<T>) {
      const std::string imaginary = scalar_text(v.imag(), true) + "j";
      if (v.real() == 0 && !std::signbit(v.real())) return imaginary;
      const bool has_sign = imaginary[0] == '-';
      return "(" + scalar_text(v.real(), true) + (has_sign ? "" : "+") + imaginary + ")";
    } else if constexpr (std::integral<T>) {
      return fmt::format("{}", v);
    } else {
      return foreign_text(l, 0);
    }
  });
}

template <class T>
std::vector<std::string> float_texts(const std::vector<T>& values, bool plus = false) {
  const FloatFormat<T> format(values, plus);
  std::vector<std::string> out;
  for (T v : values) out.push_back(format(v));
  return out;
}

/// The texts of the elements at these places, aligned.
std::vector<std::string> element_texts(const Literal& l, const std::vector<std::int64_t>& at) {
  std::vector<std::string> out;
  if (is_foreign(l.dtype())) {
    for (std::int64_t i : at) out.push_back(foreign_text(l, i));
    return out;
  }
  dispatch(l.dtype(), [&](auto t) {
    using T = decltype(t);
    std::vector<T> values;
    for (std::int64_t i : at) values.push_back(l.span<T>()[static_cast<std::size_t>(i)]);
    if constexpr (is_real<T>) {
      out = float_texts(values);
    } else if constexpr (is_complex_number<T>) {
      std::vector<typename T::value_type> real, imaginary;
      for (const T& v : values) real.push_back(v.real()), imaginary.push_back(v.imag());
      out = float_texts(real);
      const std::vector<std::string> second = float_texts(imaginary, true);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const std::size_t end = second[i].find_last_not_of(' ') + 1;
        out[i] += second[i].substr(0, end) + "j" + second[i].substr(end);
      }
    } else if constexpr (std::integral<T>) {
      std::size_t width = std::same_as<T, bool> ? 5 : 0;
      for (T v : values) {
        if constexpr (std::same_as<T, bool>)
          out.push_back(v ? "True" : "False");
        else
          out.push_back(fmt::format("{}", v));
        width = std::max(width, out.back().size());
      }
      for (std::string& text : out) text.insert(0, width - text.size(), ' ');
    }
  });
  return out;
}

class Printer {
 public:
  explicit Printer(const Literal& l)
      : literal_(l),
        sizes_(l.shape().sizes()),
        strides_(l.shape().strides()),
        short_(l.count() > kThreshold) {}
  std::string text() {
    if (sizes_.empty()) return scalar(literal_);
    if (literal_.count() == 0) return "[]";
    collect(0, 0);
    texts_ = element_texts(literal_, shown_);
    return block(0, " ", kLineWidth);
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
  /// Lines begin with `indent` and leave room for the brackets that close.
  std::string block(std::size_t dim, const std::string& indent, std::size_t width) {
    const bool is_row = dim + 1 == sizes_.size();
    std::string out = is_row ? row(indent, width - 1) : "";
    if (!is_row) {
      const std::string separator(sizes_.size() - dim - 1, '\n');
      for (std::int64_t i : visible(dim)) {
        if (!out.empty()) out += separator;
        out += indent + (i < 0 ? "..." : block(dim + 1, indent + ' ', width - 1));
      }
    }
    return "[" + out.substr(indent.size()) + "]";
  }
  std::string row(const std::string& indent, std::size_t width) {
    std::string out, line = indent;
    for (std::int64_t i : visible(sizes_.size() - 1)) {
      const std::string& word = i < 0 ? kDots : texts_[next_++];
      if (line.size() > indent.size()) line += ' ';
      if (line.size() > indent.size() && line.size() + word.size() > width) {
        out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = indent;
      }
      line += word;
    }
    return out + line;
  }

  inline static const std::string kDots = "...";
  const Literal& literal_;
  std::vector<std::int64_t> sizes_, strides_;
  bool short_;
  std::vector<std::int64_t> shown_;
  std::vector<std::string> texts_;
  std::size_t next_ = 0;
};

}  // namespace

std::string Array::to_string() const {
  if (!has_value()) return "<no value>";
  if (is_traced()) return "Traced<" + internal::describe(type()) + ">";
  const Literal l = literal();
  if (!has_storage(l.dtype()) && !is_minifloat(l.dtype()) && !is_integer(l.dtype()))
    return internal::describe(type());
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
