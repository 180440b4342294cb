// Ctrl-C as a wish: the step under way is finished and saved first.
#pragma once

namespace strata::train {

/// While one lives, the first SIGINT or SIGTERM is noted. Where a checkpoint is to be `saved`,
/// which is a promise, a second one only says on stderr that it is still to come, and a third one
/// ends the process as usual; else a second one does. One at a time.
class Interrupt {
 public:
  explicit Interrupt(bool saved);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  bool asked() const;
};

}  // namespace strata::train
