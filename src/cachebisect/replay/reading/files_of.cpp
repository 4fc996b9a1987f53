#include "cachebisect/replay/reading/files_of.hpp"

#include <new>

namespace cachebisect {

std::vector<FileRange> files_of(const SourceStage& source, SampleIndex index) {
  try {
    return source.files(index);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {  // a plugin may throw anything
    return {};
  }
}

bool names_no_files(const SourceStage& source, SampleIndex index) {
  try {
    return source.files(index).empty();
  } catch (...) {  // Reading the sample will report it.
    return false;
  }
}

}  // namespace cachebisect
