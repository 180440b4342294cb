// A program that is compiled once it turns out to run often.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "strata/runtime/client.h"

namespace strata::compile {

/// `first` until it has run for so long, all runs together; then `make` is called, once, by the run
/// that comes next, and what it returns runs from there on. Both are to give the same bits and to
/// take and make the same types. With the time that `make` takes as the limit, no more than twice
/// the best is lost, however often the program runs.
std::shared_ptr<runtime::Executable> warming(
    std::shared_ptr<runtime::Executable> first, std::chrono::nanoseconds limit,
    std::function<std::shared_ptr<runtime::Executable>()> make);

}  // namespace strata::compile
