// Python's operators on the values of templates.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "strata/tokenizer/chat_template/evaluator.h"
#include "strata/tokenizer/chat_template/python_text.h"

namespace strata::tokenizer::jinja {
namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20;
constexpr std::size_t kMostItems = 1'000'000;

[[noreturn]] void too_large() { fail("an integer grows beyond 64 bits"); }

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t out = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(out, base, &out)) too_large();
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) too_large();
  }
  return out;
}

Value integers(std::string_view op, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  if (op == "+"   ? __builtin_add_overflow(a, b, &out)
      : op == "-" ? __builtin_sub_overflow(a, b, &out)
      : op == "*" ? __builtin_mul_overflow(a, b, &out)
                  : false)
    too_large();
  if (op == "+" || op == "-" || op == "*") return out;
  if (op == "**") {
    if (b < 0) return std::pow(static_cast<double>(a), static_cast<double>(b));
    return power(a, b);
  }
  if (b == 0) fail(op == "%" ? "integer modulo by zero" : "division by zero");
  if (op == "/") return static_cast<double>(a) / static_cast<double>(b);
  if (b == -1) {
    if (op == "%") return std::int64_t{0};
    if (__builtin_sub_overflow(std::int64_t{0}, a, &out)) too_large();
    return out;
  }
  const std::int64_t quotient = a / b, rest = a % b;
  const bool down = rest != 0 && (rest < 0) != (b < 0);
  return op == "//" ? quotient - (down ? 1 : 0) : rest + (down ? b : 0);
}

Value floats(std::string_view op, double a, double b) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "**") return std::pow(a, b);
  if (b == 0) fail("float division by zero");
  if (op == "/") return a / b;
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (op == "%") return rest;
  return std::floor((a - rest) / b + 0.5);
}

Value repeated(const Value& v, std::int64_t times) {
  if (v.is_text()) {
    Text out;
    if (times > 0 && v.text().size() * static_cast<std::size_t>(times) > kMostBytes)
      fail("a string grows beyond 8 MiB");
    for (std::int64_t i = 0; i < times && !v.text().empty(); ++i) out.append(v.text());
    return out;
  }
  Sequence out{{}, v.sequence().is_tuple};
  if (times > 0 && v.items().size() * static_cast<std::size_t>(times) > kMostItems)
    fail("a list grows beyond a million elements");
  for (std::int64_t i = 0; i < times && !v.items().empty(); ++i)
    out.items.insert(out.items.end(), v.items().begin(), v.items().end());
  return out;
}

/// Python's text % values, for %s, %r, %d, %i, %f, %x and %%, with width and precision.
Value formatted(const Text& format, const Value& values) {
  const bool several = values.is_sequence() && values.sequence().is_tuple;
  std::size_t next = 0;
  Text out;
  const std::string& f = format.bytes;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (f[i] != '%') {
      out.append(format.substr(i, 1));
      continue;
    }
    std::size_t end = i + 1;
    while (end < f.size() &&
           std::string_view("-+ 0#.123456789").find(f[end]) != std::string_view::npos)
      ++end;
    if (end >= f.size()) fail("incomplete format");
    if (f[end] == '%') {
      out.append(Text("%"));
      i = end;
      continue;
    }
    const std::string spec = f.substr(i, end - i);
    if (spec.size() > 8) fail("a format is too long");
    if (several ? next >= values.items().size() : next > 0)
      fail("not enough arguments for format string");
    const Value& v = several ? values.items()[next] : values;
    ++next;
    char buffer[512];
    switch (f[end]) {
      case 's':
      case 'r': {
        const Text t = f[end] == 's' ? to_text(v) : repr(v);
        if (spec.size() == 1) {
          out.append(t);
        } else {
          const int n = std::snprintf(buffer, sizeof buffer, (spec + "s").c_str(), t.bytes.c_str());
          out.append(std::string_view(buffer, std::min<std::size_t>(static_cast<std::size_t>(n),
                                                                    sizeof buffer - 1)),
                     t.all_marked());
        }
        break;
      }
      case 'd':
      case 'i':
      case 'x': {
        if (!v.is_number())
          fail(fmt::format("%{} format: a real number is required, not {}", f[end], v.type_name()));
        const auto n =
            v.is_float() ? static_cast<long long>(v.number()) : static_cast<long long>(v.integer());
        std::snprintf(buffer, sizeof buffer, (spec + "ll" + (f[end] == 'x' ? "x" : "d")).c_str(),
                      n);
        out.append(Text(buffer));
        break;
      }
      case 'f':
      case 'e':
      case 'g':
        if (!v.is_number()) fail(fmt::format("must be real number, not {}", v.type_name()));
        std::snprintf(buffer, sizeof buffer, (spec + f[end]).c_str(), v.number());
        out.append(Text(buffer));
        break;
      default: fail(fmt::format("unsupported format character '{}'", f[end]));
    }
    i = end;
  }
  if (several && next != values.items().size())
    fail("not all arguments converted during string formatting");
  if (!several && next == 0 && !values.is_dict())
    fail("not all arguments converted during string formatting");
  return out;
}

}  // namespace

