/// The policy by which a save compares the client's version with the stored one. The raw values are stored on disk.
public enum SavePolicy: UInt8, Sendable, CaseIterable {
    case ifServerRecordUnchanged, changedKeys, allKeys
}
