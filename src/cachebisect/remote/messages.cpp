#include "cachebisect/remote/messages.hpp"

#include <array>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "cachebisect/remote/fields.hpp"

namespace cachebisect {
namespace {

using nlohmann::json;

/// `what` must have one entry per boundary, or be empty.
void check_per_boundary(const Fields& fields, const std::string& key,
                        const std::vector<double>& what, const ChainDescription& chain) {
  const std::size_t boundaries = chain.stages.size() + 1;
  if (what.empty() || what.size() == boundaries) return;
  fields.refuse(key, "an array of " + std::to_string(boundaries) + ", one per boundary");
}

StageCounters read_counters(const Fields& fields) {
  StageCounters counters;
  counters.samples = fields.count("samples");
  counters.busy_seconds = fields.amount("busy_seconds");
  counters.cpu_seconds = fields.amount("cpu_seconds");
  counters.serial_seconds = fields.amount("serial_seconds");
  counters.slot_write_seconds = fields.amount_or_zero("slot_write_seconds");
  counters.slot_writes = fields.count_or("slot_writes", 0);
  return counters;
}

std::optional<int> optional_count(const Fields& fields, const char* key) {
  return fields.has(key) ? std::optional(fields.small_count(key)) : std::nullopt;
}

DeviceReading read_device(const Fields& fields) {
  DeviceReading reading;
  reading.sm_clock_mhz = fields.optional_number("sm_clock_mhz");
  reading.memory_clock_mhz = fields.optional_number("memory_clock_mhz");
  reading.power_watts = fields.optional_number("power_watts");
  reading.utilization = fields.optional_number("utilization");
  reading.pcie_generation = optional_count(fields, "pcie_generation");
  reading.pcie_width = optional_count(fields, "pcie_width");
  if (fields.has("throttling")) {
    const Fields reasons = fields.object("throttling");
    reading.throttling = Throttling{reasons.flag("thermal"), reasons.flag("power")};
  }
  return reading;
}

StepFunction read_step_function(const Fields& fields) {
  return {.name = fields.text("name"),
          .file = fields.text("file"),
          .line = fields.small_count("line"),
          .share = fields.amount("share"),
          .movable = fields.flag("movable")};
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
  const Fields fields(answer, "the answer to 'hello'");
  AdapterHello hello;
  hello.protocol = fields.count("protocol");
  // Another version may have other fields.
  if (hello.protocol != kProtocolVersion) return hello;
  hello.adapter = fields.text("adapter");
  hello.process = fields.count("pid");
  hello.rank = fields.small_count_or("rank", 0);
  hello.world = fields.small_count_or("world", 1);
  hello.python = fields.text_or("python", "");
  hello.torch = fields.text_or("torch", "");
  hello.program = fields.text_or("program", "");
  return hello;
}

AdapterSizes read_sizes(const json& answer, const ChainDescription& chain) {
  const Fields fields(answer, "the answer to 'sizes'");
  AdapterSizes sizes;
  sizes.item_bytes = fields.amounts_or_empty("item_bytes");
  if (sizes.item_bytes.empty()) fields.refuse("item_bytes", "an array, one entry per boundary");
  check_per_boundary(fields, "item_bytes", sizes.item_bytes, chain);
  sizes.samples_in_flight = fields.count("samples_in_flight");
  sizes.round_to = fields.count_or("round_to", static_cast<std::uint64_t>(chain.batch_size));
  if (sizes.round_to < 1) fields.refuse("round_to", "an integer of at least 1");
  sizes.device_free_bytes = fields.optional_number("device_free_bytes");
  return sizes;
}

std::optional<CacheFacts> read_cache(const json& answer, const ChainDescription& chain) {
  const std::string type = Fields(answer, "an answer with a cache").text_or("type", "prepare");
  const Fields message(answer, "the answer to '" + type + "'");
  if (!message.has("cache")) return std::nullopt;
  const Fields fields = message.object("cache");
  CacheFacts facts;
  facts.samples = fields.count("samples");
  if (facts.samples < 1) fields.refuse("samples", "an integer of at least 1");
  facts.bytes_host = fields.amount("bytes_host");
  facts.bytes_device = fields.amount("bytes_device");
  facts.limited_by = fields.text_or("limited_by", "");
  facts.seconds = fields.amount("seconds");
  facts.data_set_bytes = fields.optional_number("data_set_bytes");
  facts.serve_seconds_per_sample = fields.amounts_or_empty("serve_seconds_per_sample");
  check_per_boundary(fields, "serve_seconds_per_sample", facts.serve_seconds_per_sample, chain);
  facts.item_bytes = fields.amounts_or_empty("item_bytes");
  check_per_boundary(fields, "item_bytes", facts.item_bytes, chain);
  facts.idle_workers = fields.small_count_or("idle_workers", 0);
  facts.floor_seconds_per_sample = fields.optional_number("floor_seconds_per_sample");
  facts.floor_seconds_per_batch = fields.optional_number("floor_seconds_per_batch");
  return facts;
}

std::optional<StorageCounts> read_storage(const json& answer) {
  const Fields message(answer, "the answer to 'storage'");
  if (!message.has("storage")) return std::nullopt;
  const Fields fields = message.object("storage");
  StorageCounts counts;
  counts.samples = fields.count("samples");
  if (counts.samples < 1) fields.refuse("samples", "an integer of at least 1");
  counts.workers = fields.small_count("workers");
  counts.seconds = fields.amount("seconds");
  if (fields.has("file_opens")) counts.file_opens = fields.count("file_opens");
  counts.file_reads = fields.count("file_reads");
  counts.file_bytes = fields.amount("file_bytes");
  counts.disk_bytes = fields.optional_number("disk_bytes");
  counts.page_faults = fields.count("page_faults");
  counts.requests = fields.count("requests");
  counts.request_seconds = fields.amount("request_seconds");
  counts.waiting_seconds = fields.amount("waiting_seconds");
  counts.most_in_flight = fields.count("most_in_flight");
  counts.received_bytes = fields.amount("received_bytes");
  counts.connections = fields.count("connections");
  counts.clients = fields.count("clients");
  counts.throttled = fields.count("throttled");
  counts.failed = fields.count("failed");
  counts.reopened = fields.count("reopened");
  return counts;
}

BlockResult read_block(const json& answer, const ChainDescription& chain) {
  const Fields fields = Fields(answer, "the answer to 'run'").object("block");
  BlockResult block;
  block.start_seconds = fields.number("start_seconds");
  block.seconds = fields.amount("seconds");
  block.steps = fields.small_count("steps");
  block.warmup_steps = fields.small_count("warmup_steps");
  block.group_taus = fields.amounts_or_empty("group_taus");
  block.samples = fields.count("samples");
  block.cpu_seconds = fields.amount("cpu_seconds");
  block.starved_seconds = fields.amount("starved_seconds");
  block.skipped = fields.count_or("skipped", 0);
  block.first_skipped = fields.texts_or_empty("first_skipped");
  block.resident_share = fields.optional_number("resident_share");
  block.is_void = fields.flag_or("void", false);
  block.padding_share = fields.amount_or_zero("padding_share");
  block.first_batch_seconds = fields.amount_or_zero("first_batch_seconds");
  block.trainer_seconds = fields.amount_or_zero("trainer_seconds");
  block.ready_batches = fields.optional_number("ready_batches");
  block.device_idle_share = fields.optional_number("device_idle_share");
  if (fields.has("device")) block.device = read_device(fields.object("device"));
  for (const Fields& stage : fields.objects_or_empty("stages")) {
    block.stages.push_back(read_counters(stage));
  }
  block.not_kept = fields.texts_or_empty("not_kept");
  for (const Fields& function : fields.objects_or_empty("step_functions")) {
    block.step_functions.push_back(read_step_function(function));
  }
  if (!block.stages.empty() && block.stages.size() != chain.stages.size()) {
    fields.refuse("stages", "an array of " + std::to_string(chain.stages.size()) +
                                ", one per stage, or empty");
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
