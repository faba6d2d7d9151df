import CloudKit
import Guarded

#if !canImport(CloudKit)
#error("a target that depends on CloudKit must see it")
#endif
print("\(filesThatSawCloudKit) of 12 files of the other package see CloudKit")
