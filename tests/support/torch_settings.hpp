// The settings of a PyTorch program as the Python adapter sends them (tests/python/test_settings.py
// keeps the file true).
#pragma once

#include "support/adapter_json.hpp"
#include "support/files.hpp"
#include "support/starved_chain.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/remote/messages.hpp"

namespace cachebisect::test {

/// {"settings", "advice"} of the answer to `describe`.
inline nlohmann::json torch_settings_json() {
  return nlohmann::json::parse(
      read_file(CACHEBISECT_SOURCE_DIR "/tests/fixtures/torch_settings.json"));
}

inline JobSettings torch_settings() {
  nlohmann::json answer = torch_settings_json();
  answer["chain"] = to_json(SimulatedReplayer(starved_chain()).describe());
  // As it is received: numbers without a sign.
  return read_description(nlohmann::json::parse(answer.dump())).chain.settings;
}

}  // namespace cachebisect::test
