#pragma once

#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry for programs that have a `main` of their own, as every executable of SwiftPM has.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*target)(const uint8_t *start, size_t count));
