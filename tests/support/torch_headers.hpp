// What the tests of the LibTorch module use of LibTorch, before doctest: later, these headers would
// replace doctest's macros.
#pragma once

#include <ATen/Context.h>
#include <ATen/ops/empty_strided.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/types.h>

// c10 defines a CHECK of its own, which ends the process.
#undef CHECK
#include <doctest/doctest.h>
