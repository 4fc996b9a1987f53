// The plugin: stages with the habits of real ones.
//
//   cachebisect --plugin libhabit_stages.so --pipeline FILE
#include "cachebisect/pipeline/plugin.hpp"

#include "bench/habits/stages/register.hpp"

CACHEBISECT_PLUGIN(cachebisect::habits::register_habits)
