#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

Stage::~Stage() = default;

std::vector<FileRange> SourceStage::files(SampleIndex /*index*/) const { return {}; }

}  // namespace cachebisect
