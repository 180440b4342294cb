// PNG by libpng. What libpng calls in us returns by longjmp, so nothing there has a destructor.
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstring>
#include <vector>

#include "strata/image/image.h"

namespace strata::image {
namespace {

struct Source {
  const char* at;
  std::size_t left;
};

void read_bytes(png_structp png, png_bytep out, std::size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->left) png_error(png, "the file ends early");
  std::memcpy(out, source->at, count);
  source->at += count;
  source->left -= count;
}

void write_bytes(png_structp png, png_bytep bytes, std::size_t count) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(bytes), count);
}

struct Message {
  char text[200] = {};
};

void on_error(png_structp png, png_const_charp text) {
  std::strncpy(static_cast<Message*>(png_get_error_ptr(png))->text, text, 199);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

struct Header {
  png_uint_32 width = 0, height = 0;
  int channels = 0, depth = 0, passes = 1;
};

/// Reads the header and asks for whole bytes in every channel; false after an error.
bool read_header(png_structp png, png_infop info, Header* out) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_info(png, info);
  png_set_expand(png);  // palettes, 1 to 4 bits, transparency
  if constexpr (std::endian::native == std::endian::little) png_set_swap(png);
  out->passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  out->width = png_get_image_width(png, info);
  out->height = png_get_image_height(png, info);
  out->channels = png_get_channels(png, info);
  out->depth = png_get_bit_depth(png, info);
  return true;
}

bool read_rows(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

bool write_rows(png_structp png, png_infop info, const ImageSize& size, int depth, int level,
                png_bytepp rows) {
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGBA};
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_compression_level(png, level);
  png_set_IHDR(png, info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), depth, kColours[size.channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  if constexpr (std::endian::native == std::endian::little)
    if (depth == 16) png_set_swap(png);
  png_write_image(png, rows);
  png_write_end(png, info);
  return true;
}

std::vector<png_bytep> rows_of(std::byte* pixels, std::int64_t height, std::size_t stride) {
  std::vector<png_bytep> out(static_cast<std::size_t>(height));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = reinterpret_cast<png_bytep>(pixels) + i * stride;
  return out;
}

}  // namespace

Result<Literal> decode_png(std::string_view bytes, const std::string& where,
                           const ImageLimits& limits) {
  Message message;
  Source source{bytes.data(), bytes.size()};
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  STRATA_CHECK(info, "libpng gives no memory");
  struct Guard {
    png_structp png;
    png_infop info;
    ~Guard() { png_destroy_read_struct(&png, &info, nullptr); }
  } guard{png, info};
  png_set_read_fn(png, &source, read_bytes);
  // Chunks of text and profiles are of no use here; a checksum that is wrong in any chunk is one.
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_chunk_malloc_max(png, 1 << 24);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  Header header;
  const auto corrupt = [&] { return Status(Code::corrupt, "{}: {}", where, message.text); };
  if (!read_header(png, info, &header)) return corrupt();
  const std::int64_t pixels = std::int64_t{header.width} * header.height;
  if (pixels > limits.pixels)
    return Status(Code::invalid, "{}: {} by {} pixels, at most {} are read", where, header.height,
                  header.width, limits.pixels);
  // A file of n bytes unpacks into 1032 n at most, filters included.
  if (pixels / 8 > static_cast<std::int64_t>(bytes.size()) * 1032)
    return Status(Code::corrupt, "{}: {} by {} pixels in {} bytes", where, header.height,
                  header.width, bytes.size());
  Literal out(Type(header.depth == 16 ? DType::ui16 : DType::ui8,
                   {header.height, header.width, header.channels}));
  std::vector<png_bytep> rows =
      rows_of(out.mutable_data(), header.height, out.bytes() / header.height);
  if (!read_rows(png, rows.data())) return corrupt();
  return out;
}

Result<std::string> encode_png(const Literal& image, int level) {
  auto size = size_of_image(image);
  if (!size) return size.status();
  if (level < 0 || level > 9) return Status(Code::invalid, "PNG's level is 0 to 9, not {}", level);
  Message message;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  STRATA_CHECK(info, "libpng gives no memory");
  struct Guard {
    png_structp png;
    png_infop info;
    ~Guard() { png_destroy_write_struct(&png, &info); }
  } guard{png, info};
  std::string out;
  png_set_write_fn(png, &out, write_bytes, nullptr);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
  // libpng asks for pointers that it could write to, and does not.
  std::vector<png_bytep> rows = rows_of(const_cast<std::byte*>(image.data()), size->height,
                                        image.bytes() / static_cast<std::size_t>(size->height));
  const int depth = image.dtype() == DType::ui16 ? 16 : 8;
  if (!write_rows(png, info, *size, depth, level, rows.data()))
    return Status(Code::invalid, "PNG: {}", message.text);
  return out;
}

}  // namespace strata::image
