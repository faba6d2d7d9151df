#if canImport(CloudKit)
let part1 = 1
#else
let part1 = 0
#endif
