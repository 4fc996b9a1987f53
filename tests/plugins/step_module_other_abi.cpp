// The module of another build.
#define OTHER_ABI
#include "step_module.cpp"
