#include "strata/image/image.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <tuple>

#include "strata/base/file.h"
#include "strata/base/testing/memory_limit.h"
#include "strata/data/format/elements.h"
#include "strata/data/pipeline/pipeline.h"
#include "strata/image/image_folder.h"
#include "strata/image/image_steps.h"
#include "strata/image/resize.h"
#include "strata/type/npy.h"

namespace strata::image {
namespace {

const std::string kData = (std::filesystem::path(__FILE__).parent_path() / "testdata/").string();

const NamedLiterals& expected() {
  static const NamedLiterals all =
      decode_npz(read_file(kData + "expected.npz").value(), "expected.npz").value();
  return all;
}

const Literal* golden(const std::string& name) {
  for (const auto& [key, value] : expected())
    if (key == name) return &value;
  return nullptr;
}

/// The same pixels: Pillow's grey pictures have rank 2.
bool same(const Literal& a, const Literal& b) {
  return a.dtype() == b.dtype() && a.bytes() == b.bytes() && a.shape()[0] == b.shape()[0] &&
         a.shape()[1] == b.shape()[1] && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

std::vector<std::string> pictures() {
  std::vector<std::string> out;
  for (const std::string& name : list_folder(kData).value())
    if (!name.ends_with(".npz")) out.push_back(name);
  return out;
}

Literal decoded(const std::string& name) {
  return decode_image(read_file(kData + name).value(), name).value();
}

TEST(Image, pixels_are_pillows) {
  ASSERT_EQ(pictures().size(), 11u);
  for (const std::string& name : pictures())
    EXPECT_TRUE(same(decoded(name), *golden(name))) << name;
}

TEST(Image, sizes_are_changed_as_pillow_does) {
  int checked = 0;
  for (const auto& [key, value] : expected()) {
    const std::size_t at = key.find(".png_");
    if (at == std::string::npos) continue;
    const std::string name = key.substr(0, at + 4);
    const std::string rest = key.substr(at + 5);
    const auto filter = image_filter_named(rest.substr(0, rest.find('_'))).value();
    auto mine = resize_image(decoded(name), value.shape()[0], value.shape()[1], filter).value();
    EXPECT_TRUE(same(mine, value)) << key;
    ++checked;
  }
  EXPECT_EQ(checked, 48);
  EXPECT_EQ(resize_image(decoded("rgb.png"), 0, 3, ImageFilter::nearest).status().code(),
            Code::invalid);
  EXPECT_EQ(
      resize_image(decoded("rgb.png"), 1 << 20, 1 << 20, ImageFilter::nearest).status().code(),
      Code::invalid);
}

TEST(Image, what_is_written_is_read_again) {
  for (const std::string& name : pictures()) {
    const Literal image = decoded(name);
    EXPECT_TRUE(same(decode_image(encode_png(image).value(), name).value(), image)) << name;
  }
  // JPEG's bytes are Pillow's, which asks the same library for the same.
  const std::string jpeg = encode_jpeg(decoded("rgb.png")).value();
  const Literal& theirs = *golden("encoded");
  EXPECT_TRUE(
      same(decode_image(jpeg, "mine").value(),
           decode_image({reinterpret_cast<const char*>(theirs.data()), theirs.bytes()}, "theirs")
               .value()));
  EXPECT_EQ(encode_jpeg(decoded("rgba.png")).status().code(), Code::invalid);
  EXPECT_EQ(encode_png(Literal::of<float>({1, 1}, {0})).status().code(), Code::invalid);
}

TEST(Image, every_truncation_is_found) {
  for (const std::string& name : pictures()) {
    const std::string bytes = read_file(kData + name).value();
    for (std::size_t n = 8; n + 2 < bytes.size(); n += 3) {
      auto image = decode_image(std::string_view(bytes).substr(0, n), name);
      EXPECT_EQ(image.status().code(), Code::corrupt) << name << " " << n;
    }
  }
}

TEST(Image, every_flipped_bit_of_png_is_found_and_none_of_jpeg_crashes) {
  for (const std::string& name : pictures())
    for (std::string bytes = read_file(kData + name).value();;) {
      for (std::size_t at = 8; at < bytes.size(); at += name.ends_with("png") ? 1 : 5) {
        bytes[at] = static_cast<char>(bytes[at] ^ 4);
        auto image = decode_image(bytes, name, {.pixels = 1 << 20});
        if (name.ends_with("png")) {
          EXPECT_FALSE(image.ok()) << name << " " << at;
        }
        bytes[at] = static_cast<char>(bytes[at] ^ 4);
      }
      break;
    }
}

TEST(Image, limits_are_kept) {
  const std::string bytes = read_file(kData + "rgb.jpg").value();
  EXPECT_EQ(decode_image(bytes, "x", {.pixels = 100}).status().code(), Code::invalid);
  EXPECT_EQ(
      decode_image(read_file(kData + "rgb.png").value(), "x", {.pixels = 100}).status().code(),
      Code::invalid);
  EXPECT_EQ(decode_image("GIF89a", "x").status().code(), Code::unsupported);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/// A file that says it is 16000 by 16000 pixels is refused before they have a place.
TEST(Image, no_reader_takes_what_a_header_claims) {
  for (const auto& [name, height, width] : {std::tuple{"rgb.png", 20u, 16u}, {"rgb.jpg", 0u, 0u}}) {
    std::string bytes = read_file(kData + name).value();
    if (height > 0) {
      for (const std::size_t at : {height, width})
        bytes.replace(at, 4, std::string("\0\0\x3e\x80", 4));
      const auto crc = static_cast<std::uint32_t>(
          ::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()) + 12, 17));
      for (int i = 0; i < 4; ++i) bytes[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
    } else {
      const std::size_t frame = bytes.find(std::string("\xff\xc0", 2));
      ASSERT_NE(frame, bytes.npos);
      bytes.replace(frame + 5, 4, "\x3e\x80\x3e\x80");
    }
    const std::string said =
        within(48, [&] { return decode_image(bytes, "hostile").status().message(); });
    EXPECT_NE(said.find("16000 by 16000 pixels in"), said.npos) << name << ": " << said;
    // In a folder, where it is one of many.
    const std::string folder = ::testing::TempDir() + "hostile_pictures";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder + "/a");
    ASSERT_TRUE(write_file_atomic(folder + "/a/" + name, bytes).ok());
    EXPECT_EQ(within(48,
                     [&] {
                       return ImageFolder::open(folder, {.damage = data::DamagePolicy::skip})
                                      .value()
                                      ->read(0)
                                      .value()
                                      .is_none()
                                  ? "skipped"
                                  : "read";
                     }),
              "skipped");
  }
}
#endif

TEST(Image, folders_are_records_with_labels) {
  const std::string folder = ::testing::TempDir() + "pictures";
  std::filesystem::remove_all(folder);
  for (const auto& [from, to] : {std::pair{"rgb.png", "dog/b.png"},
                                 {"rgb.jpg", "cat/z.JPG"},
                                 {"grey.png", "cat/deep/a.png"}}) {
    std::filesystem::create_directories(std::filesystem::path(folder + "/" + to).parent_path());
    std::filesystem::copy(kData + from, folder + "/" + to);
  }
  auto pictures = ImageFolder::open(folder).value();
  EXPECT_EQ(pictures->classes(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(pictures->size(), 3);
  EXPECT_EQ(pictures->read(0).value().at("path").view(), "cat/z.JPG");
  EXPECT_EQ(pictures->read(1).value().at("path").view(), "cat/deep/a.png");
  EXPECT_EQ(pictures->read(2).value().at("label").integer(), 1);
  EXPECT_TRUE(same(pictures->read(2).value().at("image").array(), decoded("rgb.png")));
  EXPECT_EQ(ImageFolder::open(kData).status().code(), Code::invalid);
  EXPECT_EQ(ImageFolder::open(folder + "/no").status().code(), Code::not_found);
  ASSERT_TRUE(write_file_atomic(folder + "/dog/b.png", "\x89PNG\r\n\x1a\nxx").ok());
  EXPECT_EQ(pictures->read(2).status().code(), Code::corrupt);
  auto skips = ImageFolder::open(folder, {.damage = data::DamagePolicy::skip}).value();
  EXPECT_TRUE(skips->read(2).value().is_none());
  EXPECT_EQ(skips->skipped(), 1);
}

TEST(Image, steps_run_in_pipelines_of_web_datasets_and_tf_records) {
  using data::Element;
  for (const char* name : {"pictures.tar", "pictures.tfrecord"}) {
    const std::string path = ::testing::TempDir() + name;
    auto writer = data::create_elements(path).value();
    for (const char* picture : {"rgb.jpg", "grey.jpg"})
      ASSERT_TRUE(
          writer
              ->add(Element::dict({{"__key__", Element(std::string(picture).substr(0, 3))},
                                   {"jpg", Element::bytes(read_file(kData + picture).value())}}))
              .ok());
    ASSERT_TRUE(writer->close().ok());
    auto scanner = data::open_elements(path).value();
    const auto decode = image_step("decode_image", {.member = "jpg"}).value();
    const auto small =
        image_step("resize_image", {.member = "jpg", .height = 8, .width = 9}).value();
    Element e;
    ASSERT_TRUE(scanner->next(e).value());
    EXPECT_TRUE(same(small(decode(e)).at("jpg").array(),
                     resize_image(decoded("rgb.jpg"), 8, 9, ImageFilter::bilinear).value()));
    EXPECT_THROW(decode(Element::dict({{"jpg", Element::bytes("no picture")}})), Error);
  }
  EXPECT_EQ(image_steps().size(), 4u);
  EXPECT_EQ(image_step("sharpen", {}).status().code(), Code::invalid);
  EXPECT_TRUE(image_step("decode_image", {}).value()(Element()).is_none());
}

}  // namespace
}  // namespace strata::image
