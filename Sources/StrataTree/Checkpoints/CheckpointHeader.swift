import StrataModel
import StrataSystem

/// The place of a checkpoint's record in the file.
struct RecordPlace: Equatable, Sendable {
    var run: PageRun
    var byteCount: Int
    var checksum: UInt32
}

/// The content of a header slot: docs/format-views.md §6.
struct CheckpointHeader: Equatable, Sendable {
    var sequence: UInt64
    var epoch: UInt64
    var store: Identifier
    /// The state of the log that is folded into the trees.
    var position: Position
    var pageCount: Int
    var time: Int64
    var record: RecordPlace

    func encoded() -> [UInt8] {
        var slot = ByteWriter(reserving: PageLayout.pageBytes)
        slot.append(bytes: ViewFormat.magic.utf8)
        slot.append(UInt16(ViewFormat.version))
        slot.append(UInt16(PageLayout.pageBytes))
        slot.append(UInt32(0))
        slot.append(sequence)
        slot.append(epoch)
        slot.append(store)
        slot.append(position.offset)
        slot.append(position.chain)
        slot.append(UInt32(pageCount))
        slot.append(time)
        slot.append(record.run.first)
        slot.append(UInt32(record.run.count))
        slot.append(UInt32(record.byteCount))
        slot.append(record.checksum)
        slot.pad(to: PageLayout.pageBytes)
        slot.overwrite(slot.bytes.withUnsafeBytes { CRC32C.checksum($0) }, at: ViewFormat.checksumPlace)
        return slot.bytes
    }

    /// Decodes a slot. Returns nil if the slot was never written.
    ///
    /// - Throws: ``StrataError`` if the slot has the wrong magic, is torn, or has another version.
    static func decode(_ slot: [UInt8]) throws -> CheckpointHeader? {
        guard slot.contains(where: { $0 != 0 }) else { return nil }
        guard slot.count == PageLayout.pageBytes, slot.starts(with: ViewFormat.magic.utf8) else {
            throw StrataError(
                .wrongMagic, "A header of the page file has the wrong first bytes.", .init(expected: ViewFormat.magic))
        }
        return try slot.withUnsafeBytes { try decode($0, checksum: checksum(slot)) }
    }

    private static func checksum(_ slot: [UInt8]) -> UInt32 {
        var copy = slot
        for place in ViewFormat.checksumPlace..<ViewFormat.sequencePlace { copy[place] = 0 }
        return copy.withUnsafeBytes { CRC32C.checksum($0) }
    }

    private static func decode(_ slot: UnsafeRawBufferPointer, checksum: UInt32) throws -> CheckpointHeader {
        var reader = ByteReader(slot, at: ViewFormat.versionPlace)
        let version = try reader.read(UInt16.self, "version")
        let pageBytes = try reader.read(UInt16.self, "page size")
        guard try reader.read(UInt32.self, "checksum") == checksum else {
            throw StrataError(.badChecksum, "A header of the page file does not match its checksum.")
        }
        guard version == ViewFormat.version else {
            throw StrataError(
                .newerFormat, "The page file has a version unknown to this release.",
                .init(expected: "\(ViewFormat.version)", found: "\(version)"))
        }
        guard Int(pageBytes) == PageLayout.pageBytes else {
            throw reader.malformed("page size", expected: "\(PageLayout.pageBytes)", found: "\(pageBytes)")
        }
        let header = CheckpointHeader(
            sequence: try reader.read(UInt64.self, "sequence"), epoch: try reader.read(UInt64.self, "epoch"),
            store: try reader.readIdentifier("store id"),
            position: Position(
                offset: try reader.read(UInt64.self, "offset"), chain: try reader.read(UInt32.self, "chain value")),
            pageCount: Int(try reader.read(UInt32.self, "page count")), time: try reader.read(Int64.self, "time"),
            record: RecordPlace(
                run: PageRun(
                    first: try reader.read(UInt32.self, "record"), count: Int(try reader.read(UInt32.self, "record"))),
                byteCount: Int(try reader.read(UInt32.self, "record")),
                checksum: try reader.read(UInt32.self, "record")))
        guard header.record.isInside(pageCount: header.pageCount), header.sequence < ViewFormat.epochLimit,
            header.epoch < ViewFormat.epochLimit
        else { throw reader.malformed("header", expected: "within its limits") }
        return header
    }
}

extension RecordPlace {
    /// The pages that contain bytes of the record; the run may be longer.
    var usedPages: Range<PageNumber> {
        run.first..<run.first + PageNumber(max(1, PageLayout.overflowPages(byteCount)))
    }

    func isInside(pageCount: Int) -> Bool {
        run.count > 0 && run.first >= ViewFormat.headerSlots && Int(run.first) + run.count <= pageCount
            && byteCount <= run.count * PageLayout.overflowBytesPerPage
    }
}
