// Exceptions of any kind as PJRT's errors (error.h); where memory ran out, with who holds it.
#include <new>

#include "strata/base/error.h"
#include "strata/base/memory/out_of_memory.h"
#include "strata/pjrt/buffer.h"
#include "strata/pjrt/error.h"

namespace strata::pjrt {

PJRT_Error caught() {
  try {
    throw;
  } catch (const Failure& e) {
    return e.error();
  } catch (const Error& e) {
    return {{},
            e.is_unsupported() ? PJRT_Error_Code_UNIMPLEMENTED : PJRT_Error_Code_INVALID_ARGUMENT,
            e.what()};
  } catch (const std::bad_alloc& e) {
    return {{}, PJRT_Error_Code_RESOURCE_EXHAUSTED, message_of(e) + live_memory()};
  } catch (const std::exception& e) {
    return {{}, PJRT_Error_Code_INTERNAL, e.what()};
  } catch (...) {
    return {{}, PJRT_Error_Code_UNKNOWN, "an exception that is none of C++'s own"};
  }
}

}  // namespace strata::pjrt
