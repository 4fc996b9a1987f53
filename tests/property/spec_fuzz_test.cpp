// Seeded mutations of a valid pipeline file: every one parses, or is a usage error with a short
// printable message. What parses is the same after a round trip through JSON.
#include <algorithm>
#include <array>
#include <string>

#include "support/fuzz_cases.hpp"
#include "support/sanitized.hpp"
#include "support/spec_errors.hpp"
#include <doctest/doctest.h>

#include "cachebisect/base/random.hpp"
#include "cachebisect/pipeline/file/pipeline_file.hpp"

using namespace cachebisect;
using namespace cachebisect::test;

namespace {

constexpr std::array<std::string_view, 30> kTokens{"{",
                                                   "}",
                                                   "[",
                                                   "]",
                                                   "\"",
                                                   ",",
                                                   ":",
                                                   "null",
                                                   "true",
                                                   "-",
                                                   "1e400",
                                                   "1e308",
                                                   "-0",
                                                   "9223372036854775808",
                                                   "1.5",
                                                   "\\u0000",
                                                   "\\ud800",
                                                   "/*",
                                                   "*/",
                                                   "//",
                                                   "\xff",
                                                   "\xc3",
                                                   "${",
                                                   "${HOME}",
                                                   "\"use\":",
                                                   "\"stages\":",
                                                   "\"name\": \"x\",",
                                                   "[[[[[[[[[[[[[[[[[[[[",
                                                   "{\"a\":",
                                                   "\n"};

std::size_t place(RandomStream& random, const std::string& text) {
  return random.below(text.size() + 1);
}

void mutate(std::string& text, RandomStream& random) {
  const std::size_t at = place(random, text);
  const std::size_t length = std::min<std::size_t>(random.below(40), text.size() - at);
  switch (random.below(7)) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, kTokens.at(random.below(kTokens.size())));
      break;
    case 2:
      text.replace(at, std::min<std::size_t>(1, text.size() - at),
                   kTokens.at(random.below(kTokens.size())));
      break;
    case 3:
      if (at < text.size()) text[at] = static_cast<char>(random.below(256));
      break;
    case 4:
      text.insert(place(random, text), text.substr(at, length));
      break;
    case 5:
      if (at < text.size()) std::swap(text[at], text[random.below(text.size())]);
      break;
    default:
      // Replaces a digit: changes values and usually leaves the file valid.
      if (const std::size_t digit = text.find_first_of("0123456789", at);
          digit != std::string::npos) {
        text[digit] = static_cast<char>('0' + random.below(10));
      }
      break;
  }
}

void check_message(const std::string& message) {
  CHECK(!message.empty());
  CHECK(message.size() < 2000);
  CHECK(std::ranges::all_of(message, [](char c) { return c >= 0x20 && c < 0x7f; }));
}

// True if the text parsed.
bool try_parse(const std::string& text, const std::vector<SpecOverride>& overrides,
               const Registry& registry) {
  const SpecPaths paths{.base_folder = "/base", .cache_folder = "/cache"};
  try {
    const PipelineSpec spec = parse_pipeline(text, "fuzz", registry, paths, overrides);
    CHECK(parse_pipeline(to_json(spec), "again", registry, paths) == spec);
    return true;
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    check_message(error.what());
    return false;
  }
}

}  // namespace

TEST_CASE("mutated files parse or are refused") {
  const Registry registry = fake_registry();
  std::uint64_t parsed = 0;
  const std::uint64_t files = fuzz_cases(kIsSanitized ? 2000 : 6000);
  for (std::uint64_t i = 0; i < files; ++i) {
    RandomStream random({.seed = 11, .index = i});
    std::string text = kFakePipeline;
    const std::uint64_t mutations = 1 + random.below(4);
    for (std::uint64_t m = 0; m < mutations; ++m) mutate(text, random);
    CAPTURE(text);
    parsed += try_parse(text, {}, registry) ? 1 : 0;
  }
  // Both outcomes must be frequent, else the mutations test nothing.
  CHECK(parsed > files / 50);
  CHECK(parsed < files * 9 / 10);
}

TEST_CASE("mutated overrides are applied or refused") {
  const Registry registry = fake_registry();
  constexpr std::array<std::string_view, 8> kPaths{
      "batch_size",         "stages.crop.size", "stages.2.padding",        "stages.wait.jitter.cv",
      "train.optimizer.lr", "emulate.step_ms",  "stages.normalize.mean.0", "train"};
  constexpr std::array<std::string_view, 8> kValues{
      "8", "28", "\"x\"", "[1, 2]", "{\"kind\": \"emulated\"}", "auto", "0.5", "null"};
  std::uint64_t parsed = 0;
  const std::uint64_t cases = fuzz_cases(kIsSanitized ? 1500 : 4000);
  for (std::uint64_t i = 0; i < cases; ++i) {
    RandomStream random({.seed = 12, .index = i});
    SpecOverride given{std::string(kPaths.at(random.below(kPaths.size()))),
                       std::string(kValues.at(random.below(kValues.size())))};
    if (random.below(2) == 0) mutate(given.path, random);
    if (random.below(2) == 0) mutate(given.value, random);
    CAPTURE(given.path);
    CAPTURE(given.value);
    parsed += try_parse(kFakePipeline, {given}, registry) ? 1 : 0;
  }
  CHECK(parsed > cases / 50);
  CHECK(parsed < cases * 9 / 10);
}
