#include <nlohmann/json.hpp>

#include "cachebisect/format/json_schema.hpp"
#include "cachebisect/protocol/answer_fields.hpp"
#include "cachebisect/protocol/chain_fields.hpp"
#include "cachebisect/remote/adapter_fields.hpp"
#include "cachebisect/remote/description_fields.hpp"
#include "cachebisect/remote/messages.hpp"

namespace cachebisect {
namespace {

template <class Visit>
JsonSchema::Json described(const Visit& visit) {
  JsonSchema schema(JsonSchema::Of::messages);
  visit(schema);
  return schema.json();
}

}  // namespace

std::string messages_schema() {
  const auto of = [](const auto& value) {
    return described([&](JsonSchema& schema) { fields(schema, value); });
  };
  const auto of_message = [](const auto& value) {
    return described([&](JsonSchema& schema) { message_fields(schema, value); });
  };
  const JsonSchema::Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                                {"title", "cachebisect messages of adapters"},
                                {"description",
                                 "What an adapter answers (docs/extend/protocol.md): to hello and "
                                 "sizes; to describe, without "
                                 "its chain; chain, of describe; cache, of prepare and refill; "
                                 "storage; block, of run. Readers "
                                 "ignore unknown keys."},
                                {"definitions",
                                 {{"hello", of(AdapterHello{})},
                                  {"sizes", of(AdapterSizes{})},
                                  {"describe", of(AdapterDescription{})},
                                  {"chain", of_message(ChainDescription{})},
                                  {"cache", of(CacheFacts{})},
                                  {"storage", of(StorageCounts{})},
                                  {"block", of_message(BlockResult{})}}}};
  return schema.dump(2) + '\n';
}

}  // namespace cachebisect
