#include "strata/train/interrupt.h"

#include <signal.h>

#include <atomic>

#include "strata/base/check.h"

namespace strata::train {
namespace {

std::atomic<bool> noted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may set it");
struct sigaction before_int, before_term;

void note(int) { noted = true; }

}  // namespace

Interrupt::Interrupt() {
  noted = false;
  struct sigaction action{};
  action.sa_handler = note;
  action.sa_flags = SA_RESETHAND | SA_RESTART;  // the second one ends the process
  STRATA_CHECK(::sigaction(SIGINT, &action, &before_int) == 0 &&
                   ::sigaction(SIGTERM, &action, &before_term) == 0,
               "signals cannot be caught");
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &before_int, nullptr);
  ::sigaction(SIGTERM, &before_term, nullptr);
}

bool Interrupt::asked() const { return noted; }

}  // namespace strata::train
