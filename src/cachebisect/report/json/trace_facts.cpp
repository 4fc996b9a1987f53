#include "cachebisect/report/json/trace_facts.hpp"

#include <nlohmann/json.hpp>

#include "cachebisect/base/version.hpp"

namespace cachebisect {

json_values::Json trace_facts(const ChainDescription& chain) {
  return {{"version", version()}, {"pipeline", chain.name},         {"device", chain.device_name},
          {"step", chain.train},  {"batch_size", chain.batch_size}, {"workers", chain.workers}};
}

}  // namespace cachebisect
