#include "ccloudkit.h"

// Before main: a program's first use of CloudKit may be decoding a token that a Mac wrote.
__attribute__((constructor)) static void register_class_names(void) {
    cloudkit_register_class_names();
}
