#include "cachebisect/pipeline/file/json_reader.hpp"

#include <nlohmann/json.hpp>

namespace cachebisect::spec {

nlohmann::json read_json(std::string_view text, const std::string& origin) {
  return cachebisect::read_json(text, origin, kPipelineLimits);
}

}  // namespace cachebisect::spec
