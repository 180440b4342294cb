// Opens tokenizers of every kind (tokenizer.h) that stand in files of their own.
#include <utility>

#include "strata/base/file.h"
#include "strata/tokenizer/huggingface.h"
#include "strata/tokenizer/sentencepiece.h"
#include "strata/tokenizer/tokenizer.h"

namespace strata::tokenizer {

Result<std::shared_ptr<const Tokenizer>> load_tokenizer(const std::string& type,
                                                        const std::string& path) {
  if (type == "byte") {
    if (!path.empty())
      return Status(Code::invalid, "tokenizer_path={}: tokenizer_type=byte needs no file", path);
    return std::shared_ptr<const Tokenizer>(std::make_shared<ByteTokenizer>());
  }
  if (type == "huggingface") {
    if (path.empty())
      return Status(Code::invalid,
                    "tokenizer_path is not set: tokenizer_type=huggingface needs a tokenizer.json");
    return load_huggingface(path);
  }
  if (type != "sentencepiece")
    return Status(Code::invalid, "tokenizer_type={}: allowed is byte, sentencepiece or huggingface",
                  type);
  if (path.empty())
    return Status(Code::invalid,
                  "tokenizer_path is not set: tokenizer_type=sentencepiece needs a .model file");
  auto model = read_file(path);
  if (!model) return model.status();
  return make_sentencepiece(std::move(*model), path);
}

}  // namespace strata::tokenizer
