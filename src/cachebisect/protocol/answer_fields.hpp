// The fields of what a replayer measures, in the report, in recordings and in the messages of
// adapters (base/fields.hpp).
#pragma once

#include "cachebisect/base/fields.hpp"
#include "cachebisect/protocol/block.hpp"
#include "cachebisect/protocol/cache_facts.hpp"
#include "cachebisect/protocol/storage_counts.hpp"

namespace cachebisect {

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, FieldValues>& values) {
  v.text({"name", {}, Presence::required}, values.name);
  v.number({"low"}, values.low);
  v.number({"high"}, values.high);
  v.amount({"nonzero", "values that are not zero, of the sample that has most of them",
            Presence::added, Sent::optional},
           values.nonzero);
  v.flag({"whole", "all are whole numbers"}, values.whole);
  v.flag({"unused", "neither the training step nor a stage behind collate reads it"},
         values.unused);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, CacheFacts>& cache) {
  v.count({"samples"}, cache.samples);
  v.amount({"bytes_host"}, cache.bytes_host);
  v.amount({"bytes_device"}, cache.bytes_device);
  v.text(if_sent("limited_by"), cache.limited_by);
  v.amount({"seconds"}, cache.seconds);
  v.number({"data_set_bytes"}, cache.data_set_bytes);
  v.numbers(if_sent("serve_seconds_per_sample", "by boundary"), cache.serve_seconds_per_sample);
  v.numbers(if_sent("item_bytes", "by boundary"), cache.item_bytes);
  v.list({"fields", "that collate gets: the values of some cached samples; may be empty",
          Presence::added, Sent::optional},
         cache.fields);
  v.number({"grouped_bytes_share",
            "bytes of padded batches if they were of samples of similar size, over what they are "
            "now; null: nothing is padded, or sizes are not known",
            Presence::added, Sent::optional},
           cache.grouped_bytes_share);
  v.whole(if_sent("idle_workers"), cache.idle_workers);
  v.number({"floor_seconds_per_sample"}, cache.floor_seconds_per_sample);
  v.number({"floor_seconds_per_batch"}, cache.floor_seconds_per_batch);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, StorageCounts>& counts) {
  v.count({"samples", "that were made and counted", Presence::required}, counts.samples);
  v.whole({"workers", "that made some"}, counts.workers);
  v.amount({"seconds", "in which the samples were made: of all workers together"}, counts.seconds);
  v.count({"file_opens"}, counts.file_opens);
  v.count({"file_reads", "system calls"}, counts.file_reads);
  v.amount({"file_bytes", "that these reads returned"}, counts.file_bytes);
  v.number({"disk_bytes", "of them, those that were not in memory"}, counts.disk_bytes);
  v.count({"page_faults", "of memory mapped files, that waited for the disk"}, counts.page_faults);
  v.count({"requests", "to servers, or to emulated storage"}, counts.requests);
  v.amount({"request_seconds", "sum over the requests"}, counts.request_seconds);
  v.amount({"waiting_seconds",
            "with a request in flight, or several, or of a pipeline file reading without "
            "computing: of all workers together"},
           counts.waiting_seconds);
  v.count({"most_in_flight", "requests at once in one worker"}, counts.most_in_flight);
  v.amount({"received_bytes"}, counts.received_bytes);
  v.count({"connections", "made"}, counts.connections);
  v.count({"clients", "client objects made"}, counts.clients);
  v.count({"throttled", "answers 429 and 503"}, counts.throttled);
  v.count({"failed", "other answers from 500 on, and requests without an answer"}, counts.failed);
  v.count({"reopened", "files and URLs that the same worker had asked for before"},
          counts.reopened);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, StepFunction>& function) {
  v.text({"name", "a function, or the text of a line of the training loop"}, function.name);
  v.text({"file"}, function.file);
  v.whole({"line"}, function.line);
  v.amount({"share", "of the step's time on the host, with the functions that it calls"},
           function.share);
  v.flag({"movable", "a function that calls no part of the model: workers could run it"},
         function.movable);
}

