#if canImport(CloudKit)
let part4 = 1
#else
let part4 = 0
#endif
