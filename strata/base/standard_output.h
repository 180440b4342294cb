// Standard output of a program, whose loss is noticed: what std::cout could not write (a full disk,
// a closed descriptor, a pipe that nobody reads) is an exit status and a message.
//
//   int main(int argc, char** argv) {
//     StandardOutput output;
//     return output.finish("strata", run(argc, argv), /*lost=*/1);
//   }
#pragma once

#include <memory>
#include <string>

namespace strata {

/// While it lives, std::cout keeps the reason of its first failure and writes nothing behind it.
/// One at a time, made before the program opens files: standard descriptors that are closed are
/// opened to nothing, lest a file get their number and be written by std::cout. A pipe that nobody
/// reads is a failure like others, for SIGPIPE is ignored.
class StandardOutput {
 public:
  StandardOutput();
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  /// Writes what is still held. Where something was lost says so on stderr, and makes `lost` of a
  /// `status` of 0.
  int finish(const std::string& program, int status, int lost);

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
  std::streambuf* before_;
};

}  // namespace strata
