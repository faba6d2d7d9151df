/// Whether a save looks at the version that the client had seen. The numbers are on disk.
public enum SavePolicy: UInt8, Sendable, CaseIterable {
    case ifServerRecordUnchanged, changedKeys, allKeys
}
