// The Shardings extension: where a framework may ask how arguments and results are cut. On one
// device each is whole.
#include "strata/pjrt/shardings.h"

#include <algorithm>
#include <vector>

#include "strata/pjrt/executable.h"

namespace strata::pjrt {
namespace {

/// xla.OpSharding of type REPLICATED, its default: the message of no bytes.
struct Whole {
  std::vector<const char*> shardings;
  std::vector<std::size_t> sizes;
};

const Whole& whole(std::size_t count) {
  thread_local Whole all;  // what callers copy before they ask again
  all.shardings.assign(count, "");
  all.sizes.assign(count, 0);
  return all;
}

}  // namespace

void Shardings_PJRT_Executable_ParameterShardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args& args) {
  args.num_parameters = args.executable->program->donated.size();
  const Whole& all = whole(args.num_parameters);
  args.shardings = all.shardings.data();
  args.sharding_sizes = all.sizes.data();
}

void Shardings_PJRT_Executable_OutputShardings(
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args& args) {
  // XLA has one sharding for a tuple of nothing.
  args.num_outputs = std::max<std::size_t>(args.executable->result_types.size(), 1);
  const Whole& all = whole(args.num_outputs);
  args.shardings = all.shardings.data();
  args.sharding_sizes = all.sizes.data();
}

}  // namespace strata::pjrt
