// tf.train.Example: named lists of bytes, f32 or i64, in protobuf; what TFRecord files usually
// hold.
//
//   auto e = decode_example(record, "train.tfrecord: record 3");
//   e->at("label").integer();
//   encode_example(*e);                  // the record again
//
// Source: tensorflow/core/example/example.proto, feature.proto. A feature of one value is read as a
// scalar (bytes that are UTF-8 as text), others as an array of rank 1 or a list of bytes. Features
// are written in the order of their names, so equal elements give equal bytes.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.h"
#include "strata/data/element.h"

namespace strata::data {

/// Code::corrupt for bytes that are no such message.
Result<Element> decode_example(std::string_view record, const std::string& where);
/// Code::invalid for an element that is no dict of scalars, texts, bytes, numeric arrays and lists
/// of those: the format has nothing else. Arrays lose their shape, 64-bit reals become f32.
Result<std::string> encode_example(const Element& element);
/// Whether the bytes are such a message with a feature at least.
bool is_example(std::string_view record);

}  // namespace strata::data
