#if canImport(CloudKit)
let part7 = 1
#else
let part7 = 0
#endif