/// Without why it was throttled.
template <class Visitor>
void reading_fields(Visitor& v, Visited<Visitor, DeviceReading>& reading) {
  v.number({"sm_clock_mhz"}, reading.sm_clock_mhz);
  v.number({"memory_clock_mhz"}, reading.memory_clock_mhz);
  v.number({"power_watts"}, reading.power_watts);
  v.number({"utilization", "share of the driver's last sampling period in which a kernel ran"},
           reading.utilization);
  v.whole({"pcie_generation"}, reading.pcie_generation);
  v.whole({"pcie_width"}, reading.pcie_width);
}

/// True if nothing is known.
[[nodiscard]] inline bool is_empty(const DeviceReading& reading) {
  return !reading.sm_clock_mhz && !reading.memory_clock_mhz && !reading.power_watts &&
         !reading.utilization && !reading.pcie_generation && !reading.pcie_width &&
         !reading.throttling;
}

/// The counters of one stage, as messages have them; the report has a list for each field.
template <class Visitor>
void fields(Visitor& v, Visited<Visitor, StageCounters>& stage) {
  v.count({"samples"}, stage.samples);
  v.amount({"busy_seconds"}, stage.busy_seconds);
  v.amount({"cpu_seconds"}, stage.cpu_seconds);
  v.amount({"serial_seconds"}, stage.serial_seconds);
  v.amount(if_sent("slot_write_seconds"), stage.slot_write_seconds);
  v.count(if_sent("slot_writes"), stage.slot_writes);
}

/// What the block measured.
template <class Visitor>
void result_fields(Visitor& v, Visited<Visitor, BlockResult>& r) {
  v.number({"start_seconds"}, r.start_seconds);
  v.whole({"warmup_steps"}, r.warmup_steps);
  v.whole({"steps"}, r.steps);
  v.count({"samples"}, r.samples);
  v.amount({"seconds", {}, Presence::required}, r.seconds);
  v.amount({"cpu_seconds"}, r.cpu_seconds);
  v.amount({"starved_seconds"}, r.starved_seconds);
  v.amount(if_sent("trainer_seconds",
                   "the training thread was busy, neither starved nor waiting for the device"),
           r.trainer_seconds);
  v.number({"ready_batches", "mean number of batches ready when the training thread asked"},
           r.ready_batches);
  v.number({"device_idle_share",
            "share of the step ends at which the device had completed all that was queued; null if "
            "it was not observed"},
           r.device_idle_share);
  v.count(if_sent("skipped"), r.skipped);
  v.number({"resident_share",
            "of the pages that a live block reads, in memory when it began; as-is: of a part of "
            "its samples"},
           r.resident_share);
}

/// What only some blocks have.
template <class Visitor>
void more_result_fields(Visitor& v, Visited<Visitor, BlockResult>& r) {
  constexpr auto kAdded = Presence::added;
  v.numbers({"group_taus", "seconds per sample of each group of steps", kAdded}, r.group_taus);
  v.texts({"first_skipped", {}, kAdded}, r.first_skipped);
  v.amount({"padding_share", {}, kAdded}, r.padding_share);
  v.amount({"first_batch_seconds", "from the block's start", kAdded}, r.first_batch_seconds);
}

template <class Visitor>
void not_kept_field(Visitor& v, Visited<Visitor, BlockResult>& r) {
  v.texts({"not_kept", "files that the steps saved, away from their place", Presence::added},
          r.not_kept);
}

template <class Visitor>
void void_field(Visitor& v, Visited<Visitor, BlockResult>& r) {
  v.flag(
      if_sent("void", "the process was suspended, or the device throttled; the block was repeated"),
      r.is_void);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, Throttling>& reasons) {
  v.flag({"thermal"}, reasons.thermal);
  v.flag({"power"}, reasons.power);
}

/// The block as messages have it.
template <class Visitor>
void message_fields(Visitor& v, Visited<Visitor, BlockResult>& r) {
  result_fields(v, r);
  more_result_fields(v, r);
  not_kept_field(v, r);
  void_field(v, r);
  v.group_unless({"device", "the device when the block ended", Presence::added}, is_empty(r.device),
                 [&] {
                   reading_fields(v, r.device);
                   v.part({"throttling", "why it ran below its clock"}, r.device.throttling);
                 });
  v.list(if_sent("stages", "one for each stage of the chain, or none"), r.stages);
  v.list(if_sent("step_functions", "largest share first; if asked for"), r.step_functions);
}

}  // namespace cachebisect
