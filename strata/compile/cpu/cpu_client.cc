#include "strata/compile/cpu/cpu_client.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <unordered_map>

#include "strata/base/error.h"
#include "strata/compile/cpu/hot_compilation.h"
#include "strata/compile/fuse/fusion.h"
#include "strata/compile/kernel/dot/precompiled_gemm.h"
#include "strata/compile/llvm/compile_plan.h"
#include "strata/compile/pipeline.h"
#include "strata/compile/plan/make_plan.h"
#include "strata/ir/fingerprint.h"
#include "strata/op/lowering_kind.h"
#include "strata/runtime/allocator.h"
#include "strata/runtime/report.h"

namespace strata::compile {
namespace {

using runtime::Buffer;

class CpuExecutable : public runtime::Executable {
 public:
  CpuExecutable(Plan plan, Driver driver, bool timed)
      : plan_(std::move(plan)), driver_(std::move(driver)) {
    if (timed) launches_ = compile::launches(plan_);
    plan_.kernels.clear();  // their code is there; their text is not needed again
    for (Literal& c : plan_.constants) constants_.push_back(c.mutable_data());
  }

  const std::vector<Type>& argument_types() const override { return plan_.argument_types; }
  const std::vector<Type>& result_types() const override { return plan_.result_types; }
  std::size_t temporary_bytes() const override {
    return static_cast<std::size_t>(plan_.arena_bytes);
  }

  std::vector<Buffer> results_for(std::vector<Buffer>& arguments) override {
    expect_types(arguments);
    std::vector<Buffer> results;
    for (std::size_t r = 0; r < plan_.result_types.size(); ++r) {
      int from = plan_.aliased[r];
      if (from >= 0 && arguments[static_cast<std::size_t>(from)].unique()) {
        std::atomic_thread_fence(std::memory_order_acquire);  // whoever held it before, on another
                                                              // thread, has read to the end
        results.push_back(std::move(arguments[static_cast<std::size_t>(from)]));
      } else {
        const Type& type = plan_.result_types[r];
        results.emplace_back(Literal(type, runtime::allocate(type.bytes())));
      }
    }
    return results;
  }
  int donor_of(std::size_t r) const override { return plan_.aliased[r]; }
  void run_at(void* const* arguments, void* const* results) override {
    run(arguments, results, nullptr);
  }
  void run_timed(void* const* arguments, void* const* results,
                 runtime::LaunchTimes& times) override {
    run(arguments, results, &times);
  }
  const std::vector<runtime::Launch>& launches() const override { return launches_; }

