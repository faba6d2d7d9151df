import StrataModel
import StrataSystem

extension SliceWriter {
    /// The number of a record's pages that are held in memory at a time.
    private static let recordPages = 256

    /// Writes a checkpoint's record, as it is encoded, to a run that has room for it.
    func write(_ record: CheckpointRecord, to run: PageRun, epoch: UInt64) throws -> RecordPlace {
        var place = RecordPlace(run: run, byteCount: 0, checksum: 0)
        var checksum = CRC32C()
        var next = run.first
        func write(_ bytes: ArraySlice<UInt8>, isLast: Bool) throws {
            let pages = max(1, PageLayout.overflowPages(bytes.count))
            precondition(Int(next - run.first) + pages <= run.count, "the run must have room for the record")
            let first = next
            try self.write(Array(first..<first + PageNumber(pages)), isLast: isLast) { number, target in
                // The memory is reused: stale bytes after the end of the record must not reach the file.
                target.initializeMemory(as: UInt8.self, repeating: 0, count: PageLayout.pageBytes)
                let none = UnsafeRawBufferPointer(start: nil, count: 0)
                PageEditor(target).start(.record, level: 0, number: number, birth: epoch, prefix: none)
                let start = bytes.startIndex + Int(number - first) * PageLayout.overflowBytesPerPage
                bytes[start..<min(start + PageLayout.overflowBytesPerPage, bytes.endIndex)].withUnsafeBytes { source in
                    UnsafeMutableRawBufferPointer(start: target + PageLayout.headerBytes, count: source.count)
                        .copyMemory(from: source)
                }
            }
            bytes.withUnsafeBytes { checksum.update($0) }
            next += PageNumber(pages)
            place.byteCount += bytes.count
        }
        let part = Self.recordPages * PageLayout.overflowBytesPerPage
        var pending = ByteWriter(reserving: 0)
        try record.encode(into: &pending) { pending in
            // Whole pages only; at least one byte remains for the last part.
            guard pending.bytes.count > part else { return }
            let count = (pending.bytes.count - 1) / part * part
            try write(pending.bytes[..<count], isLast: false)
            let rest = Array(pending.bytes[count...])
            pending.removeAll()
            pending.append(bytes: rest)
        }
        try write(pending.bytes[...], isLast: true)
        place.checksum = checksum.value
        return place
    }
}
