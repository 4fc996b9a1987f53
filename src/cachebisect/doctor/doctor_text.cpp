#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/bisect/analysis/near_floor.hpp"
#include "cachebisect/doctor/doctor.hpp"
#include "cachebisect/format/document/render.hpp"

namespace cachebisect {
namespace {

/// The default of --min-drop.
constexpr double kUsualDrop = 0.05;

/// "8 cores, 8 usable on 4 physical cores, 2 memory nodes"; "cores" are those that the system
/// counts.
std::string cpus_text(const MachineReport& m) {
  std::string text =
      std::to_string(m.cores) + " cores, " + format_number(m.usable_cpus) + " usable";
  if (m.usable_cores && *m.usable_cores < m.usable_cpus) {
    text += " on " + format_number(*m.usable_cores) + " physical cores";
  }
  if (m.numa_nodes.value_or(1) > 1) text += ", " + std::to_string(*m.numa_nodes) + " memory nodes";
  return text;
}

void add_machine(document::List& facts, const Diagnosis& d) {
  const MachineReport& m = d.machine;
  const std::string machine = m.cpu + ", " + cpus_text(m) + ", " + format_bytes(m.memory_bytes);
  std::string system = m.os;
  if (m.virtualized) system += *m.virtualized ? ", virtual machine" : ", bare metal";
  std::string device = d.device.name;
  if (d.device.memory_bytes)
    device += ", " + format_bytes(static_cast<double>(*d.device.memory_bytes));
  if (d.copy_gb_per_s) device += ", copies " + format_number(*d.copy_gb_per_s) + " GB/s";
  std::string memory = format_number(d.memory_gb_per_s) + " GB/s moved by one core";
  if (d.memory_threads > 1) {
    memory += ", " + format_number(d.memory_all_gb_per_s) + " GB/s by " +
              std::to_string(d.memory_threads) + " cores together";
  }
  facts.items.push_back({machine, "machine"});
  facts.items.push_back({system, "system"});
  facts.items.push_back({device, "device"});
  facts.items.push_back({memory, "memory"});
}

std::string timers_text(const Diagnosis& d) {
  return "sleeps end " + format_seconds(d.timers.median_seconds) + " late (median), " +
         format_seconds(d.timers.p99_seconds) + " (99th percentile)";
}

std::string files_text(const PageCacheFacts& facts) {
  std::string text = facts.folder;
  if (!facts.file_system.empty()) text += " (" + facts.file_system + ")";
  text += ": ";
  const auto works = facts.eviction_works();
  if (!facts.problem.empty()) {
    text += facts.problem;
  } else if (!works) {
    text += "the system does not report what is in the page cache; --io cold cannot be checked";
  } else if (*works) {
    text += "files can be dropped from the page cache; --io cold works";
  } else {
    text += format_percent(*facts.resident_after_eviction) +
            " of a file stays in memory when it is dropped; --io cold would not be cold";
  }
  return text;
}

std::string noise_text(const Diagnosis& d) {
  return "equal blocks of a small pipeline, " + format_seconds(d.trust_options.block_seconds) +
         " each: neighbours differ by " + format_percent(d.neighbour_difference) + " (median of " +
         std::to_string(d.pairs) + " pairs), all by " +
         format_percent(d.machine.noise.block_cv.value_or(0)) + " (standard deviation over mean)";
}

std::string load_text(const Noise& noise) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (noise.other_load) add(rate(*noise.other_load) + " CPUs busy with other processes");
  if (noise.steal_share) add(format_percent(*noise.steal_share) + " of CPU time stolen");
  add(noise.frequency_change ? "the clock changed by " + format_percent(*noise.frequency_change)
                             : "the clock cannot be read");
  if (noise.throttled_share) {
    add("the CPU quota ran out in " + format_percent(*noise.throttled_share) + " of its periods");
  }
  if (noise.memory_stall_share) {
    add("programs waited for memory " + format_percent(*noise.memory_stall_share) + " of the time");
  }
  return text;
}

std::string floor_text(const ToolFloor& floor) {
  return "the tool itself: " + format_seconds(floor.ns_per_sample.value_or(0) * 1e-9) +
         " per sample, " + format_seconds(floor.us_per_batch.value_or(0) * 1e-6) +
         " per batch; stages that cost less than " + format_number(kFloorsToTrust) +
         " times that are not judged";
}

std::string verdict(const Diagnosis& d) {
  if (d.pairs < kMinDifferences) {
    return "Too little was measured to say what can be trusted here; use --seconds 10.";
  }
  const Trust& trust = d.trust;
  const std::string budget = duration(d.trust_options.budget_seconds);
  if (!trust.smallest_drop) {
    return "Too unsteady: not even a drop of 60% could be certified in " + budget +
           " here. Stop other work on this machine, or use a longer --budget.";
  }
  std::string text = *trust.smallest_drop <= kUsualDrop
                         ? "Steady enough: drops of "
                         : "Only large drops can be trusted: those of ";
  text += format_percent(*trust.smallest_drop) + " and more can be distinguished from no drop in " +
          budget + " here";
  if (trust.seconds_for_a_fifth) {
    text += "; one of 20% is certified in about " + duration(*trust.seconds_for_a_fifth);
  }
  return text + " (a chain of " + std::to_string(d.trust_options.boundaries - 1) + " stages, at " +
         format_percent(d.trust_options.confidence) + ").";
}

document::List facts_of(const Diagnosis& d) {
  document::List facts;
  add_machine(facts, d);
  facts.items.push_back({timers_text(d), "timers"});
  if (d.page_cache) facts.items.push_back({files_text(*d.page_cache), "files"});
  facts.items.push_back({noise_text(d), "noise"});
  facts.items.push_back({load_text(d.machine.noise), "load"});
  facts.items.push_back({floor_text(d.machine.floor), "floor"});
  return facts;
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis, const TextOptions& options,
                    const std::optional<StorageNeeds>& needs) {
  Document all;
  all.add(facts_of(diagnosis));
  all.gap();
  all.say(document::strong(verdict(diagnosis)));
  for (const Warning& warning : diagnosis.warnings) {
    all.say(document::warning("warning") + ": " + as_sentence(warning.text) + " " +
                as_sentence(warning.remedy),
            2);
  }
  all.gap();
  if (diagnosis.storage) all.add(storage_document(*diagnosis.storage, needs));
  all.gap();
  if (diagnosis.server) all.add(server_document(*diagnosis.server, needs));
  return to_text(all, options);
}

}  // namespace cachebisect
