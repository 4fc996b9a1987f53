// The source behind read.cifar10 and read.cifar100: fixed-size records in binary files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::stages {

/// How the two data sets differ.
struct CifarFormat {
  std::string set;                       ///< "CIFAR-10"
  std::string generated_kind;            ///< "cifar-10-like"
  std::string subfolder;                 ///< the folder that its archive unpacks to
  std::vector<std::string> train_files;  ///< in order
  std::string test_file;
  std::size_t label_bytes = 1;  ///< before the pixels; the last one is the label
  unsigned classes = 10;
  void (*generate)(const std::string& folder, std::uint64_t samples,
                   const std::stop_token& stop) = nullptr;
};

/// The stage type `read.<name>` for this format.
StageType cifar_type(const std::string& name, const CifarFormat& format);

}  // namespace cachebisect::stages
