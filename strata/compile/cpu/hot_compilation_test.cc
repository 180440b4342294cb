#include "strata/compile/cpu/hot_compilation.h"

#include <gtest/gtest.h>

#include <thread>

namespace strata::compile {
namespace {

class Counting : public runtime::Executable {
 public:
  std::atomic<int> runs = 0;
  const std::vector<Type>& argument_types() const override { return none_; }
  const std::vector<Type>& result_types() const override { return none_; }
  std::vector<runtime::Buffer> results_for(std::vector<runtime::Buffer>&) override { return {}; }
  void run_at(void* const*, void* const*) override {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  std::vector<Type> none_;
};

TEST(Warming, ProgramsThatRunLongEnoughAreMadeOnce) {
  auto first = std::make_shared<Counting>(), often = std::make_shared<Counting>();
  std::atomic<int> made = 0;
  auto program = warming(first, std::chrono::milliseconds(5), [&] {
    ++made;
    return often;
  });
  program->run({});
  EXPECT_EQ(made, 0);
  EXPECT_EQ(first->runs, 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) program->run({});
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(made, 1);
  EXPECT_GE(first->runs, 1);
  EXPECT_LE(first->runs, 7);  // of a millisecond and more each; one more on each thread
  EXPECT_EQ(first->runs + often->runs, 41);
}

TEST(Warming, ProgramsThatDoNotAreNotMade) {
  auto first = std::make_shared<Counting>();
  auto program =
      warming(first, std::chrono::hours(1), []() -> std::shared_ptr<runtime::Executable> {
        ADD_FAILURE() << "made";
        return nullptr;
      });
  for (int i = 0; i < 3; ++i) program->run({});
  EXPECT_EQ(first->runs, 3);
}

}  // namespace
}  // namespace strata::compile
