// Computations that somebody outside of Strata does: handlers by the name of a custom call's
// target.
//
//   op::foreign::add_handler("scale", [](const op::foreign::Call& call) ->
//   Result<op::foreign::Bound> {
//     return op::foreign::Bound([](const op::foreign::Buffers& at, void*) { ...; return Status();
//     });
//   });
//
// A handler is asked once for each different call (target, attributes, types) what is to be done at
// it, and what it gives is then called at every run: by the reference evaluator and by compiled
// code alike, on the thread that runs the program, one call after the other in the order of the
// program. `Bound` must be safe to call from several threads, since runs may overlap.
//
// What goes wrong in a handler, by its status or by an exception, reaches whoever asked for the run
// as a `Failure` with the handler's words; calls that would come after it in the same run are not
// made.
//
// How a program comes to its calls: `resolve` brings each custom call of a known handler into the
// form in which it runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "strata/base/error.h"
#include "strata/base/result.h"
#include "strata/op/def.h"
#include "strata/op/foreign/handler.h"

namespace strata::op::foreign {

/// The first handler of a target stays; returns whether this one is it. Thread-safe.
bool add_handler(const std::string& target, Handler handler);
/// The handler from now on, of calls too that another one was asked about.
void replace_handler(const std::string& target, Handler handler);
bool has_handler(const std::string& target);

/// What handlers get as context when this thread runs programs while it lives. They nest.
class WithContext {
 public:
  explicit WithContext(void* context);
  ~WithContext();
  WithContext(const WithContext&) = delete;
  WithContext& operator=(const WithContext&) = delete;

 private:
  void* before_;
};
void* current_context();

/// A handler said no, in the words of `message()`.
class Failure : public Error {
 public:
  Failure(const std::string& target, const Status& status)
      : Error(target, status.message()), code_(status.code()) {
    if (code_ == Code::unsupported) unsupported();
  }
  Code code() const { return code_; }

 private:
  Code code_;
};

// ---- programs ----------------------------------------------------------------------------------

/// Custom calls, in nested regions too, as they run: those of targets that Strata says by
/// operations of its own (op/foreign/target.h) become these; those of a handler are resolved: they
/// state their call in one attribute, and around them stand transposes between row-major order and
/// the layouts that they ask for. Others stay as they are, and so do resolved ones.
void resolve(Block& block);
/// Whether `resolve` has something to do at the operation.
bool is_resolvable(const Op& op);
bool is_resolved(const Op& op);

// ---- runs --------------------------------------------------------------------------------------

/// A resolved call, for the reference evaluator. Throws Failure.
Literals evaluate_resolved(const Op& op, std::span<const Literal> operands);

/// A resolved call as a native kernel (loop/kernel/native.h), whose parameters are the call, in
/// words: code that is kept on disk holds no address. Its grid counts its buffers, and is always
/// run at once.
const char* symbol(const Op& op);
std::int64_t grid(const Op& op);
std::vector<std::int64_t> params(const Op& op);

/// One run of compiled code on this thread: nothing is thrown through it, so that a failure is kept
/// here until it is over.
class Run {
 public:
  Run();
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  /// Nonzero once a call has failed: the code then goes to its end.
  const std::uint8_t* failed() const { return &failed_; }
  /// Throws what failed, if anything did.
  void finish();

 private:
  friend void note(Run& run, const std::string& target, Status status);
  Run* before_;
  std::uint8_t failed_ = 0;
  std::string target_;
  Status status_;
};

}  // namespace strata::op::foreign
