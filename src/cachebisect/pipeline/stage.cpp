#include "cachebisect/pipeline/stage.hpp"

namespace cachebisect {

std::string_view to_string(StageKind kind) noexcept {
  switch (kind) {
    case StageKind::source:
      return "source";
    case StageKind::sample:
      return "sample";
    case StageKind::collate:
      return "collate";
    case StageKind::batch:
      return "batch";
    case StageKind::copy:
      return "copy";
    case StageKind::device:
      return "device";
  }
  return "?";
}

Stage::~Stage() = default;

std::vector<FileRange> SourceStage::files(SampleIndex /*index*/) const { return {}; }

}  // namespace cachebisect
