#ifndef CCLOUDKIT_H
#define CCLOUDKIT_H

// Defined in Swift: lets archives name classes as Apple's do.
void cloudkit_register_class_names(void);

#endif
