// Where programs run: buffers, executables and the client that compiles. The embedded CPU
// (compile/) and, later, any PJRT plugin stand behind this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/type/literal.h"

namespace strata::runtime {

/// A tensor on a device. A cheap handle; copies share the memory, which nobody changes while more
/// than one handle (or a view from outside) holds it. On the CPU the bytes are a Literal's.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Literal literal) : literal_(std::move(literal)) {}
  const Type& type() const { return literal_.type(); }
  const Literal& literal() const { return literal_; }
  const std::byte* data() const { return literal_.data(); }
  /// For whoever owns the only handle: a fresh result, a donated argument.
  std::byte* mutable_data() { return literal_.mutable_data(); }
  /// Whether this handle is the only one.
  bool unique() const { return literal_.is_unique(); }

 private:
  Literal literal_;
};

/// What a launch does: a name for a table, and all that the plan says of it.
struct Launch {
  std::string name, text;
};

/// When the launches of a run ran.
struct LaunchTimes {
  /// A run's spans beyond these are not kept: a loop may launch for ever.
  static constexpr std::size_t kMostSpans = 1 << 16;
  /// `launch` is an index of Executable::launches(); times are nanoseconds of
  /// std::chrono::steady_clock.
  struct Span {
    int launch;
    std::int64_t begin_ns, end_ns;
  };
  struct Total {
    std::int64_t runs = 0, ns = 0;
  };
  std::vector<Span> spans;    // in order of their begin
  std::vector<Total> totals;  // by launch, of all of them
};

/// A compiled program. Thread-safe: runs may overlap.
class Executable {
 public:
  virtual ~Executable() = default;
  /// Runs on arguments in order. A buffer given by rvalue in `donated` positions may be reused for
  /// a result when its handle is the only one. Throws strata::Error when types differ from what was
  /// compiled.
  std::vector<Buffer> run(std::vector<Buffer> arguments);
  /// `run` in two halves, for who runs later what is asked for now. Memory for the results: that of
  /// arguments in `donated` positions that have no other handle, which are moved from, else new.
  /// Throws as `run`.
  virtual std::vector<Buffer> results_for(std::vector<Buffer>& arguments) = 0;
  /// The argument that lends result `r` its memory when it has no other handle; -1 for none.
  virtual int donor_of(std::size_t) const { return -1; }
  /// Runs on arguments and results at these addresses.
  virtual void run_at(void* const* arguments, void* const* results) = 0;
  /// The same, and adds to `times` when each launch ran. Adds nothing for a program that was not
  /// compiled as `timed`, or that launches nothing; what ran before a failure is told.
  virtual void run_timed(void* const* arguments, void* const* results, LaunchTimes& times);
  /// The launches of a program that was compiled as `timed`.
  virtual const std::vector<Launch>& launches() const;
  virtual const std::vector<Type>& argument_types() const = 0;
  virtual const std::vector<Type>& result_types() const = 0;
  /// Memory that a run takes besides arguments and results, where that is known.
  virtual std::size_t temporary_bytes() const { return 0; }
};

inline std::vector<Buffer> Executable::run(std::vector<Buffer> arguments) {
  std::vector<void*> in, out;
  for (Buffer& b : arguments) in.push_back(const_cast<std::byte*>(b.data()));
  std::vector<Buffer> results = results_for(arguments);
  for (Buffer& b : results) out.push_back(b.mutable_data());
  run_at(in.data(), out.data());
  return results;
}

inline void Executable::run_timed(void* const* arguments, void* const* results, LaunchTimes&) {
  run_at(arguments, results);
}
inline const std::vector<Launch>& Executable::launches() const {
  static const std::vector<Launch> none;
  return none;
}

struct CompileOptions {
  /// Arguments whose memory may be reused for results, by position.
  std::vector<bool> donated;
  /// The program's name in messages and profiles.
  std::string name = "main";
  /// Whether the client keeps it for the next call with the same block; else it goes with its last
  /// handle.
  bool keep = true;
  /// Whether `run_timed` can tell times: two readings of the clock for each launch of each run.
  bool timed = false;
  /// Whether its code is to serve programs of other sizes, too: these are then made without
  /// compiling, and all run somewhat slower.
  bool any_size = false;
  /// The processor to make code for, one that this machine can run: "x86-64-v3", "znver4", or
  /// "native,-avx512bf16" with features added and taken away. Empty: the process's, which is
  /// this machine's own unless `STRATA_CPU` names another. Clients of other devices ignore it.
  std::string target;
};

/// A device's compiler and memory.
class Client {
 public:
  virtual ~Client() = default;
  virtual std::string platform() const = 0;
  /// Compiles an isolated block (a function's body). Cached by the structure of the block.
  virtual std::shared_ptr<Executable> compile(const ir::Block& block,
                                              const CompileOptions& options = {}) = 0;
};

/// The process's client; the first call asks the factory that the compile room registers for the
/// CPU, or takes the reference evaluator when the environment says `STRATA_BACKEND=reference`.
Client& default_client();
/// Called by the compile room's `register_cpu()`.
void set_client_factory(std::unique_ptr<Client> (*factory)());

}  // namespace strata::runtime
