#if canImport(CloudKit)
let part5 = 1
#else
let part5 = 0
#endif
