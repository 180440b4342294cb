#include "strata/pjrt/event.h"

#include "strata/pjrt/functions.h"

namespace strata::pjrt {

std::shared_ptr<Ready> Ready::now(Problem problem) {
  auto out = std::make_shared<Ready>();
  out->set(std::move(problem));
  return out;
}

void Ready::set(Problem problem) {
  std::vector<Waiter> waiters;
  {
    std::lock_guard lock(mutex_);
    if (done_) return;
    problem_ = std::move(problem);
    done_ = true;
    waiters.swap(waiters_);
  }
  condition_.notify_all();
  for (Waiter& waiter : waiters) waiter(problem_);
}

bool Ready::is_set() const { return done_; }

const PJRT_Error* Ready::wait() {
  if (!done_) {
    std::unique_lock lock(mutex_);
    condition_.wait(lock, [&] { return done_.load(); });
  }
  return problem_ ? &*problem_ : nullptr;
}

void Ready::then(Waiter waiter) {
  if (!done_) {
    std::lock_guard lock(mutex_);
    if (!done_) {
      waiters_.push_back(std::move(waiter));
      return;
    }
  }
  waiter(problem_);
}

void Event_Destroy(PJRT_Event_Destroy_Args& args) { delete args.event; }
void Event_IsReady(PJRT_Event_IsReady_Args& args) { args.is_ready = args.event->ready->is_set(); }
void Event_Error(PJRT_Event_Error_Args& args) {
  if (!args.event->ready->is_set())
    fail(PJRT_Error_Code_FAILED_PRECONDITION, "the event is not ready");
  if (const Problem& p = args.event->ready->outcome()) throw Failure(*p);
}
void Event_Await(PJRT_Event_Await_Args& args) {
  if (const PJRT_Error* e = args.event->ready->wait()) throw Failure(*e);
}
void Event_OnReady(PJRT_Event_OnReady_Args& args) {
  args.event->ready->then([callback = args.callback, user_arg = args.user_arg](const Problem& p) {
    callback(p ? new PJRT_Error(*p) : nullptr, user_arg);
  });
}
void Event_Create(PJRT_Event_Create_Args& args) {
  args.event = new PJRT_Event{{}, std::make_shared<Ready>()};
}
void Event_Set(PJRT_Event_Set_Args& args) {
  Problem problem;
  if (args.error_code != 0)
    problem =
        PJRT_Error{{}, args.error_code, std::string(args.error_message, args.error_message_size)};
  args.event->ready->set(std::move(problem));
}

}  // namespace strata::pjrt
