// Data sets of Hugging Face in a folder: as `Dataset.save_to_disk` writes them, or as they are on
// the hub.
//
//   FOLDER/state.json, dataset_info.json, data-00000-of-00002.arrow    // of one split
//   FOLDER/dataset_dict.json, train/..., test/...                      // of several
//   FOLDER/data/train-00000-of-00002.parquet, ...                      // the hub
//
// Source: huggingface/datasets, src/datasets/{arrow_dataset,dataset_dict,data_files}.py. Of the hub
// the files are told by their names alone: `configs` of README.md is not read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "strata/base/result.h"

namespace strata::data {

/// The files of each split, in the order of rows. Code::not_found where a folder is no data set.
Result<std::vector<std::pair<std::string, std::vector<std::string>>>> hugging_face_splits(
    const std::string& folder);

/// The files of one split; `split` may be empty where there is one alone.
Result<std::vector<std::string>> hugging_face_files(const std::string& folder,
                                                    const std::string& split);

}  // namespace strata::data
