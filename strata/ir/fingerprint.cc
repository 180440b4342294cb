#include "strata/ir/fingerprint.h"

#include <cstring>
#include <unordered_map>

namespace strata::ir {
namespace {

class Writer {
 public:
  void block(const Block& b) {
    number(b.num_arguments());
    for (const auto& a : b.arguments()) {
      type(a->type());
      define(a.get());
    }
    for (const auto& op : b.ops()) {
      text(op->name());
      values(op->operands);
      number(static_cast<std::int64_t>(op->attrs.size()));
      for (const auto& [name, attr] : op->attrs) {
        text(name);
        attribute(attr);
      }
      number(static_cast<std::int64_t>(op->regions.size()));
      for (const auto& r : op->regions) block(*r);
      number(op->num_results());
      for (Value* v : op->results()) {
        type(v->type());
        define(v);
      }
    }
    out += '.';
    values(b.results);
  }
  std::string out;

 private:
  void bytes(const void* p, std::size_t n) { out.append(static_cast<const char*>(p), n); }
  void number(std::int64_t n) { bytes(&n, sizeof n); }
  void text(std::string_view s) {
    number(static_cast<std::int64_t>(s.size()));
    out += s;
  }
  void define(const Value* v) { numbers_.emplace(v, static_cast<std::int64_t>(numbers_.size())); }
  void values(const Values& vs) {
    number(static_cast<std::int64_t>(vs.size()));
    for (const Value* v : vs) {
      define(v);  // a value from outside gets its number at its first use
      number(numbers_.at(v));
    }
  }
  void type(const Type& t) { text(t.to_string()); }
  void attribute(const Attr& attr) {
    number(static_cast<std::int64_t>(attr.index()));
    std::visit(
        [&](const auto& x) {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, bool>)
            number(x);
          else if constexpr (std::is_same_v<T, std::int64_t>)
            number(x);
          else if constexpr (std::is_same_v<T, double>)
            bytes(&x, sizeof x);
          else if constexpr (std::is_same_v<T, std::string>)
            text(x);
          else if constexpr (std::is_same_v<T, Opaque>)
            text(x.text);
          else if constexpr (std::is_same_v<T, DType>)
            number(static_cast<int>(x));
          else if constexpr (std::is_same_v<T, Type>)
            type(x);
          else if constexpr (std::is_same_v<T, Literal>) {
            type(x.type());
            bool splat = x.is_splat();
            number(splat);
            bytes(splat ? x.element(0) : x.data(),
                  splat ? x.bytes() / static_cast<std::size_t>(x.count()) : x.bytes());
          } else {
            number(static_cast<std::int64_t>(x.size()));
            for (const auto& e : x) {
              if constexpr (std::is_same_v<T, Strings>)
                text(e);
              else
                number(e);
            }
          }
        },
        attr);
  }
  std::unordered_map<const Value*, std::int64_t> numbers_;
};

}  // namespace

std::string fingerprint(const Block& block) {
  Writer w;
  w.block(block);
  return std::move(w.out);
}

}  // namespace strata::ir
