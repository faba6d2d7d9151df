#if canImport(CloudKit)
let part2 = 1
#else
let part2 = 0
#endif
