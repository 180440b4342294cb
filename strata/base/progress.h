// One line on a terminal that renews itself; whole lines elsewhere.
//
//   Progress progress(STDERR_FILENO);
//   progress.show("step 12 of 400 | loss 3.21");   // on a terminal: in place, at most ten times a
//   second progress.line("saved checkpoints/400");        // a line of its own, on either
#pragma once

#include <string>
#include <string_view>

namespace strata {

class Progress {
 public:
  /// `descriptor`: where to write, usually STDERR_FILENO.
  explicit Progress(int descriptor);
  /// Leaves the last state standing on a line of its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Whether `show` does anything: the descriptor is a terminal.
  bool live() const { return live_; }
  /// Replaces the state; cut to the terminal's width.
  void show(std::string_view state);
  /// Writes a whole line above the state.
  void line(std::string_view text);
  /// Takes the state away.
  void clear();

 private:
  void write(std::string_view bytes) const;
  int descriptor_;
  bool live_;
  bool shown_ = false;
  std::string state_;
  double last_ = 0;
};

/// Seconds of a clock that only goes forward.
double seconds_now();

}  // namespace strata
