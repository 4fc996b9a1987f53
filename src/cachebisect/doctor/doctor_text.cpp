#include <algorithm>
#include <cmath>
#include <string>

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/printable.hpp"
#include "cachebisect/bisect/analysis/near_floor.hpp"
#include "cachebisect/doctor/doctor.hpp"
#include "cachebisect/format/text_page.hpp"

namespace cachebisect {
namespace {

/// The default of --min-drop.
constexpr double kUsualDrop = 0.05;

// "label    text", with further lines indented to the text.
std::string labelled(const std::string& label, const std::string& text, const TextPage& page) {
  constexpr std::size_t kLabelColumns = 9;
  std::string line = page.paint.bold(label) + std::string(kLabelColumns - label.size(), ' ');
  for (const char c : wrap(text, page.prose - static_cast<int>(kLabelColumns), 0)) {
    line += c;
    if (c == '\n') line.append(kLabelColumns, ' ');
  }
  line.resize(line.size() - kLabelColumns);
  return line;
}

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

std::string machine_lines(const Diagnosis& d, const TextPage& page) {
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
  return labelled("machine", machine, page) + labelled("system", system, page) +
         labelled("device", device, page) + labelled("memory", memory, page);
}

std::string timer_line(const Diagnosis& d, const TextPage& page) {
  return labelled("timers",
                  "sleeps end " + format_seconds(d.timers.median_seconds) + " late (median), " +
                      format_seconds(d.timers.p99_seconds) + " (99th percentile)",
                  page);
}

std::string file_line(const PageCacheFacts& facts, const TextPage& page) {
  std::string text = printable(facts.folder);
  if (!facts.file_system.empty()) text += " (" + facts.file_system + ")";
  text += ": ";
  const auto works = facts.eviction_works();
  if (!facts.problem.empty()) {
    text += printable(facts.problem);
  } else if (!works) {
    text += "the system does not report what is in the page cache; --io cold cannot be checked";
  } else if (*works) {
    text += "files can be dropped from the page cache; --io cold works";
  } else {
    text += format_percent(*facts.resident_after_eviction) +
            " of a file stays in memory when it is dropped; --io cold would not be cold";
  }
  return labelled("files", text, page);
}

std::string noise_line(const Diagnosis& d, const TextPage& page) {
  const std::string text =
      "equal blocks of a small pipeline, " + format_seconds(d.trust_options.block_seconds) +
      " each: neighbours " + "differ by " + format_percent(d.neighbour_difference) +
      " (median of " + std::to_string(d.pairs) + " pairs), all by " +
      format_percent(d.machine.noise.block_cv.value_or(0)) + " (standard deviation over mean)";
  return labelled("noise", text, page);
}

std::string disturbance_line(const Noise& noise, const TextPage& page) {
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
  return labelled("load", text, page);
}

std::string floor_line(const Diagnosis& d, const TextPage& page) {
  const ToolFloor& floor = d.machine.floor;
  return labelled("floor",
                  "the tool itself: " + format_seconds(floor.ns_per_sample.value_or(0) * 1e-9) +
                      " per sample, " + format_seconds(floor.us_per_batch.value_or(0) * 1e-6) +
                      " per batch; stages that cost less than " + format_number(kFloorsToTrust) +
                      " times that are not judged",
                  page);
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

std::string warning_lines(const Diagnosis& d, const TextPage& page) {
  std::string text;
  for (const Warning& warning : d.warnings) {
    text += wrap(page.paint.warning("warning") + ": " + as_sentence(warning.text) + " " +
                     as_sentence(warning.remedy),
                 page.prose, 2);
  }
  return text;
}

}  // namespace

std::string to_text(const Diagnosis& diagnosis, const TextOptions& options,
                    const std::optional<StorageNeeds>& needs) {
  const TextPage page(options);
  std::string text = machine_lines(diagnosis, page) + timer_line(diagnosis, page);
  if (diagnosis.page_cache) text += file_line(*diagnosis.page_cache, page);
  text += noise_line(diagnosis, page) + disturbance_line(diagnosis.machine.noise, page) +
          floor_line(diagnosis, page) + "\n" +
          wrap(page.paint.bold(verdict(diagnosis)), page.prose, 0);
  text += warning_lines(diagnosis, page);
  if (diagnosis.storage) text += "\n" + to_text(*diagnosis.storage, needs, options);
  if (diagnosis.server) text += "\n" + to_text(*diagnosis.server, needs, options);
  return text;
}

}  // namespace cachebisect
