// Several CPU devices in one process, each with its share of the cores.
//
//   for (Device* d : runtime::cpu_devices(8)) fmt::print("{}\n", d->to_string());
//
// What is put on one stays there, and programs run there: with one device at once, on the caller;
// with several each has a thread on which what was asked for is done in order, and calls return
// before. What fails there is thrown where a result is waited for or looked at, and by what is
// computed of it. Bits do not depend on the device.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "strata/runtime/client.h"

namespace strata::runtime {

/// The CPU devices, made by the first call: `n` of them, or for 0 as many as
/// STRATA_NUM_CPU_DEVICES says, else one. Throws Error for a number outside of 1 to 1024, or
/// another one than there are already.
const std::vector<Device*>& cpu_devices(int n = 0);

namespace internal {
/// Devices that are made from here on work behind their caller's back, though there be one alone:
/// it may wait for those of other processes.
void queue_cpu_devices();
/// They are numbered from `first` on, where there are others before them in other processes.
void number_cpu_devices(int first);
/// Returns when they have done all that was asked for.
void drain_cpu_devices();
/// Runs a program of the embedded CPU on one of the devices, in its turn: arguments are brought to
/// it, results are there when it is done. `around` is called on the device's thread with what waits
/// for the arguments and runs; what it throws is what waiting for a result throws.
std::vector<Buffer> run_on_cpu_device(
    Device& device, const std::shared_ptr<Executable>& program, const std::string& name,
    std::vector<Buffer> arguments,
    std::function<void(const std::function<void()>&)> around = nullptr);
}  // namespace internal

}  // namespace strata::runtime
