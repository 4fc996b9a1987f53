#include "cachebisect/pipeline/run_reader.hpp"

namespace cachebisect {

RunReader::~RunReader() = default;

}  // namespace cachebisect
