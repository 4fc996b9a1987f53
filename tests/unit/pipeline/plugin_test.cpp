#include "cachebisect/pipeline/plugin.hpp"

#include <string>

#include "support/files.hpp"
#include "support/plugins.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "cachebisect/base/error.hpp"

using cachebisect::Error;
using cachebisect::ErrorKind;
using cachebisect::Registry;
using cachebisect::test::has;
using cachebisect::test::test_plugin;

namespace {

std::string plugin_refusal(const std::string& path) {
  Registry registry;
  try {
    registry.load_plugin(path);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(registry.stages().empty());
    return error.what();
  }
  return "loaded";
}

}  // namespace

TEST_CASE("the stages and steps of a plugin live as long as any copy of the registry") {
  Registry copy;
  {
    Registry registry;
    registry.load_plugin(test_plugin("good"));
    CHECK(registry.stage("test.good").doc == "a stage of a plugin");
    CHECK(registry.train_step("test.step").type == "test.step");
    copy = registry;
  }
  CHECK(copy.stage("test.good").make(cachebisect::Params()) == nullptr);
  copy = Registry();
  CHECK(copy.stages().empty());
}

TEST_CASE("loading a plugin twice is refused and changes nothing") {
  Registry registry;
  registry.load_plugin(test_plugin("good"));
  CHECK_THROWS_AS(registry.load_plugin(test_plugin("good")), Error);
  CHECK(registry.stages().size() == 1);
}

TEST_CASE("a different ABI is refused before any C++ call, naming both") {
  const std::string message = plugin_refusal(test_plugin("wrong_abi"));
  CHECK(has(message, "gcc 4"));
  CHECK(has(message, cachebisect::plugin_abi()));
  CHECK(has(message, "rebuild"));
}

TEST_CASE("a file that is not a plugin is refused with the remedy") {
  CHECK(has(plugin_refusal(test_plugin("no_entry")), "CACHEBISECT_PLUGIN"));
  CHECK(has(plugin_refusal(test_plugin("throwing")), "no licence found"));
  CHECK(has(plugin_refusal("/nonexistent/libmine.so"), "no such file"));
  CHECK(has(plugin_refusal("libcachebisect-no-such-plugin.so"), "cannot be opened"));
  CHECK(has(plugin_refusal(""), "empty"));
  CHECK(has(plugin_refusal("/"), "not a file"));
}

TEST_CASE("text and FIFOs are refused without waiting") {
  const cachebisect::test::TemporaryFolder folder;
  CHECK(has(plugin_refusal(folder.write("text.so", "not a library")), "cannot be opened"));
  REQUIRE(mkfifo(folder.path("fifo.so").c_str(), 0600) == 0);
  CHECK(has(plugin_refusal(folder.path("fifo.so")), "not a file"));
}
