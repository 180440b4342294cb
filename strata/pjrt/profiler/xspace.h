// What a profile is written as: planes of lines of events, which TensorBoard and
// jax.profiler.ProfileData read.
//
// Source: openxla/xla, third_party/tsl/tsl/profiler/protobuf/xplane.proto (Apache-2.0), as far as
// it is needed here.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace strata::pjrt {

/// What events of one kind share: a name, and what is known of each of them.
struct EventKind {
  std::string name;
  std::vector<std::pair<std::string, std::string>> stats = {};
};

struct Event {
  std::size_t kind = 0;  // an index of Plane::kinds
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// Events of a line do not overlap, though one may be within another.
struct Line {
  std::string name;
  std::vector<Event> events;
};

struct Plane {
  std::string name;
  std::vector<EventKind> kinds;
  std::vector<Line> lines;
};

/// A tensorflow.profiler.XSpace. Times of events count from a moment that was `began_ns` after 1970
/// began.
std::string xspace(const std::vector<Plane>& planes, const std::vector<std::string>& warnings,
                   std::int64_t began_ns);

}  // namespace strata::pjrt
