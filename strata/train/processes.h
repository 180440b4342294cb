// What the processes of one run do alike, and what the first of them does for all.
//
//   if (processes::is_first()) write_files();
//   if (processes::any(interrupt.asked())) stop();             // all of them stop at one step
//   checkpoint::Checkpoint c = to_checkpoint(processes::gathered(state), ...);
//
// A run in several processes (api/sharding/distributed.h) computes the same program in each.
// Process 0 alone writes: its folder's lock, config.yml, metrics and checkpoints. All read the
// checkpoint that a run goes on from, so that the folder is where each of them sees it. In a
// process by itself nothing here costs anything.
#pragma once

#include <optional>
#include <string>

#include "strata/base/result.h"
#include "strata/train/step/step.h"

namespace strata::train::processes {

/// Whether this process writes what a run leaves behind.
bool is_first();
/// Whether some process says so. All of them call it as often, and hear the same.
bool any(bool here);
/// The text of process 0, in each. All of them call it as often.
std::string of_first(const std::string& text);
/// A state over a mesh with every array in this process's memory, leaf by leaf; only process 0
/// keeps them, the others' leaves stay as they are. All of them call it.
State gathered(State state);
/// The same, kept in every process: each can write or give all of it.
State everywhere(State state);
/// The array in this process's memory. All of them call it.
Array gathered(const Array& x);

}  // namespace strata::train::processes
