import StrataModel

/// The constants of the format (docs/format.md). A test compares the page with them.
package enum LogFormat {
    package static let version: UInt16 = 1

    static let storeMagic = "StrataSt"
    static let segmentMagic = "StrataSg"
    static let floorMagic = "StrataFl"
    static let baseMagic = "StrataBs"
    static let tailMagic = "StrataTl"
    static let erasingMagic = "StrataEr"

    static let headerBlockPreludeBytes = 16
    static let headerBlockMaximumBytes = 4_096
    static let segmentHeaderBytes = 128

    static let frameMagic: UInt32 = 0x7246_7453  // "StFr" in the order of the bytes
    package static let frameHeaderBytes = 64
    static let frameAlignment = 8
    static let partPrefixBytes = 16

    /// The maximum length of a commit's payload.
    package static let maximumCommitBytes = 64 << 20
    /// The maximum length of the piece of a payload in one frame.
    package static let maximumPieceBytes = 4 << 20

    package static let minimumSegmentBytes = 64 << 10
    package static let maximumSegmentBytes = 1 << 30

    package static let containerIdentifierMaximumBytes = 255

    static func padded(_ count: Int) -> Int { (count + frameAlignment - 1) & ~(frameAlignment - 1) }

    static func segmentName(_ firstOffset: UInt64) -> String { paddedDecimal(firstOffset) + ".seg" }

    static func baseName(_ horizon: UInt64) -> String { segmentName(horizon).dropLast(4) + ".base" }

    /// Returns the horizon that the name of a base file claims; nil for other names.
    package static func horizon(ofBaseNamed name: String) -> UInt64? {
        guard name.hasSuffix(".base"), let horizon = firstOffset(ofSegmentNamed: name.dropLast(5) + ".seg") else {
            return nil
        }
        return horizon
    }

    /// Returns the first offset that the name of a segment file claims; nil for other names.
    package static func firstOffset(ofSegmentNamed name: String) -> UInt64? {
        guard name.utf8.count == 24, name.hasSuffix(".seg"), let offset = UInt64(name.dropLast(4)), offset > 0,
            segmentName(offset) == name
        else { return nil }
        return offset
    }
}
