#include "cachebisect/tune/subject.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect::tune {

Subject::~Subject() = default;

void Subject::make(Trial& /*trial*/, double /*samples_per_second*/) {
  throw Error(ErrorKind::usage, "this job has no folder to write to");
}

bool Subject::discard(const Trial& /*trial*/) { return false; }

}  // namespace cachebisect::tune
