#include "strata/train/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

#include "strata/base/check.h"

namespace strata::train {
namespace {

std::atomic<int> noted{0};
std::atomic<bool> saves{false}, terminal{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler may use them");
struct sigaction before_int, before_term;

void say(std::string_view text) {
  if (terminal) (void)!::write(STDERR_FILENO, "\n", 1);  // the state line stands there
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

void note(int signal) {
  const int error = errno, times = ++noted;
  if (times == 1) {
    say(saves ? "interrupted: the step under way is finished, then a checkpoint is saved\n"
              : "interrupted: the step under way is finished; once more ends at once\n");
  } else if (times == 2 && saves) {
    say("interrupted again: the checkpoint is still being saved; once more ends at once, without "
        "it\n");
  } else {
    ::signal(signal, SIG_DFL);
    ::raise(signal);  // delivered when this handler is left
  }
  errno = error;
}

}  // namespace

Interrupt::Interrupt(bool saved) {
  noted = 0;
  saves = saved;
  terminal = ::isatty(STDERR_FILENO) != 0;
  struct sigaction action{};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  STRATA_CHECK(::sigaction(SIGINT, &action, &before_int) == 0 &&
                   ::sigaction(SIGTERM, &action, &before_term) == 0,
               "signals cannot be caught");
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &before_int, nullptr);
  ::sigaction(SIGTERM, &before_term, nullptr);
}

bool Interrupt::asked() const { return noted > 0; }

}  // namespace strata::train
