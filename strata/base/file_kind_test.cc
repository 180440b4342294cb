#include "strata/base/file_kind.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

using namespace std::string_view_literals;

TEST(FileKind, BeginningsAreKnown) {
  EXPECT_EQ(file_kind("PK\x03\x04rest", "w.npz"), "a NumPy archive (.npz)");
  EXPECT_EQ(file_kind("PK\x03\x04rest", "w.pt"), "a zip archive");
  EXPECT_EQ(file_kind("\x1f\x8b\x08", "text.txt.gz"), "compressed by gzip");
  EXPECT_EQ(file_kind("#!/bin/sh\necho", "run"), "a script (#!/bin/sh)");
  EXPECT_EQ(file_kind("\x02\0\0\0\0\0\0\0{}"sv, "w"), "a safetensors file");
  EXPECT_EQ(file_kind("", "w.mlir"), "an empty file");
}

TEST(FileKind, EndingsWhereTheBeginningSaysNothing) {
  EXPECT_EQ(file_kind("import jax\n", "train.py"), "a Python program");
  EXPECT_EQ(file_kind("\0\0\0"sv, "w.npz"), "named like a NumPy archive (.npz)");
}

TEST(FileKind, TheUnknownIsShown) {
  EXPECT_EQ(file_kind("\n  In the beginning\nGod", "a.txt"),
            "text that begins with 'In the beginning'");
  EXPECT_EQ(file_kind("<\0\0\0\x38\0\x60\0z"sv, "a"),
            "9 bytes that are no text: 3c 00 00 00 38 00 60 00 ...");
  EXPECT_EQ(known_kind("In the beginning", "a.txt"), "");
}

TEST(FileKind, HowToUnpack) {
  EXPECT_EQ(unpacks("\x1f\x8b\x08"), "gunzip -k");
  EXPECT_EQ(unpacks("text"), "");
}

}  // namespace
}  // namespace strata
