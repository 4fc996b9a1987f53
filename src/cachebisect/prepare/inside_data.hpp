// Whether a folder that is to be written lies in the data set that is read.
#pragma once

#include <string>

#include "cachebisect/base/export.hpp"
#include "cachebisect/pipeline/pipeline.hpp"

namespace cachebisect::prepare {

/// A data set would take what is written there for samples, or for a class of them. `option` names
/// the folder. Throws Error(usage).
CACHEBISECT_INTERNAL_API void refuse_inside_data(const Pipeline& pipeline,
                                                 const std::string& folder,
                                                 const std::string& option);

}  // namespace cachebisect::prepare
