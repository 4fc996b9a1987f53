// The one export macro: marks what a shared library of ours offers to others.
#pragma once

#define CACHEBISECT_API __attribute__((visibility("default")))
