#include "strata/nn/inspect/checkify.h"

#include <algorithm>
#include <mutex>

#include "strata/api/numpy.h"

namespace strata::nn {

namespace {

/// Messages by number: a path has no room for text.
class Messages {
 public:
  std::size_t number_of(const std::string& message) {
    const std::lock_guard lock(mutex_);
    const auto it = std::find(all_.begin(), all_.end(), message);
    if (it != all_.end()) return static_cast<std::size_t>(it - all_.begin());
    all_.push_back(message);
    return all_.size() - 1;
  }
  std::string text_of(std::size_t number) {
    const std::lock_guard lock(mutex_);
    return all_.at(number);
  }
  static Messages& of_process() {
    static Messages messages;
    return messages;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> all_;
};

constexpr std::string_view kPrefix = "check:";

/// The first place at which a stack of checks does not hold: "[2, 0]", nothing for a single one.
std::optional<std::string> first_failure(const Array& holds) {
  const std::vector<bool> all = [&] {
    std::vector<bool> out;
    for (const int value : holds.astype(DType::i32).to_vector<int>()) out.push_back(value != 0);
    return out;
  }();
  const auto it = std::find(all.begin(), all.end(), false);
  if (it == all.end()) return {};
  if (holds.ndim() == 0) return "";
  auto place = static_cast<std::int64_t>(it - all.begin());
  std::string out;
  for (int axis = holds.ndim(); axis-- > 0;) {
    const std::int64_t size = holds.shape(axis);
    out = fmt::format("{}{}{}", place % size, out.empty() ? "" : ", ", out);
    place /= size;
  }
  return " at [" + out + "]";
}

}  // namespace

void check(const Operand& predicate, const std::string& message) {
  strata::internal::Site site(predicate);
  if (!is_bool(predicate->dtype()))
    strata::internal::fail("check", "the predicate is boolean, got {}",
                           strata::internal::describe(predicate->type()));
  const Array holds = numpy::all(predicate);
  const detail::Collector* to = detail::Collector::current();
  if (to && to->captures(Check::kind())) {
    sow<Check>(fmt::format("{}{}", kPrefix, Messages::of_process().number_of(message)), holds);
    return;
  }
  if (holds.is_traced())
    strata::internal::fail("check",
                           "\"{}\" is checked within a transform, and nobody collects it: call the "
                           "transformed function by checkify",
                           message);
  if (!holds.item<bool>()) strata::internal::fail("check", "{}", message);
}

std::optional<std::string> CheckError::get() const {
  for (std::size_t i = 0; i < found_.size(); ++i) {
    const std::optional<std::string> where = first_failure(found_.value(i));
    if (!where) continue;
    // "blocks/0/check:3/0": module, message, running number.
    const std::string& name = found_.entry(i).name;
    const std::size_t at = name.rfind(kPrefix);
    const std::string message =
        Messages::of_process().text_of(std::stoul(name.substr(at + kPrefix.size())));
    const std::string module = at == 0 ? "" : "in " + name.substr(0, at - 1) + ": ";
    return module + message + *where;
  }
  return {};
}

void CheckError::throw_if_failed() const {
  if (const std::optional<std::string> message = get()) throw Error("check", "{}", *message);
}

}  // namespace strata::nn
