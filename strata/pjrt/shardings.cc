// The Shardings extension: where a framework may ask how arguments and results are cut.
#include "strata/pjrt/shardings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "strata/pjrt/executable.h"

namespace strata::pjrt {
namespace {

/// Messages as the table wants them.
struct Messages {
  std::vector<const char*> shardings;
  std::vector<std::size_t> sizes;
};

/// Those of a program; of type REPLICATED, the message of no bytes, for what it has not.
const Messages& messages(const std::vector<std::string>& of, std::size_t count) {
  thread_local Messages all;  // what callers copy before they ask again
  all.shardings.assign(count, "");
  all.sizes.assign(count, 0);
  for (std::size_t i = 0; i < std::min(count, of.size()); ++i) {
    all.shardings[i] = of[i].data();
    all.sizes[i] = of[i].size();
  }
  return all;
}

}  // namespace

void Shardings_PJRT_Executable_ParameterShardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args& args) {
  args.num_parameters = args.executable->program->donated.size();
  const Messages& all = messages(args.executable->program->argument_shardings, args.num_parameters);
  args.shardings = all.shardings.data();
  args.sharding_sizes = all.sizes.data();
}

void Shardings_PJRT_Executable_OutputShardings(
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args& args) {
  // XLA has one sharding for a tuple of nothing.
  args.num_outputs = std::max<std::size_t>(args.executable->result_types.size(), 1);
  const Messages& all = messages(args.executable->program->result_shardings, args.num_outputs);
  args.shardings = all.shardings.data();
  args.sharding_sizes = all.sizes.data();
}

}  // namespace strata::pjrt
