import StrataLog
import StrataModel

/// Describes the extent of damage as text.
enum DamageText {
    /// The maximum number of lines of one kind.
    private static let mostLines = 20

    static func lines(of extent: DamageExtent) -> [String] {
        var lines = limited(extent.bytes.map { "damaged bytes: \(text(of: $0))" })
        lines += limited(extent.strays.map { "stray: \($0.path) \(text(of: $0))" })
        if !extent.missingOffsets.isEmpty { lines.append("no file for offsets: \(extent.missingOffsets)") }
        lines.append(
            "lost offsets: \(extent.lostOffsets.isEmpty ? "none known" : text(extent.lostOffsets))")
        if !extent.standingOffsets.isEmpty { lines.append("intact after it: \(text(extent.standingOffsets))") }
        lines += limited(extent.furtherDamage.map { "further damage: \($0)" })
        return lines.map { Printable.escaped($0) }
    }

    /// Returns the first lines, and how many more there are.
    static func limited(_ lines: [String]) -> [String] {
        lines.count <= mostLines ? lines : lines.prefix(mostLines) + ["… and \(lines.count - mostLines) more"]
    }

    private static func text(of bytes: DamageExtent.Bytes) -> String {
        "\(bytes.range.lowerBound) to \(bytes.range.upperBound - 1) of \(bytes.path)"
    }

    private static func text(of stray: DamageExtent.Stray) -> String {
        stray.isForeign ? "belongs to another store" : "is the segment that begins at \(stray.firstOffset)"
    }

    /// `6 to 8, 12, 4 in total`.
    static func text(_ offsets: OffsetRanges) -> String {
        var pieces = offsets.ranges.prefix(mostLines).map { OffsetRanges([$0]).description }
        if offsets.ranges.count > mostLines { pieces.append("…") }
        let text = pieces.joined(separator: ", ")
        return offsets.ranges.count > 1 ? text + ", \(offsets.count) in total" : text
    }
}

extension DamageExtent: Shaped {
    static let shape = Shape<Self>("How far damage goes") {
        Key("bytes", "the wrong bytes", each: bytesShape) { $0.bytes }
        Key("strays", "segment files that do not belong under their names", each: strayShape) { $0.strays }
        Key("missing", "offsets for which there is no file") { $0.missingOffsets }
        Key("lost", "known offsets after the last intact commit that are not intact anywhere") { $0.lostOffsets }
        Key("whole", "commits after the damage that are intact according to their own checksums") { $0.standingOffsets }
        Key("furtherDamage", "damage in other places") { $0.furtherDamage }
    }

    private static let bytesShape = Shape<Bytes>("Damaged bytes") {
        Key("path", "of the file") { $0.path }
        Key("first", "position of the first byte") { $0.range.lowerBound }
        Key("last", "position of the last byte") { $0.range.upperBound - 1 }
    }

    private static let strayShape = Shape<Stray>("A stray segment") {
        Key("path", "of the file") { $0.path }
        Key("firstOffset", "the offset that its header names") { $0.firstOffset }
        Key("foreign", "true if it is of another store") { $0.isForeign }
    }
}
