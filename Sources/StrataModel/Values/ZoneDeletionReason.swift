/// The reason why a zone was deleted. The numbers are on disk and never change.
public enum ZoneDeletionReason: UInt8, Sendable, CaseIterable {
    case deleted = 1, purged, encryptedDataReset

    package var name: String { words(of: self) }
}
