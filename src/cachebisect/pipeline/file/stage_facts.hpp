// The facts about a stage type as text, for every form of its documentation. Internal to
// pipeline/file.
#pragma once

#include <string>
#include <vector>

#include "cachebisect/pipeline/registry.hpp"

namespace cachebisect::spec {

struct ParamFacts {
  std::string name;
  std::string accepted;       ///< "an integer from 1 to 16"
  std::string default_value;  ///< as JSON, "required" or "none"
  std::string doc;
};

struct StageFacts {
  std::string kind;  ///< "sample stage; random, drawn anew for each sample and epoch"
  std::vector<ParamFacts> params;
  std::string example;  ///< a stage object of a pipeline file, on one line
};

/// Parameters in the order of declaration, then `on_error` and `name`.
StageFacts facts_of(const StageType& type);

}  // namespace cachebisect::spec
