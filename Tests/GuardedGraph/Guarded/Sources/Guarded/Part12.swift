#if canImport(CloudKit)
let part12 = 1
#else
let part12 = 0
#endif
