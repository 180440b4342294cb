// Where programs run: devices, buffers, executables and the client that compiles. The embedded CPU
// (compile/), several of them in one process (cpu_devices.h) and any PJRT plugin (plugin/) stand
// behind this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "strata/ir/graph.h"
#include "strata/type/literal.h"

namespace strata::runtime {

class Client;
class Device;

/// A tensor of a device that was asked for: one of several CPUs, a plugin's. It may not be there
/// yet; what failed on the way is thrown where somebody waits or looks, and names the program.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  /// The device that holds it.
  virtual Device& device() const = 0;
  /// In which of the device's memories: "device", "pinned_host".
  virtual std::string memory_kind() const { return "device"; }
  /// Returns when it is there. Throws Error for what failed.
  virtual void wait() = 0;
  /// Its elements in this process's memory, fetched once. Throws as `wait`.
  virtual const Literal& host() = 0;
};

/// A tensor on a device. A cheap handle; copies share the memory, which nobody changes while more
/// than one handle (or a view from outside) holds it. Where no device was asked for, the bytes are
/// a Literal's in this process; else the device's, and `literal` and `data` wait and fetch.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(Literal literal) : literal_(std::move(literal)) {}
  Buffer(const Type& type, std::shared_ptr<DeviceBuffer> there)
      : literal_(type, nullptr), there_(std::move(there)) {}
  const Type& type() const { return literal_.type(); }
  const Literal& literal() const { return there_ ? there_->host() : literal_; }
  const std::byte* data() const { return literal().data(); }
  /// For whoever owns the only handle: a fresh result, a donated argument. Not of a device's.
  std::byte* mutable_data() { return literal_.mutable_data(); }
  /// Whether this handle is the only one.
  bool unique() const { return there_ ? there_.use_count() == 1 : literal_.is_unique(); }
  /// What it is on a device that was asked for; null where its bytes are a Literal's.
  const std::shared_ptr<DeviceBuffer>& there() const { return there_; }
  /// The device that was asked for by name for this tensor, or for one that it was computed from;
  /// null for tensors that go where they are needed.
  Device* committed() const { return committed_ ? &there_->device() : nullptr; }
  /// The same tensor bound to its device, or not. Without one it is never bound.
  Buffer bound(bool to_device = true) && {
    committed_ = to_device && there_ != nullptr;
    return std::move(*this);
  }

 private:
  Literal literal_;  // of a device's: its type alone
  std::shared_ptr<DeviceBuffer> there_;
  bool committed_ = false;
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
  /// compiled. Arguments on other devices are copied here; results are on its device.
  virtual std::vector<Buffer> run(std::vector<Buffer> arguments);
  /// Whether results stay on a device that was asked for, so that `run` is to be called: `run_at`
  /// takes arguments from this process's memory and brings results back.
  virtual bool on_device() const { return false; }
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
  /// The device that holds its results; null for the embedded CPU and the reference evaluator,
  /// whose results are in this process's memory.
  virtual Device* device() { return nullptr; }
  /// Compiles an isolated block (a function's body). Cached by the structure of the block.
  virtual std::shared_ptr<Executable> compile(const ir::Block& block,
                                              const CompileOptions& options = {}) = 0;
};

/// Memory of a device, in bytes; what the device does not tell is absent.
struct MemoryStats {
  std::int64_t in_use = 0;
  std::optional<std::int64_t> peak, limit;
};

/// Where programs run and tensors are held. Devices live as long as the process.
class Device {
 public:
  virtual ~Device() = default;
  /// "cpu", "cuda", or what its plugin calls it.
  virtual std::string platform() const = 0;
  /// Its number among those of its platform, as the platform gives them.
  virtual int id() const = 0;
  /// What kind of device: "cpu", "NVIDIA H100".
  virtual std::string kind() const = 0;
  /// "CpuDevice(id=3)", or as its plugin says.
  virtual std::string to_string() const = 0;
  /// Compiles for this device, which holds the results.
  virtual Client& client() = 0;
  /// The tensor on this device, copied unless it is there. Throws Error when there is no memory.
  virtual std::shared_ptr<DeviceBuffer> put(const Buffer& buffer) = 0;
  /// The kinds of memory that it reaches: first the one of `put` and of results ("device"), then
  /// others ("pinned_host", "unpinned_host").
  virtual std::vector<std::string> memory_kinds() const { return {"device"}; }
  /// As `put`, into memory of a kind. Throws Error for one that is not among `memory_kinds`.
  virtual std::shared_ptr<DeviceBuffer> put_in(const std::string& memory_kind,
                                               const Buffer& buffer) {
    memory_index(memory_kind);
    return put(buffer);
  }
  /// What is known of its memory.
  virtual std::optional<MemoryStats> memory_stats() const { return {}; }

 protected:
  /// The place of a kind in `memory_kinds`. Throws Error, which lists them, for another one.
  std::size_t memory_index(const std::string& memory_kind) const;
};

/// The process's client; the first call asks the factory that the compile room registers for the
/// CPU, or takes the reference evaluator when the environment says `STRATA_BACKEND=reference`.
Client& default_client();
/// Called by the compile room's `register_cpu()`.
void set_client_factory(std::unique_ptr<Client> (*factory)());

}  // namespace strata::runtime
