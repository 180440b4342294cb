#include "strata/ir/constraint.h"

#include <map>
#include <mutex>
#include <string>

namespace strata::ir {
namespace {

struct Names {
  std::mutex mutex;
  struct Of {
    const char *results, *operands;
  };
  std::map<std::string, Of, std::less<>> by_operation;
};
Names& names() {
  static Names all;
  return all;
}

Names::Of find(const OpInfo& info) {
  std::lock_guard lock(names().mutex);
  auto it = names().by_operation.find(info.name);
  return it == names().by_operation.end() ? Names::Of{"", ""} : it->second;
}

}  // namespace

OpInfo inferred_by(const char* constraints, OpInfo info, const char* operands) {
  std::lock_guard lock(names().mutex);
  names().by_operation[info.name] = {constraints, operands == nullptr ? constraints : operands};
  return info;
}

std::string_view inferred_by(const OpInfo& info) { return find(info).results; }
std::string_view agreement_of(const OpInfo& info) { return find(info).operands; }

}  // namespace strata::ir
