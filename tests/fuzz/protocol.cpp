// Answers of an adapter, one message a line, as the engine reads them from the socket.
#include <optional>

#include "fuzz/fuzz_target.hpp"
#include <nlohmann/json.hpp>

#include "cachebisect/base/json_depth.hpp"
#include "cachebisect/base/machine_watch.hpp"
#include "cachebisect/remote/join_messages.hpp"
#include "cachebisect/remote/messages.hpp"
#include "cachebisect/remote/node_ask.hpp"
#include "cachebisect/remote/node_counters.hpp"

using namespace cachebisect;
using namespace cachebisect::fuzz;
using nlohmann::json;

namespace {

ChainDescription small_chain() {
  ChainDescription chain;
  chain.stages.resize(3);
  chain.batch_size = 8;
  return chain;
}

template <class Read>
void check_read(const Read& read) {
  takes({ErrorKind::internal}, read);
}

void check_description(const json& message, ChainDescription& chain) {
  check_read([&] {
    const AdapterDescription description = read_description(message);
    chain = description.chain;
    const int stages = static_cast<int>(chain.stages.size());
    const bool is_none = message.at("chain").value("loader", json()) == "none";
    require(is_none != description.has_loader(),
            "a chain has stages, unless it says that it has none");
    require(chain.batch_size > 0, "a chain has batches");
    for (const int boundary : description.boundaries) {
      require(boundary >= 0 && boundary <= stages, "a boundary is one of the chain");
    }
    for (const int stage : description.stages) {
      require(stage >= 1 && stage <= stages, "a stage is one of the chain");
    }
  });
}

void check_join(const std::string& line) {
  takes({ErrorKind::usage, ErrorKind::internal}, [&] {
    const JoinRequest request = read_join_request(line);
    check_node_name(request.node);
    const JoinRequest again = read_join_request(to_json(request).dump());
    require(again.token == request.token && again.node == request.node &&
                again.purpose == request.purpose,
            "a request to join is written and read again");
    require(again.process == request.process, "so is the number of its process");
  });
  takes({ErrorKind::usage, ErrorKind::internal}, [&] {
    for (const auto& [name, value] : read_join_answer(line).environment) {
      require(name.starts_with("CACHEBISECT_"), "another machine sets no other variable");
    }
  });
}

void check_message(const std::string& line, ChainDescription& chain) {
  check_join(line);
  if (is_nested_too_deep(line)) return;  // The connection refuses it.
  const json message = json::parse(line, nullptr, false);
  if (message.is_discarded()) return;
  check_description(message, chain);
  check_read([&] { static_cast<void>(read_hello(message)); });
  check_read([&] { static_cast<void>(read_sizes(message, chain)); });
  check_read([&] { static_cast<void>(read_cache(message, chain)); });
  check_read([&] { static_cast<void>(read_storage(message)); });
  check_read([&] { static_cast<void>(read_block(message, chain)); });
  check_read([&] { static_cast<void>(read_error(message)); });
  check_read([&] { static_cast<void>(read_failure(message)); });
  check_read([&] {
    const NodeAsk ask = read_node_ask(message);
    require(ask.groups.size() == ask.requests.size(), "each group has a request");
  });
  check_read([&] {
    const BlockPart part = read_block_part(message, chain.stages.size());
    const BlockPart again = read_block_part(json::parse(to_json(part).dump()), chain.stages.size());
    require(again.block.stages.size() == part.block.stages.size(),
            "a block of a node is written and read again");
  });
  check_read([&] {
    const auto counters = read_counters(message);
    if (!counters) return;
    const auto again = read_counters(json::parse(counters_json(*counters).dump()));
    require(again.has_value(), "the counters of a node are written and read again");
    MachineWatch watch;
    watch.add({});
    watch.add(*again);
    static_cast<void>(watch.seen());
  });
}

}  // namespace

extern "C" int CACHEBISECT_FUZZ_ENTRY(protocol)(const std::uint8_t* data, std::size_t size) {
  ChainDescription chain = small_chain();
  std::string_view text = text_of(data, size);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    check_message(std::string(line), chain);
  }
  return 0;
}
