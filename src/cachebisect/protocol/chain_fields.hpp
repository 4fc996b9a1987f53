// The fields of a chain and its stages, in the report, in recordings and in the messages of
// adapters (base/fields.hpp).
#pragma once

#include <array>

#include "cachebisect/base/fields.hpp"
#include "cachebisect/protocol/chain_description.hpp"

namespace cachebisect {

inline constexpr std::array kStageKinds{StageKind::source, StageKind::sample, StageKind::collate,
                                        StageKind::batch,  StageKind::copy,   StageKind::device};
inline constexpr std::array kHeld{Held::none, Held::host, Held::device};
inline constexpr std::array kAllDeviceKinds{DeviceKind::cpu, DeviceKind::cuda,
                                            DeviceKind::emulated};

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, BatchContents>& batch) {
  v.count({"objects", "other values than tensors"}, batch.objects);
  v.count({"tensors"}, batch.tensors);
  if constexpr (Visitor::kReads) batch.packed_tensors = batch.tensors;
  v.count(
      if_sent(
          "packed_tensors",
          "tensors if those of one type and shape, but for the first dimension, are concatenated"),
      batch.packed_tensors);
  v.amount({"bytes"}, batch.bytes);
  v.amount({"unused_bytes", "of tensors that no step has read, as far as that is known",
            Presence::added},
           batch.unused_bytes);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, SendingCost>& sending) {
  v.amount({"worker_seconds", "beyond what loading in the training process costs"},
           sending.worker_seconds);
  v.amount({"trainer_seconds", "of the thread that receives it"}, sending.trainer_seconds);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, CacheHit>& hit) {
  v.amount({"seconds"}, hit.seconds);
  v.amount({"seconds_per_byte"}, hit.seconds_per_byte);
  v.amount({"within", "factor within which both are known, 1 or more"}, hit.within);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, CacheUse>& use) {
  v.count({"samples"}, use.samples);
  v.count({"bytes"}, use.bytes);
  v.count({"limit_bytes"}, use.limit_bytes);
  v.flag({"full", "a sample was not kept, or another one went for it"}, use.full);
}

template <class Visitor>
void fields(Visitor& v, Visited<Visitor, StageDescription>& stage) {
  v.text({"name"}, stage.name);
  v.text({"type"}, stage.type);
  if constexpr (Visitor::kReads) stage.category = category_of(stage.type);
  v.choice({"kind"}, stage.kind, kStageKinds);
  v.flag(if_sent("random"), stage.random);
  v.flag(if_sent("cacheable"), stage.cacheable);
  v.flag(if_sent("stateful"), stage.stateful);
  v.flag(if_sent("side_effects"), stage.side_effects);
  v.text(if_sent("output", "fields, dtypes and shapes"), stage.output);
  v.number({"output_bytes", "per sample"}, stage.output_bytes);
  v.choice({"held"}, stage.held, kHeld);
  v.flag(if_sent("elementwise"), stage.elementwise);
  v.flag(if_sent("makes_floats"), stage.makes_floats);
  v.part({"cache", "of a cache stage: what it holds", Presence::added, Sent::never}, stage.cache);
}

template <class Visitor>
void name_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.text({"name"}, chain.name);
  v.optional_text({"file"}, chain.file);
  v.optional_text({"sha256"}, chain.sha256);
  v.whole({"batch_size"}, chain.batch_size, 1);
  v.whole({"workers"}, chain.workers);
}

template <class Visitor>
void loader_field(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.choice({"loader", "how workers share the work: the samples of a batch, or a batch per worker",
            Presence::added, Sent::required},
           chain.loader, kLoaderKinds);
}

/// What workers need and send.
template <class Visitor>
void loading_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.whole(if_sent("ring_slots"), chain.ring_slots);
  v.whole(if_sent("train_threads"), chain.train_threads);
  v.whole(if_sent("worker_threads", "that each worker computes with"), chain.worker_threads);
  v.number({"worker_bytes",
            "memory that a worker process shares with no other; null if it is not known, or "
            "workers are threads"},
           chain.worker_bytes);
  v.flag(if_sent("persistent_workers", "worker processes outlive an epoch"),
         chain.persistent_workers);
  v.part({"batch_contents",
          "what a worker process sends for a batch; null if there are no worker processes"},
         chain.batch_contents);
  v.part({"sending",
          "what sending a batch from a worker process would cost, measured; null if it was not, or "
          "if batches are sent",
          Presence::added},
         chain.sending);
  v.part({"cache_hit",
          "what a sample from a cache that processes share costs the one that asks for it, "
          "measured; null if it was not",
          Presence::added},
         chain.cache_hit);
}

template <class Visitor>
void content_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.json({"effective", "the whole pipeline file after defaults and --set"}, chain.effective_json);
  v.flag(if_sent("generated_data"), chain.generated_data);
}

/// How the job reads and trains.
template <class Visitor>
void job_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.flag(if_sent("worker_processes"), chain.worker_processes);
  v.flag(if_sent("profiles_steps"), chain.profiles_steps);
  v.flag({"counts_storage", {}, Presence::added}, chain.counts_storage);
  v.flag(if_sent("keeps_queues", "each arm goes on where it was"), chain.keeps_queues);
  v.whole(if_sent("local_ranks", "training processes of the job on this machine"),
          chain.local_ranks);
  v.number({"epoch_start_seconds"}, chain.epoch_start_seconds);
  v.count({"samples", "of the data set"}, chain.samples);
  v.count({"epoch_samples", "that one process reads in an epoch", Presence::added},
          chain.epoch_samples);
  v.flag(if_sent("shuffle"), chain.shuffle);
  v.count(if_sent("seed"), chain.seed);
  v.text({"train"}, chain.train);
  v.flag(if_sent("weights_restored"), chain.weights_restored);
  v.whole(if_sent("sync_every"), chain.sync_every);
  v.flag(if_sent("copy_pinned"), chain.copy_pinned);
  v.flag({"copy_non_blocking"}, chain.copy_non_blocking);
  v.whole(if_sent("copy_prefetch"), chain.copy_prefetch);
  v.whole(if_sent("ring_prefetch"), chain.ring_prefetch);
  v.whole(if_sent("batches_per_step"), chain.batches_per_step);
}

template <class Visitor>
void usable_cpus_field(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  v.number({"usable_cpus", "of the machine that runs the chain"}, chain.usable_cpus);
}

/// The chain as messages have it: the settings of the job stand next to it.
template <class Visitor>
void message_fields(Visitor& v, Visited<Visitor, ChainDescription>& chain) {
  name_fields(v, chain);
  v.list({"stages", "in the order of the chain, at least one"}, chain.stages);
  loader_field(v, chain);
  loading_fields(v, chain);
  content_fields(v, chain);
  job_fields(v, chain);
  v.count({"order_nonce", "chooses where in the epoch reading begins"}, chain.order_nonce);
  v.choice({"device_kind"}, chain.device_kind, kAllDeviceKinds);
  v.text({"device_name"}, chain.device_name);
  v.number({"device_memory_bytes"}, chain.device_memory_bytes);
  v.number({"copy_gb_per_s", "from pinned memory"}, chain.copy_gb_per_s);
  usable_cpus_field(v, chain);
}

}  // namespace cachebisect
