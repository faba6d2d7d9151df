#if canImport(CloudKit)
let part6 = 1
#else
let part6 = 0
#endif
