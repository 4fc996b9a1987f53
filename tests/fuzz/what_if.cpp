// `--what-if` over a job of a pipeline file, and over one in code.
#include "cachebisect/bisect/costs/what_if.hpp"

#include <cmath>

#include "fuzz/fuzz_target.hpp"
#include "support/torch_settings.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;

namespace {

ChainDescription chain_of_file() { return SimulatedReplayer(test::starved_chain()).describe(); }

ChainDescription chain_of_code() {
  ChainDescription chain = chain_of_file();
  chain.settings = test::torch_settings();
  chain.stages[2].name = "transforms[0] Crop";
  chain.stages[3].name = "transforms[1] Flip";
  return chain;
}

void check_what_if(std::string_view text, const ChainDescription& chain) {
  takes({ErrorKind::usage}, [&] {
    const WhatIf what_if = parse_what_if(text, chain);
    require(what_if.text == text, "a what-if is told as it was written");
    require(what_if.stage < chain.stages.size(), "a stage is one of the chain");
    require(std::isfinite(what_if.factor) && what_if.factor >= 0, "a factor is a number");
    const WhatIfArm arm = arm_of(what_if, chain);
    require(arm.arm.has_value() || !arm.why.empty(), "what cannot be run has a reason");
    const WhatIfResult result = predict_what_if(what_if, chain, std::nullopt);
    require(!result.predicted.value, "without costs nothing is predicted");
  });
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(what_if)(const std::uint8_t* data, std::size_t size) {
  static const ChainDescription of_file = chain_of_file();
  static const ChainDescription of_code = chain_of_code();
  check_what_if(text_of(data, size), of_file);
  check_what_if(text_of(data, size), of_code);
  return 0;
}
