#include "strata/api/transform/callback.h"

#include <cstring>
#include <deque>
#include <mutex>

#include "strata/api/trace/compose.h"
#include "strata/op/foreign/foreign.h"

namespace strata::internal {
namespace {

constexpr const char* kTarget = "strata.host_callback";

struct Registered {
  const char* operation;
  HostFunction f;
};

/// By their numbers; never ends, since programs may run as long as the process.
struct Registry {
  std::mutex mutex;
  std::deque<Registered> all;
};
Registry& registry() {
  static Registry& r = *new Registry;
  return r;
}
std::int64_t add(Registered f) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  r.all.push_back(std::move(f));
  return static_cast<std::int64_t>(r.all.size()) - 1;
}
Registered& registered(std::int64_t number) {
  Registry& r = registry();
  std::lock_guard lock(r.mutex);
  return r.all[static_cast<std::size_t>(number)];
}

std::vector<Array> checked_call(const Registered& r, std::vector<Array> arguments,
                                const std::vector<Type>& types) {
  const std::vector<Array> out = r.f(std::move(arguments));
  if (out.size() != types.size())
    fail(r.operation, "the function returns {} arrays, {} were said", out.size(), types.size());
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!(out[i].type() == types[i]))
      fail(r.operation, "result {} of the function is {}, {} was said", i, describe(out[i].type()),
           describe(types[i]));
  return out;
}

/// What is done at a call: memory becomes arrays and arrays memory.
Status call_at(const Registered& r, const op::foreign::Call& call, const op::foreign::Buffers& at) {
  try {
    std::vector<Array> arguments;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      Literal l(call.operands[i]);
      if (l.type().bytes() > 0) std::memcpy(l.mutable_data(), at.operands[i], l.type().bytes());
      arguments.emplace_back(std::move(l));
    }
    const std::vector<Array> results = checked_call(r, std::move(arguments), call.results);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Literal l = results[i].literal();
      if (l.type().bytes() > 0) std::memcpy(at.results[i], l.data(), l.type().bytes());
    }
    return Status();
  } catch (const std::exception& e) {
    return Status(Code::invalid, std::string(e.what()));
  }
}

void register_target() {
  static const bool once = op::foreign::add_handler(
      kTarget, [](const op::foreign::Call& call) -> strata::Result<op::foreign::Bound> {
        const Registered& r = registered(call.attrs.get<std::int64_t>("number"));
        return op::foreign::Bound(
            [&r, call](const op::foreign::Buffers& at, void*) { return call_at(r, call, at); });
      });
  (void)once;
}

}  // namespace

std::vector<Array> host_call(const char* operation, HostFunction f,
                             const std::vector<Type>& results, std::span<const Array> operands) {
  if (!Trace::current())
    return checked_call({operation, std::move(f)}, {operands.begin(), operands.end()}, results);
  register_target();
  const std::int64_t number = add({operation, std::move(f)});
  return emit(operands, [&](Builder& b, const Values& v) {
    return b
        .create(op::def("stablehlo.custom_call").info, v,
                {{"call_target_name", std::string(kTarget)}, {"number", number}}, {}, results)
        .results();
  });
}

}  // namespace strata::internal
