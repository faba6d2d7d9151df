#if canImport(CloudKit)
let part9 = 1
#else
let part9 = 0
#endif
