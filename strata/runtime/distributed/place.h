// Which of several processes this one is: as given, or as whoever started it says.
//
//   Result<Place> place = find_place({});       // under mpirun, srun, in Kubernetes, strata launch
//   place->coordinator                          // "node001:63213"
//
// What is not given is looked for in the order of JAX's jax.distributed.initialize: first variables
// of our own (`strata launch`) and JAX's, then Open MPI's, Slurm's, Kubernetes'. Addresses and
// ports are chosen as JAX chooses them, so that one start script serves both. Source:
// jax/_src/distributed.py, jax/_src/clusters. Deviation: JAX asks Kubernetes' server for the job;
// here an indexed job says its number of processes by STRATA_NUM_PROCESSES, and its coordinator is
// pod 0 of the same headless service.
#pragma once

#include <string>

#include "strata/base/result.h"

namespace strata::runtime::distributed {

struct Place {
  /// "host:port" of process 0.
  std::string coordinator = {};
  /// How many processes there are, and which one this is; -1 for what is not known.
  int processes = -1, process = -1;
  /// Who says so: "Slurm", "Open MPI", "Kubernetes", "the environment" or "the caller".
  std::string found_by = {};
};

/// What is given, completed. Codes: invalid where something is still unknown (the message says what
/// to set), for a variable that is no number, and for a process that is none of the number.
Result<Place> find_place(Place given);

/// Whether the environment speaks of several processes: it makes a place, or it would if what it
/// says were whole and right (one of the variables of our own, of JAX or of Open MPI is set). Jobs
/// of Slurm and Kubernetes that say no number of processes are single ones.
bool is_place_told();

}  // namespace strata::runtime::distributed
