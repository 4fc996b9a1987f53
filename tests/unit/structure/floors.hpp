// The rooms of the source, what each is for, and what it may include: the rules of the design.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace cachebisect::test {

struct Floor {
  std::string name;  ///< folder of src/cachebisect, or "stages/kernels", "torch", "cli"
  std::string purpose;
  std::set<std::string> may_include;  ///< besides its own files
  /// Its own rooms, lower ones first: each may include those before it; "": the floor's own files.
  /// Empty: no rule.
  std::vector<std::string> rooms{};
};

/// Two towers on one ground. The machine (data to replay) runs pipelines, the method (simulate to
/// bisect) measures whatever answers the protocol; they meet in api and its neighbours alone.
inline std::vector<Floor> floors() {
  std::set<std::string> below;
  std::vector<Floor> all;
  const auto add = [&](Floor floor) { all.push_back(std::move(floor)); };
  add({"base", "errors, clock, random numbers, statistics, the machine, files", {}});
  add({"protocol", "Replayer, arms, blocks, the description of a chain", {"base"}});
  add({"format",
       "text layout, Markdown, HTML elements, documents, CSV, YAML, JSON by fields, pictures, "
       "event "
       "files",
       {"base"},
       {"", "html", "picture", "document"}});
  add({"storage", "a server of objects as numbers: latency, bandwidth, refusals", {"base"}});
  add({"http", "objects on servers, over HTTP", {"base", "protocol"}});
  add({"objects",
       "bytes by ranges, of files and of objects on servers",
       {"base", "protocol", "http"}});
  below = {"base", "protocol"};
  const auto next = [&](Floor floor) {
    floor.may_include = below;
    below.insert(floor.name);
    add(std::move(floor));
  };
  add({"data", "fields, samples, batches, memory", {"base"}});
  below.insert("data");
  add({"shards", "samples in files, compressed or not", {"base", "format", "data", "objects"}});
  next({"device", "cpu, emulated and CUDA devices", {}});
  below.insert("storage");
  next({"pipeline", "stages, registry, chain, builder, plugins", {}, {"", "file"}});
  below.erase("storage");
  next({"train", "training steps; opens the LibTorch module", {}});
  next({"executor", "workers, the ring of batch slots, load programs", {}});
  next({"replay",
        "PipelineReplayer: caches, the training loop",
        {},
        {"loop", "cache", "reading", "", "job"}});
  const std::set<std::string> machine = below;
  add({"simulate", "a Replayer in virtual time", {"base", "protocol"}});
  add({"remote", "a Replayer over a socket", {"base", "protocol", "format"}});
  add({"emulator",
       "a local server that gives a folder as slowly as a model of storage says",
       {"base", "storage", "remote"}});
  add({"bisect",
       "what is recorded, evidence, costs, phases, verdict, advice",
       {"base", "protocol"},
       {"record", "evidence", "costs", "report", "phases", "analysis", "advice", ""}});
  add({"report",
       "a Report as text, JSON and every other format; writers compute nothing",
       {"base", "format", "protocol", "bisect"},
       {"", "words", "json", "html", "writers"}});
  const std::set<std::string> shown{"base", "format", "protocol", "bisect", "report"};
  add({"history", "the trend of many runs", shown});
  add({"compare", "what changed between two reports or jobs", shown});
  std::set<std::string> everything = machine;
  everything.insert({"format", "simulate", "remote", "bisect", "report", "history", "compare"});
  const auto with = [&](std::set<std::string> more) {
    more.insert(everything.begin(), everything.end());
    return more;
  };
  add({"launch", "child processes and the Python hook", {"base", "protocol", "remote"}});
  add({"chunks", "what the chunk shape of an array costs", {"base", "format"}});
  add({"observe",
       "one stream of events of a training loop, and what a script's hook saw of its own",
       with({"launch"})});
  add({"timing", "where the time of each batch goes: a view of the events of a loop",
       with({"observe"})});
  add({"profile", "where the time of a step goes: a view of the events of a loop",
       with({"observe"})});
  add({"prepare",
       "a data set written once, at a stage",
       {"base", "protocol", "format", "data", "device", "pipeline", "shards", "remote", "launch"}});
  add({"plan", "what a measured job would reach on other machines", shown});
  add({"tune", "changes of a pipeline: predicted, run, kept if they gain",
       with({"prepare", "shards", "doctor"})});
  add({"doctor", "whether this machine can be trusted", with({"http"})});
  add({"selftest", "planted chains, judged", everything});
  add({"api", "the library call", everything});
  add({"stages/kernels", "image kernels", {"base", "data"}});
  add({"stages/codecs", "image codecs", {"base", "stages/kernels"}});
  add({"stages/modules",
       "libraries that are opened at run time",
       {"base", "data", "pipeline", "stages/kernels", "stages/codecs", "stages/datasets"}});
  add({"stages/datasets",
       "files of data sets",
       {"base", "format", "data", "objects", "pipeline", "stages/kernels", "stages/codecs"}});
  add({"stages/support",
       "what stages share",
       {"base", "protocol", "data", "objects", "pipeline", "stages/kernels", "stages/codecs"}});
  add({"stages",
       "one file per built-in stage",
       {"base", "protocol", "data", "objects", "shards", "device", "pipeline", "stages/kernels",
        "stages/codecs", "stages/datasets", "stages/support"}});
  add({"torch",
       "the LibTorch models, a module of its own",
       {"base", "protocol", "data", "device", "pipeline", "train"}});
  add({"http_server",
       "the emulator's HTTP over cpp-httplib, a module of its own",
       {"base", "storage", "emulator"}});
  add({"cli",
       "one file per subcommand: parse, call, print, exit",
       with({"launch", "chunks", "observe", "timing", "profile", "doctor", "selftest", "api",
             "tune", "prepare", "plan", "storage", "emulator"}),
       {"shell", "output", "commands", ""}});
  return all;
}

}  // namespace cachebisect::test