 private:
  void run(void* const* arguments, void* const* results, runtime::LaunchTimes* times) {
    std::shared_ptr<std::byte[]> arena;
    if (plan_.arena_bytes > 0)
      arena = runtime::allocate(static_cast<std::size_t>(plan_.arena_bytes));
    run_driver(driver_, RunContext{arguments, results, constants_.data(), arena.get()}, times);
  }
  void expect_types(const std::vector<Buffer>& arguments) const {
    if (arguments.size() != plan_.argument_types.size())
      throw Error(plan_.name, "takes {} arguments, got {}", plan_.argument_types.size(),
                  arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (!(arguments[i].type() == plan_.argument_types[i]))
        throw Error(plan_.name, "argument {} was compiled as {}, got {}", i,
                    plan_.argument_types[i].to_string(), arguments[i].type().to_string());
  }
  Plan plan_;
  Driver driver_;
  std::vector<void*> constants_;
  std::vector<runtime::Launch> launches_;  // of a timed one
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Whether code for the program's own sizes multiplies matrices: tiles in registers with steps that
/// nobody knows take twice the time (512^3: 3.6 and 1.6 ms), and hardly two sizes have the same
/// tiles.
bool generates_gemm(const ir::Block& block) {
  return std::any_of(block.ops().begin(), block.ops().end(),
                     [](const auto& op) { return is_generated_gemm(*op); });
}

class CpuClient : public runtime::Client {
 public:
  std::string platform() const override { return "cpu"; }

  std::shared_ptr<runtime::Executable> compile(const ir::Block& block,
                                               const runtime::CompileOptions& options) override {
    if (!options.keep) return made(block, options);
    std::string key = ir::fingerprint(block);
    for (bool d : options.donated) key += d ? 'd' : 'k';
    if (options.timed) key += 't';
    if (options.any_size) key += 's';
    if (!options.target.empty()) key += ' ' + options.target;
    {
      std::lock_guard lock(mutex_);
      if (auto it = cache_.find(key); it != cache_.end()) return it->second;
    }
    auto executable = made(block, options);
    std::lock_guard lock(mutex_);
    return cache_.emplace(std::move(key), std::move(executable)).first->second;
  }

 private:
  static std::shared_ptr<runtime::Executable> made(const ir::Block& block,
                                                   const runtime::CompileOptions& options) {
    std::shared_ptr<ir::Block> ready = prepare(block);
    const bool reports = runtime::is_reported(options.name), timed = options.timed || reports;
    if (options.any_size && !timed)
      if (const std::unique_ptr<ir::Block> native =
              with_precompiled_gemms(*ready, CpuTarget::of(options.target)))
        return warming(planned(*native, options, timed), kGemmCode,
                       [ready, options, timed] { return planned(*ready, options, timed); });
    auto executable = planned(*ready, options, timed);
    if (reports) return runtime::reported(std::move(executable), options.name);
    return executable;
  }

  static std::shared_ptr<runtime::Executable> planned(const ir::Block& ready,
                                                      const runtime::CompileOptions& options,
                                                      bool timed) {
    Plan plan = make_plan(ready, options.donated, CpuTarget::of(options.target), {},
                          {.any_size = options.any_size});
    plan.name = options.name;
    Driver driver = compile_plan(
        plan, {.timed = timed, .any_size = options.any_size && !generates_gemm(ready)});
    return std::make_shared<CpuExecutable>(std::move(plan), std::move(driver), timed);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<runtime::Executable>> cache_;
};

}  // namespace

std::unique_ptr<runtime::Client> make_cpu_client() { return std::make_unique<CpuClient>(); }
void register_cpu() { runtime::set_client_factory(&make_cpu_client); }

}  // namespace strata::compile

namespace strata::runtime::internal {
// What runtime/default_client.cc finds where nobody registered a client.
std::unique_ptr<Client> make_linked_cpu_client();
std::unique_ptr<Client> make_linked_cpu_client() { return compile::make_cpu_client(); }
}  // namespace strata::runtime::internal

namespace strata::compile {

Explanation explain(const ir::Block& block, const runtime::CompileOptions& options) {
  Explanation out;
  double start = seconds();
  std::vector<std::string> said;
  std::unique_ptr<ir::Block> ready = prepare(block, &said);
  out.prepare_s = seconds() - start;
  for (const std::string& line : said) out.fusion += line + "\n";
  out.fusion += explain(choose_fusion(*ready));
  start = seconds();
  Plan plan = make_plan(*ready, options.donated, CpuTarget::of(options.target));
  out.plan_s = seconds() - start;
  start = seconds();
  (void)compile_plan(plan);
  out.code_s = seconds() - start;
  out.plan = print(plan);
  return out;
}

std::string native_text(const ir::Block& block, const runtime::CompileOptions& options) {
  std::string out;
  for (const std::string& code :
       plan_code(make_plan(*prepare(block), options.donated, CpuTarget::of(options.target)), true))
    out += code;
  return out;
}

std::int64_t native_bytes(const ir::Block& block, const runtime::CompileOptions& options) {
  std::size_t out = 0;
  for (const std::string& code :
       plan_code(make_plan(*prepare(block), options.donated, CpuTarget::of(options.target)), false))
    out += code.size();
  return static_cast<std::int64_t>(out);
}

}  // namespace strata::compile
