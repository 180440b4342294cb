// How long a step takes of chips that are not here: a roofline of arithmetic, memory and links.
//
//   auto chip = train::chip_named("tpu:v5e:16x16");             // its speeds, as published
//   train::StepTime t = train::step_time(*chip, {.flops = 5e13, .memory = 2e10, .links = 3e10});
//   t.apart(), t.overlapped(), t.bound()                        // "arithmetic"
//
// Nothing is measured: chips reach less than their peaks, so a real step takes more than
// `overlapped`, and where it waits for each thing by itself near `apart`. Source: Austin et al.,
// How to Scale Your Model (2025), chapters 1 and 2 (rooflines; table of TPUs); Google Cloud's TPU
// pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "strata/train/report/mesh_report.h"

namespace strata::train {

/// Speeds of a chip, a second.
struct ChipSpeed {
  std::string_view kind;  // "v5e"
  double flops = 0;       // of bfloat16
  double memory = 0;      // bytes
  double link = 0;        // bytes along one dimension of the torus, both ways together
  int dimensions = 2;     // of the torus
};

/// The chip of a target: "tpu:v5e:16x16", "v5e-256", "v5p-512". None where it is not known: others
/// than v4, v5e, v5p and v6e.
std::optional<ChipSpeed> chip_named(std::string_view target);

/// What a step takes of each chip.
struct StepWork {
  double flops = 0;
  double memory = 0;  // bytes read and written
  double links = 0;   // bytes received
  /// Dimensions of the torus that a collective goes along; at most the chip's.
  int dimensions = 1;
};

/// Seconds that each takes alone.
struct StepTime {
  double arithmetic = 0, memory = 0, links = 0;
  /// All beside one another, and one after the other.
  double overlapped() const { return std::max({arithmetic, memory, links}); }
  double apart() const { return arithmetic + memory + links; }
  /// "arithmetic", "memory" or "links": what `overlapped` is of.
  std::string_view bound() const;
  std::string to_string() const;
};
StepTime step_time(const ChipSpeed& chip, const StepWork& work);

/// The work of a step: the model's `flops` of a chip, those of the forward pass once more where
/// `remat_policy` keeps nothing; its state read and written, and what collectives bring written and
/// read; `moved` as a chip receives it. Along all dimensions of the torus where the mesh has one
/// axis, along one where it has several.
StepWork step_work(const Config& config, double flops, const MeshReport& mesh,
                   const std::map<std::string, MovedBytes>& moved);
/// Bytes that a chip of `devices` receives for collectives over all of them whose arrays have
/// `bytes` together; `kind` as "all_reduce".
double received(std::string_view kind, double bytes, std::int64_t devices);

}  // namespace strata::train
