// URLs that doctor is given.
#include "cachebisect/doctor/object_list.hpp"

#include <string>
#include <vector>

#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"
#include <doctest/doctest.h>

using namespace cachebisect;
using test::has;

TEST_CASE("URLs are read from the command and from files, and what is none is named") {
  const test::TemporaryFolder folder;
  const std::string file =
      folder.write("urls", std::string("# two\nhttps://host/a\r\n\nhttp://host/b \n"));
  CHECK(list_objects({"http://host/c", "@" + file}) ==
        std::vector<std::string>{"http://host/c", "https://host/a", "http://host/b"});
  CHECK(list_objects({}).empty());
  const auto refused = [](const std::string& name) {
    return test::usage_error([&] { static_cast<void>(list_objects({name})); });
  };
  CHECK(has(refused("s3://bucket/key"), "s3://bucket/key"));
  CHECK(has(refused("http://host/a b"), "no URL"));
  CHECK(has(refused("http://host/" + std::string(100'000, 'a')), "no URL"));
  CHECK(has(refused("@" + folder.path("none")), "none"));
  folder.write("bad", std::string("http://host/a\nfile:///etc/passwd\n"));
  CHECK(has(refused("@" + folder.path("bad")), "bad:2"));
  folder.write("empty", std::string("# nothing\n"));
  CHECK(has(refused("@" + folder.path("empty")), "has no URLs"));
}
