#include <rocksdb/c.h>
/* Gives back what stores have freed, before the memory of the next one is measured. */
#include <malloc.h>
