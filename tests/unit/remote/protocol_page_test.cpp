// docs/extend/protocol.md is true: its requests are those that the engine sends, and its answers
// are read.
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/attached.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "cachebisect/base/json_depth.hpp"
#include "cachebisect/bisect/bisect.hpp"
#include "cachebisect/remote/join_messages.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/node_ask.hpp"
#include "cachebisect/remote/node_counters.hpp"
#include "cachebisect/simulate/simulated_replayer.hpp"

using namespace cachebisect;
using namespace cachebisect::test;
using nlohmann::json;

namespace {

std::string page() { return read_file(CACHEBISECT_SOURCE_DIR "/docs/extend/protocol.md"); }

/// All messages of the page, in its order.
std::vector<json> messages() {
  std::vector<json> found;
  std::istringstream lines(page());
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```jsonl";
    } else if (inside) {
      found.push_back(json::parse(line));
    }
  }
  return found;
}

/// The example of a type; `answer`: its second one.
json example(const std::string& type, bool answer) {
  std::vector<json> of_type;
  for (const json& message : messages()) {
    if (message.at("type") == type) of_type.push_back(message);
  }
  REQUIRE(of_type.size() > (answer ? 1U : 0U));
  return of_type.at(answer ? 1 : 0);
}

/// The names of all fields, those in objects as "arm.kind"; objects of strings are values.
std::set<std::string> fields_of(const json& object, const std::string& prefix = "") {
  std::set<std::string> names;
  for (const auto& [key, value] : object.items()) {
    names.insert(prefix + key);
    if (key != "overrides" && value.is_object()) names.merge(fields_of(value, prefix + key + "."));
  }
  return names;
}

/// By the names of fields in a table of the page: whether the row says "optional".
std::map<std::string, bool> optional_in_table(const std::string& section,
                                              const std::string& header) {
  const std::string text = page();
  std::istringstream lines(text.substr(text.find(header, text.find("\n" + section))));
  std::map<std::string, bool> found;
  std::string line;
  for (int i = 0; i < 2; ++i) std::getline(lines, line);  // the header, and dashes
  while (std::getline(lines, line) && line.starts_with("|")) {
    const std::size_t names_end = line.find(" |");
    const std::string names = line.substr(0, names_end);
    if (has(names, "of the request")) continue;
    const std::string type = line.substr(names_end, line.find(" |", names_end + 2) - names_end);
    for (std::size_t at = names.find('`'); at != std::string::npos; at = names.find('`', at + 1)) {
      const std::size_t end = names.find('`', at + 1);
      const std::string name = names.substr(at + 1, end - at - 1);
      found[name.substr(name.find('.') + 1)] = has(type, "optional");
      at = end;
    }
  }
  return found;
}

}  // namespace

TEST_CASE("the requests on the page have the fields that the engine sends") {
  SimulatedChain chain;
  chain.stages = {{.name = "read", .category = Category::read, .seconds = 1e-3}};
  SimulatedReplayer replayer(chain, {.noise = {.white_cv = 0.01}});
  std::map<std::string, json> sent;
  ServedReplayer served(replayer, {}, [&](FakeAdapter& adapter) {
    adapter.on_message = [&](const json& request) { sent.emplace(request.at("type"), request); };
  });
  auto remote = served.attach();
  static_cast<void>(bisect(*remote, {.sustain_seconds = 0}));
  static_cast<void>(remote->supports({.kind = ArmKind::live, .overrides = {{"workers", "8"}}}));
  static_cast<void>(remote->refill(0, {}));
  static_cast<void>(remote->freshen(8, {}));
  CHECK_FALSE(remote->look_inside("read").changed);
  CHECK_FALSE(remote->count_storage({.samples = 64, .max_seconds = 2}, {}).has_value());
  remote->finish(true, 0, "");
  remote.reset();
  static_cast<void>(served.ended());
  CHECK(sent.size() == 12);
  for (const auto& [type, request] : sent) {
    CAPTURE(type);
    CHECK(fields_of(example(type, false)) == fields_of(request));
    CHECK(has(page(), "\n## " + (type == "refill" || type == "freshen" ? "prepare" : type)));
  }
}

