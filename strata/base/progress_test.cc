#include "strata/base/progress.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

namespace strata {
namespace {

std::string read_all(int descriptor) {
  ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  std::string out(4096, '\0');
  const ssize_t n = ::read(descriptor, out.data(), out.size());
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

TEST(Progress, APipeGetsLinesOnly) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    Progress progress(ends[1]);
    EXPECT_FALSE(progress.live());
    progress.show("step 1");
    progress.line("saved");
  }
  EXPECT_EQ(read_all(ends[0]), "saved\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Progress, ATerminalGetsALineThatRenewsItself) {
  int ours = -1, theirs = -1;
  const winsize size{24, 12, 0, 0};
  ASSERT_EQ(::openpty(&ours, &theirs, nullptr, nullptr, &size), 0);
  {
    Progress progress(theirs);
    EXPECT_TRUE(progress.live());
    progress.show("step 1 of a long way");
    EXPECT_EQ(read_all(ours), "\r\x1b[Kstep 1 of a") << "cut to the width";
    progress.show("step 2");
    EXPECT_EQ(read_all(ours), "") << "at most ten times a second";
    progress.line("saved");
    EXPECT_EQ(read_all(ours), "\r\x1b[Ksaved\r\nstep 2");
    progress.clear();
    EXPECT_EQ(read_all(ours), "\r\x1b[K");
  }
  EXPECT_EQ(read_all(ours), "");
  ::close(ours);
  ::close(theirs);
}

}  // namespace
}  // namespace strata
