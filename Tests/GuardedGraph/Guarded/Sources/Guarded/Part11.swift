#if canImport(CloudKit)
let part11 = 1
#else
let part11 = 0
#endif
