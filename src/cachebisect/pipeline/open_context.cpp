#include "cachebisect/pipeline/open_context.hpp"

#include "cachebisect/base/error.hpp"

namespace cachebisect {

SharedObjects::~SharedObjects() = default;

SharedObjects::Object SharedObjects::find_or_make(const Key& key,
                                                  const std::function<Object()>& make) {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(key);
  if (found != objects_.end()) return found->second;
  return objects_.emplace(key, make()).first->second;
}

void OpenContext::check_stop() const {
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "stopped");
}

void OpenContext::report(const std::string& line) const {
  if (progress) progress(line);
}

}  // namespace cachebisect
