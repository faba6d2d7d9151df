import StrataModel
import StrataSystem

/// The header of a segment: its own identity, and the end of what precedes it (docs/format.md §2).
package struct SegmentHeader: Sendable, Equatable {
    enum Form: UInt32 { case frames = 1, blocks = 2 }

    private enum Tag {
        static let storeID: UInt16 = 1
        static let firstOffset: UInt16 = 2
        static let chainBefore: UInt16 = 3
        static let form: UInt16 = 4
        static let segmentID: UInt16 = 5
        static let timeBefore: UInt16 = 6
        /// Optional: it only serves to choose the sizes of later segments.
        static let frameBytes: UInt16 = 7 | HeaderBlock.Field.optionalBit
        static let all: Set<UInt16> = [storeID, firstOffset, chainBefore, form, segmentID, timeBefore, frameBytes]
    }

    package let storeID: Identifier
    package let segmentID: Identifier
    package let firstOffset: UInt64
    package let chainBefore: UInt32
    /// The time of the preceding commit; the smallest number if there is none.
    package let timeBefore: Int64
    let form: Form
    /// The size of a sealed segment before it was sealed.
    let frameBytes: UInt64?
    /// The checksum of the header. Every frame's header checksum starts from it, so that frames of other segments are
    /// not valid here.
    let salt: UInt32
    /// The size of the header, and thus the position of the first frame or block.
    let byteCount: Int

    var before: Position { Position(offset: firstOffset - 1, chain: chainBefore) }

    /// Returns the header of a new segment after `end`, and its bytes.
    static func make(
        storeID: Identifier, segmentID: Identifier, after end: Position, timeBefore: Int64
    ) throws -> (header: SegmentHeader, bytes: [UInt8]) {
        let block = HeaderBlock(
            magic: LogFormat.segmentMagic,
            fields: [
                .init(Tag.storeID, storeID), .init(Tag.firstOffset, end.offset + 1), .init(Tag.chainBefore, end.chain),
                .init(Tag.form, Form.frames.rawValue), .init(Tag.segmentID, segmentID),
                .init(Tag.timeBefore, timeBefore),
            ])
        let bytes = block.encoded(size: LogFormat.segmentHeaderBytes)
        return (try SegmentHeader(decoding: bytes, path: "a new segment"), bytes)
    }

    /// Returns the header of the same segment in the form of blocks, and its bytes.
    ///
    /// - Parameter id: a new id, if the payloads have changed.
    func sealed(frameBytes: Int, id: Identifier? = nil) throws -> (header: SegmentHeader, bytes: [UInt8]) {
        let block = HeaderBlock(
            magic: LogFormat.segmentMagic,
            fields: [
                .init(Tag.storeID, storeID), .init(Tag.firstOffset, firstOffset), .init(Tag.chainBefore, chainBefore),
                .init(Tag.form, Form.blocks.rawValue), .init(Tag.segmentID, id ?? segmentID),
                .init(Tag.timeBefore, timeBefore), .init(Tag.frameBytes, UInt64(frameBytes)),
            ])
        let bytes = block.encoded(size: LogFormat.segmentHeaderBytes)
        return (try SegmentHeader(decoding: bytes, path: "a sealed segment"), bytes)
    }

    /// The place where every writer puts the segment's id: after five tags and four fields.
    static let segmentIDRange = range(of: 16, at: LogFormat.headerBlockPreludeBytes + 5 * 4 + 16 + 8 + 4 + 4)
    /// The place where a sealer puts the segment's former size: after two more tags and a time.
    static let frameBytesRange = range(of: 8, at: segmentIDRange.upperBound + 2 * 4 + 8)

    private static func range(of count: Int, at place: Int) -> Range<Int> { place..<place + count }

    static func segmentID(in head: [UInt8]) -> Identifier? {
        head.withUnsafeBytes { head in
            var reader = ByteReader(head, at: segmentIDRange.lowerBound)
            return try? reader.readIdentifier("the segment's id")
        }
    }

    /// - Parameter head: at least as long as a header.
    static func frameBytes(in head: [UInt8]) -> Int {
        head.withUnsafeBytes { head in
            let number = head.loadUnaligned(fromByteOffset: frameBytesRange.lowerBound, as: UInt64.self)
            return Int(clamping: UInt64(littleEndian: number))
        }
    }

    /// Stands in for a header that cannot be read, with only what its frames need to be checked.
    init(guessing storeID: Identifier, firstOffset: UInt64, form: Form, salt: UInt32) {
        (self.storeID, segmentID, self.firstOffset) = (storeID, .zero, firstOffset)
        (chainBefore, timeBefore, self.form, frameBytes) = (0, Int64.min, form, nil)
        (self.salt, byteCount) = (salt, LogFormat.segmentHeaderBytes)
    }

    init(decoding bytes: [UInt8], path: String) throws {
        let block = try HeaderBlock(decoding: bytes, magic: LogFormat.segmentMagic, path: path)
        try block.requireKnown(Tag.all, path: path)
        storeID = try block.identifier(Tag.storeID, path: path)
        segmentID = try block.identifier(Tag.segmentID, path: path)
        firstOffset = try block.number(Tag.firstOffset, as: UInt64.self, path: path)
        chainBefore = try block.number(Tag.chainBefore, as: UInt32.self, path: path)
        timeBefore = try block.number(Tag.timeBefore, as: Int64.self, path: path)
        form = try Self.form(try block.number(Tag.form, as: UInt32.self, path: path), path: path)
        frameBytes =
            form == .frames || !block.fields.contains { $0.tag == Tag.frameBytes }
            ? nil : try block.number(Tag.frameBytes, as: UInt64.self, path: path)
        salt = block.checksum
        byteCount = Int(bytes[10]) | Int(bytes[11]) << 8
        guard (1...Version.maximumOffset).contains(firstOffset) else {
            throw StrataError(
                .malformed, "The segment's first offset is invalid.",
                .init(path: path, expected: "1 to \(Version.maximumOffset)", found: "\(firstOffset)"))
        }
    }

    private static func form(_ number: UInt32, path: String) throws -> Form {
        guard let form = Form(rawValue: number) else {
            throw StrataError(
                .newerFormat, "The segment has a form unknown to this version.",
                .init(path: path, expected: "1 or 2", found: "\(number)"))
        }
        return form
    }

    static func read(_ file: any File) throws -> SegmentHeader {
        let bytes = try file.read(count: LogFormat.headerBlockMaximumBytes, at: 0)
        return try SegmentHeader(decoding: bytes, path: file.path)
    }
}