Value operate(std::string_view op, const Value& a, const Value& b) {
  if (a.is_undefined()) fail_undefined(a);
  if (op == "%" && a.is_text()) return formatted(a.text(), b);
  if (b.is_undefined()) fail_undefined(b);
  if (a.is_number() && b.is_number()) {
    if (a.is_float() || b.is_float()) return floats(op, a.number(), b.number());
    return integers(op, a.integer(), b.integer());
  }
  if (op == "+" && a.is_text() && b.is_text()) {
    const bool markup = a.text().is_markup || b.text().is_markup;
    Text out = markup ? python::escape(a.text()) : a.text();
    out.append(markup ? python::escape(b.text()) : b.text());
    return out;
  }
  if (op == "+" && a.is_sequence() && b.is_sequence() && a.type_name() == b.type_name() &&
      !a.sequence().is_generator) {
    Sequence out = a.sequence();
    if (out.items.size() + b.items().size() > kMostItems)
      fail("a list grows beyond a million elements");
    out.items.insert(out.items.end(), b.items().begin(), b.items().end());
    return out;
  }
  if (op == "*" && (b.is_int() || b.is_bool()) &&
      (a.is_text() || (a.is_sequence() && !a.sequence().is_generator)))
    return repeated(a, b.integer());
  if (op == "*" && (a.is_int() || a.is_bool()) &&
      (b.is_text() || (b.is_sequence() && !b.sequence().is_generator)))
    return repeated(b, a.integer());
  if (op == "+" && a.is_text())
    fail(fmt::format("can only concatenate str (not \"{}\") to str", b.type_name()));
  fail(fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", op, a.type_name(),
                   b.type_name()));
}

std::int64_t size_of(const Value& v) {
  if (v.is_undefined()) return 0;
  if (v.is_text()) return python::length(v.text().bytes);
  if (v.is_sequence() && !v.sequence().is_generator)
    return static_cast<std::int64_t>(v.items().size());
  if (v.is_dict()) return static_cast<std::int64_t>(v.dict().items.size());
  fail(fmt::format("object of type '{}' has no len()", v.type_name()));
}

bool contains(const Value& v, const Value& x) {
  if (v.is_undefined()) return false;
  if (v.is_text()) {
    if (!x.is_text())
      fail(fmt::format("'in <string>' requires string as left operand, not {}", x.type_name()));
    return v.text().bytes.find(x.text().bytes) != std::string::npos;
  }
  if (v.is_dict()) return v.dict().find(x) != nullptr;
  if (v.is_sequence())
    return std::any_of(v.items().begin(), v.items().end(),
                       [&](const Value& item) { return equal(item, x); });
  fail(fmt::format("argument of type '{}' is not iterable", v.type_name()));
}

Value sliced(const Value& v, const Value& start, const Value& stop, const Value& step) {
  const auto whole = [](const Value& x, std::int64_t otherwise) {
    if (x.is_none()) return otherwise;
    if (!x.is_int() && !x.is_bool())
      fail("slice indices must be integers or None or have an __index__ method");
    return x.integer();
  };
  if (!v.is_text() && (!v.is_sequence() || v.sequence().is_generator))
    fail(fmt::format("'{}' object is not subscriptable", v.type_name()));
  const std::int64_t n = size_of(v), by = whole(step, 1);
  if (by == 0) fail("slice step cannot be zero");
  const auto place = [&](const Value& x, std::int64_t otherwise) {
    if (x.is_none()) return otherwise;
    std::int64_t i = whole(x, 0);
    if (i < 0) i = i < -n ? (by < 0 ? -1 : 0) : i + n;
    return std::min(std::max<std::int64_t>(i, by < 0 ? -1 : 0), by < 0 ? n - 1 : n);
  };
  const std::int64_t first = place(start, by < 0 ? n - 1 : 0), last = place(stop, by < 0 ? -1 : n);
  if (v.is_text()) {
    const std::vector<std::size_t> at = python::places(v.text().bytes);
    if (by == 1)
      return v.text().substr(
          at[static_cast<std::size_t>(first)],
          last > first ? at[static_cast<std::size_t>(last)] - at[static_cast<std::size_t>(first)]
                       : 0);
    Text out;
    for (std::int64_t i = first; by > 0 ? i < last : i > last; i += by) {
      const auto k = static_cast<std::size_t>(i);
      out.append(v.text().substr(at[k], at[k + 1] - at[k]));
      if (by > n || by < -n) break;
    }
    return out;
  }
  Sequence out{{}, v.sequence().is_tuple};
  for (std::int64_t i = first; by > 0 ? i < last : i > last; i += by) {
    out.items.push_back(v.items()[static_cast<std::size_t>(i)]);
    if (by > n || by < -n) break;
  }
  return out;
}

}  // namespace strata::tokenizer::jinja
