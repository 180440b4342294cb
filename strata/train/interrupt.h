// Ctrl-C as a wish: the step under way is finished and saved first.
#pragma once

namespace strata::train {

/// While one lives, the first SIGINT or SIGTERM is noted and a second one ends the process as
/// usual. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  bool asked() const;
};

}  // namespace strata::train