TEST_CASE("the answers on the page are read, and every field of a value is on it") {
  const AdapterHello hello = read_hello(example("hello", true));
  CHECK(hello.protocol == kProtocolVersion);
  CHECK(hello.process == 4711);
  const AdapterDescription description = read_description(example("describe", true));
  CHECK(description.chain.stages.size() == 5);
  CHECK(description.chain.loader == LoaderKind::batch);
  CHECK(description.boundaries.size() == 6);
  CHECK(description.stages == std::vector<int>{1, 2, 3});
  CHECK(description.shadow);
  CHECK(description.overrides);
  CHECK(description.expect_samples_per_second == 812.5);
  CHECK(description.notes.size() == 1);
  const AdapterSizes sizes = read_sizes(example("sizes", true), description.chain);
  CHECK(sizes.round_to == 256);
  CHECK(sizes.device_free_bytes == 120e9);
  CHECK(read_cache(example("prepare", true), description.chain).value().samples == 1024);
  CHECK_FALSE(read_cache(example("refill", true), description.chain).has_value());
  CHECK(read_storage(example("storage", true)).value().requests > 0);
  const BlockResult block = read_block(example("run", true), description.chain);
  CHECK(block.seconds == 0.5);
  CHECK(block.stages.at(2).samples == 512);
  const Error error = read_error(example("error", false));
  CHECK(error.kind() == ErrorKind::data);
  CHECK(has(error.what(), "transforms[1] ToTensor"));
  CHECK(has(error.what(), "1234"));
}

TEST_CASE("what nodes say when they join is on the page") {
  const JoinRequest request = read_join_request(example("join", false).dump());
  CHECK(request.node == "gpu-02");
  CHECK(request.purpose == JoinedFor::node);
  CHECK(fields_of(example("join", false)) == fields_of(to_json(request)));
  const JoinAnswer answer = read_join_answer(example("joined", false).dump());
  CHECK(answer.environment.at("CACHEBISECT_THEN") == "exit");
  CHECK(to_json(answer) == example("joined", false));
}

TEST_CASE("what relays are asked and answer is on the page") {
  std::vector<json> asked;
  for (const json& message : messages()) {
    if (message.at("type") == "ask") asked.push_back(message);
  }
  REQUIRE(asked.size() == 5);
  const NodeAsk ask = read_node_ask(asked[0]);
  CHECK(ask.groups.at(0).processes == std::vector<std::uint64_t>{1, 2});
  CHECK(ask.requests.at(0) == json{{"type", "freshen"}, {"samples", 256}});
  json written = to_json(ask);
  written["id"] = 7;
  CHECK(written == asked[0]);
  const BlockPart part = read_block_part(asked[2], 5);
  CHECK(part.slowest == 2);
  CHECK(part.next_starved_seconds == 0.125);
  written = to_json(part);
  written.update({{"id", 8}, {"type", "ask"}, {"clock", 12.5}});
  CHECK(written == asked[2]);
  CHECK_FALSE(read_failure(asked[2]).has_value());
  const auto counters = read_counters(asked[3]);
  REQUIRE(counters.has_value());
  written = counters_json(*counters);
  written.update({{"id", 9}, {"type", "ask"}});
  CHECK(written == asked[3]);
  const auto failure = read_failure(asked[4]);
  REQUIRE(failure.has_value());
  CHECK(to_json(*failure) == asked[4].at("failed"));
  CHECK(has(page(), "what relays and engines say to each other, " + std::to_string(kNodesVersion)));
}

