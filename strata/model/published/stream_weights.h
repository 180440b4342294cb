// Published tensors of a model's weights one by one, so that memory holds one of them.
//
//   for (const published::PublishedTensor& t : published::published_layout(options, names))
//     auto numbers = published::published_tensor(options, names, t, [&](path, piece) { ... });
//
// The numbers are those of published_tensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "strata/base/result.h"
#include "strata/model/published/names.h"

namespace strata::model::published {

/// A tensor of a Hugging Face directory, and the pieces of weights that it is made of: layers, or
/// experts of layers, counted in the order in which they follow each other in the weight.
struct PublishedTensor {
  struct Part {
    std::string path;
    std::int64_t piece = 0;
    /// Which of the tensors that hold the piece this is.
    std::size_t tensor = 0;
  };
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<Part> parts = {};
};
/// All of a model's, weight by weight.
std::vector<PublishedTensor> published_layout(const decoder::Options& options, const Names& names);

/// The elements of one, f32, made of what `read(path, piece)` gives: the piece's elements as they
/// have in our weight. Fails as `read` does; Code::invalid for pieces of another size.
Result<std::vector<float>> published_tensor(
    const decoder::Options& options, const Names& names, const PublishedTensor& tensor,
    const std::function<Result<std::vector<float>>(const std::string& path, std::int64_t piece)>&
        read);

}  // namespace strata::model::published
