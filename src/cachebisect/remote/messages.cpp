#include "cachebisect/remote/messages.hpp"

#include <array>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/protocol/answer_fields.hpp"
#include "cachebisect/remote/adapter_fields.hpp"
#include "cachebisect/remote/fields.hpp"
#include "cachebisect/remote/message_reader.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// `what` must have one entry per boundary, or be empty.
void check_per_boundary(const Fields& message, const std::string& key,
                        const std::vector<double>& what, const ChainDescription& chain) {
  const std::size_t boundaries = chain.stages.size() + 1;
  if (what.empty() || what.size() == boundaries) return;
  message.refuse(key, "an array of " + std::to_string(boundaries) + ", one per boundary");
}

ErrorKind error_kind_of(const std::string& name) {
  constexpr std::array<std::pair<const char*, ErrorKind>, 4> kKinds{
      {{"data", ErrorKind::data},
       {"usage", ErrorKind::usage},
       {"device", ErrorKind::device},
       {"interrupted", ErrorKind::interrupted}}};
  for (const auto& [known, kind] : kKinds) {
    if (name == known) return kind;
  }
  return ErrorKind::internal;
}

}  // namespace

AdapterHello read_hello(const json& answer) {
  const Fields message(answer, "the answer to 'hello'");
  AdapterHello hello;
  hello.protocol = message.count("protocol");
  // Another version may have other fields.
  if (hello.protocol != kProtocolVersion) return hello;
  MessageReader reader(message);
  fields(reader, hello);
  return hello;
}

AdapterSizes read_sizes(const json& answer, const ChainDescription& chain) {
  const Fields message(answer, "the answer to 'sizes'");
  AdapterSizes sizes;
  sizes.round_to = static_cast<std::uint64_t>(chain.batch_size);
  MessageReader reader(message);
  fields(reader, sizes);
  if (sizes.item_bytes.empty()) message.refuse("item_bytes", "an array, one entry per boundary");
  check_per_boundary(message, "item_bytes", sizes.item_bytes, chain);
  if (sizes.round_to < 1) message.refuse("round_to", "an integer of at least 1");
  return sizes;
}

std::optional<CacheFacts> read_cache(const json& answer, const ChainDescription& chain) {
  const std::string type = Fields(answer, "an answer with a cache").text_or("type", "prepare");
  const Fields message(answer, "the answer to '" + type + "'");
  if (!message.has("cache")) return std::nullopt;
  const Fields cache = message.object("cache");
  CacheFacts facts;
  MessageReader reader(cache);
  fields(reader, facts);
  if (facts.samples < 1) cache.refuse("samples", "an integer of at least 1");
  check_per_boundary(cache, "serve_seconds_per_sample", facts.serve_seconds_per_sample, chain);
  check_per_boundary(cache, "item_bytes", facts.item_bytes, chain);
  return facts;
}

std::optional<StorageCounts> read_storage(const json& answer) {
  const Fields message(answer, "the answer to 'storage'");
  if (!message.has("storage")) return std::nullopt;
  const Fields storage = message.object("storage");
  StorageCounts counts;
  MessageReader reader(storage);
  fields(reader, counts);
  if (counts.samples < 1) storage.refuse("samples", "an integer of at least 1");
  return counts;
}

BlockResult read_block(const json& answer, const ChainDescription& chain) {
  return read_block(answer, chain.stages.size());
}

BlockResult read_block(const json& answer, std::size_t stages) {
  const Fields message = Fields(answer, "the answer to 'run'").object("block");
  BlockResult block;
  MessageReader reader(message);
  message_fields(reader, block);
  if (!block.stages.empty() && block.stages.size() != stages) {
    message.refuse("stages", "an array of " + std::to_string(stages) + ", one per stage, or empty");
  }
  return block;
}

Error read_error(const json& answer) {
  const Fields fields(answer, "an error of the adapter");
  std::string place;
  if (fields.has("stage")) place = "stage '" + fields.text("stage") + "'";
  if (fields.has("sample")) {
    place += (place.empty() ? "sample " : ", sample ") + std::to_string(fields.count("sample"));
  }
  const Error error = Error(error_kind_of(fields.text("kind")), fields.text("text"))
                          .with_details(fields.texts_or_empty("traceback"));
  return place.empty() ? error : error.with_context(place);
}

json to_json(const Arm& arm) {
  return {{"kind", to_string(arm.kind)}, {"boundary", arm.boundary},
          {"stage", arm.stage},          {"overrides", json(arm.overrides)},
          {"observed", arm.observed},    {"cache_samples", arm.cache_samples}};
}

json run_request(const BlockRequest& request) {
  return {{"type", "run"},
          {"arm", to_json(request.arm)},
          {"steps", request.steps},
          {"warmup_steps", request.warmup_steps},
          {"seed", request.seed},
          {"groups", request.groups},
          {"max_seconds", request.max_seconds},
          {"profile", request.profile}};
}

json finish_request(bool exit, int exit_code, const std::string& text) {
  return {{"type", "finish"},
          {"then", exit ? "exit" : "continue"},
          {"exit_code", exit_code},
          {"text", text}};
}

}  // namespace cachebisect
