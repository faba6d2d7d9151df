#if canImport(CloudKit)
let part10 = 1
#else
let part10 = 0
#endif
