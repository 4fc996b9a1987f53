// Bytes of a data set that a source holds in memory from the time it opens.
#pragma once

#include "cachebisect/base/file.hpp"
#include "cachebisect/data/huge_page_buffer.hpp"
#include "cachebisect/pipeline/open_context.hpp"
#include "cachebisect/pipeline/params.hpp"

namespace cachebisect::stages {

/// The whole file. Throws Error(usage) if it needs more than the memory that is available,
/// Error(data) if it cannot be read or has become shorter, and Error(interrupted) if `context` asks
/// to stop.
HugePageBuffer read_whole(const InputFile& file, const OpenContext& context);

/// `in_memory` of sources with small samples.
ParamSpec in_memory_param();

}  // namespace cachebisect::stages
