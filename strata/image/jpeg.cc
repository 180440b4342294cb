// JPEG by libjpeg-turbo. Its errors return by longjmp, so nothing it crosses has a destructor.
#include <cstddef>
#include <cstdio>
// jpeglib.h needs both before it.
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

#include "strata/image/image.h"

namespace strata::image {
namespace {

struct Errors {
  jpeg_error_mgr manager;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = {};
  bool damaged = false;
};

void on_error(j_common_ptr jpeg) {
  auto* errors = reinterpret_cast<Errors*>(jpeg->err);
  if (errors->message[0] == 0) jpeg->err->format_message(jpeg, errors->message);
  std::longjmp(errors->back, 1);
}

/// Warnings are damage: data that end early, codes that are none.
void on_message(j_common_ptr jpeg, int level) {
  auto* errors = reinterpret_cast<Errors*>(jpeg->err);
  if (level >= 0 || errors->damaged) return;
  errors->damaged = true;
  jpeg->err->format_message(jpeg, errors->message);
}

void set_errors(j_common_ptr jpeg, Errors* errors) {
  jpeg->err = jpeg_std_error(&errors->manager);
  errors->manager.error_exit = on_error;
  errors->manager.emit_message = on_message;
}

bool read_header(jpeg_decompress_struct* jpeg, Errors* errors, const unsigned char* bytes,
                 unsigned long count) {
  if (setjmp(errors->back)) return false;
  jpeg_create_decompress(jpeg);
  jpeg_mem_src(jpeg, bytes, count);
  jpeg_read_header(jpeg, TRUE);
  return true;
}

bool read_rows(jpeg_decompress_struct* jpeg, Errors* errors, unsigned char* pixels,
               std::size_t stride) {
  if (setjmp(errors->back)) return false;
  jpeg_start_decompress(jpeg);
  while (jpeg->output_scanline < jpeg->output_height && !errors->damaged) {
    JSAMPROW row = pixels + jpeg->output_scanline * stride;
    jpeg_read_scanlines(jpeg, &row, 1);
  }
  if (!errors->damaged) jpeg_finish_decompress(jpeg);
  return !errors->damaged;
}

bool write(jpeg_compress_struct* jpeg, Errors* errors, const ImageSize& size, int quality,
           const std::byte* pixels, unsigned char** out, unsigned long* count) {
  if (setjmp(errors->back)) return false;
  jpeg_create_compress(jpeg);
  jpeg_mem_dest(jpeg, out, count);
  jpeg->image_width = static_cast<JDIMENSION>(size.width);
  jpeg->image_height = static_cast<JDIMENSION>(size.height);
  jpeg->input_components = static_cast<int>(size.channels);
  jpeg->in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(jpeg);
  jpeg_set_quality(jpeg, quality, TRUE);
  jpeg_start_compress(jpeg, TRUE);
  const std::size_t stride = static_cast<std::size_t>(size.width * size.channels);
  while (jpeg->next_scanline < jpeg->image_height) {
    // libjpeg asks for a pointer that it could write to, and does not.
    auto* row =
        reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(pixels)) + jpeg->next_scanline * stride;
    jpeg_write_scanlines(jpeg, &row, 1);
  }
  jpeg_finish_compress(jpeg);
  return true;
}

}  // namespace

Result<Literal> decode_jpeg(std::string_view bytes, const std::string& where,
                            const ImageLimits& limits) {
  jpeg_decompress_struct jpeg = {};
  Errors errors;
  set_errors(reinterpret_cast<j_common_ptr>(&jpeg), &errors);
  struct Guard {
    jpeg_decompress_struct* jpeg;
    ~Guard() { jpeg_destroy_decompress(jpeg); }
  } guard{&jpeg};
  const auto corrupt = [&] { return Status(Code::corrupt, "{}: {}", where, errors.message); };
  if (!read_header(&jpeg, &errors, reinterpret_cast<const unsigned char*>(bytes.data()),
                   bytes.size()) ||
      errors.damaged)
    return corrupt();
  const std::int64_t height = jpeg.image_height, width = jpeg.image_width;
  if (height * width > limits.pixels)
    return Status(Code::invalid, "{}: {} by {} pixels, at most {} are read", where, height, width,
                  limits.pixels);
  // A block takes a bit at least, by arithmetic codes a part of one.
  std::int64_t blocks = 0;
  for (int i = 0; i < jpeg.num_components; ++i) {
    const jpeg_component_info& c = jpeg.comp_info[i];
    blocks += std::int64_t{c.width_in_blocks} * c.height_in_blocks;
  }
  const std::int64_t most = std::ssize(bytes) * (jpeg.arith_code ? 8 * 64 : 8);
  if (blocks > most)
    return Status(Code::corrupt, "{}: {} by {} pixels in {} bytes", where, height, width,
                  bytes.size());
  const bool grey = jpeg.jpeg_color_space == JCS_GRAYSCALE;
  if (!grey && jpeg.jpeg_color_space != JCS_YCbCr && jpeg.jpeg_color_space != JCS_RGB)
    return Status(Code::unsupported, "{}: JPEG of {} components that are no RGB", where,
                  jpeg.num_components);
  jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
  // Progressive scans may be as many as one likes; each costs a pass.
  const std::int64_t channels = grey ? 1 : 3;
  Literal out(Type(DType::ui8, {height, width, channels}));
  auto* pixels = reinterpret_cast<unsigned char*>(out.mutable_data());
  if (!read_rows(&jpeg, &errors, pixels, static_cast<std::size_t>(width * channels)))
    return corrupt();
  return out;
}

Result<std::string> encode_jpeg(const Literal& image, int quality) {
  auto size = size_of_image(image);
  if (!size) return size.status();
  if (image.dtype() != DType::ui8 || (size->channels != 1 && size->channels != 3) ||
      size->height > JPEG_MAX_DIMENSION || size->width > JPEG_MAX_DIMENSION)
    return Status(Code::invalid, "JPEG holds ui8 with 1 or 3 channels, {} a side at most, not {}",
                  JPEG_MAX_DIMENSION, image.type().to_string());
  if (quality < 1 || quality > 100)
    return Status(Code::invalid, "JPEG's quality is 1 to 100, not {}", quality);
  jpeg_compress_struct jpeg = {};
  Errors errors;
  set_errors(reinterpret_cast<j_common_ptr>(&jpeg), &errors);
  unsigned char* bytes = nullptr;
  unsigned long count = 0;
  const bool good = write(&jpeg, &errors, *size, quality, image.data(), &bytes, &count);
  jpeg_destroy_compress(&jpeg);
  std::string out;
  if (good) out.assign(reinterpret_cast<const char*>(bytes), count);
  std::free(bytes);
  if (!good) return Status(Code::invalid, "JPEG: {}", errors.message);
  return out;
}

}  // namespace strata::image
