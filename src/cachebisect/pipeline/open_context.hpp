// What stages may use while they open: objects that a job shares, the wish to stop, progress.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <typeindex>
#include <utility>

#include "cachebisect/base/export.hpp"

namespace cachebisect {

/// Immutable objects that are costly to make and that a pipeline has in common with its variants,
/// such as the list of a folder's files. Each is made once per job. Thread safe; keep the registry
/// alive as long.
class CACHEBISECT_API SharedObjects {
 public:
  SharedObjects() = default;
  ~SharedObjects();
  SharedObjects(const SharedObjects&) = delete;
  SharedObjects& operator=(const SharedObjects&) = delete;

  /// The T of this key; make() returns it if there is none yet. The key must say everything that
  /// the object depends on. make() must not call get().
  template <class T, class Make>
  std::shared_ptr<const T> get(const std::string& key, const Make& make) {
    return std::static_pointer_cast<const T>(
        find_or_make({typeid(T), key}, [&]() -> Object { return std::make_shared<T>(make()); }));
  }

 private:
  using Object = std::shared_ptr<const void>;
  using Key = std::pair<std::type_index, std::string>;
  Object find_or_make(const Key& key, const std::function<Object()>& make);

  std::mutex mutex_;
  std::map<Key, Object> objects_;
};

struct OpenContext {
  std::shared_ptr<SharedObjects> shared{};  ///< never null while a pipeline opens its stages
  std::stop_token stop{};                   ///< a stage answers it with Error(interrupted)
  /// Called now and then with what takes long: "listing /data: 1,200,000 files". May be empty.
  std::function<void(const std::string&)> progress{};

  /// Throws Error(interrupted) if a stop was requested.
  CACHEBISECT_API void check_stop() const;
  CACHEBISECT_API void report(const std::string& line) const;
};

}  // namespace cachebisect
