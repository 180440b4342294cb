// Takes the place of strata/op/evaluate.cc in programs that run compiled code alone.
//
// An operation's evaluator is called by the reference evaluator only (tools/check_rooms.py refuses
// other callers), and that is not in these programs: the linker finds what is asked of it here and
// leaves op/evaluate.cc in its archive. Whoever wants a block evaluated fails a check that names
// its operations.
#include "strata/op/evaluate.h"

#include "strata/base/check.h"

namespace strata::op {
namespace {

[[noreturn]] void stop(const Block& block) {
  std::string names;
  for (const auto& op : block.ops()) names += (names.empty() ? "" : ", ") + std::string(op->name());
  STRATA_UNREACHABLE("a program without evaluators was to evaluate {}",
                     names.empty() ? "an empty block" : names);
}

}  // namespace

Literals evaluate(const Block& block, std::span<const Literal>) { stop(block); }
Literals evaluate(const Block& block, std::span<const Literal>, Process&) { stop(block); }
Literals evaluate(const Block& block, std::span<const Literal>, World&) { stop(block); }

}  // namespace strata::op
