// What an adapter sends, as JSON (docs/extend/protocol.md).
#pragma once

#include <array>

#include <nlohmann/json.hpp>

#include "cachebisect/format/json_writer.hpp"
#include "cachebisect/protocol/answer_fields.hpp"
#include "cachebisect/protocol/chain_fields.hpp"
#include "cachebisect/protocol/replayer.hpp"

namespace cachebisect::test {

/// By the list of fields.
template <class Struct>
nlohmann::json json_of_fields(const Struct& value) {
  JsonWriter writer;
  fields(writer, value);
  return writer.json();
}

template <class Struct>
nlohmann::json json_of_message(const Struct& value) {
  JsonWriter writer;
  message_fields(writer, value);
  return writer.json();
}

inline nlohmann::json to_json(const StageDescription& stage) {
  nlohmann::json json = json_of_fields(stage);
  json.erase("cache");
  return json;
}

inline nlohmann::json to_json(const ChainDescription& chain) {
  nlohmann::json json = json_of_message(chain);
  for (nlohmann::json& stage : json["stages"]) stage.erase("cache");
  return json;
}

inline nlohmann::json to_json(const CacheFacts& facts) { return json_of_fields(facts); }
inline nlohmann::json to_json(const StorageCounts& counts) { return json_of_fields(counts); }
inline nlohmann::json to_json(const StageCounters& counters) { return json_of_fields(counters); }
inline nlohmann::json to_json(const BlockResult& block) { return json_of_message(block); }

inline nlohmann::json to_json(const DeviceReading& reading) {
  return to_json(BlockResult{.device = reading}).at("device");
}

/// The arm of a request.
inline Arm arm_of(const nlohmann::json& json) {
  constexpr std::array kKinds{ArmKind::replay, ArmKind::bypass, ArmKind::shadow,
                              ArmKind::live,   ArmKind::null,   ArmKind::unseen};
  Arm arm;
  for (const ArmKind kind : kKinds) {
    if (json.at("kind") == to_string(kind)) arm.kind = kind;
  }
  arm.boundary = json.at("boundary");
  arm.stage = json.at("stage");
  arm.overrides = json.at("overrides");
  arm.observed = json.at("observed");
  arm.cache_samples = json.at("cache_samples");
  return arm;
}

inline BlockRequest block_request_of(const nlohmann::json& json) {
  return {.arm = arm_of(json.at("arm")),
          .steps = json.at("steps"),
          .warmup_steps = json.at("warmup_steps"),
          .seed = json.at("seed"),
          .groups = json.at("groups"),
          .max_seconds = json.at("max_seconds"),
          .profile = json.value("profile", false)};
}

}  // namespace cachebisect::test
