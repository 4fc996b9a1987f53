// The built-in stages.
#pragma once

#include "cachebisect/pipeline/registry.hpp"
#include "cachebisect/stages.hpp"

namespace cachebisect::test {

inline const Registry& all_stages() {
  static const Registry registry = [] {
    Registry made;
    stages::register_all(made);
    return made;
  }();
  return registry;
}

}  // namespace cachebisect::test
