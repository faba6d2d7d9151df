/// The number of this module's files that saw a module CloudKit.
public let filesThatSawCloudKit =
    part1 + part2 + part3 + part4 + part5 + part6 + part7 + part8 + part9 + part10 + part11 + part12
public let fileCount = 12
