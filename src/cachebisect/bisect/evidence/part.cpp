#include "cachebisect/bisect/evidence/part.hpp"

namespace cachebisect {

std::string span_name(const Part& part) {
  if (part.single()) return {};
  return "stages " + std::to_string(part.from + 1) + "-" + std::to_string(part.to) + " together";
}

std::string part_name(const ChainDescription& chain, const Part& part) {
  if (!part.single()) return span_name(part);
  return chain.stages.at(static_cast<std::size_t>(part.from)).name;
}

}  // namespace cachebisect
