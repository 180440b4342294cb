#include "strata/nn/transform/control.h"

#include <set>

namespace strata::nn::detail {

namespace {
/// What a branch puts aside, in order.
std::string sown_names(const Traced& traced) {
  std::string out;
  for (const Sown& one : traced.sown) out += (out.empty() ? "" : ", ") + one.path;
  return out;
}
/// Throws Error with the path where two branches leave a variable with different types.
void check_state(const char* name, const Callee& callee, const Traced& first, const Traced& other) {
  for (std::size_t k = 0; k < first.changed.size(); ++k) {
    const Type& a = first.program.block->results[first.results + k]->type();
    const Type& b = other.program.block->results[other.results + k]->type();
    if (a != b)
      strata::internal::fail(name, "{} is {} after one branch and {} after another",
                             argument_paths(callee)[first.changed[k]],
                             strata::internal::describe(a), strata::internal::describe(b));
  }
}
}  // namespace

std::vector<Array> branch(const char* name, const Array& index, std::span<Callee* const> branches) {
  const std::vector<ArgumentLeaf> leaves = argument_leaves(*branches[0]);
  const std::vector<Array> values = values_of(leaves);
  // Traced first to see what each changes, then with the changes of all.
  std::set<std::size_t> changed;
  std::size_t results = 0;
  for (Callee* one : branches) {
    const Traced traced = trace(*one, values, Trace::Kind::nested);
    changed.insert(traced.changed.begin(), traced.changed.end());
    results = traced.results;
  }
  const std::vector<std::size_t> all(changed.begin(), changed.end());
  std::vector<Traced> traced;
  std::vector<const Program*> programs;
  for (Callee* one : branches) {
    traced.push_back(trace(*one, values, Trace::Kind::nested, {}, &all));
    if (traced.back().results != results)
      strata::internal::fail(name, "one branch returns {} arrays, another {}",
                             traced.back().results, results);
  }
  for (const Traced& t : traced) {
    const std::string one = sown_names(traced[0]), other = sown_names(t);
    if (one != other)
      strata::internal::fail(name, "one branch puts aside [{}], another [{}]", one, other);
    check_state(name, *branches[0], traced[0], t);
    programs.push_back(&t.program);
  }
  std::vector<Array> out = strata::internal::branch(index, programs, values);
  give_out(traced[0], leaves, out);
  out.resize(results);
  return out;
}

std::vector<Array> remat(Callee& callee, const RematOptions& options) {
  const std::vector<ArgumentLeaf> leaves = argument_leaves(callee);
  const std::vector<Array> values = values_of(leaves);
  const Traced traced = trace(callee, values, Trace::Kind::nested);
  std::vector<Array> out = strata::internal::remat(traced.program, values, options.policy);
  give_out(traced, leaves, out);
  out.resize(traced.results);
  return out;
}

}  // namespace strata::nn::detail
