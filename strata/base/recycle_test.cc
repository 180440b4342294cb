#include "strata/base/recycle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace strata {
namespace {

TEST(Recycle, ABlockComesBackForItsSize) {
  void* first = take_recycled(100);
  give_recycled(first, 100);
  EXPECT_EQ(take_recycled(128), first);  // of the same 64s
  void* other = take_recycled(100);
  EXPECT_NE(other, first);
  give_recycled(other, 100);
  EXPECT_NE(take_recycled(200), other);
}

TEST(Recycle, LargeBlocksComeInPowersOfTwo) {
  void* first = take_recycled(1025);
  give_recycled(first, 1025);
  EXPECT_EQ(take_recycled(2048), first);
  give_recycled(first, 2048);
  void* larger = take_recycled(2049);
  EXPECT_NE(larger, first);
  give_recycled(larger, 2049);
  EXPECT_EQ(take_recycled(4096), larger);
  void* largest = take_recycled(kRecycledBytes);
  give_recycled(largest, kRecycledBytes);
  EXPECT_EQ(take_recycled(kRecycledBytes / 2 + 1), largest);
}

TEST(Recycle, BlocksAreApartAndAligned) {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t bytes = 0; bytes < 3 * kRecycledBytes; bytes += 37 + bytes / 8) {
      auto* p = static_cast<unsigned char*>(take_recycled(bytes));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
      std::memset(p, static_cast<int>(blocks.size()), bytes);
      blocks.push_back({p, bytes});
    }
    for (std::size_t i = 0; i < blocks.size(); ++i)
      for (std::size_t k = 0; k < blocks[i].second; ++k)
        ASSERT_EQ(blocks[i].first[k], static_cast<unsigned char>(i));
    for (auto [p, bytes] : blocks) give_recycled(p, bytes);
    blocks.clear();
  }
}

TEST(Recycle, WhatOneThreadTookAnotherMayGive) {
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(take_recycled(64));
  std::thread([&] {
    for (void* p : blocks) give_recycled(p, 64);
    thread_local std::shared_ptr<int> last =
        std::allocate_shared<int>(Recycled<int>(), 7);  // goes while the thread ends
    EXPECT_EQ(*last, 7);
  }).join();
  std::vector<int, Recycled<int>> v(1000, 3);
  EXPECT_EQ(v[999], 3);
}

}  // namespace
}  // namespace strata
