#include "strata/compile/plan/redundant_launches.h"

#include <algorithm>
#include <map>

#include "strata/compile/plan/step_addresses.h"

namespace strata::compile {
namespace {

/// So many steps are looked back at.
constexpr std::size_t kMostBetween = 64;

class Repeated {
 public:
  explicit Repeated(Plan& plan)
      : plan_(plan), memory_(memory_of_buffers(plan)), writers_(plan.buffers.size(), 0) {
    each_written(plan.steps, [&](int buffer) { ++writers_[static_cast<std::size_t>(buffer)]; });
  }

  void run(Steps& steps) {
    for (Step& s : steps) each_inner(s, [&](Steps& inner) { run(inner); });
    Steps out;
    for (Step& s : steps) {
      if (auto* loop = std::get_if<CountedLoop>(&s.what))
        for (Step& moved : take_invariant(*loop)) add(std::move(moved), out);
      add(std::move(s), out);
    }
    steps = std::move(out);
  }

  /// Who reads what is no longer made reads what is.
  void rename() {
    each_address(plan_.steps, [&](Address& a) {
      for (auto found = instead_.find(a.buffer); found != instead_.end();
           found = instead_.find(a.buffer))
        a.buffer = found->second;
    });
  }

 private:
  const loop::Kernel& kernel(const Launch& l) const {
    return *plan_.kernels[static_cast<std::size_t>(l.kernel)];
  }
  bool is_read(const Launch& l, std::size_t parameter) const {
    return kernel(l).parameters()[parameter]->mode == loop::Ref::Mode::in;
  }

  /// f(buffer) for each that a step may write.
  template <class F>
  void each_written(const Steps& steps, const F& f) const {
    for (const Step& s : steps) each_written(s, f);
  }
  template <class F>
  void each_written(const Step& s, const F& f) const {
    if (const auto* l = std::get_if<Launch>(&s.what)) {
      for (std::size_t i = 0; i < l->arguments.size(); ++i)
        if (!is_read(*l, i)) f(l->arguments[i].buffer);
    } else if (const auto* native = std::get_if<LaunchNative>(&s.what)) {
      for (const Address& a : native->arguments) f(a.buffer);
    } else if (const auto* copy = std::get_if<Copy>(&s.what)) {
      f(copy->to.buffer);
    } else {
      each_inner(s, [&](const Steps& inner) { each_written(inner, f); });
    }
  }
  /// Whether a step may change what a launch reads.
  bool changes(const Step& s, const Launch& l) const {
    bool found = false;
    each_written(s, [&](int buffer) {
      for (std::size_t i = 0; i < l.arguments.size(); ++i)
        found |= is_read(l, i) && memory_of(l.arguments[i].buffer) == memory_of(buffer);
    });
    return found;
  }
  int memory_of(int buffer) const { return memory_[static_cast<std::size_t>(buffer)]; }

  /// Whether all that a launch writes are temporaries, whole ones, that nobody else writes and
  /// whose old contents do not matter.
  bool makes_own(const Launch& l) const {
    for (std::size_t i = 0; i < l.arguments.size(); ++i) {
      if (is_read(l, i)) continue;
      const Address& a = l.arguments[i];
      const loop::Ref& ref = *kernel(l).parameters()[i];
      const PlanBuffer& buffer = plan_.buffers[static_cast<std::size_t>(a.buffer)];
      const bool whole =
          a.counter < 0 && a.offset == 0 &&
          buffer.bytes == ref.size * static_cast<std::int64_t>(byte_width(ref.dtype));
      if (ref.mode != loop::Ref::Mode::out || buffer.kind != PlanBuffer::Kind::temporary ||
          !whole || writers_[static_cast<std::size_t>(a.buffer)] != 1)
        return false;
    }
    return true;
  }

  /// Launches of a loop's body that each iteration would repeat, taken out of it in their order.
  std::vector<Step> take_invariant(CountedLoop& loop) const {
    if (loop.count < 2) return {};
    std::vector<Step> out;
    for (std::size_t i = 0; i < loop.body.size();) {
      const auto* l = std::get_if<Launch>(&loop.body[i].what);
      const bool stays = !l || !makes_own(*l) ||
                         std::any_of(l->arguments.begin(), l->arguments.end(),
                                     [&](const Address& a) { return a.counter == loop.counter; }) ||
                         std::any_of(loop.body.begin(), loop.body.end(), [&](const Step& s) {
                           return &s != &loop.body[i] && changes(s, *l);
                         });
      if (stays) {
        ++i;
        continue;
      }
      out.push_back(std::move(loop.body[i]));
      loop.body.erase(loop.body.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return out;
  }

  /// Appends a step, unless one before made the same.
  void add(Step step, Steps& out) {
    const auto* l = std::get_if<Launch>(&step.what);
    if (!l || !makes_own(*l)) return out.push_back(std::move(step));
    const std::size_t end = out.size() - std::min(out.size(), kMostBetween);
    for (std::size_t i = out.size(); i-- > end;) {
      if (const auto* before = std::get_if<Launch>(&out[i].what); before && is_same(*before, *l)) {
        for (std::size_t a = 0; a < l->arguments.size(); ++a)
          if (!is_read(*l, a)) instead_[l->arguments[a].buffer] = before->arguments[a].buffer;
        return;
      }
      if (changes(out[i], *l)) break;
    }
    out.push_back(std::move(step));
  }
  bool is_same(const Launch& a, const Launch& b) const {
    if (a.kernel != b.kernel || a.arguments.size() != b.arguments.size() || !makes_own(a))
      return false;
    for (std::size_t i = 0; i < a.arguments.size(); ++i)
      if (is_read(a, i) && !(a.arguments[i] == b.arguments[i])) return false;
    return true;
  }

  Plan& plan_;
  std::vector<int> memory_;   // of each buffer: itself, or the argument whose memory a result takes
  std::vector<int> writers_;  // how many steps may write it
  std::map<int, int> instead_;
};

}  // namespace

void eliminate_redundant_launches(Plan& plan) {
  Repeated repeated(plan);
  repeated.run(plan.steps);
  repeated.rename();
}

}  // namespace strata::compile
