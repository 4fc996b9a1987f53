#include "cachebisect/prepare/script_prepare.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <nlohmann/json.hpp>

#include "cachebisect/base/error.hpp"
#include "cachebisect/base/json_text.hpp"
#include "cachebisect/format/json_value.hpp"
#include "cachebisect/launch/hook_folder.hpp"

namespace cachebisect::prepare {
namespace {

constexpr JsonLimits kLimits{.max_bytes = std::size_t{8} << 20U,
                             .document = "what the Python hook has prepared"};

ScriptResult result_of(const nlohmann::json& document, const std::string& origin) {
  const JsonValue value(document, origin);
  if (!value["ok"].flag_or(false)) {
    const bool usage = value["kind"].text_or_empty() == "usage";
    throw Error(usage ? ErrorKind::usage : ErrorKind::data, value["error"].text());
  }
  ScriptResult result{.text = value["text"].text(), .json = value["summary"].json()};
  if (!value["summary"]["dry_run"].flag_or(false)) result.lines = value["lines"].texts();
  return result;
}

[[noreturn]] void fail_without_result(const std::optional<ChildStatus>& status,
                                      const std::stop_token& stop) {
  if (stop.stop_requested()) {
    throw Error(ErrorKind::interrupted,
                "stopped; shards that are whole stay, and the same command goes on from there");
  }
  if (status && !status->ok()) {
    throw Error(ErrorKind::data, "the command ended " + status->text() +
                                     " before its data set was prepared; see its own messages");
  }
  throw Error(ErrorKind::usage,
              "the command ended before it iterated a torch.utils.data.DataLoader in its main "
              "thread; with --loader N, the N-th one that it iterates is taken");
}

}  // namespace

std::string script_prepare_request(const ScriptRequest& request, const std::string& result) {
  nlohmann::ordered_json value{
      {"folder", std::filesystem::absolute(request.folder).lexically_normal().string()},
      {"result", result},
      {"shard_bytes", request.shard_bytes},
      {"frozen", request.random_too},
      {"dry_run", request.dry_run}};
  value["after"] = request.after.empty() ? nullptr : nlohmann::ordered_json(request.after);
  value["workers"] = request.workers.value_or(0);
  value["loader"] = request.loader ? nlohmann::ordered_json(*request.loader) : nullptr;
  return value.dump();
}

ScriptResult read_script_prepare(const std::string& text) {
  const std::string origin = "the result of the Python hook";
  try {
    return result_of(read_json(text, origin, kLimits), origin);
  } catch (const Error& error) {
    const bool unreadable = std::string(error.what()).starts_with(origin);
    if (!unreadable) throw;
    throw Error(ErrorKind::data, error.what());
  }
}

ScriptResult prepare_script(CommandWithFolder& run, const ScriptRequest& request,
                            const std::stop_token& stop) {
  const std::string file = run.folder() + "/prepared.json";
  ChildOptions options{.words = request.words,
                       .environment = hook_environment(find_hook_folder(request.hook)),
                       .stdout_to_stderr = request.stdout_to_stderr};
  options.environment.emplace("CACHEBISECT_PREPARE", script_prepare_request(request, file));
  const auto status = run.run(options, stop);
  std::ifstream content(file);
  if (!content) fail_without_result(status, stop);
  return read_script_prepare({std::istreambuf_iterator<char>(content), {}});
}

}  // namespace cachebisect::prepare
