#if canImport(CloudKit)
let part8 = 1
#else
let part8 = 0
#endif
