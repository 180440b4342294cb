#include "strata/compile/fuse/group_key.h"

#include <unordered_map>
#include <unordered_set>

#include "strata/ir/fingerprint.h"
#include "strata/op/reduce/windows.h"

namespace strata::compile {
namespace {

using ir::Op;
using ir::Value;

constexpr std::size_t kMostBytes =
    4096;  // of a constant that is in memory: its elements may be code all the same

class Writer {
 public:
  explicit Writer(const Fusion& fusion) : fusion_(fusion) {}

  bool group(const Group& group) {
    for (std::int64_t n :
         {static_cast<std::int64_t>(group.kind), group.total, group.rows, std::int64_t{group.flat},
          std::int64_t{group.linear}, static_cast<std::int64_t>(group.epilogue)})
      number(n);
    std::unordered_set<const Value*> outputs(group.outputs.begin(), group.outputs.end());
    for (const Op* op : group.roots) {
      if (!operation(*op)) return false;
      for (const Value* v : op->results())
        number(outputs.count(v) ? 1 + static_cast<std::int64_t>(fusion_.streaming_results.count(v))
                                : 0);
    }
    number(static_cast<std::int64_t>(group.co_reads.size()));
    for (const Value* v : group.co_reads) {
      if (!numbers_.count(v) && !value(v)) return false;
      number(numbers_.at(v));
    }
    return true;
  }

  GroupKey out;

 private:
  /// Operands, kind, attributes, types; its results get numbers.
  bool operation(const Op& op) {
    std::vector<std::int64_t> operands;
    for (const Value* v : op.operands) {
      if (!numbers_.count(v) && !value(v)) return false;
      operands.push_back(numbers_.at(v));
    }
    raw(&op.info());
    number(static_cast<std::int64_t>(operands.size()));
    for (std::int64_t n : operands) number(n);
    number(static_cast<std::int64_t>(op.attrs.size()));
    for (const auto& [name, attr] : op.attrs) {
      text(name);
      attribute(attr);
    }
    number(static_cast<std::int64_t>(op.regions.size()));
    for (const auto& region : op.regions) {
      if (!ir::captures(*region).empty()) return false;
      text(ir::fingerprint(*region));
    }
    number(op.num_results());
    for (const Value* v : op.results()) define(v);
    return true;
  }
  /// One that no root before made: computed here, or read from memory.
  bool value(const Value* v) {
    if (fusion_.inlined.count(v)) return operation(*v->op());
    out.bytes += 'm';
    define(v);
    number(v->op() &&
           op::window_dims(*v->op()));  // products ask that of their operands, wherever these are
    const Literal* literal =
        v->op() && !fusion_.runtime_constants.count(v) ? constant_literal(*v->op()) : nullptr;
    number(literal ? static_cast<std::int64_t>(literal->bytes()) : -1);
    if (!literal) return true;
    if (literal->bytes() > kMostBytes) return false;
    bytes(literal->data(), literal->bytes());
    return true;
  }
  void define(const Value* v) {
    numbers_.emplace(v, static_cast<std::int64_t>(numbers_.size()));
    out.values.push_back(v);
    type(v->type());
  }

  void bytes(const void* p, std::size_t n) { out.bytes.append(static_cast<const char*>(p), n); }
  template <class T>
  void raw(T x) {
    bytes(&x, sizeof x);
  }
  void number(std::int64_t n) { raw(n); }
  void text(std::string_view s) {
    number(static_cast<std::int64_t>(s.size()));
    out.bytes += s;
  }
  void type(const Type& t) { text(t.to_string()); }
  void attribute(const ir::Attr& attr) {
    number(static_cast<std::int64_t>(attr.index()));
    std::visit(
        [&](const auto& x) {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, std::string>) {
            text(x);
          } else if constexpr (std::is_same_v<T, ir::Opaque>) {
            text(x.text);
          } else if constexpr (std::is_same_v<T, ir::Ints>) {
            number(static_cast<std::int64_t>(x.size()));
            for (std::int64_t n : x) number(n);
          } else if constexpr (std::is_same_v<T, ir::Strings>) {
            number(static_cast<std::int64_t>(x.size()));
            for (const std::string& s : x) text(s);
          } else if constexpr (std::is_same_v<T, Type>) {
            type(x);
          } else if constexpr (std::is_same_v<T, Literal>) {
            type(x.type());
            bytes(x.data(), x.bytes());
          } else {
            raw(x);
          }
        },
        attr);
  }

  const Fusion& fusion_;
  std::unordered_map<const Value*, std::int64_t> numbers_;
};

}  // namespace

std::optional<GroupKey> group_key(const Group& group, const Fusion& fusion) {
  Writer writer(fusion);
  if (!writer.group(group)) return std::nullopt;
  return std::move(writer.out);
}

}  // namespace strata::compile
