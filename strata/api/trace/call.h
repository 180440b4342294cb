// Programs as jit calls them: on what a call depends, on which device it runs, how its arguments
// and results pass. Private to this room.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "strata/api/trace/memory.h"
#include "strata/api/trace/trace.h"
#include "strata/base/recycle.h"

namespace strata::internal {

/// Appends a leaf's type and weakness, the device that it is bound to, and no other's bytes begin
/// with those.
void append_type(std::string& key, const Array& leaf);
/// Appends what every program depends on: x64, and the thread's default device.
void append_settings(std::string& key);

/// Which device a call runs on: that of arguments that are bound to one, else the thread's default.
class CallDevice {
 public:
  /// Throws Error naming both devices when `x` is bound to another than one before.
  void add(const Array& x, const std::string& program);
  /// Null: the process's own.
  runtime::Device* device() const;
  /// Whether arguments chose it, so that results are bound to it.
  bool bound() const { return device_ != nullptr; }

 private:
  runtime::Device* device_ = nullptr;
  Type first_;
};
/// A program as it is called: what is known of its arguments and results.
struct Bound {
  Bound(std::shared_ptr<runtime::Executable> executable, std::string name,
        std::shared_ptr<const Program> program, std::vector<bool> donated);
  std::shared_ptr<runtime::Executable> executable;
  std::string name;
  std::shared_ptr<const Program> program;
  std::vector<bool> donated;       // arguments
  std::vector<bool> weak;          // results
  std::vector<std::size_t> bytes;  // of results
  bool donates;                    // some argument's memory may become a result's
  bool on_device;                  // arguments and results are buffers of a device
  bool binds = false;              // results are bound to it
  Maker maker;                     // for messages
};
Bound compile(Program program, const std::string& name, std::vector<bool> donated,
              const CallDevice& where);
/// Throws Error where a number is of no argument.
void check_donated(const std::vector<std::size_t>& donated, std::size_t arguments);

/// One call. Allocates nothing once its thread has called before, but for results without a donor
/// that are not kept (runtime/allocator.h).
class Call {
 public:
  explicit Call(const Bound& bound);
  /// The next argument, which must live until `run`. `check`: throws Error for one of another type
  /// than was compiled.
  void add(const Array& argument, bool check);
  /// The next argument, whose memory a result may take. All arguments are given, or none.
  void give(Array argument);
  void run();
  /// The next result.
  Array take();

 private:
  template <class T>
  using List = std::vector<T, Recycled<T>>;
  /// Memory for result r.
  runtime::Buffer result(std::size_t r);
  const Bound& bound_;
  List<void*> arguments_, addresses_;
  // made: of arguments that have no memory of their own; on a device, of all
  List<runtime::Buffer> results_, made_, given_;
  std::size_t next_ = 0;
};

}  // namespace strata::internal
