#include "cstrata.h"

#define LINE_BYTES 64

void strata_prefetch(const void *start, size_t count) {
    const char *line = start;
    for (size_t place = 0; place < count; place += LINE_BYTES) __builtin_prefetch(line + place);
}
