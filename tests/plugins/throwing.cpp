// A plugin whose registration fails halfway, with an exception type of its own.
#include <stdexcept>

#include "cachebisect/pipeline/plugin.hpp"

namespace {

class OwnError : public std::runtime_error {
 public:
  OwnError() : std::runtime_error("no licence found") {}
};

void register_half(cachebisect::Registry& registry) {
  registry.add(cachebisect::StageType{
      .type = "test.half", .doc = "never to be seen", .params = {}, .example = "{}", .make = {}});
  throw OwnError();
}

}  // namespace

CACHEBISECT_PLUGIN(register_half)
