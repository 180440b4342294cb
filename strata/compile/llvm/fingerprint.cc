#include "strata/compile/llvm/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "strata/base/check.h"

namespace strata::compile {
namespace {

using loop::Body;
using loop::Index;
using loop::Inst;

class Writer {
 public:
  explicit Writer(const loop::Kernel& kernel) : numbers_(kernel.arena.size(), -1) {
    number(kernel.grid == 1);  // code for a single point has no loop; other sizes share theirs
    for (const auto& ref : kernel.refs) {
      number(static_cast<std::int64_t>(ref->dtype));
      bool scratch = ref->mode == loop::Ref::Mode::scratch;
      number(scratch ? ref->size : -1 - first_alike(kernel, *ref));
      number(ref->id);
    }
    if (kernel.grid_index) definition(*kernel.grid_index);
    body(kernel.body);
  }
  std::string take() { return std::move(bytes_); }

 private:
  /// The first buffer of this type and size: those may be one (emit_kernel.h), so the code depends
  /// on which are alike.
  static std::int64_t first_alike(const loop::Kernel& kernel, const loop::Ref& ref) {
    std::size_t n = 0;
    while (kernel.refs[n]->dtype != ref.dtype || kernel.refs[n]->size != ref.size ||
           kernel.refs[n]->mode == loop::Ref::Mode::scratch)
      ++n;
    return static_cast<std::int64_t>(n);
  }
  void number(std::int64_t n) {  // small numbers in one byte
    auto u = (static_cast<std::uint64_t>(n) << 1) ^ static_cast<std::uint64_t>(n >> 63);
    for (; u >= 0x80; u >>= 7) bytes_.push_back(static_cast<char>(u | 0x80));
    bytes_.push_back(static_cast<char>(u));
  }
  /// Whether the code of a load is one thing or another by where the array ends (memory.h): lanes
  /// under a predicate, lanes some elements apart.
  static bool asks_for_size(const Inst& i) {
    if (i.code != loop::Opcode::load || i.type.lanes == 1) return false;
    const auto terms = i.index.terms();
    return !i.args.empty() || std::any_of(terms.begin(), terms.end(), [](const Index::Term& t) {
      return t.variable->type.lanes > 1 && t.coefficient != 1;
    });
  }
  void definition(const Inst& i) {
    numbers_[static_cast<std::size_t>(i.id)] = next_++;
    number(static_cast<std::int64_t>(i.code));
    number(static_cast<std::int64_t>(i.type.dtype));
    number(i.type.lanes);
    number(i.low);
    number(i.high);
  }
  void use(const Inst* i) {
    std::int64_t n = numbers_[static_cast<std::size_t>(i->id)];
    STRATA_CHECK(n >= 0, "%{} is used before it is defined", i->id);
    number(n);
  }
  void index(const Index& index) {
    number(index.constant());
    number(static_cast<std::int64_t>(index.terms().size()));
    for (const Index::Term& term : index.terms()) {
      use(term.variable);
      number(term.coefficient);
    }
  }
  void body(const Body& body) {
    number(static_cast<std::int64_t>(body.insts.size()));
    for (const Inst* i : body.insts) instruction(*i);
  }
  void instruction(const Inst& i) {
    definition(i);
    number(static_cast<std::int64_t>(i.args.size()));
    for (const Inst* a : i.args) use(a);
    number(static_cast<std::int64_t>(i.bits));
    number(static_cast<std::int64_t>(i.compare));
    number(i.ref ? i.ref->id : -1);
    index(i.index);
    if (asks_for_size(i)) number(i.ref->size);
    if (i.var) use(i.var);
    number(i.streaming);
    number(i.ahead);
    number(static_cast<std::int64_t>(i.callee.size()));
    bytes_ += i.callee;
    if (i.bodies.empty()) return;
    index(i.begin);
    index(i.end);
    number(i.step);
    number(i.lanes);
    if (i.counter) definition(*i.counter);
    if (i.lane) definition(*i.lane);
    for (const auto& b : i.bodies) body(*b);
    if (i.condition) use(i.condition);
  }

  std::string bytes_;
  std::vector<std::int64_t> numbers_;
  std::int64_t next_ = 0;
};

std::uint64_t mixed(std::uint64_t h) {
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}

}  // namespace

std::string fingerprint(const loop::Kernel& kernel) { return Writer(kernel).take(); }

std::string digest(std::string_view bytes) {
  std::uint64_t a = 0x9e3779b97f4a7c15u, b = 0xc2b2ae3d27d4eb4fu;
  for (std::size_t at = 0; at < bytes.size();
       at += 8) {  // two chains side by side: a program's keys and objects are megabytes
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    a = mixed(a ^ word);
    b = mixed(b + word);
  }
  return fmt::format("{:016x}{:016x}", mixed(a + bytes.size()), mixed(b ^ bytes.size()));
}

}  // namespace strata::compile
