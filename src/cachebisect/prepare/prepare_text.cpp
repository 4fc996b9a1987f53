#include "cachebisect/prepare/prepare_text.hpp"

#include "cachebisect/base/number_format.hpp"
#include "cachebisect/base/shell_word.hpp"
#include "cachebisect/format/document/render.hpp"

namespace cachebisect::prepare {
namespace {

std::string samples_text(std::uint64_t count) {
  return format_count(count) + (count == 1 ? " sample" : " samples");
}

std::string times(double factor) { return format_number(factor) + " times"; }

double rate_of(const Places& places, const Place& place, const StoredCost& stored) {
  const double seconds = places.seconds - place.seconds + stored.read_seconds;
  return seconds > 0 ? 1 / seconds : 0;
}

document::Table table_of(const Places& places) {
  document::Table table{.columns = {{"after"},
                                    {"codec"},
                                    {"per sample", Align::right},
                                    {"in all", Align::right},
                                    {"write", Align::right},
                                    {"read", Align::right},
                                    {"samples/s per core", Align::right},
                                    {"from the disk", Align::right}}};
  const double now = places.seconds > 0 ? 1 / places.seconds : 0;
  table.rows.push_back({"(now)", "", "", "", "", "", rate(now), ""});
  for (const Place& place : places.all) {
    for (const StoredCost& stored : place.stored) {
      const double then = rate_of(places, place, stored);
      table.rows.push_back({place.after, stored.codec, format_bytes(stored.bytes),
                            format_bytes(stored.bytes * static_cast<double>(places.samples)),
                            short_duration(stored.write_seconds),
                            short_duration(stored.read_seconds), rate(then),
                            format_bytes(then * stored.bytes) + "/s"});
    }
  }
  return table;
}

std::string choice_text(const Result& result) {
  if (!result.choice) {
    return "No place lets a core make " + percent(kLeastGain) +
           " more samples per second, or what would does not fit on the disk: preparing this data "
           "set does not pay. --after STAGE writes it all the same.";
  }
  const Choice& choice = *result.choice;
  const std::string where =
      "After '" + choice.place.after + "', stored with " + choice.stored.codec + ", ";
  const double bytes = choice.stored.bytes * static_cast<double>(result.places.samples);
  const std::string disk = format_bytes(bytes) + " of the " + format_bytes(result.free_bytes) +
                           " that are free on the disk";
  if (choice.gain < kLeastGain) {
    return where + "a core makes hardly more samples per second (" + times(1 + choice.gain) +
           " as many): it does not pay. It takes " + disk + ".";
  }
  return where + "a core makes " + times(1 + choice.gain) +
         " as many samples per second, if the disk or the memory of the system gives that much. It "
         "takes " +
         disk + ".";
}

std::string random_text(const Places& places) {
  if (places.random.empty() || places.find(places.random) != nullptr) return "";
  return "'" + places.random +
         "' draws random numbers: what lies behind it differs from epoch to epoch, and is not "
         "prepared.";
}

std::string written_text(const Written& written, const std::string& folder) {
  std::string text = "Wrote ";
  if (written.resumed >= written.samples + written.left_out) text = "There were ";
  text += samples_text(written.samples) + " after '" + written.after + "' (" + written.codec +
          "), " + format_bytes(static_cast<double>(written.bytes)) + " in " +
          counted(written.shards, "shard") + ", in " + folder + ", in " +
          format_seconds(written.seconds) + ".";
  if (written.resumed > 0 && written.resumed < written.samples + written.left_out) {
    text += " The first " + format_count(written.resumed) + " were there from an earlier run.";
  }
  if (written.left_out > 0) {
    text += " " + counted(written.left_out, "damaged sample") + " left out.";
  }
  return text;
}

}  // namespace

std::string to_text(const Result& result, const TextOptions& options) {
  Document all;
  all.add(
      document::Heading{result.name,
                        2,
                        {samples_text(result.places.samples) + "; the stages before collate take " +
                         short_duration(result.places.seconds) + " per sample"}});
  all.gap();
  all.add(table_of(result.places));
  all.gap();
  all.say(choice_text(result));
  all.say(random_text(result.places));
  if (result.written) {
    all.say(written_text(*result.written, result.folder));
    const std::string& pipeline = result.written->pipeline;
    all.gap();
    if (!pipeline.empty()) {
      all.add(document::Code{{"cachebisect --pipeline " + shell_word(pipeline)}});
    }
  }
  return to_text(all, options);
}

}  // namespace cachebisect::prepare
