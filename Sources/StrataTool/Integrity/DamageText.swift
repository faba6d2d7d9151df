import StrataLog
import StrataModel

/// Describes the extent of damage as text and as JSON.
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

    private static func limited(_ lines: [String]) -> [String] {
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

extension JSONWriter {
    mutating func field(_ key: StaticString, _ extent: DamageExtent?) {
        guard let extent else { return null(key) }
        beginObject(key)
        beginArray("bytes")
        for bytes in extent.bytes {
            beginObject()
            field("path", bytes.path)
            field("first", bytes.range.lowerBound)
            field("last", bytes.range.upperBound - 1)
            endObject()
        }
        endArray()
        beginArray("strays")
        for stray in extent.strays {
            beginObject()
            field("path", stray.path)
            field("firstOffset", stray.firstOffset)
            field("foreign", stray.isForeign)
            endObject()
        }
        endArray()
        field("missing", extent.missingOffsets)
        field("lost", extent.lostOffsets)
        field("whole", extent.standingOffsets)
        beginArray("furtherDamage")
        for damage in extent.furtherDamage { value(damage) }
        endArray()
        endObject()
    }

    mutating func field(_ key: StaticString, _ offsets: OffsetRanges) {
        beginArray(key)
        for range in offsets.ranges {
            beginObject()
            field("first", range.lowerBound)
            field("last", range.upperBound)
            endObject()
        }
        endArray()
    }
}
