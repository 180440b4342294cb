#include "strata/op/foreign/foreign.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>

#include "strata/loop/kernel/native.h"
#include "strata/op/foreign/foreign_call.h"
#include "strata/op/foreign/target.h"

namespace strata::op::foreign {

void note(Run& run, const std::string& target, Status status) {
  if (run.failed_) return;
  run.failed_ = 1;
  run.target_ = target;
  run.status_ = std::move(status);
}

namespace {

thread_local void* t_context = nullptr;
thread_local Run* t_run = nullptr;

/// A call that was met, and what its handler said is to be done at it.
struct Met {
  std::vector<std::int64_t> params;
  Call call;
  std::vector<std::pair<int, std::size_t>>
      copies;  // of each result with an alias: the operand, and the bytes
  std::mutex binding;
  std::uint64_t asked = 0;  // the number of the handler that was asked
  std::atomic<std::uint64_t> bound_in{
      0};  // the registry's generation in which `bound` was made; 0: not yet
  std::atomic<const Bound*> bound{
      nullptr};  // earlier ones are kept too: another thread may be in one
};

/// Numbers tell handlers of one target apart; 0 is Strata's own.
struct Registered {
  Handler handler;
  std::uint64_t number = 0;
};

/// Never ends: threads may run programs when the process does.
struct Known {
  std::mutex mutex;
  std::map<std::string, Registered> handlers;
  std::unordered_multimap<std::int64_t, std::unique_ptr<Met>>
      met;  // by the hash that stands first in params
  std::vector<std::unique_ptr<const Bound>> bounds;
  std::atomic<std::uint64_t> generation{1};
};
Known& known() {
  static Known& k = *new Known;
  return k;
}

// ---- calls as parameters: hash, number of bytes, the words -------------------------------------

std::vector<std::int64_t> packed(std::string_view words) {
  std::vector<std::int64_t> out(2 + (words.size() + 7) / 8, 0);
  std::memcpy(out.data() + 2, words.data(), words.size());
  std::uint64_t hash = 0x9e3779b97f4a7c15u ^ words.size();
  for (std::size_t i = 2; i < out.size(); ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(out[i])) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  out[0] = static_cast<std::int64_t>(hash);
  out[1] = static_cast<std::int64_t>(words.size());
  return out;
}
std::size_t length(const std::int64_t* params) {
  return 2 + (static_cast<std::size_t>(params[1]) + 7) / 8;
}
bool same(const Met& met, const std::int64_t* params) {
  return met.params[1] == params[1] &&
         std::memcmp(met.params.data(), params, length(params) * sizeof *params) == 0;
}

std::unique_ptr<Met> read(const std::int64_t* params) {
  auto met = std::make_unique<Met>();
  met->params.assign(params, params + length(params));
  met->call =
      call_of({reinterpret_cast<const char*>(params + 2), static_cast<std::size_t>(params[1])});
  for (std::size_t r = 0; r < met->call.results.size(); ++r)
    met->copies.push_back(
        {met->call.aliases[r], met->call.aliases[r] < 0 ? 0 : met->call.results[r].bytes()});
  return met;
}

/// The same one for equal calls. A thread looks first among those that it met itself.
Met& met_of(const std::int64_t* params) {
  thread_local std::unordered_map<std::int64_t, Met*> mine;
  Met*& last = mine[params[0]];
  if (last != nullptr && same(*last, params)) return *last;
  Known& k = known();
  std::lock_guard lock(k.mutex);
  auto [from, to] = k.met.equal_range(params[0]);
  auto found =
      std::find_if(from, to, [&](const auto& entry) { return same(*entry.second, params); });
  if (found == to) found = k.met.emplace(params[0], read(params));
  return *(last = found->second.get());
}

/// Asks the target's handler, unless it is the one that was asked.
Status bind(Met& met) {
  Known& k = known();
  std::lock_guard binding(met.binding);
  std::uint64_t generation = k.generation;
  Registered registered;
  {
    std::lock_guard lock(k.mutex);
    if (auto it = k.handlers.find(met.call.target); it != k.handlers.end()) registered = it->second;
  }
  const Target* own = find_target(met.call.target);
  if (!registered.handler && own != nullptr) registered.handler = own->handler;
  if (!registered.handler)
    return Status(Code::unsupported, "target @{} is not supported", met.call.target);
  if (met.bound == nullptr || met.asked != registered.number) {
    Result<Bound> bound =
        registered.handler(met.call);  // without the registry's mutex: it may look up or add
    if (!bound) return bound.status();
    std::lock_guard lock(k.mutex);
    k.bounds.push_back(std::make_unique<const Bound>(std::move(*bound)));
    met.bound = k.bounds.back().get();
    met.asked = registered.number;
  }
  met.bound_in = generation;
  return Status();
}

Status call_handler(Met& met, std::span<void* const> operands, std::span<void* const> results) {
  if (met.bound_in != known().generation) {
    Status status = bind(met);
    if (!status.ok()) return status;
  }
  const Bound* bound = met.bound;
  std::vector<void*> moved;
  for (std::size_t r = 0; r < results.size(); ++r) {
    auto [operand, bytes] = met.copies[r];
    if (operand < 0) continue;
    if (bytes > 0 && operands[static_cast<std::size_t>(operand)] != results[r])
      std::memcpy(results[r], operands[static_cast<std::size_t>(operand)], bytes);
    if (moved.empty()) moved.assign(operands.begin(), operands.end());
    moved[static_cast<std::size_t>(operand)] = results[r];
  }
  return (*bound)({moved.empty() ? operands : std::span<void* const>(moved), results}, t_context);
}

/// What a handler throws is its failure too.
Status made(Met& met, std::span<void* const> operands, std::span<void* const> results) {
  try {
    return call_handler(met, operands, results);
  } catch (const Error& e) {
    return Status(Code::invalid, e.message());
  } catch (const std::exception& e) {
    return Status(Code::io, std::string(e.what()));
  } catch (...) {
    return Status(Code::io, "the handler threw something that is no exception");
  }
}

const std::string& stated(const Op& op) {
  if (!is_resolved(op))
    throw Error("custom_call", "target @{} is not supported",
                op.attr<std::string>("call_target_name"))
        .unsupported()
        .at(op.where.text());
  return op.attr<std::string>(kStated);
}

/// grid points are buffers, which say where the parameters are.
void native_call(void* const* buffers, std::int64_t, std::int64_t end) {
  if (t_run != nullptr && *t_run->failed()) return;
  auto count = static_cast<std::size_t>(end - 1);
  Met& met = met_of(static_cast<const std::int64_t*>(buffers[count]));
  std::span<void* const> all(buffers, count);
  std::size_t n = met.call.operands.size();
  Status status = made(met, all.first(n), all.subspan(n));
  if (status.ok()) return;
  if (t_run == nullptr) throw Failure(met.call.target, status);  // a plan that is walked
  note(*t_run, met.call.target, std::move(status));
}

[[maybe_unused]] const bool added = loop::add_native_kernel({"strata_foreign_call", native_call});

}  // namespace

bool add_handler(const std::string& target, Handler handler) {
  Known& k = known();
  std::lock_guard lock(k.mutex);
  if (!k.handlers.emplace(target, Registered{std::move(handler), k.generation}).second)
    return false;
  ++k.generation;
  return true;
}

void replace_handler(const std::string& target, Handler handler) {
  Known& k = known();
  std::lock_guard lock(k.mutex);
  k.handlers.insert_or_assign(target, Registered{std::move(handler), k.generation});
  ++k.generation;
}

bool has_handler(const std::string& target) {
  Known& k = known();
  std::lock_guard lock(k.mutex);
  return k.handlers.count(target) != 0;
}

WithContext::WithContext(void* context) : before_(t_context) { t_context = context; }
WithContext::~WithContext() { t_context = before_; }
void* current_context() { return t_context; }

Run::Run() : before_(t_run) { t_run = this; }
Run::~Run() { t_run = before_; }
void Run::finish() {
  if (failed_) throw Failure(target_, status_);
}

bool is_resolved(const Op& op) { return op.attrs.has(kStated); }

Literals evaluate_resolved(const Op& op, std::span<const Literal> operands) {
  Met& met = met_of(packed(stated(op)).data());
  Literals results;
  std::vector<void*> from, to;
  for (const Literal& x : operands) from.push_back(const_cast<std::byte*>(x.data()));
  for (Value* v : op.results()) results.emplace_back(v->type());
  for (Literal& y : results) to.push_back(y.mutable_data());
  Status status = made(met, from, to);
  if (!status.ok()) throw Failure(met.call.target, status);
  return results;
}

const char* symbol(const Op&) { return "strata_foreign_call"; }
std::int64_t grid(const Op& op) {
  return static_cast<std::int64_t>(op.operands.size()) + op.num_results() + 1;
}
std::vector<std::int64_t> params(const Op& op) { return packed(stated(op)); }

}  // namespace strata::op::foreign
