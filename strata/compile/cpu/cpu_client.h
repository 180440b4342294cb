// The embedded CPU behind runtime::Client.
//
//   compile::register_cpu();
//   auto executable = runtime::default_client().compile(block);
#pragma once

#include <memory>
#include <string>

#include "strata/compile/plan/plan.h"
#include "strata/runtime/client.h"

namespace strata::compile {

/// Makes the CPU the process's default client (unless one is registered already). Cheap; may be
/// called often.
void register_cpu();
std::unique_ptr<runtime::Client> make_cpu_client();

/// What a compiled program is made of, as text: groups, plan; and the seconds its stages took.
struct Explanation {
  std::string fusion, plan;
  double prepare_s = 0, plan_s = 0, code_s = 0;
};
Explanation explain(const ir::Block& block, const runtime::CompileOptions& options = {});

/// The machine code of a program: assembly of its kernels and of the driver that runs them, each
/// once, and how many bytes their object files have. Made anew, past all caches.
std::string native_text(const ir::Block& block, const runtime::CompileOptions& options = {});
std::int64_t native_bytes(const ir::Block& block, const runtime::CompileOptions& options = {});

}  // namespace strata::compile