TEST_CASE("the tables of the page have every field, and say which messages may lack") {
  const json definitions = json::parse(messages_schema()).at("definitions");
  const json& chain = definitions.at("chain");
  const json& describe = definitions.at("describe");
  const std::vector<std::tuple<json, std::string, std::string>> tables{
      {definitions.at("hello"), "## hello", "| field of the answer |"},
      {definitions.at("sizes"), "## sizes", "| field of the answer |"},
      {chain, "## describe", "| field of `chain` |"},
      {chain.at("properties").at("stages").at("items"), "## describe", "| field of a stage |"},
      {describe, "## describe", "| other field |"},
      {describe.at("properties").at("settings").at("items"), "## describe",
       "| field of a setting |"},
      {definitions.at("cache"), "## prepare", "| field |"},
      {definitions.at("storage"), "## storage", "| field |"},
      {definitions.at("block"), "## run", "| field of `block` |"}};
  for (const auto& [schema, section, header] : tables) {
    const auto required = schema.at("required").get<std::set<std::string>>();
    const std::map<std::string, bool> optional = optional_in_table(section, header);
    for (const auto& [field, description] : schema.at("properties").items()) {
      CAPTURE(section);
      CAPTURE(field);
      REQUIRE(optional.contains(field));
      CHECK(optional.at(field) == !required.contains(field));
    }
  }
}

TEST_CASE("the examples of the page have all fields, and those of entries are named") {
  const json storage = example("storage", true).at("storage");
  CHECK(fields_of(storage) == fields_of(to_json(StorageCounts{})));
  const json cache = example("prepare", true).at("cache");
  CHECK(fields_of(cache) == fields_of(to_json(CacheFacts{})));
  BlockResult block;
  block.device.throttling.emplace();
  CHECK(fields_of(example("run", true).at("block")) == fields_of(to_json(block)));
  const json counters = to_json(StageCounters{});
  for (const auto& [field, value] : counters.items()) {
    CAPTURE(field);
    CHECK(has(page(), "`" + field + "`"));
  }
}

TEST_CASE("the published schema of messages is the one that the tool prints") {
  CHECK(messages_schema() == read_file(CACHEBISECT_SOURCE_DIR "/docs/schema/messages.schema.json"));
}

TEST_CASE("each field that a message must have is missed by its name") {
  const json whole = to_json(BlockResult{});
  const json definition = json::parse(messages_schema()).at("definitions").at("block");
  const auto required = definition.at("required").get<std::set<std::string>>();
  for (const auto& [field, value] : whole.items()) {
    CAPTURE(field);
    json block = json::parse(whole.dump());  // as it comes from the socket
    block.erase(field);
    const auto reading = [&] { static_cast<void>(read_block({{"block", block}}, {})); };
    if (required.contains(field)) {
      CHECK(has(error_message(reading, ErrorKind::internal), "field '" + field + "' must be"));
    } else {
      CHECK_NOTHROW(reading());
    }
  }
}

TEST_CASE("what a stage of a pipeline file alone has is not read from messages") {
  json answer = example("describe", true);
  answer["chain"]["stages"][0]["cache"] = {{"samples", 1}, {"bytes", "many"}};
  CHECK_FALSE(read_description(answer).chain.stages.at(0).cache.has_value());
  CHECK_FALSE(has(messages_schema(), "\"limit_bytes\""));
}

TEST_CASE("the page gives the limits and the version of the code") {
  CHECK(has(page(), "1,048,576 bytes"));
  CHECK(kMaxMessageBytes == 1'048'576);
  CHECK(has(page(), "nested at most 64 deep"));
  CHECK(kMostJsonDepth == 64);
  CHECK(has(page(), "version " + std::to_string(kProtocolVersion)));
  const AdapterLimits limits;
  CHECK(limits.answer == 300);
  CHECK(has(page(), "300 s (`--answer-timeout`)"));
  CHECK(limits.stop == 1);
  CHECK(has(page(), "answered within 1 s"));
  CHECK(limits.finish == 5);
}

TEST_CASE("an answer with a cache whose type is no text is refused as any other") {
  ChainDescription chain;
  chain.stages.resize(2);
  CHECK(has(error_message(
                [&] {
                  static_cast<void>(read_cache({{"type", 5}}, chain));
                },
                ErrorKind::internal),
            "field 'type' must be a string"));
  CHECK(has(error_message([&] { static_cast<void>(read_cache(json::array(), chain)); },
                          ErrorKind::internal),
            "is not a JSON object"));
}

TEST_CASE("what a peer nests too deep is refused before anything is built of it") {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string answer =
      R"({"type": "joined", "protocol": 1, "environment": {"a": )" + deep + "}}";
  CHECK(has(usage_error([&] { static_cast<void>(read_join_answer(answer)); }),
            "it is no cachebisect that answers there"));
}
