// What object files call, by the names that they call it (compile/llvm/runtime_symbols.h is the
// same for code in memory).
#include "strata/base/thread_pool.h"
#include "strata/compile/llvm/runtime_functions.h"

extern "C" {

void strata_parallel_for(std::int64_t points, std::int64_t grain,
                         void (*f)(void*, std::int64_t, std::int64_t), void* ctx);
void strata_parallel_for_brief(std::int64_t points, std::int64_t grain,
                               void (*f)(void*, std::int64_t, std::int64_t), void* ctx);
float __truncsfbf2(float v);
float __truncsfhf2(float v);
float __truncdfbf2(double v);
float __truncdfhf2(double v);
float __extendhfsf2(float r);

void strata_parallel_for(std::int64_t points, std::int64_t grain,
                         void (*f)(void*, std::int64_t, std::int64_t), void* ctx) {
  strata::parallel_for(points, grain, f, ctx);
}
void strata_parallel_for_brief(std::int64_t points, std::int64_t grain,
                               void (*f)(void*, std::int64_t, std::int64_t), void* ctx) {
  strata::parallel_for_brief(points, grain, f, ctx);
}

// libgcc's, where it has them, are other functions: these come first, and are nobody else's.
float __truncsfbf2(float v) { return strata_truncsfbf2(v); }
float __truncsfhf2(float v) { return strata_truncsfhf2(v); }
float __truncdfbf2(double v) { return strata_truncdfbf2(v); }
float __truncdfhf2(double v) { return strata_truncdfhf2(v); }
float __extendhfsf2(float r) { return strata_extendhfsf2(r); }

}  // extern "C"
