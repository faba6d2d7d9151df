#if canImport(CloudKit)
let part3 = 1
#else
let part3 = 0
#endif
